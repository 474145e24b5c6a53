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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="jobs are forked on Linux")
@pytest.mark.parametrize(("variable", "forked"), [("1", True), ("0", False)])
def test_jobs_are_forked_unless_the_environment_variable_forbids_it(tmp_path, variable, forked):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (tmp_path / "scripts/job.py").write_text(SCRIPT, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PRIVARMS_FORKSERVER": variable}
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "job"]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert f"used: {forked}\n" in run.stderr, run.stderr
    assert (tmp_path / "forked.txt").read_text(encoding="utf-8") == f"{forked}\n"
