"""Check Adult: facts of the real files, single rows of small files, and the preparation that datasets share."""

import io

import numpy as np
import pytest

from privarms.data import adult, preparation, prepared

from .conftest import SOURCES, real_files

ROW = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K"
)
AUXILIARY = [(20, "Widowed"), (30, "Divorced"), (40, "Widowed")]
FIELDS = dict(zip(adult.COLUMNS, ROW.split(", "), strict=True))


def line(**changes):
    fields = FIELDS | {name.replace("_", "-"): str(value) for name, value in changes.items()}
    return ", ".join(fields.values()) + "\n"


def read(data=(), test=(), **options):
    chosen = preparation.choose_options("adult", adult.OPTIONS, options)
    files = {"adult.data": data, "adult.test": test}
    return adult.read({name: io.BytesIO("".join(lines).encode()) for name, lines in files.items() if lines}, chosen)


def test_facts_of_the_real_files(tmp_path):
    files = real_files(SOURCES["adult"])
    facts = preparation.prepare(SOURCES["adult"], files, tmp_path / "a.parquet", tmp_path / "a.json")
    # Ma et al. (2025), Table 1, and adult.names.
    assert facts["data"] == "real"
    assert (facts["rows"], facts["complete"], facts["dropped"]) == (48_842, 45_222, 48_842 - 45_222)
    assert (facts["n_target"], facts["sum_n_source"], facts["sources"]) == (41_292, 3_930, 7)
    assert (facts["K"], facts["original_dimensions"], facts["dimensions"]) == (2, 46, 3)
    assert facts["files"]["adult.data"]["rows"] == 32_561
    assert facts["files"]["adult.test"]["rows"] == 16_281
    dropped = facts["files"]["adult.data"]["dropped_because"]
    assert {reason: entry["rows"] for reason, entry in dropped.items()} == {
        "workclass: no value": 1836,
        "occupation: no value": 7,
        "native-country: no value": 556,
    }
    assert facts["label_counts"][1] / facts["complete"] == pytest.approx(0.2478, abs=5e-5)
    data = prepared.load(tmp_path / "a.parquet")
    assert np.bincount(data.sources).tolist() == [41_292, *facts["source_sizes"]]
    by_marriage = preparation.prepare(SOURCES["adultmarital"], files, tmp_path / "m.parquet", tmp_path / "m.json")
    assert (by_marriage["sources"], by_marriage["sum_n_source"]) == (7, 3_930)
    assert by_marriage["max_n_source"] < facts["max_n_source"]


def test_a_small_table_by_hand():
    table = read(
        [line(), line(age=50, sex="Female", workclass="Private", native_country="Peru", income=">50K"), "\n"],
        ["|1x3 Cross validator\n", line(race="Black", native_country="Peru", income="<=50K."), "\n"],
    )
    names = [
        *("age", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
        *("workclass=Private", "workclass=State-gov", "marital-status=Never-married", "occupation=Adm-clerical"),
        *("relationship=Not-in-family", "race=White", "race=Black", "sex=Female", "sex=Male"),
    ]
    assert table.features.names == names
    assert table.features.dense(slice(None)).tolist() == [
        [39, 13, 2174, 0, 40, 0, 1, 1, 1, 1, 1, 0, 0, 1],
        [50, 13, 2174, 0, 40, 1, 0, 1, 1, 1, 1, 0, 1, 0],
        [39, 13, 2174, 0, 40, 0, 1, 1, 1, 1, 0, 1, 0, 1],
    ]
    assert table.labels.tolist() == [0, 1, 0]
    assert table.sources.tolist() == [0, 1, 2]
    assert table.source_names == ["Private", "State-gov"]
    assert [account["rows"] for account in table.files.values()] == [2, 1]


def test_auxiliary_rows_are_several_sources_or_one_or_each_of_seven():
    rows = [line(native_country="Peru", age=a, marital_status=s) for a, s in AUXILIARY]
    several, one, copies = (read([line(), *rows], sources=by) for by in ("marital-status", "one", "copies"))
    assert several.source_names == ["Divorced", "Widowed"]
    assert several.sources.tolist() == [0, 2, 1, 2]
    assert one.sources.tolist() == [0, 1, 1, 1]
    assert len(set(copies.source_names)) == 7
    assert np.bincount(copies.sources).tolist() == [1, *[3] * 7]
    for m in range(1, 8):
        assert copies.features.numbers[copies.sources == m][:, 0].tolist() == [20, 30, 40]
