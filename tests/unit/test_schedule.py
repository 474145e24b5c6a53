"""Projected times: chains and lists of jobs whose times are plain."""

import pytest

from privarms.schedule import Job, cpu_time, critical_path, makespan

DIAMOND = {
    "start": Job(1, ()),
    "long": Job(10, ("start",)),
    "short": Job(2, ("start",)),
    "end": Job(3, ("long", "short")),
}


def test_the_critical_path_is_the_longest_chain():
    assert critical_path(DIAMOND) == ["start", "long", "end"]
    assert critical_path({}) == []


@pytest.mark.parametrize(("cores", "seconds"), [(1, 16), (2, 14), (200, 14)])
def test_one_core_takes_the_sum_and_many_the_critical_path(cores, seconds):
    assert makespan(DIAMOND, cores) == seconds


def test_equal_jobs_are_spread_evenly():
    alike = {f"job {i}": Job(2, ()) for i in range(10)}
    assert [makespan(alike, n) for n in (1, 2, 3, 4, 10, 11)] == [20, 10, 8, 6, 2, 2]


def test_the_job_with_most_behind_it_goes_first():
    # In the order of their names two short ones would block the chain.
    jobs = {"a": Job(2, ()), "b": Job(2, ()), "z": Job(1, ()), "after": Job(5, ("z",))}
    assert makespan(jobs, 2) == 6


def test_times_are_read_from_benchmarks(tmp_path):
    head = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
    file = tmp_path / "job.tsv"
    file.write_text(head + "9.0\t0:00:09\t1\t1\t1\t1\t0\t0\t50.0\t4.50\n")
    assert cpu_time(file) == 4.5
    file.write_text(head + "0.3\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n")
    assert cpu_time(file) == 0.3
    assert cpu_time(tmp_path / "none.tsv") is None
