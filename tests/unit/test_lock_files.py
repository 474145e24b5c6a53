"""pyproject.toml, uv.lock and environment.yml hold the same versions."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
# The same program under the name that conda gives it.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}


def pinned() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = project["project"]["dependencies"] + groups["dev"] + groups["slurm"]
    wanted += [w for extra in project["project"]["optional-dependencies"].values() for w in extra]
    return dict(w.split("==") for w in wanted)


def locked() -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]:
        versions.setdefault(package["name"], set()).add(package.get("version"))
    return versions


def test_pyproject_pins_what_the_lock_file_holds():
    versions = locked()
    assert {name: versions[name] for name in pinned()} == {name: {version} for name, version in pinned().items()}


def test_environment_yml_holds_the_locked_versions_and_nothing_else():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    # A package that no channel has is installed by pip.
    *lines, by_pip = [line for line in environment["dependencies"] if line != "pip"]
    lines += by_pip["pip"]
    found = dict(re.fullmatch(r"(\S+) =?=?(\S+)", line).groups() for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found.pop("python") == project["project"]["requires-python"]
    assert found == {CONDA_NAMES.get(name, name): version for name, version in pinned().items()}


def test_the_makefile_s_uv_can_read_the_lock_file():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    uv = re.search(r"UV_VERSION := ([\d.]+)", makefile).group(1)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    least = project["tool"]["uv"]["required-version"].removeprefix(">=")
    assert tuple(map(int, uv.split("."))) >= tuple(map(int, least.split(".")))
