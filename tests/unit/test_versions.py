"""pyproject.toml, CITATION.cff, CHANGELOG.md and the library name one version and licence."""

import tomllib
from pathlib import Path

import yaml

from privarms import __version__

ROOT = Path(__file__).parents[2]


def test_the_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == __version__
    assert project["license"] == citation["license"] == "MIT"
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
