"""The start of a run: which data are there, and which configuration files are read."""

import os

from privarms.data import sources
from privarms.studies import start

FILE = {"name": "a.csv", "url": "http://127.0.0.1:9/a.csv"}


def described(name, **entry):
    return sources.describe(name, [FILE], title="T", licence="L", citation="C", **entry)


def test_data_are_real_where_their_files_are_and_else_a_stand_in_or_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/raw/here").mkdir(parents=True)
    (tmp_path / "data/raw/here/a.csv").touch()
    (tmp_path / "mirror/there").mkdir(parents=True)
    (tmp_path / "mirror/there/a.csv").touch()
    datasets = (described("gone"), described("there"), described("here"), described("own", table={"label": "a"}))
    of_sources = {dataset.name: dataset for dataset in datasets}
    for scale, otherwise in (("quick", "stand-in"), ("paper", "missing")):
        config = {"scale": scale, "mirror": str(tmp_path / "mirror")}
        statuses = start.look_for(list(of_sources), config, of_sources)
        assert statuses == {"gone": otherwise, "there": "real", "here": "real", "own": "missing"}


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
