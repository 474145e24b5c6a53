"""Jobs: rows of the published shape by hand, and a stand-in of the published sizes."""

import io
from pathlib import Path

import pytest

from privarms.data import jobs, preparation, prepared, sources
from privarms.errors import PrivarmsError

JOBS = sources.load_sources(Path(__file__).parents[3] / "data" / "sources.yaml")["jobs"]
ROW = {
    "": "0",
    "Age": "<35",
    "Accessibility": "No",
    "EdLevel": "Undergraduate",
    "Employment": "1",
    "Gender": "Man",
    "MentalHealth": "No",
    "MainBranch": "Dev",
    "YearsCode": "8",
    "YearsCodePro": "0",
    "Country": "United States of America",
    "PreviousSalary": "103000.0",
    "HaveWorkedWith": "Assembly;C;Java",
    "ComputerSkills": "7",
    "Employed": "0",
}


def lines(*rows):
    return [",".join(ROW) + "\n", *(",".join({**ROW, **row}.values()) + "\n" for row in rows)]


def read(*rows):
    return jobs.read({"j.csv": io.BytesIO("".join(lines(*rows)).encode())}, {})


def test_a_small_table_by_hand():
    table = read(
        {},
        {"Age": ">35", "Accessibility": "Yes", "EdLevel": "PhD", "Employment": "0", "Gender": "Woman"},
        {"MentalHealth": "Yes", "MainBranch": "NotDev", "Country": "Brazil", "Employed": "1", "HaveWorkedWith": ""},
        {"EdLevel": "NoHigherEd", "YearsCode": "3", "YearsCodePro": "2", "Country": "India"},
    )
    assert table.features.names == [
        *("Age", "Accessibility", "EdLevel", "Employment", "Gender", "MentalHealth", "MainBranch", "YearsCode"),
        *("YearsCodePro", "PreviousSalary", "ComputerSkills"),
    ]
    assert table.features.dense(slice(None)).tolist() == [
        [0, 0, 2, 1, 0, 0, 1, 8, 0, 103_000, 7],
        [1, 1, 4, 0, 1, 0, 1, 8, 0, 103_000, 7],
        [0, 0, 2, 1, 0, 1, 0, 8, 0, 103_000, 7],
        [0, 0, 0, 1, 0, 0, 1, 3, 2, 103_000, 7],
    ]
    assert table.labels.tolist() == [0, 0, 1, 0]
    assert table.sources.tolist() == [1, 1, 0, 0]
    assert (table.label_names, table.source_names) == (["not employed", "employed"], ["United States of America"])
    assert table.files["j.csv"] == {"rows": 4, "dropped": 0, "dropped_because": {}}


def test_the_number_of_rows_is_held_against_the_published_one(tmp_path):
    (file,) = JOBS.files
    assert (file.name, file.sha256, file.rows) == ("stackoverflow_full.csv", None, 73_462)
    (tmp_path / file.name).write_text("".join(lines({})), encoding="utf-8")
    with pytest.raises(PrivarmsError, match=r"stackoverflow_full\.csv: expected 73,462 rows, found 1: .*kaggle\.com"):
        preparation.prepare(JOBS, [tmp_path / file.name], tmp_path / "a.parquet", tmp_path / "a.json")
    assert not (tmp_path / "a.parquet").exists()


def test_the_stand_in_has_the_published_sizes(tmp_path):
    facts = preparation.prepare(JOBS, None, tmp_path / "a.parquet", tmp_path / "a.json")
    assert (facts["data"], facts["title"]) == ("stand-in", "Synthetic stand-in for 70k+ job applicants")
    assert (facts["rows"], facts["n_target"], facts["sum_n_source"], facts["sources"]) == (73_462, 57_773, 14_318, 1)
    assert (facts["K"], facts["original_dimensions"], facts["dimensions"]) == (2, 11, 3)
    assert prepared.load(tmp_path / "a.parquet").facts == facts
