"""Test the profiles of clusters on a real scheduler: identical results, and faults of clusters."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from .cluster import wait_until
from .conftest import ARTIFACTS, OVER_MEMORY, OVER_TIME, ClusterProject, prepend

LOCAL = ("draw", "write", "measure", "build")


def test_the_run_succeeds(runs, cluster):
    assert runs.status == 0, runs.project.output()
    assert f"Using workflow specific profile profiles/{cluster.PROFILE}" in runs.project.output()
    assert (runs.project.folder / "results/tiny/report.html").exists()


def test_jobs_run_on_all_nodes(runs, cluster):
    assert {job.node for job in runs.project.jobs() if job.state == "succeeded"} == set(cluster.nodes)


def test_every_stage_but_the_local_ones_is_a_job_of_the_cluster(runs):
    rules = Counter(job.rule for job in runs.project.jobs())
    logs = {p.relative_to(runs.project.folder / "logs/tiny").parts[0] for p in runs.project.folder.glob("logs/tiny/*")}
    assert {OVER_MEMORY, "aggregate_study"} <= set(rules)
    for rule in ("simulate_shard", "compute_inference"):
        assert rules[rule] >= 3
    assert not [rule for rule in rules if rule.startswith(LOCAL)]
    assert {"draw_figures", "write_tables", "judge_statements", "build_ledger.log", "build_report.log"} <= logs


def test_the_results_are_those_of_a_local_run(runs, local):
    ours, theirs = runs.project.digests(), local.digests()
    assert "results/tiny/ledger.csv" in theirs
    assert len([path for path in theirs if "/figures/" in path]) >= 12
    assert ours == theirs


def test_a_job_that_exceeds_its_memory_is_retried_with_more(runs, cluster):
    job = next(job for job in runs.project.jobs() if job.rule == OVER_MEMORY)
    first, *_, last = runs.project.attempts(job)
    assert (first.state, last.state) == ("failed", "succeeded")
    assert cluster.OVER_MEMORY in cluster.log(runs.project.folder, first)
    assert last.memory_mb == 2 * first.memory_mb


def test_a_job_that_exceeds_its_time_is_retried_with_more(runs):
    # Other jobs of the rule may exceed their minute too, on a slow machine.
    failed = [job for job in runs.project.jobs() if job.rule == OVER_TIME and job.state == "failed"]
    assert failed
    for job in failed:
        first, *_, last = runs.project.attempts(job)
        assert (first.minutes, last.state) == (1, "succeeded")
        assert last.minutes > 1


def test_no_job_fails_that_has_no_fault(runs, cluster):
    deleted = {job.id for job in runs.deleted.values()}
    failed = [job for job in runs.project.jobs() if job.state == "failed" and job.id not in deleted]
    assert {job.rule for job in failed} == {OVER_MEMORY, OVER_TIME}
    # These jobs failed because of their time, not of their memory.
    logs = [cluster.log(runs.project.folder, job) for job in failed if job.rule == OVER_TIME]
    assert [log for log in logs if re.search(rf"{cluster.OVER_MEMORY}|MemoryError|OSError", log)] == []


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_a_job_that_is_deleted_is_submitted_again(runs, state):
    # A job that is deleted before its start may leave no trace.
    deleted = runs.deleted[state]
    attempts = runs.project.attempts(deleted)
    assert [one.state for one in attempts if one.id == deleted.id] == ["failed"] * (len(attempts) - 1)
    assert attempts[-1].id != deleted.id
    assert attempts[-1].state == "succeeded"


def test_a_node_that_is_set_down_does_not_lose_the_run(runs, cluster):
    if len(cluster.nodes) == 1:
        pytest.skip("this cluster has one node")
    attempts = runs.project.attempts(runs.lost)
    assert (attempts[0].state, attempts[0].node) == ("lost", runs.lost.node)
    assert attempts[-1].state == "succeeded"
    later = runs.project.cluster.jobs()[runs.lost_position :]
    assert runs.lost.node not in {job.node for job in later if job.state == "succeeded" and job in runs.project.jobs()}


# All simulations but the first wait while the file held_back exists.
HELD_BACK = """\
import time
from pathlib import Path
try:
    Path("first").touch(exist_ok=False)
except FileExistsError:
    while Path("held_back").exists():
        time.sleep(0.5)
"""


def test_one_interrupt_cancels_every_job_and_the_next_run_goes_on(cluster, small, local, tmp_path):
    project = ClusterProject(Path(shutil.copytree(small, tmp_path / "project")), cluster)
    prepend(project, "simulate_shard.py", HELD_BACK)
    project.write("held_back", "")
    targets = [f"{paper}_{names[-1]}" for paper, names in ARTIFACTS.items()]

    def jobs(state, rule="simulate_shard"):
        return [job for job in project.jobs() if job.state == state and job.rule == rule]

    # An interrupt while Snakemake asks for the states of jobs cancels none of them, so it asks seldom here.
    run = project.start(*targets, options=["--seconds-between-status-checks", "30"])
    try:
        # Wait until jobs run and wait and none is still to be submitted, because Snakemake may lose an interrupt during
        # a submission.
        wait_until(lambda: len(jobs("running")) > 1 and jobs("waiting") and jobs("succeeded"), "all kinds of jobs")
        simulations = project.count("simulate_shard")
        wait_until(lambda: len(project.submitted()) >= simulations, "every simulation handed over")
        # Snakemake learns of an end some seconds later.
        wait_until(lambda: "Rule: simulate_shard" in project.output(), "the end of a simulation")
        time.sleep(10)
        done = finished(project)
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait(timeout=120) != 0
        wait_until(lambda: not cluster.pending(), "the end of deleted jobs")
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        pytest.fail(f"{error}\n{project.output()}")
    finally:
        if run.poll() is None:
            run.kill()
            run.wait()
    assert {job.state for job in project.jobs()} == {"succeeded", "failed"}

    (project.folder / "held_back").unlink()
    again = project.start(*targets)
    try:
        assert again.wait(timeout=600) == 0, project.output()
    finally:
        if again.poll() is None:
            again.kill()
            again.wait()
    assert project.count("simulate_shard") == simulations - len(done) == simulations - 1
    assert done.items() <= finished(project).items()
    # Only the target of an artifact writes the cases of the artifact.
    ours = {path: digest for path, digest in project.digests().items() if "/cases/" not in path}
    assert len(ours) > 10
    assert ours.items() <= local.digests().items()


def finished(project: ClusterProject) -> dict[Path, int]:
    """Return the finished simulations of a run, with the times of their files."""
    return {path: path.stat().st_mtime_ns for path in (project.folder / "results/tiny/shards").glob("*/*.parquet")}


def test_what_the_scheduler_refuses_is_in_the_error(cluster, small, tmp_path):
    project = ClusterProject(Path(shutil.copytree(small, tmp_path / "project")), cluster)
    options, message = cluster.REFUSED
    run = project.start("results/tiny/studies/sajed2019/audit.parquet", options=[*options, "--retries", "0"])
    try:
        assert run.wait(timeout=120) != 0
    finally:
        run.kill()
        run.wait()
    assert message in project.output()
