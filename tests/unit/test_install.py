"""Check that library and command work after `pip install .`, outside the project's folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_installed_command_runs_elsewhere(tmp_path):
    target = tmp_path / "packages"
    # Dependencies come from this environment, because the test is only about the package itself.
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--target", str(target)]
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv), "pip", "install", "--python", sys.executable, *options[:1], *options[3:], str(ROOT)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PRIVARMS")} | {"PYTHONPATH": str(target)}
    history = tmp_path / "history.csv"
    history.write_text("arm,reward\n" + "0,1\n1,0\n" * 20)

    def run(*words):
        code = "import sys, privarms.command as c; print(c.__file__); sys.exit(c.main())"
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)

    corrected = run("correct", str(history), "--epsilon", "0.1")
    assert corrected.returncode == 0, corrected.stderr
    assert str(target) in corrected.stdout.splitlines()[0]
    assert "40 rounds, 2 arms" in corrected.stdout
    # Without config/ the generic audit of the family runs.
    audited = run("audit", "dp_se", "--trials", "500")
    assert "dp_se, any_choice" in audited.stdout, audited.stderr
    assert (target / "bin" / "privarms").exists()
