"""What a private cluster on one machine offers to the tests, whichever scheduler it runs."""

import contextlib
import os
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HOST = socket.gethostname().split(".")[0]


@dataclass(frozen=True)
class Job:
    """One attempt of a job that waits, runs or has ended."""

    id: str
    rule: str
    state: str  # waiting, running, succeeded, lost (with its node) or failed (also: was deleted)
    node: str
    memory_mb: int = 0  # what it asked for; 0 before its end
    minutes: int = 0  # the limit of its run time; 0 before its end


class Cluster(ABC):
    """A scheduler whose daemons, files and jobs belong to the caller, in one folder."""

    PROFILE: str  # the folder in profiles/
    OPTIONS: Sequence[str] = ()  # options of Snakemake that make the tests faster
    SUBMITTED: str  # a regular expression for Snakemake's message: its own number of the job, the scheduler's number
    OVER_MEMORY: str  # what the log of a job that needs too much memory says
    REFUSED: tuple[Sequence[str], str]  # options that the scheduler refuses, and its message
    environment: dict[str, str]  # variables of all programs that use the cluster
    nodes: Sequence[str]

    def __init__(self, folder: Path):
        self.folder = folder
        self._daemons: list[subprocess.Popen] = []

    @abstractmethod
    def start(self) -> None:
        """Start the daemons and wait until all nodes are idle."""

    @abstractmethod
    def jobs(self) -> list[Job]:
        """Return all jobs, in the order of their ends; those that have not ended come last."""

    @abstractmethod
    def delete(self, *jobs: Job) -> None:
        """Delete jobs, as their owner or an operator does."""

    @abstractmethod
    def log(self, project: Path, job: Job) -> str:
        """Return the scheduler's log of a job."""

    def pending(self) -> list[Job]:
        """Return the jobs that have not ended."""
        return [job for job in self.jobs() if job.state in ("waiting", "running")]

    def stop(self) -> None:
        """Delete all jobs, then end the daemons: first the nodes, then the controller."""
        with contextlib.suppress(subprocess.SubprocessError, TimeoutError):
            pending = self.pending()
            if pending:
                self.delete(*pending)
            wait_until(lambda: not self.pending(), "the end of deleted jobs", 20)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def call(self, *command: str) -> str:
        """Return the output of one of the scheduler's programs."""
        environment = os.environ | self.environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30).stdout

    def run_daemon(self, program: str, *arguments: str) -> None:
        """Start a daemon that ends together with the tests and ignores Ctrl-C, which the tests handle."""
        command = ["setpriv", "--pdeathsig", "TERM", program, *arguments]
        with (self.folder / f"{program}.out").open("ab") as log:
            daemon = subprocess.Popen(
                command,
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._daemons.append(daemon)


def wait_until(condition: Callable[[], object], what: str, seconds: float = 120):
    """Return the first true value of a condition; raise TimeoutError if it stays false."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(f"{what}: not within {seconds:g} s")


def free_ports(count: int) -> list[int]:
    """Return free ports."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
