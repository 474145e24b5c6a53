"""The start of a run asks servers once, for what is not here, and says what came of it."""

import os

import pytest

from privarms.data import sources
from privarms.studies import start

FILE = {"name": "a.csv", "url": "http://example.org/a.csv"}


@pytest.fixture
def asked(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    calls = []

    def probe(addresses):
        calls.append(addresses)
        return {a: "" if a.endswith("/there/a.csv") else "did not answer within 3 s" for a in addresses}

    monkeypatch.setattr(sources, "_probe", probe)
    return calls


def described(name, **entry):
    return sources.describe(name, [FILE], title="T", licence="L", citation="C", **entry)


def test_all_datasets_are_looked_for_at_once(asked, tmp_path):
    of_sources = {d.name: d for d in (described("gone"), described("there"), described("here"), described("other"))}
    (tmp_path / "data/raw/here").mkdir(parents=True)
    (tmp_path / "data/raw/here/a.csv").touch()
    config = {"scale": "quick", "mirror": "http://mirror"}
    statuses, lacking = start.look_for(["gone", "there", "here"], config, of_sources)
    assert statuses == {"gone": "stand-in", "there": "real", "here": "real"}
    assert asked == [["http://example.org/a.csv", "http://mirror/gone/a.csv", "http://mirror/there/a.csv"]]
    assert list(lacking) == ["gone"]
    assert lacking["gone"].endswith(
        "Looked for: http://mirror/gone/a.csv did not answer within 3 s; "
        "http://example.org/a.csv did not answer within 3 s."
    )


def test_where_everything_is_here_nobody_is_asked(asked, tmp_path):
    (tmp_path / "data/raw/here").mkdir(parents=True)
    (tmp_path / "data/raw/here/a.csv").touch()
    config = {"scale": "paper", "mirror": "http://mirror"}
    assert start.look_for(["here"], config, {"here": described("here")}) == ({"here": "real"}, {})
    assert asked == [[]]


def test_files_behind_every_configfile_are_read(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(start.CONFIGFILES_VARIABLE, "[]")
    monkeypatch.setenv("PWD", str(tmp_path))

    def found(line):
        return [os.path.relpath(file) for file in start.configfiles_before_the_last(line.split())]

    assert found("snakemake mine --cores 1 --configfile a.yaml b.yaml --config x=1") == []
    assert found("snakemake --configfile a.yaml b.yaml --cores 1 --configfiles=c.yaml --configfile d.yaml") == [
        "a.yaml",
        "b.yaml",
        "c.yaml",
    ]
    assert [os.path.basename(file) for file in start.configfiles_before_the_last(None)] == [
        "a.yaml",
        "b.yaml",
        "c.yaml",
    ]
