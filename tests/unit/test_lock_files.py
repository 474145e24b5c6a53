"""Check versions in uv.lock, environment.yml and pyproject.toml, and the project's version in all files."""

import re
import tomllib

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from privarms import __version__
from tests import ROOT

# The conda name of the same program.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}
# No conda channel has this package, and only `make` uses it.
BY_MAKE_ONLY = "snakemake-logger-plugin-rich"


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    own = (text for group in ("dev", "slurm", "generic") for text in groups[group])
    texts = [*project["project"]["dependencies"], *own, *extras["crate"]]
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


def test_environment_yml_has_the_ranges_of_pyproject_and_nothing_else():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["crate"]]
    wanted = {CONDA_NAMES.get(one.name, one.name): one.specifier for one in map(Requirement, texts)}
    del wanted[BY_MAKE_ONLY]
    wanted["python"] = SpecifierSet(project["requires-python"])
    lines = [line.split() for line in environment["dependencies"] if line != "pip"]
    assert {name: SpecifierSet(bounds) for name, bounds in lines} == wanted


def test_the_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == __version__
    assert project["license"] == citation["license"] == "MIT"
    image = yaml.safe_load((ROOT / "profiles/kubernetes/config.yaml").read_text(encoding="utf-8"))["container-image"]
    assert image.rpartition(":")[2] == __version__
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version = {{{__version__}}}," in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = [f"3.{n}" for n in range(30) if SpecifierSet(project["requires-python"]).contains(f"3.{n}.0")]
    assert [one.rpartition(" ")[2] for one in project["classifiers"] if ":: Python ::" in one] == allowed
    tested = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    for job in ("test", "resolution"):
        assert tested[job]["strategy"]["matrix"]["python"] == [allowed[0], allowed[-1]]
    assert f"3.1[{allowed[0][-1]}-{allowed[-1][-1]}].*)" in (ROOT / "Makefile").read_text(encoding="utf-8")
