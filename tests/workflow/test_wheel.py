"""Check the built wheel outside the project."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from .conftest import ROOT


@pytest.mark.long
def test_the_wheel_audits_a_policy_of_an_extension(tmp_path):
    project, installed = tmp_path / "project", tmp_path / "installed"
    project.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, project)
    shutil.copytree(ROOT / "workflow", project / "workflow", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(project)]
    subprocess.run(build, check=True, timeout=600)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    command = [sys.executable, "-m", "privarms.command", "audit", "private_halving", "--trials", "20"]
    command += ["--extension", str(ROOT / "examples/my_bandits")]
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "not caught: private_halving, any_choice" in done.stdout
