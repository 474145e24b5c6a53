"""Check that Snakemake starts local jobs as forks of a process that has imported the library."""

import os
import subprocess
import sys

import pytest

SNAKEFILE = """
import sys
from privarms.runner import forkserver

onstart:
    print("used:", forkserver.use(workflow.basedir + "/scripts"), file=sys.stderr)

rule job:
    output: "forked.txt"
    script: "scripts/job.py"
"""
SCRIPT = """
import sys
with open(snakemake.output[0], "w") as file:
    print("privarms.runner.preloaded" in sys.modules, file=file)
"""


pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jobs are forked on Linux")


def run(folder, script, variable="1", **variables):
    """Run a job with a script and environment variables, and return the finished process of Snakemake."""
    (folder / "scripts").mkdir()
    (folder / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (folder / "scripts/job.py").write_text(script, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PRIVARMS_FORKSERVER": variable, **variables}
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "job"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(("variable", "forked"), [("1", True), ("0", False)])
def test_jobs_are_forked_unless_the_environment_variable_forbids_it(tmp_path, variable, forked):
    done = run(tmp_path, SCRIPT, variable)
    assert f"used: {forked}\n" in done.stderr, done.stderr
    assert (tmp_path / "forked.txt").read_text(encoding="utf-8") == f"{forked}\n"


def test_a_path_of_tmpdir_too_long_for_a_socket_only_prevents_forks(tmp_path):
    place = tmp_path / ("t" * 110)
    place.mkdir()
    done = run(tmp_path, SCRIPT, TMPDIR=str(place))
    assert done.returncode == 0, done.stderr
    assert "used: False\n" in done.stderr
    assert (tmp_path / "forked.txt").read_text(encoding="utf-8") == "False\n"


def test_an_interrupted_job_prints_no_traceback(tmp_path):
    # A background process of a shell without job control ignores the signal.
    handled = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    done = run(tmp_path, f"import signal\n{handled}\nsignal.raise_signal(signal.SIGINT)\n")
    assert done.returncode == 1
    assert "non-zero exit status 130" in done.stderr
    assert "Traceback" not in done.stderr
