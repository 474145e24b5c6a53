"""Check the profiles: known options, the default profile's options in those of clusters, the states of jobs."""

import os
import subprocess
import time

import pytest
import yaml
from snakemake.cli import get_argument_parser

from tests import ROOT

PROFILES = {
    file.parent.name: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in (ROOT / "profiles").glob("*/config.yaml")
}
CLUSTERS = sorted(set(PROFILES) - {"default"})


@pytest.mark.parametrize("name", PROFILES)
def test_every_key_is_an_option_of_snakemake_or_of_the_executor(name):
    # Snakemake refuses unknown keys, but only when it uses the profile.
    options = {o.removeprefix("--") for action in get_argument_parser()._actions for o in action.option_strings}
    executor = PROFILES[name].get("executor")
    assert executor == {"default": None, "generic": "cluster-generic"}.get(name, name)
    own = {key for key in PROFILES[name] if executor and key.startswith(f"{executor}-")}
    assert set(PROFILES[name]) - own <= options


# Options of the default profile that are missing or different in those of clusters.
ALONE = ("quiet", "keep-going", "max-jobs-per-timespan")


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_s_profile_says_what_the_default_one_says(name):
    # Snakemake reads a single workflow profile and then ignores the default one.
    # On a cluster, a fault that all jobs may have stops the run, and jobs are submitted more slowly.
    default = {key: value for key, value in PROFILES["default"].items() if key not in ALONE}
    assert default.items() <= PROFILES[name].items()
    assert PROFILES[name]["max-jobs-per-timespan"].endswith("/30s")
    # With `quiet: rules` Snakemake does not show why a job could not be submitted.
    assert PROFILES[name]["quiet"] == ["host"]


LISTED = "echo 'usage 1: cpu=00:00:01'"
REFUSED = "echo 'error reason    1: cannot write its log'"
GONE = "echo 'Following jobs do not exist:' >&2; exit 1"
SILENT = "echo 'error: unable to send message to qmaster' >&2; exit 1"
UNKNOWN = "echo 'error: job id 7 not found' >&2; exit 1"


def account(failed: str, status: int) -> str:
    """Return a command that prints the account of a job."""
    return f"printf 'jobname      x\\nfailed       {failed}\\nexit_status  {status}\\n'"


@pytest.mark.parametrize(
    ("qstat", "qacct", "seconds_ago", "state"),
    [
        (LISTED, UNKNOWN, 0, "running"),
        (REFUSED, UNKNOWN, 0, "failed"),
        (SILENT, UNKNOWN, 0, "running"),
        (SILENT, UNKNOWN, 600, "running"),
        (GONE, UNKNOWN, 0, "running"),
        (GONE, UNKNOWN, 600, "failed"),
        (GONE, account("0", 0), 600, "success"),
        (GONE, account("0", 1), 0, "failed"),
        (GONE, account("100 : assumedly after job", 137), 0, "failed"),
        (GONE, account("37  : qmaster enforced h_rt, h_cpu, or h_vmem limit", 0), 0, "failed"),
        # Grid Engine started the job a second time.
        (GONE, f"{account('25  : rescheduling', 0)}; {account('0', 0)}", 0, "success"),
    ],
)
def test_the_state_of_a_job_of_grid_engine(tmp_path, qstat, qacct, seconds_ago, state):
    for name, text in {"qstat": qstat, "qacct": qacct, "qdel": "echo $1 >> deleted"}.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    (tmp_path / "logs/sge").mkdir(parents=True)
    if seconds_ago:
        # An earlier call found that the job was not listed.
        (tmp_path / "logs/sge/7.unknown").touch()
        os.utime(tmp_path / "logs/sge/7.unknown", (time.time() - seconds_ago,) * 2)
    done = subprocess.run(
        ["sh", ROOT / "profiles/generic/status.sh", "7"],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, f"{state}\n"), done.stderr
    # A job that can never start must not stay in the queue.
    assert (tmp_path / "deleted").exists() == (qstat == REFUSED)
