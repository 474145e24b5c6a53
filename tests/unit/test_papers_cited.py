"""references.bib and CITATION.cff name what the library, the configuration and the pages cite."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"@(\w+)\{(\w+),\n(.*?)\n\}\n", re.DOTALL)
FIELD = re.compile(r"^  (\w+) *= \{(.*)\},?$")
PLACES = ("workflow/privarms/**/*.py", "config/**/*.yaml", "docs/*.md", "README.md", "data/*.*")
SURNAME = r"\b(?:[A-Z][a-z]+-?)*[A-Z][a-z]+"
CITED = re.compile(rf"({SURNAME})(?:(?:, {SURNAME})*,? (?:&|and) {SURNAME}| et al\.),? \(?((?:19|20)\d\d)\b")


def entries():
    """key -> fields of every entry."""
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    return {key: dict(FIELD.match(line).groups() for line in body.splitlines()) for _, key, body in ENTRY.findall(text)}


def test_every_entry_is_whole():
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    found = entries()
    assert len(found) == text.count("\n@")
    assert list(found)[4:] == sorted(list(found)[4:], key=lambda key: (key not in ("azize2022", "azize2025"), key))
    for key, fields in found.items():
        assert {"author", "title", "year"} <= set(fields), key
        assert key.endswith(fields["year"]), key
        assert key.startswith(re.sub(r"[^a-z]", "", plain(fields["author"].split(",")[0]).lower())), key
        assert all(value.count("{") == value.count("}") for value in fields.values()), key


def plain(text):
    """Without TeX's accents."""
    return re.sub(r"\{\\.\{?(\w)\}?\}", r"\1", text)


@pytest.mark.parametrize("place", PLACES)
def test_whatever_is_cited_stands_there(place):
    known = {(plain(f["author"].split(",")[0]), f["year"]) for f in entries().values()}
    missing = set()
    for file in ROOT.glob(place):
        text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
        missing |= {(name, year) for name, year in CITED.findall(text) if (name, year) not in known}
    assert missing == set()


def test_the_papers_that_are_re_run_are_cited_by_their_titles():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    named = {reference["title"] for reference in citation["references"]}
    titles = {re.sub(r"[{}]", "", fields["title"]) for fields in entries().values()}
    for file in (ROOT / "config/claims").glob("*.yaml"):
        study = yaml.safe_load((ROOT / "config/studies" / file.name).read_text(encoding="utf-8"))
        if not any(words in study["venue"] for words in ("two papers", "no paper")):
            assert study["title"] in named & titles, file.name


def test_the_versions_agree():
    import tomllib

    from privarms import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == __version__
    assert project["license"] == citation["license"] == "MIT"
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
