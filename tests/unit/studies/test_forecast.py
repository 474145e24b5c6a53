"""Times that are expected of jobs, and when some cores are through with them, worked out by hand."""

import pytest

from privarms.studies import forecast
from privarms.studies.forecast import Job


def job(number, seconds=10.0, needs=(), priority=0, rule="simulate_shard", kind="simulate_shard p a", local=True):
    return Job(number, rule, "p", str(number), kind, seconds, seconds, priority, frozenset(needs), local)


def test_a_core_takes_the_most_urgent_job_that_can_run():
    jobs = [job(1, 10), job(2, 20), job(3, 5, needs=[1], priority=9), job(4, 7)]
    # One core: 1, then 3, which is most urgent, then 2 and 4 in their order. What is done already holds nothing back.
    assert forecast.ends(jobs, 1) == {1: 10, 3: 15, 2: 35, 4: 42}
    assert forecast.ends(jobs, 2) == {1: 10, 3: 15, 2: 20, 4: 22}
    assert forecast.ends([job(3, 5, needs=[1])], 1) == {3: 5}


def test_jobs_that_run_have_less_left_but_never_nothing():
    jobs = [job(1, 10), job(2, 10)]
    assert forecast.ends(jobs, 1, running={1: 6}) == {1: 4, 2: 14}
    assert forecast.ends(jobs, 1, running={1: 60}) == {1: 0.5, 2: 10.5}


def test_on_a_cluster_local_jobs_have_cores_of_their_own():
    jobs = [job(1, 10, local=False), job(2, 10, local=False), job(3, 10), job(4, 10)]
    assert forecast.ends(jobs, 2, local_cores=1) == {1: 10, 2: 10, 3: 10, 4: 20}


def test_earlier_jobs_say_what_to_expect():
    jobs = [job(1, 10), job(2, 100), job(3, 10, kind="simulate_shard p b"), job(4, 4, rule="r", kind="r")]
    jobs.append(job(5, 4, rule="r", kind="r"))
    found = {j.number: j.seconds for j in forecast.calibrate(jobs, {1: 20.0, 4: 6.0})}
    # What was measured; its kind's ratio; that of all simulations; the same for a rule.
    assert found == {1: 20, 2: 200, 3: 20, 4: 6, 5: 6}
    also = forecast.calibrate(jobs, {}, [("simulate_shard p a", 10.0, 5.0)])
    assert [j.seconds for j in also] == [5, 50, 5, 4, 4]
    assert [j.seconds for j in forecast.calibrate(jobs, {})] == [10, 100, 10, 4, 4]


def test_a_time_in_which_the_machine_slept_is_not_believed():
    jobs = [job(n, 10) for n in range(4)]
    found = forecast.calibrate(jobs, {0: 10.0, 1: 12.0, 2: 9000.0})
    assert found[2].seconds == pytest.approx(forecast.BELIEVED * 12)


def test_the_pace_of_the_run_corrects_what_was_expected():
    assert forecast.pace([]) == 1
    slow = [(job(1, 600), 1200.0)]
    assert forecast.pace(slow) == pytest.approx(1260 / 660)


@pytest.mark.parametrize(
    ("text", "seconds"), [("s\th:m:s\n12.5\t0:00:12\n", 12.5), ("s\n", None), ("m\n1\n", None), ("s\n-\n", None)]
)
def test_a_benchmark_is_read_or_left(tmp_path, text, seconds):
    file = tmp_path / "b.tsv"
    file.write_text(text)
    assert forecast.past_seconds(str(file)) == seconds
    assert forecast.past_seconds(str(tmp_path / "none.tsv")) is None
    assert forecast.past_seconds(None) is None
