"""tools/compare_results.py names each difference between two result folders and reports no other."""

import math
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import ROOT


@pytest.fixture
def folders(tmp_path):
    """Two result folders with the same values; the texts of the study are stored in row groups of different sizes."""
    for name, rows in (("old", 4), ("new", 1)):
        (tmp_path / name / "studies").mkdir(parents=True)
        write(tmp_path / name, {"policy": ["a", "b", "b", "a"], "regret": [0.0, 1.0, 2.0, None]}, rows)
        (tmp_path / name / "ledger.csv").write_text("claim,se\nx,1\ny,2\n", encoding="utf-8")
    return tmp_path


def write(folder, values, rows=4):
    schema = pa.schema([("policy", pa.dictionary(pa.int32(), pa.string())), ("regret", pa.float64())])
    with pq.ParquetWriter(folder / "studies/s.parquet", schema) as writer:
        for i in range(0, len(values["policy"]), rows):
            writer.write_table(pa.table({name: column[i : i + rows] for name, column in values.items()}, schema))


def compare(folder, *arguments):
    command = [sys.executable, ROOT / "tools/compare_results.py", folder / "old", folder / "new", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_equal_folders(folders):
    assert compare(folders) == (0, "2 files compared, 0 differences\n")


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"policy": ["a", "b", "b", "c"], "regret": [0.0, 1.0, 2.0, None]}, "policy"),
        ({"policy": ["a", "b", "b", "a"], "regret": [-0.0, 1.0, 2.0, None]}, "regret"),
        ({"policy": ["a", "b", "b", "a"], "regret": [0.0, 1.0, 2.0 + 2**-51, None]}, "regret"),
        ({"policy": ["a", "b", "b", "a"], "regret": [0.0, 1.0, 2.0, math.nan]}, "regret"),
    ],
)
def test_one_value_or_one_bit_of_a_study(folders, values, column):
    write(folders / "new", values)
    status, output = compare(folders)
    assert status == 1
    assert output.splitlines() == [f"different: studies/s.parquet: {column}", "2 files compared, 1 differences"]


def test_a_changed_cell_a_missing_and_a_new_file(folders):
    (folders / "new/ledger.csv").write_text("claim,se\nx,1\ny,3\n", encoding="utf-8")
    (folders / "new/studies/s.parquet").rename(folders / "new/studies/t.parquet")
    status, output = compare(folders)
    assert status == 1
    assert set(output.splitlines()[:-1]) == {
        "different: ledger.csv: 1 rows, first y: se: '2' -> '3'",
        "missing: studies/s.parquet",
        "new: studies/t.parquet",
    }
    assert compare(folders, "--skip", "studies/*", "--skip", "ledger.csv")[0] == 0
