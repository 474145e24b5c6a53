"""Check what a run knows about its data: replaced raw files, and rows that their preparation left out."""

import hashlib
import json
import os

import pytest

from privarms.data import sources
from privarms.planning import paths, start
from privarms.planning.datasets import Datasets

KNOWN = "0" * 64


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    about = {"title": "T", "licence": "L", "citation": "C"}
    files = [{"name": "a.csv", "by_hand": "ask"}, {"name": "b.csv", "by_hand": "ask", "sha256": KNOWN}]
    of_sources = {name: sources.describe(name, files, **about) for name in ("visits", "more")}
    return Datasets(of_sources, {"visits": "real"})


def write(path, text, date=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if date is not None:
        os.utime(path, (date, date))


def facts(folder, dataset, **changes):
    content = {"data": "real", "rows": 0, "dropped": 0, "files": {}} | changes
    write(folder / paths.prepared(dataset, "json"), json.dumps(content))


def test_a_raw_file_that_is_replaced_by_an_older_one_changes_its_digest(datasets, tmp_path):
    raw = tmp_path / "data/raw/visits/a.csv"
    write(raw, "new")
    before = datasets.raw_digests("visits")
    write(raw, "old", date=1e9)
    after = datasets.raw_digests("visits")
    assert before[0] == hashlib.sha256(b"new").hexdigest()
    assert after[0] == hashlib.sha256(b"old").hexdigest()


def test_a_raw_file_that_is_gone_keeps_the_digest_of_its_preparation(datasets, tmp_path):
    assert datasets.raw_digests("visits") == [None, KNOWN]
    facts(tmp_path, "visits", files={"a.csv": {"sha256": "1" * 64}, "b.csv": {"sha256": "2" * 64}})
    assert datasets.raw_digests("visits") == ["1" * 64, KNOWN]
    # A dataset that no study of the run names may be asked for too.
    assert datasets.raw_digests("more") == [None, KNOWN]


def test_datasets_with_the_same_loss_share_a_line(datasets, tmp_path):
    assert datasets.remarks(["visits", "more"]) == []
    lost = {
        "rows": 9,
        "dropped": 2,
        "files": {"a.csv": {"dropped_because": {"x: no value": {"rows": 2, "first_row": 3}}}},
    }
    for name in ("visits", "more"):
        facts(tmp_path, name, **lost)
    line = "2 of 9 rows left out: 2 for x: no value (first row 3)"
    assert datasets.remarks(["visits", "more"]) == [f"visits, more: {line}"]
    facts(tmp_path, "more", **lost, remarks=["column y"])
    assert datasets.remarks(["visits", "more"]) == [f"visits, more: {line}", "more: column y"]
    # Files of a preparation before the raw files were lost are not the data of this run.
    assert Datasets(datasets.sources, {"visits": "missing"}).remarks(["visits"]) == []


def test_rows_that_were_left_out_are_said_at_the_end_of_a_run(quick_plan, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = quick_plan._replace(datasets=Datasets(quick_plan.datasets.sources, dict.fromkeys(["adult", "jobs"], "real")))
    facts(tmp_path, "adult", rows=9, dropped=2)
    facts(tmp_path, "jobs", rows=9, dropped=3)
    start.announce(plan, ["snakemake", "ma2025_table2"])
    assert capsys.readouterr().err == ""
    both = "adult: 2 of 9 rows left out\njobs: 3 of 9 rows left out\n"
    said = {"ma2025_table2": both, "all": both, "results/quick/studies/ma2025/real_data.parquet": both}
    said |= {"sajed2019": "", "data/prepared/adult.parquet": "adult: 2 of 9 rows left out\n"}
    for target, expected in said.items():
        start.announce(plan, ["snakemake", target, "--cores", "2"], ended=True)
        assert capsys.readouterr().err == expected
