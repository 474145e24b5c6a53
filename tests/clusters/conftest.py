"""Fixtures: a run through the slurm profile with several faults, and a local run of the same project."""

import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from privarms.registry import artifacts
from tests import PAPERS, ROOT

from ..workflow.conftest import Project, load_paper, statements_about, template, write_paper  # noqa: F401  (template is a fixture)
from .cluster import Cluster

PROFILE = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))

# A few artifacts of some papers that use every stage. They are few because a Slurm job takes seconds.
ARTIFACTS = {
    "sajed2019": ("stopping_rules", "audit"),
    "neel2018": ("fig1", "privacy_audit"),
    "li2024": ("audit", "privacy_audit"),
    "ma2025": ("messages", "privacy_audit"),
}
NOT_MEASURED = {"unverifiable": "Not measured here."}
SAID = ("statement", "kind", "quote", "place", "ours", "artifact")
EXCEEDING = "generate_standin"
# Memory of the job that exceeds its limit: more than its rule requests at first, less than at the retry.
HELD = """\
import re, time
from pathlib import Path
asked = int(re.search(r"(\\d+) \\* attempt", Path("workflow/rules/data.smk").read_text())[1])
held = bytearray(b"x") * (asked * 3 // 2 * 1_000_000 - 400_000_000)
time.sleep(5)
del held
"""


def reduce(content: dict, paper: str, kept: tuple[str, ...]) -> dict:
    """Return a paper's studies, reduced to some artifacts and their requirements."""
    registered = artifacts.of_paper(paper)
    tables = {table for name in kept for table in registered[name].inference}
    inference = artifacts.inference_of_paper(paper)
    used = {study for name in kept for study in registered[name].studies}
    used |= {study for table in tables for study in inference[table].studies}
    studies = {name: study for name, study in content["studies"].items() if name in used}
    readings = [{k: v for k, v in r.items() if k not in ("affects", "tried")} for r in content["readings"]]
    return content | {"readings": readings, "artifacts": list(kept), "studies": studies}


class SlurmProject(Project):
    """A project that runs through the unchanged slurm profile, on the cluster that the profile describes."""

    def __init__(self, folder: Path, cluster: Cluster):
        super().__init__(folder)
        self.cluster = cluster
        self.log = folder / "run.log"

    def start(self, *targets: str, options: Sequence[str] = ()) -> subprocess.Popen:
        """Start a run; its output is written to `log`."""
        command = [
            *(sys.executable, "-m", "snakemake", "--workflow-profile", "slurm", "--slurm-keep-successful-logs"),
            *("--slurm-init-seconds-before-status-checks", "4", "--seconds-between-status-checks", "4", *options),
            *("--configfile", "config/quick.yaml", "--config", *SETTINGS, "--", *targets),
        ]
        with self.log.open("w", encoding="utf-8") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment(**self.cluster.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A background process of a shell without job control would ignore an interrupt.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def output(self) -> str:
        """Return the output of the run so far."""
        return self.log.read_text(encoding="utf-8")

    def job_log(self, job: str) -> str:
        """Return Slurm's log of a job."""
        (log,) = (self.folder / PROFILE["slurm-logdir"]).rglob(f"{job}.log")
        return log.read_text(encoding="utf-8")

    def rules(self) -> dict[str, str]:
        """Return Slurm job -> rule, from the names of Slurm's logs."""
        logs = (self.folder / PROFILE["slurm-logdir"]).rglob("*.log")
        return {log.stem: log.relative_to(self.folder / PROFILE["slurm-logdir"]).parts[0][5:] for log in logs}


SETTINGS = ("sources=tiny/sources.yaml", "papers=tiny/papers")


@pytest.fixture(scope="session")
def cluster():
    """Yield a cluster of three nodes, outside pytest's folder because munged needs a short, readable path."""
    folder = Path(tempfile.mkdtemp(prefix="privarms-slurm-"))
    cluster = Cluster(folder, PROFILE["default-resources"]["slurm_partition"])
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
    # The logs are kept if the cluster could not be started.
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def small(template, tmp_path_factory) -> Path:  # noqa: F811
    """Return the tiny project with a few artifacts per paper."""
    folder = Path(shutil.copytree(template, tmp_path_factory.mktemp("small") / "project"))
    for place in (folder / "tiny/papers").iterdir():
        if place.name not in ARTIFACTS:
            shutil.rmtree(place)
    for paper, kept in ARTIFACTS.items():
        content = yaml.safe_load((folder / "tiny/papers" / paper / "studies.yaml").read_text(encoding="utf-8"))
        # Their tables may need studies that are left out.
        whole = load_paper(PAPERS / paper)
        statements = statements_about(PAPERS / paper, whole, dict.fromkeys(kept))
        said = [{k: one[k] for k in SAID if k in one} | NOT_MEASURED for one in statements["statements"]]
        write_paper(folder, paper, reduce(content, paper, kept), {"statements": said})
    return folder


def prepend(file: Path, text: str) -> None:
    """Insert lines at the start of a script that do not change its results."""
    file.write_text(text + file.read_text(encoding="utf-8"), encoding="utf-8")


@dataclass
class Runs:
    """A finished run through Slurm and a finished local run."""

    slurm: SlurmProject
    status: int
    local: Project
    local_output: str
    ended: list[dict[str, str]]  # the rows of the completion log
    lost: dict[str, str]  # the job on the node that was set down
    lost_position: int  # the number of rows in the completion log at that time


@pytest.fixture(scope="session")
def runs(cluster, small, tmp_path_factory) -> Runs:
    """Run the whole pipeline through Slurm, while one job exceeds its memory and another loses its node."""
    slurm = SlurmProject(Path(shutil.copytree(small, tmp_path_factory.mktemp("slurm") / "project")), cluster)
    prepend(slurm.folder / "workflow" / "scripts" / "prepare_dataset.py", HELD)
    local = Project(Path(shutil.copytree(small, tmp_path_factory.mktemp("local") / "project")))
    local_done = []
    # The local run is made at the same time, because the run through Slurm mostly waits.
    beside = threading.Thread(target=lambda: local_done.append(local.run(*SETTINGS[1:], cores=1)))
    beside.start()
    run = slurm.start()
    lost, lost_position = {}, 0
    deadline = time.monotonic() + 900
    try:
        while run.poll() is None and time.monotonic() < deadline:
            if not lost:
                # Choose a node that has completed a job, so all nodes do some work.
                used = {row["NodeList"] for row in cluster.completed() if row["JobState"] == "COMPLETED"}
                running = [j for j in cluster.queue("RUNNING") if j["node"] in used and EXCEEDING not in j["comment"]]
                if running:
                    lost = running[0]
                    cluster.set_down(lost["node"])
                    lost_position = len(cluster.completed())
            time.sleep(0.2)
    finally:
        if run.poll() is None:
            run.kill()
        run.wait()
        beside.join()
        if lost:
            cluster.set_up(lost["node"])
    return Runs(slurm, run.returncode, local, str(local_done), cluster.completed(), lost, lost_position)
