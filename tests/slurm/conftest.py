"""One run through the slurm profile in which much goes wrong, beside a local run of the same."""

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

from privarms.studies import artifacts

from ..workflow.conftest import PAPERS, Project, claims_about, load_paper, template, write_paper  # noqa: F401  (template is a fixture)
from .cluster import Cluster

ROOT = Path(__file__).parents[2]
PROFILE = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))

# A few artifacts of some papers, which take every stage. A Slurm job costs seconds, so there are few.
ARTIFACTS = {
    "sajed2019": ("stopping_rules", "audit"),
    "neel2018": ("fig1", "privacy_audit"),
    "li2024": ("audit", "privacy_audit"),
    "ma2025": ("messages", "privacy_audit"),
}
NOT_MEASURED = {"unverifiable": "Not measured here."}
SAID = ("claim", "artifact", "variant", "statement", "place", "ours", "published")
EXCEEDING = "generate_standin"
# What the job that exceeds its memory holds for a while: more than its rule asks for at first, less than at the retry.
HELD = """\
import re, time
from pathlib import Path
asked = int(re.search(r"(\\d+) \\* attempt", Path("workflow/rules/data.smk").read_text())[1])
held = bytearray(b"x") * (asked * 3 // 2 * 1_000_000 - 400_000_000)
time.sleep(5)
del held
"""


def reduce(content: dict, paper: str, kept: tuple[str, ...]) -> dict:
    """A paper's studies, with some artifacts and what these need."""
    registered = artifacts.of_paper(paper)
    tables = {table for name in kept for table in registered[name]["inference"]}
    inference = {name: entry for name, entry in content.get("inference", {}).items() if name in tables}
    used = {
        study for entry in (*(registered[name] for name in kept), *inference.values()) for study in entry["studies"]
    }
    studies = {name: study for name, study in content["studies"].items() if name in used}
    readings = [{k: v for k, v in r.items() if k not in ("affects", "tried")} for r in content["readings"]]
    kept_parts = {"readings": readings, "artifacts": list(kept), "studies": studies, "inference": inference}
    return content | kept_parts


class SlurmProject(Project):
    """A project that runs through the slurm profile as it is, on the cluster that the profile describes."""

    def __init__(self, folder: Path, cluster: Cluster):
        super().__init__(folder)
        self.cluster = cluster
        self.log = folder / "run.log"

    def start(self, *targets: str, options: Sequence[str] = ()) -> subprocess.Popen:
        """Start a run; what it says goes to `log`."""
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
                # In the background of a shell that has no jobs an interrupt would be ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def output(self) -> str:
        """What the run has said so far."""
        return self.log.read_text(encoding="utf-8")

    def job_log(self, job: str) -> str:
        """What Slurm wrote of a job."""
        (log,) = (self.folder / PROFILE["slurm-logdir"]).rglob(f"{job}.log")
        return log.read_text(encoding="utf-8")

    def rules(self) -> dict[str, str]:
        """Slurm job -> rule, from the names of Slurm's own logs."""
        logs = (self.folder / PROFILE["slurm-logdir"]).rglob("*.log")
        return {log.stem: log.relative_to(self.folder / PROFILE["slurm-logdir"]).parts[0][5:] for log in logs}


SETTINGS = ("sources=tiny/sources.yaml", "papers=tiny/papers")


@pytest.fixture(scope="session")
def cluster():
    """Three nodes. The folder is not pytest's: its path must be short, and open to look into, for munged's socket."""
    folder = Path(tempfile.mkdtemp(prefix="privarms-slurm-"))
    cluster = Cluster(folder, PROFILE["default-resources"]["slurm_partition"])
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
    # Its logs stay where it could not be started.
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def small(template, tmp_path_factory) -> Path:  # noqa: F811
    """The tiny project with a few artifacts a paper."""
    folder = Path(shutil.copytree(template, tmp_path_factory.mktemp("small") / "project"))
    for place in (folder / "tiny/papers").iterdir():
        if place.name not in ARTIFACTS:
            shutil.rmtree(place)
    for paper, kept in ARTIFACTS.items():
        content = yaml.safe_load((folder / "tiny/papers" / paper / "studies.yaml").read_text(encoding="utf-8"))
        # A claim reads what the artifact that it names reads, and more may not be there.
        whole = load_paper(PAPERS / paper)
        claims = claims_about(PAPERS / paper, whole, dict.fromkeys(kept))
        claims["claims"] = [{k: claim[k] for k in SAID if k in claim} | NOT_MEASURED for claim in claims["claims"]]
        write_paper(folder, paper, reduce(content, paper, kept), claims)
    return folder


def prepend(file: Path, text: str) -> None:
    """Put lines before a script's own, which its results do not show."""
    file.write_text(text + file.read_text(encoding="utf-8"), encoding="utf-8")


@dataclass
class Runs:
    """A run through Slurm and a local one, both at their end."""

    slurm: SlurmProject
    status: int
    local: Project
    local_output: str
    ended: list[dict[str, str]]  # the rows of the completion log
    lost: dict[str, str]  # the job that ran on the node that was set down
    lost_position: int  # how many rows the completion log had then


@pytest.fixture(scope="session")
def runs(cluster, small, tmp_path_factory) -> Runs:
    """The whole pipeline through Slurm, while one job exceeds its memory and a node is set down under another."""
    slurm = SlurmProject(Path(shutil.copytree(small, tmp_path_factory.mktemp("slurm") / "project")), cluster)
    prepend(slurm.folder / "workflow" / "scripts" / "prepare_dataset.py", HELD)
    local = Project(Path(shutil.copytree(small, tmp_path_factory.mktemp("local") / "project")))
    local_done = []
    # At the same time: the run through Slurm mostly waits.
    beside = threading.Thread(target=lambda: local_done.append(local.run(*SETTINGS[1:], cores=1)))
    beside.start()
    run = slurm.start()
    lost, lost_position = {}, 0
    deadline = time.monotonic() + 900
    try:
        while run.poll() is None and time.monotonic() < deadline:
            if not lost:
                # Only a node that has completed a job, so that all nodes have done some.
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
