"""Check the container recipes: same content, versions of the lock file, and existing files."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests import ROOT

DOCKER = (ROOT / "containers" / "Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "containers" / "privarms.def").read_text(encoding="utf-8")
HOME = "/opt/privarms"


def section(name: str) -> list[str]:
    """Return the lines of a section of the Apptainer recipe."""
    (text,) = re.findall(rf"^%{name}\n((?:    .*\n|\n)*)", APPTAINER, re.MULTILINE)
    return [line.strip() for line in text.splitlines() if line.strip()]


def copied_by_docker() -> set[str]:
    actual = set()
    for line in re.findall(r"^COPY (.*)$", DOCKER, re.MULTILINE):
        *sources, target = line.split()
        # COPY puts the content of a folder into the target, but a file under its own name.
        first = Path(sources[0])
        assert target == (sources[0] if (ROOT / first).is_dir() else f"{first.parent}/" if first.parent.name else "./")
        actual |= set(sources)
    return actual


def copied_by_apptainer() -> set[str]:
    pairs = [line.split() for line in section("files")]
    for source, target in pairs:
        folder = Path(source).parent
        assert target == (f"{HOME}/" if folder == Path(".") else f"{HOME}/{folder}/")
    return {source for source, _ in pairs}


def test_both_recipes_hold_the_same():
    assert re.search(r"^FROM (.*)$", DOCKER, re.MULTILINE)[1] == re.search(r"^From: (.*)$", APPTAINER, re.MULTILINE)[1]
    assert copied_by_docker() == copied_by_apptainer()
    assert re.findall(r"^RUN (.*)$", DOCKER, re.MULTILINE) == [s for s in section("post") if s != f"cd {HOME}"]
    assert f"WORKDIR {HOME}\nCOPY" in DOCKER
    (path,) = section("environment")
    assert re.search(r"^ENV (.*)$", DOCKER, re.MULTILINE)[1] == path.removeprefix("export ")


def test_the_base_image_has_a_python_that_the_lock_file_is_for():
    locked = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["requires-python"]
    least, below = re.fullmatch(r">=3\.(\d+), ?<3\.(\d+)", locked).groups()
    minor = re.search(r"^FROM python:3\.(\d+)-slim-\w+$", DOCKER, re.MULTILINE)[1]
    assert int(least) <= int(minor) < int(below)


@pytest.fixture
def copied(tmp_path) -> Path:
    """Return a folder with the files that the recipes copy."""
    for name in copied_by_docker():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


def test_what_is_copied_is_enough_to_plan_the_environment(copied):
    done = subprocess.run(["make", "-n", "environment"], cwd=copied, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "uv sync --frozen" in done.stdout
    project = tomllib.loads((copied / "pyproject.toml").read_text(encoding="utf-8"))
    assert (copied / project["project"]["readme"]).is_file()
    assert (copied / project["tool"]["setuptools"]["packages"]["find"]["where"][0] / "privarms").is_dir()
