"""Check versions in uv.lock, environment.yml and pyproject.toml, and the project's version in all files."""

import re
import tomllib

import yaml
from packaging.requirements import Requirement

from privarms import __version__
from tests import ROOT

# The conda name of the same program.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    texts = [*project["project"]["dependencies"], *groups["dev"], *groups["slurm"], *extras["crate"]]
    return [Requirement(text) for text in texts]


def locked() -> dict[str, str]:
    packages = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    return {package["name"]: package.get("version") for package in packages}


def test_the_locked_versions_are_in_the_ranges_of_pyproject():
    versions = locked()
    assert [str(one) for one in wanted() if not one.specifier.contains(versions[one.name])] == []


def test_the_snakefile_asks_for_the_lowest_version_in_pyproject():
    (asked,) = re.findall(r'(?m)^min_version\("(.*)"\)$', (ROOT / "workflow/Snakefile").read_text(encoding="utf-8"))
    (snakemake,) = (one for one in wanted() if one.name == "snakemake")
    assert f">={asked}" in map(str, snakemake.specifier)


def test_environment_yml_holds_the_locked_versions_and_nothing_else():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    # pip installs packages that are in no channel.
    *lines, by_pip = [line for line in environment["dependencies"] if line != "pip"]
    lines += by_pip["pip"]
    versions = dict(re.fullmatch(r"(\S+) =?=?(\S+)", line).groups() for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert versions.pop("python") == project["project"]["requires-python"]
    assert versions == {CONDA_NAMES.get(one.name, one.name): locked()[one.name] for one in wanted()}


def test_the_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == __version__
    assert project["license"] == citation["license"] == "MIT"
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
