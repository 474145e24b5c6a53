"""`make environment` repairs what was broken off: here with a Python that makes small environments, and a uv that notes
how it was called."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = re.search(r"UV_VERSION := ([\d.]+)", (ROOT / "Makefile").read_text(encoding="utf-8")).group(1)
# `-m venv FOLDER` makes an environment whose pip and uv are a few lines; KILL names the stage at which it is killed.
PYTHON = f"""#!{sys.executable}
import os, pathlib, signal, sys, venv
if sys.argv[1:3] != ["-m", "venv"]:
    os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])
place = pathlib.Path(sys.argv[3])
venv.create(place, symlinks=True)
if os.environ.get("KILL") == "venv":
    os.kill(os.getpid(), signal.SIGKILL)
(site,) = place.glob("lib/python*/site-packages")
(site / "pip.py").write_text("print('pip 1.0')")
uv = place / "bin" / "uv"
uv.write_text('''#!/bin/sh
test "$1" = --version && echo "uv {UV} (abc)" && exit
echo "$@" >> calls
test "$KILL" != sync || kill -9 $$
''')
uv.chmod(0o755)
"""


@pytest.fixture
def make(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for file in ("Makefile", "pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / file, tmp_path / file)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)

    def run(**environment):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "PYTHON"))}
        done = subprocess.run(
            ["make", f"PYTHON={python}", "environment"],
            cwd=tmp_path,
            env=kept | environment,
            capture_output=True,
            text=True,
        )
        return done.returncode == 0

    def calls():
        place = tmp_path / "calls"
        found = place.read_text().splitlines() if place.exists() else []
        place.unlink(missing_ok=True)
        return ["--reinstall" in line.split() for line in found]

    run.calls = calls
    run.venv = tmp_path / ".venv"
    return run


def test_an_environment_is_made_once(make):
    assert make()
    assert make.calls() == [False]
    assert make()
    assert make.calls() == []


def test_one_that_was_killed_before_pip_was_there_is_made_anew(make):
    assert not make(KILL="venv")
    assert (make.venv / "bin" / "python").exists()
    assert make()
    assert make.calls() == [False]
    # As an earlier Makefile left it, without a mark.
    shutil.rmtree(make.venv)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", make.venv], check=True)
    assert make()
    assert make.calls() == [False]


def test_one_whose_pip_may_be_half_there_is_made_anew(make):
    assert make()
    (make.venv / ".locked").unlink()
    (make.venv / ".begun").touch()
    (make.venv / "left").touch()
    assert make()
    assert not (make.venv / "left").exists()


IMPORTS = "snakemake.cli, numba, pandas, pyarrow.parquet, scipy.integrate, scipy.optimize, scipy.signal, scipy.stats"
IMPORTS += ", snakemake_logger_plugin_rich"
IMPORTS += ", matplotlib.pyplot, matplotlib.backends.backend_pdf, matplotlib.backends.backend_svg, jinja2, jsonschema"


def test_what_runs_import_is_compiled_in_advance():
    """Where Python may not write what it compiles, every process would compile it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (left_out,) = re.findall(r"-x '(.*)'", text)
    program = f"import sys, {IMPORTS}\nprint(*(getattr(m, '__file__', None) or '' for m in list(sys.modules.values())))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    installed = [path.split("site-packages", 1)[1] for path in said.split() if "site-packages" in path]
    assert len(installed) > 1000
    assert [path for path in installed if re.search(left_out, path)] == []


def test_packages_that_may_be_half_there_are_installed_again(make):
    assert not make(KILL="sync")
    assert make()
    assert make.calls() == [False, True]
    # A whole environment is brought up to date and keeps what else is in it.
    (make.venv / "left").touch()
    os.utime(make.venv / ".locked", (0, 0))
    assert make()
    assert make.calls() == [False]
    assert (make.venv / "left").exists()
