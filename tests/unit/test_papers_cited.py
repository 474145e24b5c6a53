"""references.bib and CITATION.cff name what the library, the configuration and the pages cite."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_the_versions_agree():
    import tomllib

    from privarms import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == __version__
    assert project["license"] == citation["license"] == "MIT"
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
