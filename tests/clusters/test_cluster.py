"""Test the slurm profile on a real Slurm: several nodes, identical results, and faults of clusters."""

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .cluster import wait_until
from .conftest import ARTIFACTS, EXCEEDING, SlurmProject, prepend

LOCAL = ("draw", "write", "measure", "build")


def megabytes(row: dict[str, str]) -> int:
    """Return the memory that Slurm allocated to a job."""
    amount, unit = re.search(r"mem=([\d.]+)([MG])", row["Tres"]).groups()
    return round(float(amount) * {"M": 1, "G": 1024}[unit])


def test_the_run_succeeds(runs):
    assert runs.status == 0, runs.slurm.output()
    assert "Using workflow specific profile profiles/slurm" in runs.slurm.output()
    assert (runs.slurm.folder / "results/quick/report.html").exists()


def test_jobs_run_on_several_nodes(runs, cluster):
    rules = runs.slurm.rules()
    used = {row["NodeList"] for row in runs.ended if row["JobId"] in rules and row["JobState"] == "COMPLETED"}
    assert used == set(cluster.nodes)


def test_every_stage_but_the_local_ones_is_a_slurm_job(runs):
    jobs = set(runs.slurm.rules().values())
    logs = {p.relative_to(runs.slurm.folder / "logs/quick").parts[0] for p in runs.slurm.folder.glob("logs/quick/*")}
    assert {EXCEEDING, "aggregate_study"} <= jobs
    for rule in ("simulate_shard", "compute_inference"):
        assert list(runs.slurm.rules().values()).count(rule) >= 3
    assert not [rule for rule in jobs if rule.startswith(LOCAL)]
    assert {"draw_figures", "write_tables", "judge_statements", "build_ledger.log", "build_report.log"} <= logs


def test_the_results_are_those_of_a_local_run(runs):
    ours, theirs = runs.slurm.digests(), runs.local.digests()
    assert "results/quick/ledger.csv" in theirs, runs.local_output
    assert len([path for path in theirs if "/figures/" in path]) >= 12
    assert ours == theirs


def test_a_job_that_exceeds_its_memory_is_retried_with_more(runs):
    identifiers = {job for job, rule in runs.slurm.rules().items() if rule == EXCEEDING}
    first, *_, last = sorted((r for r in runs.ended if r["JobId"] in identifiers), key=lambda row: int(row["JobId"]))
    assert first["JobState"] != "COMPLETED"
    assert "exceeded memory limit" in runs.slurm.job_log(first["JobId"])
    assert last["JobState"] == "COMPLETED"
    assert megabytes(last) == 2 * megabytes(first)


def test_a_node_that_is_set_down_does_not_lose_the_run(runs):
    node, job = runs.lost["node"], runs.lost["id"]
    rows = [row for row in runs.ended if row["JobId"] == job]
    assert (rows[0]["JobState"], rows[0]["NodeList"]) == ("NODE_FAIL", node)
    assert rows[-1]["JobState"] == "COMPLETED"
    assert node not in {row["NodeList"] for row in runs.ended[runs.lost_position :] if row["JobState"] == "COMPLETED"}


def test_one_interrupt_cancels_every_job(cluster, small, tmp_path):
    project = SlurmProject(Path(shutil.copytree(small, tmp_path / "project")), cluster)
    prepend(project.folder / "workflow" / "scripts" / "simulate_shard.py", "import time\ntime.sleep(600)\n")
    before = {job["id"] for job in cluster.queue()}

    def ours(states="all"):
        return [job for job in cluster.queue(states) if job["id"] not in before]

    # Before the simulation ends these targets need no local jobs, so the interrupt stops only Slurm jobs.
    run = project.start(*(f"{paper}_{names[-1]}" for paper, names in ARTIFACTS.items()))
    try:
        # Wait until jobs run and wait and none is still to be submitted, because Snakemake may lose an interrupt during
        # a submission.
        wait_until(lambda: len(ours("RUNNING")) > 1 and ours("PENDING"), "running and waiting jobs")
        simulations = int(re.search(r"simulate_shard\s+(\d+)", project.output())[1])
        wait_until(lambda: len(ours()) >= simulations, "every simulation handed over")
        time.sleep(3)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=120) != 0
        # A cancelled job has the state COMPLETING until its node has noticed its end.
        wait_until(lambda: not ours("COMPLETING"), "the end of cancelled jobs")
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        pytest.fail(f"{error}\n{project.output()}")
    finally:
        if run.poll() is None:
            run.kill()
            run.wait()
    assert ours("PENDING,RUNNING") == [], project.output()
    assert len([job for job in ours() if job["state"] == "CANCELLED"]) > 2


def test_a_partition_that_is_not_there_is_named_in_the_error(cluster, small, tmp_path):
    project = SlurmProject(Path(shutil.copytree(small, tmp_path / "project")), cluster)
    options = ["--default-resources", "slurm_partition=nowhere", "--retries", "0"]
    run = project.start("results/quick/studies/sajed2019/audit.parquet", options=options)
    try:
        assert run.wait(timeout=120) != 0
    finally:
        run.kill()
        run.wait()
    assert "invalid partition specified: nowhere" in project.output()
