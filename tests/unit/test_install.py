"""Check that all files survive a download, and that library and command work after `pip install .` elsewhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT


def test_no_file_is_a_symbolic_link():
    """Some archives and folders in the cloud lose links."""
    done = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a clone")
    assert [line for line in done.stdout.splitlines() if line.startswith("120000")] == []


@pytest.mark.long
def test_the_installed_command_runs_elsewhere(tmp_path):
    project, target = tmp_path / "project", tmp_path / "packages"
    project.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, project)
    # Files of an earlier installation would hide a file that the package lacks.
    shutil.copytree(ROOT / "workflow", project / "workflow", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    # Dependencies come from this environment, because the test is only about the package itself.
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--python", sys.executable]
    command = [*uv, "--no-deps", "--target", str(target), str(project)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PRIVARMS")} | {"PYTHONPATH": str(target)}
    history = tmp_path / "history.csv"
    history.write_text("arm,reward\n" + "0,1\n1,0\n" * 20)

    def run(*words):
        code = "import sys, privarms.cli.command as c; print(c.__file__); sys.exit(c.main())"
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    corrected = run("correct", str(history), "--epsilon", "0.1")
    assert str(target) in corrected.splitlines()[0]
    assert "40 rounds, 2 arms" in corrected
    # Without config/ the generic audit of the family runs, of a policy of an extension too.
    assert "dp_se, any_choice" in run("audit", "dp_se", "--trials", "500")
    mine = ("--extension", str(ROOT / "examples/my_bandits"))
    assert "not caught: private_halving, any_choice" in run("audit", "private_halving", "--trials", "20", *mine)
    assert (target / "bin" / "privarms").exists()
