"""Check the Makefile: its help, the Python that it refuses, and the processors that it uses."""

import os
import re
import shutil
import subprocess

import pytest

from tests import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
# Without the variables of a `make` that runs these tests.
OTHERS = ("CORES", "MAKEFLAGS", "MAKELEVEL", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT")
PLAIN = {k: v for k, v in os.environ.items() if k not in OTHERS}


def test_make_help_lists_every_target():
    (targets,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    done = subprocess.run(["make", "help"], cwd=ROOT, env=PLAIN, capture_output=True, text=True)
    assert sorted(line.split()[1] for line in done.stdout.splitlines()) == sorted(targets.split())


@pytest.mark.parametrize("version", ["3.10.19", "3.15.0", None])
def test_make_refuses_another_python_in_one_line(tmp_path, version):
    shutil.copy2(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "uv.lock"):
        (tmp_path / name).touch()
    python = tmp_path / "python"
    if version:
        python.write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
        python.chmod(0o755)
    command = ["make", "environment", f"PYTHON={python}"]
    done = subprocess.run(command, cwd=tmp_path, env=PLAIN, capture_output=True, text=True)
    assert done.returncode == 2
    line, by_make = done.stderr.splitlines()
    assert line.startswith(f"privarms needs Python 3.11 to 3.14; {python} is {version or 'missing'}. ")
    assert by_make.startswith("make: ***")


def cores(*variables, processors=None, **environment):
    """Return the number of cores that `make quick` gives to Snakemake."""
    done = subprocess.run(
        ["make", "-n", "quick", *variables],
        cwd=ROOT,
        env=PLAIN | environment,
        preexec_fn=processors and (lambda: os.sched_setaffinity(0, processors)),
        capture_output=True,
        text=True,
        check=True,
    )
    (found,) = re.findall(r"bin/snakemake --cores (\d+) ", done.stdout)
    return int(found)


@pytest.fixture
def allowed():
    """Return the processors that the tests may use; at least two, of a container without a limit."""
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor, or a system without affinity")
    return os.sched_getaffinity(0)


def test_make_uses_the_processors_that_it_may_use(allowed):
    one, *_ = allowed
    assert cores("LIMIT=", processors={one}) == 1
    assert cores("LIMIT=") == len(allowed)
    # This variable is about threads of linear algebra.
    assert cores("LIMIT=", OMP_NUM_THREADS="1") == len(allowed)


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (["max 100000"], None),
        (["100000 100000"], 1),
        (["10000 100000"], 1),
        (["150000 100000"], 2),
        (["900000 1000"], None),
        (["-1", "100000"], None),
        (["1000", "1000"], 1),
    ],
)
def test_make_uses_no_more_than_the_limit_of_its_container(tmp_path, allowed, contents, expected):
    files = [tmp_path / str(number) for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_text(f"{content}\n")
    assert cores(f"LIMIT={tmp_path / 'gone'} {' '.join(map(str, files))}") == (expected or len(allowed))


def test_a_user_may_choose_another_number():
    assert cores("CORES=7") == cores(CORES="7") == 7
