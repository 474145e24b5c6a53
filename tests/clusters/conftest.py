"""Fixtures: a run through a cluster's profile with several faults, and a local run of the same project."""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from privarms.registry import artifacts

from ..workflow.conftest import Project, template  # noqa: F401  (template is a fixture)
from .cluster import Cluster, Job, wait_until
from .grid_engine import GridEngine
from .slurm import Slurm

CLUSTERS = {"slurm": Slurm, "sge": GridEngine}
# A few artifacts of some papers that use every stage. They are few because a cluster's job takes seconds.
ARTIFACTS = {
    "sajed2019": ("stopping_rules", "audit"),
    "neel2018": ("fig1", "privacy_audit"),
    "li2024": ("audit", "privacy_audit"),
    "ma2025": ("messages", "privacy_audit"),
}
NOT_MEASURED = {"unverifiable": "Not measured here."}
SAID = ("statement", "kind", "quote", "place", "ours", "artifact")
OVER_MEMORY = "generate_standin"
# Memory of the jobs that exceed their limit: more than their rule requests at first, less than at the retry.
HELD = """\
import re, time
from pathlib import Path
asked = int(re.search(r"(\\d+) \\* attempt", Path("workflow/rules/data.smk").read_text())[1])
held = bytearray(b"x") * (asked * 3 // 2 * 1_000_000 - 400_000_000)
time.sleep(5)
del held
"""
OVER_TIME = "aggregate_study"
# One job takes longer than the minute that it gets at first.
SLOW = """\
import time
if snakemake.resources.runtime == 1 and snakemake.wildcards.study == "stopping":
    time.sleep(600)
"""
ONE_MINUTE = ("--set-resources", f"{OVER_TIME}:runtime=1*attempt")


def pytest_addoption(parser):
    """Add the option that chooses the scheduler."""
    parser.addoption("--cluster", choices=sorted(CLUSTERS), required=True)


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


def unmeasured(content: dict, paper: str, kept: tuple[str, ...]) -> dict:
    """Return a paper's statements about some artifacts, without their measures, whose tables may be left out."""
    about = [one for one in content["statements"] if one["artifact"] in kept]
    return {"statements": [{k: one[k] for k in SAID if k in one} | NOT_MEASURED for one in about]}


class ClusterProject(Project):
    """A project that runs through an unchanged profile, on the cluster that the profile describes."""

    def __init__(self, folder: Path, cluster: Cluster):
        super().__init__(folder)
        self.cluster = cluster
        self.log = folder / "run.log"

    def start(self, *targets: str, options: Sequence[str] = ()) -> subprocess.Popen:
        """Start a run; its output is written to `log`."""
        command = [
            *(sys.executable, "-m", "snakemake", "--workflow-profile", self.cluster.PROFILE),
            *(*self.cluster.OPTIONS, *options),
            *("--configfile", "config/tiny.yaml", "--", *targets),
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
                # Ctrl-C reaches all processes of a group.
                process_group=0,
            )

    def output(self) -> str:
        """Return the output of the run so far."""
        return self.log.read_text(encoding="utf-8")

    def submitted(self) -> list[tuple[str, str]]:
        """Return the submissions of the run so far: Snakemake's number of the job, the scheduler's number."""
        return re.findall(self.cluster.SUBMITTED, self.output())

    def jobs(self) -> list[Job]:
        """Return the jobs of the run so far, every attempt."""
        own = {identifier for _, identifier in self.submitted()}
        return [job for job in self.cluster.jobs() if job.id in own]

    def attempts(self, job: Job) -> list[Job]:
        """Return all attempts at the work of a job."""
        numbers = {identifier: number for number, identifier in self.submitted()}
        return [one for one in self.jobs() if numbers[one.id] == numbers[job.id]]

    def count(self, rule: str) -> int:
        """Return the number of jobs of a rule that the run plans."""
        return int(re.search(rf"^{rule}\s+(\d+)$", self.output(), re.MULTILINE)[1])


@pytest.fixture(scope="session")
def cluster(request):
    """Yield a cluster, outside pytest's folder because munged needs a short, readable path."""
    name = request.config.getoption("cluster")
    folder = Path(tempfile.mkdtemp(prefix=f"privarms-{name}-"))
    cluster = CLUSTERS[name](folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
    # The logs are kept if the cluster could not be started.
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def small(template, tmp_path_factory) -> Path:  # noqa: F811
    """Return the project with a few artifacts per paper."""
    folder = Path(shutil.copytree(template, tmp_path_factory.mktemp("small") / "project"))
    for place in (folder / "config/papers").iterdir():
        if place.name not in ARTIFACTS:
            shutil.rmtree(place)
    for paper, kept in ARTIFACTS.items():
        for name, cut in (("studies", reduce), ("statements", unmeasured)):
            file = folder / "config/papers" / paper / f"{name}.yaml"
            content = cut(yaml.safe_load(file.read_text(encoding="utf-8")), paper, kept)
            file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder


def prepend(project: Project, script: str, text: str) -> None:
    """Insert lines at the start of a script that do not change its results."""
    file = project.folder / "workflow" / "scripts" / script
    file.write_text(text + file.read_text(encoding="utf-8"), encoding="utf-8")


@dataclass
class Runs:
    """A finished run on the cluster."""

    project: ClusterProject
    status: int
    deleted: dict[str, Job]  # state -> the job that was deleted in this state
    lost: Job | None  # the job on the node that was set down, if the cluster has several
    lost_position: int  # the number of ended jobs at that time


class LocalProject(Project):
    """A project that runs without a cluster, in the background, because runs on clusters mostly wait."""

    def __init__(self, folder: Path, pool: Executor):
        super().__init__(folder)
        self._run = pool.submit(self.run, cores=1)

    def digests(self) -> dict[str, str]:
        """Return a checksum of every result, when the run has ended."""
        done = self._run.result()
        assert done.returncode == 0, done.stdout + done.stderr
        return super().digests()


@pytest.fixture(scope="session")
def local(small, tmp_path_factory):
    """Yield a local run of the project."""
    folder = Path(shutil.copytree(small, tmp_path_factory.mktemp("local") / "project"))
    with ThreadPoolExecutor(1) as pool:
        yield LocalProject(folder, pool)


def ended(cluster: Cluster, job: Job) -> str:
    """Return the state of a job that has ended, else an empty text."""
    states = [one.state for one in cluster.jobs() if one.id == job.id]
    return next((state for state in states if state not in ("waiting", "running")), "")


@pytest.fixture(scope="session")
def runs(cluster, local, small, tmp_path_factory) -> Runs:
    """Run the whole pipeline on the cluster with a fault of each kind.

    Some jobs exceed their memory and one its time. A running and a waiting job are deleted. A node is set down.
    """
    project = ClusterProject(Path(shutil.copytree(small, tmp_path_factory.mktemp("cluster") / "project")), cluster)
    prepend(project, "prepare_dataset.py", HELD)
    prepend(project, "aggregate_study.py", SLOW)
    run = project.start(options=ONE_MINUTE)
    deleted, lost, lost_position = {}, None, 0
    deadline = time.monotonic() + 1200
    try:
        while run.poll() is None and time.monotonic() < deadline:
            jobs = project.jobs()
            # Jobs without another fault.
            chosen = [job for job in jobs if job.rule not in (OVER_MEMORY, OVER_TIME) and job not in deleted.values()]
            for state in {"running", "waiting"} - set(deleted):
                job = next((job for job in chosen if job.state == state), None)
                if job:
                    deleted[state] = job
                    cluster.delete(job)
                    break
            else:
                # Choose a node that has completed a job, so all nodes do some work.
                used = {job.node for job in jobs if job.state == "succeeded"}
                running = [job for job in chosen if job.state == "running" and job.node in used]
                if len(deleted) == 2 and running and not lost and len(cluster.nodes) > 1:
                    job = running[0]
                    cluster.set_down(job.node)
                    position = len(cluster.jobs()) - len(cluster.pending())
                    # A short job may end before its node is down.
                    state = wait_until(lambda job=job: ended(cluster, job), "the end of a job on a node that is down")
                    if state == "lost":
                        lost, lost_position = job, position
                    else:
                        cluster.set_up(job.node)
            time.sleep(0.5)
    finally:
        if run.poll() is None:
            run.kill()
        run.wait()
        if lost:
            cluster.set_up(lost.node)
    return Runs(project, run.returncode, deleted, lost, lost_position)
