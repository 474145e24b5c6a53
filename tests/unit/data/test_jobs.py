"""Check Jobs: handwritten rows of the published shape, and a stand-in of the published size."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privarms.data import jobs, preparation, prepared, sources
from privarms.errors import PrivarmsError

from .conftest import SOURCES, real_files

JOBS = SOURCES["jobs"]
NAMES = ",Age,Accessibility,EdLevel,Employment,Gender,MentalHealth,MainBranch,YearsCode,YearsCodePro,Country"
NAMES += ",PreviousSalary,HaveWorkedWith,ComputerSkills,Employed"
FIRST = "0,<35,No,Undergraduate,1,Man,No,Dev,8,0,United States of America,103000.0,Assembly;C;Java,7,0"
ABROAD = {"Country": "Brazil"}
ROW = dict(zip(NAMES.split(","), FIRST.split(","), strict=True))


def lines(*rows):
    return [",".join(ROW) + "\n", *(",".join({**ROW, **row}.values()) + "\n" for row in rows)]


WITH, WITHOUT = {"mental_health": "with"}, {"mental_health": "without"}


def read(*rows, options=WITH):
    return jobs.read({"j.csv": io.BytesIO("".join(lines(*rows)).encode())}, options)


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


def test_whole_numbers_and_numbers_with_a_decimal_point_are_alike():
    changes = {"PreviousSalary": "103000", "YearsCode": "8.0", "Employment": "1.0", "Employed": "0.0"}
    (plain, other), table = read({}, changes).features.dense(slice(None)).tolist(), read({}, changes)
    assert (plain, table.labels.tolist()) == (other, [0, 0])


def test_a_selection_without_a_column_has_one_feature_less():
    table = read({}, ABROAD | {"MentalHealth": "unknown"}, options=WITHOUT)
    assert [*jobs.NUMBERS] == [*table.features.names[:5], "MentalHealth", *table.features.names[5:]]
    assert table.features.dense(slice(None)).tolist() == [[0, 0, 2, 1, 0, 1, 8, 0, 103_000, 7]] * 2


def test_facts_of_the_real_sample(tmp_path):
    sample = SOURCES["jobssample"]
    facts = preparation.prepare(sample, real_files(sample), tmp_path / "a.parquet", tmp_path / "a.json")
    (file,) = sample.files
    # Counted in the file with awk: 349 rows of NonBinary, and 9,727 rows of the United States, 239 of them NonBinary.
    assert (facts["rows"], facts["dropped"]) == (16_647, 349)
    assert facts["files"][file.name]["dropped_because"] == {"Gender: NonBinary": {"rows": 349, "first_row": 50}}
    assert (facts["n_target"], facts["source_sizes"]) == (6_810, [9_488])
    assert (facts["K"], facts["original_dimensions"], facts["dimensions"]) == (2, 10, 3)
    assert facts["left_out_beyond"] == {"target": 0, "auxiliary": 0}
    assert prepared.load(tmp_path / "a.parquet").contexts.shape == (16_298, 3)


def parts(folder, *groups):
    """Write parts in Parquet with numbers as numbers, and return a dataset of them."""
    files = []
    for i, rows in enumerate(groups):
        columns = {name: [(ROW | row)[name] for row in rows] for name in ROW}
        numbers = {name: [float(v) for v in columns[name]] for name in ("Employment", "PreviousSalary", "Employed")}
        pq.write_table(pa.table(columns | numbers | {"YearsCode": [8] * len(rows)}), folder / f"{i}.parquet")
        files.append({"name": f"{i}.parquet", "url": f"https://example.org/{i}", "rows": len(rows)})
    keys = {"title": "T", "licence": "L", "citation": "C", "module": "jobs"}
    return sources.describe("toy", files, expected={"target": 4, "auxiliary": 2}, **keys), [
        folder / file["name"] for file in files
    ]


ROWS = [
    {},
    ABROAD | {"Employed": "1"},
    {"Gender": "NonBinary"},
    ABROAD,
    ABROAD | {"EdLevel": "PhD"},
    {"Age": ">35"},
    ABROAD,
]


def test_two_parts_in_parquet_are_the_csv_file(tmp_path):
    dataset, files = parts(tmp_path, ROWS[:3], ROWS[3:])
    streams = {file.name: io.BytesIO(file.read_bytes()) for file in files}
    actual, expected = jobs.read(streams, WITH), read(*ROWS)
    assert actual.features.numbers.tolist() == expected.features.numbers.tolist()
    assert (actual.labels.tolist(), actual.sources.tolist()) == (expected.labels.tolist(), expected.sources.tolist())
    assert [account["rows"] for account in actual.files.values()] == [3, 4]
    facts = preparation.prepare(dataset, files, tmp_path / "a.parquet", tmp_path / "a.json")
    assert (facts["n_target"], facts["source_sizes"]) == (4, [2])


def test_other_data_of_the_right_length_are_refused(tmp_path):
    dataset, files = parts(tmp_path, ROWS[:3], [*ROWS[3:6], {}])
    with pytest.raises(PrivarmsError, match=r"0\.parquet, 1\.parquet: expected 4 complete target rows, found 3"):
        preparation.prepare(dataset, files, tmp_path / "a.parquet", tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


def test_the_file_that_needs_a_login_is_known_by_its_git_blob(tmp_path):
    assert [file.rows for file in JOBS.files] == [44_149, 29_313]
    assert JOBS.expected == {"target": 57_773, "auxiliary": 14_318}
    (file,) = JOBS.otherwise
    assert (file.name, file.rows) == ("stackoverflow_full.csv", 73_462)
    assert sources.with_files(JOBS, tmp_path).files == JOBS.files
    place = sources.raw_path(JOBS, file, tmp_path)
    place.parent.mkdir()
    place.write_text("".join(lines({})), encoding="utf-8")
    assert sources.with_files(JOBS, tmp_path).files == JOBS.otherwise
    with pytest.raises(PrivarmsError, match="expected git blob d93343064b29e46c4802220f255bdbec05c32672, found "):
        sources.verify(file, place)
    # The output of `echo hello | git hash-object --stdin`.
    place.write_bytes(b"hello\n")
    assert sources.verify(file.model_copy(update={"git_blob": "ce013625030ba8dba906f756967f9e9ca394464a"}), place)
    message = sources.missing_message(JOBS)
    assert message.index("https://huggingface.co/") < message.index("manual step: log in")


def test_the_stand_in_has_the_published_sizes(tmp_path):
    facts = preparation.prepare(JOBS, None, tmp_path / "a.parquet", tmp_path / "a.json")
    assert (facts["data"], facts["title"]) == ("stand-in", "Synthetic stand-in for 70k+ job applicants")
    assert (facts["rows"], facts["n_target"], facts["sum_n_source"], facts["sources"]) == (73_462, 57_773, 14_318, 1)
    assert (facts["K"], facts["original_dimensions"], facts["dimensions"]) == (2, 11, 3)
    assert prepared.load(tmp_path / "a.parquet").facts == facts
