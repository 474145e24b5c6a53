"""Start a private Slurm cluster on one machine: a controller and several nodes, one daemon each.

It reads and writes only one folder, so it needs no root and does not disturb a real Slurm.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

# A requeued job waits until its credential expires, by default for two minutes.
CREDENTIAL_SECONDS = 15
CONFIGURATION = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire={credential_seconds}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MailProg=/bin/true
MpiDefault=none
# Without control groups, which an unprivileged container lacks: memory is sampled every second.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
# No accounting. The tests read one line per ended job, with its node and memory.
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed.txt
# squeue must list what has ended for as long as the tests last.
MinJobAge=3600
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=2
KillWait=2
# A node that was set down stays down until it is set up.
ReturnToService=0
{nodes}
PartitionName={partition} Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def wait_until(condition: Callable[[], object], what: str, seconds: float = 120):
    """Return the first true value of a condition; raise TimeoutError if it stays false."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(f"{what}: not within {seconds:g} s")


class Cluster:
    """A cluster of nodes n1, n2, ... with one processor each; all its jobs belong to the caller."""

    def __init__(self, folder: Path, partition: str, nodes: int = 3, memory_mb: int = 16_000):
        self.folder = folder
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self._partition, self._memory = partition, memory_mb
        self._daemons: list[subprocess.Popen] = []
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder}/bin:{os.environ['PATH']}"}

    def start(self) -> None:
        """Start the daemons and wait until all nodes are idle."""
        # munged refuses a socket in a folder that others can write to or cannot enter.
        self.folder.chmod(0o755)
        for name in ("state", "bin", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(mode=0o755)
        ports = free_ports(1 + len(self.nodes))
        host = socket.gethostname().split(".")[0]
        lines = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory={self._memory}"
            for node, port in zip(self.nodes, ports[1:], strict=True)
        ]
        configuration = CONFIGURATION.format(
            host=host,
            user=subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip(),
            folder=self.folder,
            controller_port=ports[0],
            credential_seconds=CREDENTIAL_SECONDS,
            nodes="\n".join(lines),
            partition=self._partition,
        )
        (self.folder / "slurm.conf").write_text(configuration, encoding="utf-8")
        self._keep_the_configuration_in_steps()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        kinds = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
        options = [f"--{option}={self.folder}/munge.{kind}" for option, kind in kinds.items()]
        self._run_daemon("munged", "--foreground", *options)
        wait_until((self.folder / "munge.socket").exists, f"a socket of munged (see {self.folder}/munged.out)", 20)
        self._run_daemon("slurmctld", "-D", "-i")
        for node in self.nodes:
            self._run_daemon("slurmd", "-D", "-N", node)
        wait_until(lambda: set(self.idle()) == set(self.nodes), f"idle nodes (see the logs in {self.folder})")

    def stop(self) -> None:
        """Cancel all jobs, then end the daemons: first the nodes, then the controller."""
        with contextlib.suppress(subprocess.CalledProcessError, TimeoutError):
            identifiers = [job["id"] for job in self.queue("PENDING,RUNNING,COMPLETING,SUSPENDED,CONFIGURING")]
            if identifiers:
                self.call("scancel", *identifiers)
            wait_until(lambda: not self.queue("RUNNING,COMPLETING"), "the end of cancelled jobs", 20)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def call(self, *command: str) -> str:
        """Return the output of one of Slurm's programs."""
        environment = os.environ | self.environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30).stdout

    def idle(self) -> list[str]:
        """Return the idle nodes that can accept jobs."""
        try:
            return self.call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split()
        except subprocess.CalledProcessError:  # the controller does not answer yet
            return []

    def queue(self, states: str = "all") -> list[dict[str, str]]:
        """Return the jobs that squeue lists: id, state, node, comment (the rule)."""
        lines = self.call("squeue", "-h", f"--states={states}", "-o", "%A|%T|%N|%k|%j").splitlines()
        return [dict(zip(("id", "state", "node", "comment", "name"), line.split("|"), strict=True)) for line in lines]

    def completed(self) -> list[dict[str, str]]:
        """Return the completion log: one row per end of a job, with Slurm's names of columns."""
        file = self.folder / "completed.txt"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [dict(part.split("=", 1) for part in line.split() if "=" in part) for line in lines]

    def set_down(self, node: str) -> None:
        """Set a node down; its running jobs are lost."""
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")

    def set_up(self, node: str) -> None:
        """Set a node up again."""
        self.call("scontrol", "update", f"NodeName={node}", "State=RESUME")

    def _run_daemon(self, program: str, *arguments: str) -> None:
        # The daemon ends together with the test process. It ignores Ctrl-C, which the tests handle.
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

    def _keep_the_configuration_in_steps(self) -> None:
        """Write a wrapper of srun that sets SLURM_CONF, which Snakemake's job step removes."""
        wrapper = self.folder / "bin" / "srun"
        wrapper.write_text(
            f'#!/bin/sh\nexport SLURM_CONF="{self.folder}/slurm.conf"\nexec {shutil.which("srun")} "$@"\n',
            encoding="utf-8",
        )
        wrapper.chmod(0o755)


def free_ports(count: int) -> list[int]:
    """Return free ports."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
