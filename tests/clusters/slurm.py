"""A private Slurm on one machine: a controller and several nodes, one daemon each.

It reads and writes only one folder, so it needs no root and does not disturb a real Slurm.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import yaml

from tests import ROOT

from .cluster import HOST, Cluster, Job, free_ports, wait_until

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


PROFILE = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))


class Slurm(Cluster):
    """Nodes n1, n2, ... with one processor each."""

    PROFILE = "slurm"
    OPTIONS = (
        "--slurm-keep-successful-logs",
        *("--slurm-init-seconds-before-status-checks", "4", "--seconds-between-status-checks", "4"),
    )
    SUBMITTED = r"Job (\d+) has been submitted with SLURM jobid (\d+)"
    OVER_MEMORY = "exceeded memory limit"
    REFUSED = (("--default-resources", "slurm_partition=nowhere"), "invalid partition specified: nowhere")

    def __init__(self, folder: Path, nodes: int = 3, memory_mb: int = 16_000):
        super().__init__(folder)
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self._memory = memory_mb
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder}/bin:{os.environ['PATH']}"}

    def start(self) -> None:
        # munged refuses a socket in a folder that others can write to or cannot enter.
        self.folder.chmod(0o755)
        for name in ("state", "bin", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(mode=0o755)
        ports = free_ports(1 + len(self.nodes))
        lines = [
            f"NodeName={node} NodeHostname={HOST} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory={self._memory}"
            for node, port in zip(self.nodes, ports[1:], strict=True)
        ]
        configuration = CONFIGURATION.format(
            host=HOST,
            user=subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip(),
            folder=self.folder,
            controller_port=ports[0],
            credential_seconds=CREDENTIAL_SECONDS,
            nodes="\n".join(lines),
            partition=PROFILE["default-resources"]["slurm_partition"],
        )
        (self.folder / "slurm.conf").write_text(configuration, encoding="utf-8")
        self._keep_the_configuration_in_steps()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        kinds = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
        options = [f"--{option}={self.folder}/munge.{kind}" for option, kind in kinds.items()]
        self.run_daemon("munged", "--foreground", *options)
        wait_until((self.folder / "munge.socket").exists, f"a socket of munged (see {self.folder}/munged.out)", 20)
        self.run_daemon("slurmctld", "-D", "-i")
        for node in self.nodes:
            self.run_daemon("slurmd", "-D", "-N", node)
        wait_until(lambda: set(self._idle()) == set(self.nodes), f"idle nodes (see the logs in {self.folder})")

    def jobs(self) -> list[Job]:
        queue = self._queue()
        states = {"PENDING": "waiting", "CONFIGURING": "waiting"}
        states |= dict.fromkeys(("RUNNING", "COMPLETING", "SUSPENDED"), "running")
        pending = [
            Job(one["id"], one["rule"], states[one["state"]], one["node"])
            for one in queue.values()
            if one["state"] in states
        ]
        return [*self._ended({one["id"]: one["rule"] for one in queue.values()}), *pending]

    def delete(self, *jobs: Job) -> None:
        self.call("scancel", *(job.id for job in jobs))

    def log(self, project: Path, job: Job) -> str:
        (log,) = (project / PROFILE["slurm-logdir"]).rglob(f"{job.id}.log")
        return log.read_text(encoding="utf-8")

    def set_down(self, node: str) -> None:
        """Set a node down; its running jobs are lost."""
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")

    def set_up(self, node: str) -> None:
        """Set a node up again."""
        self.call("scontrol", "update", f"NodeName={node}", "State=RESUME")

    def _idle(self) -> Sequence[str]:
        try:
            return self.call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split()
        except subprocess.CalledProcessError:  # the controller does not answer yet
            return []

    def _queue(self) -> dict[str, dict[str, str]]:
        """Return what squeue lists, ended jobs included: id -> id, state, node, rule."""
        lines = self.call("squeue", "-h", "--states=all", "-o", "%A|%T|%N|%k").splitlines()
        rows = [dict(zip(("id", "state", "node", "rule"), line.split("|"), strict=True)) for line in lines]
        # The plugin writes the rule and its wildcards as the comment.
        return {row["id"]: row | {"rule": re.match(r"rule_(.+?)(_wildcards_|$)", row["rule"])[1]} for row in rows}

    def _ended(self, rules: dict[str, str]) -> list[Job]:
        """Return the completion log: one row per end of a job, also before it returned to the queue."""
        file = self.folder / "completed.txt"
        states = {"COMPLETED": "succeeded", "NODE_FAIL": "lost"}
        ended = []
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
            row = dict(part.split("=", 1) for part in line.split() if "=" in part)
            amount, unit = re.search(r"mem=([\d.]+)([MG])", row["Tres"]).groups()
            memory = round(float(amount) * {"M": 1, "G": 1024}[unit])
            state = states.get(row["JobState"], "failed")
            ended.append(Job(row["JobId"], rules[row["JobId"]], state, row["NodeList"], memory, int(row["TimeLimit"])))
        return ended

    def _keep_the_configuration_in_steps(self) -> None:
        """Write a wrapper of srun that sets SLURM_CONF, which Snakemake's job step removes."""
        wrapper = self.folder / "bin" / "srun"
        wrapper.write_text(
            f'#!/bin/sh\nexport SLURM_CONF="{self.folder}/slurm.conf"\nexec {shutil.which("srun")} "$@"\n',
            encoding="utf-8",
        )
        wrapper.chmod(0o755)
