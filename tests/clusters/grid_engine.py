"""A private Grid Engine on one machine: a master and one execution host with several slots, without systemd.

It uses Debian's programs, and reads and writes only one folder, so it does not disturb a real Grid Engine.
"""

import getpass
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from .cluster import HOST, Cluster, Job, free_ports, wait_until

INSTALLED = Path("/var/lib/gridengine")  # links to the programs
SPOOL = Path("/usr/lib/gridengine")  # the programs that create a cluster
DEFAULTS = Path("/usr/share/gridengine")
QUEUE = "main.q"
BOOTSTRAP = """\
admin_user none
default_domain none
ignore_fqdn true
spooling_method berkeleydb
spooling_lib libspoolb
spooling_params {folder}/spooldb
binary_path /usr/sbin
qmaster_spool_dir {folder}/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
"""
# What differs from Debian's configuration: own folders, any user, no mail, and no waiting for the tests.
CHANGED = {
    "execd_spool_dir": "{folder}/execd",
    "min_uid": "0",
    "min_gid": "0",
    "mailer": "/bin/true",
    "load_report_time": "00:00:01",
    "reporting_params": "accounting=true reporting=false flush_time=00:00:01 joblog=false sharelog=00:00:00",
}
# /bin/csh is what many sites have.
QUEUE_VALUES = {
    **{"seq_no": "0", "nsuspend": "1", "suspend_interval": "00:05:00", "priority": "0", "min_cpu_interval": "00:05:00"},
    **{"processors": "UNDEFINED", "qtype": "BATCH", "rerun": "FALSE", "tmpdir": "/tmp", "shell": "/bin/csh"},
    **{"shell_start_mode": "posix_compliant", "notify": "00:00:60", "initial_state": "default"},
}
QUEUE_NONE = (
    "load_thresholds suspend_thresholds ckpt_list pe_list prolog epilog starter_method suspend_method resume_method "
    "terminate_method owner_list user_lists xuser_lists subordinate_list complex_values projects xprojects calendar"
)
LIMITS = ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")
SCHEDULER = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}


class GridEngine(Cluster):
    """One host with three slots."""

    PROFILE = "generic"
    OPTIONS = ("--seconds-between-status-checks", "4")
    SUBMITTED = r"Submitted job (\d+) with external jobid '(\d+)'"
    OVER_MEMORY = "MemoryError"
    REFUSED = (
        ("--cluster-generic-submit-cmd", "qsub -terse -l nothing=1"),
        'unknown resource "nothing"',
    )

    def __init__(self, folder: Path, slots: int = 3):
        super().__init__(folder)
        self.nodes = [HOST]
        self._slots = slots
        master, host = free_ports(2)
        self.environment = {
            "SGE_ROOT": str(folder / "root"),
            "SGE_CELL": "default",
            "SGE_QMASTER_PORT": str(master),
            "SGE_EXECD_PORT": str(host),
            "SGE_ND": "1",  # daemons stay in the foreground
        }

    def start(self) -> None:
        common = self.folder / "root" / "default" / "common"
        for folder in (common, *(self.folder / name for name in ("spooldb", "qmaster/job_scripts", "execd"))):
            folder.mkdir(parents=True)
        for part in ("bin", "lib", "util", "utilbin"):
            (self.folder / "root" / part).symlink_to(INSTALLED / part)
        (common / "bootstrap").write_text(BOOTSTRAP.format(folder=self.folder), encoding="utf-8")
        (common / "act_qmaster").write_text(f"{HOST}\n", encoding="utf-8")
        # The address 127.0.0.1 is localhost in most files /etc/hosts, and Grid Engine compares names of hosts.
        (common / "host_aliases").write_text(f"{HOST} localhost\n", encoding="utf-8")
        self._create()
        self.run_daemon("sge_qmaster")
        wait_until(
            lambda: HOST in self._listed("-sh"), f"an answer of the master (see {self.folder}/qmaster/messages)", 30
        )
        self.call("qconf", "-as", HOST)
        scheduler = self._write("scheduler", changed(self.call("qconf", "-ssconf"), SCHEDULER))
        self.call("qconf", "-Msconf", scheduler)
        self.run_daemon("sge_execd")
        wait_until(lambda: HOST in self._listed("-sel"), f"a host (see {self.folder}/execd/*/messages)", 60)
        self.call("qconf", "-Aq", self._write("queue", listed(self._queue())))
        # A host that has reported no load yet has none in the last columns.
        idle = rf"^{re.escape(QUEUE)}@\S+ +\S+ +0/0/{self._slots} +[\d.]+ +\S+ *$"
        wait_until(lambda: re.search(idle, self.call("qstat", "-f"), re.MULTILINE), "an idle queue", 60)

    def jobs(self) -> list[Job]:
        queue = ElementTree.fromstring(self.call("qstat", "-u", "*", "-xml")).iter("job_list")
        pending = [
            Job(
                one.findtext("JB_job_number"),
                rule(one.findtext("JB_name")),
                "waiting" if one.get("state") == "pending" else "running",
                node=(one.findtext("queue_name") or "").partition("@")[2],
            )
            for one in queue
        ]
        ended = self._ended()
        # qstat lists an ended job for some seconds.
        return [*ended, *(job for job in pending if job.id not in {one.id for one in ended})]

    def delete(self, *jobs: Job) -> None:
        self.call("qdel", *(job.id for job in jobs))

    def log(self, project: Path, job: Job) -> str:
        (log,) = (project / "logs" / "sge").glob(f"*.o{job.id}")
        return log.read_text(encoding="utf-8")

    def _ended(self) -> list[Job]:
        ended = []
        for row in self._accounts():
            limits = dict(one.split("=") for one in re.search(r"-l (\S+)", row[39])[1].split(","))
            memory, minutes = int(limits["h_vmem"].removesuffix("M")), int(limits["h_rt"]) // 60
            state = "succeeded" if row[11:13] == ["0", "0"] else "failed"
            ended.append(Job(row[5], rule(row[4]), state, row[1], memory, minutes))
        return ended

    def _accounts(self) -> list[list[str]]:
        """Return the fields of the accounting file; man 5 sge_accounting numbers them from 1."""
        file = self.folder / "root" / "default" / "common" / "accounting"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [line.split(":") for line in lines if not line.startswith("#")]

    def _create(self) -> None:
        """Write the database of a cluster without hosts."""
        configuration = (DEFAULTS / "default-configuration").read_text(encoding="utf-8")
        values = {key: value.format(folder=self.folder) for key, value in CHANGED.items()}
        self.call(str(SPOOL / "spoolinit"), "berkeleydb", "libspoolb", f"{self.folder}/spooldb", "init")
        for kind, source in (
            ("configuration", self._write("configuration", changed(configuration, values))),
            ("complexes", str(DEFAULTS / "util/resources/centry")),
            ("usersets", str(DEFAULTS / "util/resources/usersets")),
            ("managers", getpass.getuser()),
        ):
            self.call(str(SPOOL / "spooldefaults"), kind, source)

    def _queue(self) -> dict[str, str]:
        queue = {"qname": QUEUE, "hostlist": HOST, "slots": str(self._slots)} | QUEUE_VALUES
        queue |= dict.fromkeys(QUEUE_NONE.split(), "NONE")
        return queue | {f"{kind}_{limit}": "INFINITY" for limit in LIMITS for kind in "sh"}

    def _write(self, name: str, text: str) -> str:
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def _listed(self, option: str) -> list[str]:
        """Return a list of the configuration, or nothing while the master does not answer."""
        try:
            return self.call("qconf", option).split()
        except subprocess.CalledProcessError:
            return []


def rule(name: str) -> str:
    """Return the rule of a job with the name RULE.NUMBER."""
    return name.partition(".")[0]


def listed(values: dict[str, str]) -> str:
    """Return a configuration in Grid Engine's format."""
    return "".join(f"{key} {value}\n" for key, value in values.items())


def changed(text: str, values: dict[str, str]) -> str:
    """Return a configuration in Grid Engine's format with other values of some keys."""
    for key, value in values.items():
        text, count = re.subn(rf"^{key}\s.*", f"{key} {value}", text, flags=re.MULTILINE)
        assert count == 1, key
    return text
