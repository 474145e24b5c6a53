"""Check CSV files: columns of texts, counted faults, and refused files."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privarms.data import delimited, own_table
from privarms.data.sources import OwnTable
from privarms.errors import PrivarmsError


def read(text, columns=("a", "b"), **options):
    return delimited.read("f.csv", io.BytesIO(text.encode()), columns, **options)


def rows_of(**columns):
    return delimited.Rows("f.csv", {name: pa.chunked_array([v], pa.string()) for name, v in columns.items()}, 2)


def dropped(rows):
    return {reason: tuple(entry.values()) for reason, entry in rows.dropped.items()}


def test_columns_are_selected_by_name_and_missing_values_are_nan():
    rows = read('\ufeffb,x, a \n2,1,3\n\n"5\n5", ,6\n"8,8",7,""\n')
    assert rows.frame["a"].fillna("-").tolist() == ["3", "6", "-"]
    assert rows.frame["b"].tolist() == ["2", "5\n5", "8,8"]
    assert list(rows.frame) == ["a", "b"]
    assert rows.frame.index.tolist() == [2, 3, 4]
    assert rows.account() == {"rows": 3, "dropped": 0, "dropped_because": {}}
    text = "x,b,a\n1,2,3\n4,?,5\n6, ,7\n"
    assert read(text, columns=None).frame["b"].fillna("-").tolist() == ["2", "?", "-"]
    assert read(text, columns=None, missing=("?", "7")).frame.fillna("-")["b"].tolist() == ["2", "-", "-"]
    assert list(read("A; B\n1;2\n", delimiter=";", rename=lambda n: n.strip().lower()).frame) == ["a", "b"]
    rows = read("1,2\n3,4\n", names=("a", "b"))
    assert (rows.frame["a"].tolist(), rows.frame.index.tolist()) == (["1", "3"], [1, 2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.csv: no column 'a', 'b'; found "),
        ("a;b\n1;2\n", "f.csv: the header is one column, 'a;b'; set the `delimiter` of `table`"),
        ("<html>\n<body>502</body>\n", "f.csv: no column 'a', 'b'; found <html>"),
        ("a,b\n1,2\n3\n4,5\n", "f.csv: CSV parse error: Row #3: Expected 2 columns, got 1: 3; expected a CSV file in"),
        ("a,b\n1,2\n3,4,5\n", "f.csv: CSV parse error: Row #3: Expected 2 columns, got 3: 3,4,5; expected"),
        ("a,b\n1,2\n3", "f.csv: CSV parse error: Row #3: Expected 2 columns, got 1: 3; expected"),
    ],
)
def test_another_kind_of_file_is_refused(text, message):
    with pytest.raises(PrivarmsError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["", "\na,b\n1,2\n"])
def test_a_file_without_a_header_is_refused_even_if_no_column_is_named(text):
    with pytest.raises(PrivarmsError, match=r"^f\.csv: the first line is empty"):
        read(text, columns=None)


def test_a_parquet_file_without_columns_is_refused():
    stream = io.BytesIO()
    pq.write_table(pa.table({}), stream)
    with pytest.raises(PrivarmsError, match=r"^f\.parquet: no column 'outcome'; found ;"):
        own_table.read({"f.parquet": stream}, OwnTable(label="outcome"))


def test_a_file_that_is_not_utf_8_is_refused():
    with pytest.raises(PrivarmsError, match=r"f\.csv: .*expected a CSV file in UTF-8"):
        delimited.read("f.csv", io.BytesIO("a,b\nü,2\n".encode("latin-1")), ("a", "b"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "a file compressed by gzip; expected CSV in UTF-8; decompress it"),
        (b"PK\x03\x04", "a zip archive or an Excel file"),
        ("a,b\n1,2\n".encode("utf-16"), "text in UTF-16"),
        (b"PAR1", "a Parquet file; expected CSV in UTF-8; give it the suffix .parquet"),
    ],
)
def test_a_file_that_is_not_text_is_called_by_its_kind(content, words):
    with pytest.raises(PrivarmsError, match=rf"^f\.csv: found {words}"):
        delimited.read("f.csv", io.BytesIO(content), ("a", "b"))


def test_numbers_and_their_faults():
    rows = rows_of(a=["1", " 2.5 ", "-3e1", ".5", "7.", "", "nan", "x", "inf", "1,5", "1_0", "9", "1e999", "+4"])
    values = rows.numbers("a", low=-30.0, high=8.0)
    assert values[[0, 1, 2, 3, 4, 13]].tolist() == [1, 2.5, -30, 0.5, 7, 4]
    assert rows.kept.tolist() == [True] * 5 + [False] * 8 + [True]
    assert dropped(rows) == {"a: no value": (2, 7), "a: not a number": (5, 9), "a: out of range": (1, 13)}


def test_numbers_are_those_that_python_reads():
    rng = np.random.default_rng(1)
    numbers = [*rng.standard_normal(1000), *np.exp(rng.uniform(-700, 700, 1000))]
    assert delimited.floats(pd.Series([repr(float(x)) for x in numbers])).tolist() == numbers


def test_a_row_is_counted_under_the_first_fault_that_is_seen_in_it():
    rows = rows_of(a=["x", "1", "q", None], b=["y", "y", "x", "x"])
    assert rows.codes("a", ("1", "x")).tolist() == [1, 0, -1, -1]
    assert rows.codes("b", ("x",)).tolist() == [-1, -1, 0, 0]
    assert dropped(rows) == {"a: no value": (1, 5), "a: unknown category": (1, 4), "b: unknown category": (2, 2)}
    with pytest.raises(PrivarmsError, match=r"f\.csv: no complete row; dropped: 1 for a: no value, first row 5; "):
        rows.account()
