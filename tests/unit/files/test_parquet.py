"""Check that Parquet files are complete, checked, and byte-identical for any order of writing."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privarms.errors import DamagedError, PrivarmsError
from privarms.files import parquet


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:800] + b"?" + b[801:]])
def test_a_damaged_file_is_one_clear_error(tmp_path, damage):
    path = tmp_path / "a.parquet"
    parquet.write(path, [pa.table({"cell": ["a"] * 200, "x": np.random.default_rng(1).random(200)})], {"seed": 1})
    path.write_bytes(damage(path.read_bytes()))
    for read in (
        lambda: parquet.read(path),
        lambda: list(parquet.RowsBy([path], "cell").rows("a", ["x"])),
        lambda: list(parquet.read_by("cell", path, ["x"])),
    ):
        with pytest.raises(DamagedError) as caught:
            read()
        assert str(caught.value).startswith(f"{path}: damaged: not a complete Parquet file (")
        assert str(caught.value).endswith("; delete it and run again")


def test_a_missing_file_is_told_apart_from_a_damaged_one(tmp_path):
    with pytest.raises(PrivarmsError, match="cannot be read") as caught:
        parquet.read(tmp_path / "none.parquet")
    assert not isinstance(caught.value, DamagedError)


def test_many_small_tables_are_stored_as_one_large_one_is(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 64)

    def table(first, last):
        names = np.repeat(["a", "b", None, "d", "e"], 30)[first:last]
        return pa.table({"cell": pa.array(names, pa.string()).dictionary_encode(), "x": np.arange(first, last)})

    parts = [table(start, start + 10) for start in range(0, 150, 10)]
    for name, tables in (("whole", [table(0, 150)]), ("parts", parts)):
        parquet.write(tmp_path / name, tables, {"seed": 1})
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    assert parquet.read(tmp_path / "parts").to_pandas().equals(table(0, 150).to_pandas())
    groups = pq.read_metadata(tmp_path / "parts")
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [64, 64, 22]


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    table = pa.table({"x": [1]})

    def tables():
        yield table
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        parquet.write(tmp_path / "a.parquet", tables(), {})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(PrivarmsError, match=r"file/a\.parquet: cannot be written"):
        parquet.write(tmp_path / "file" / "a.parquet", [pa.table({"x": [1]})], {})
