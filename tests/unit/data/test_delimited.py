"""CSV files: columns of texts, faults that are counted, and files that are refused."""

import io

import numpy as np
import pyarrow as pa
import pytest

from privarms.data import delimited
from privarms.errors import PrivarmsError


def read(text, columns=("a", "b"), **options):
    return delimited.read("f.csv", io.BytesIO(text.encode()), columns, **options)


def rows_of(**columns):
    columns = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    return delimited.Rows("f.csv", columns, np.arange(2, 2 + len(next(iter(columns.values())))))


def dropped(rows):
    return {reason: tuple(entry.values()) for reason, entry in rows.dropped.items()}


def test_columns_are_found_by_name_and_missing_values_are_null():
    rows = read('\ufeffb,x, a \n2,1,3\n\n"5\n5", ?,6\n"8,8",7,""\n')
    assert rows.columns["a"].to_pylist() == ["3", "6", None]
    assert rows.columns["b"].to_pylist() == ["2", "5\n5", "8,8"]
    assert list(rows.columns) == ["a", "b"]
    assert rows.places.tolist() == [2, 3, 4]
    assert rows.account() == {"rows": 3, "dropped": 0, "dropped_because": {}}
    assert read("x,b,a\n1,2,3\n4,?,5\n", columns=None).columns["b"].to_pylist() == ["2", None]
    assert list(read("A; B\n1;2\n", delimiter=";", rename=lambda n: n.strip().lower()).columns) == ["a", "b"]
    rows = read("1,2\n3,4\n", names=("a", "b"))
    assert (rows.columns["a"].to_pylist(), rows.places.tolist()) == (["1", "3"], [1, 2])


def test_rows_of_another_width_are_dropped_and_counted():
    rows = read("a,b\n1,2\n3\n4,5,6\n7,8\n9\n1,1\n")
    assert rows.columns["a"].to_pylist() == ["1", "7", "1"]
    assert rows.places.tolist() == [2, 5, 7]
    assert dropped(rows) == {"fewer fields than the header": (2, 3), "more fields than the header": (1, 4)}
    assert (rows.account()["rows"], rows.account()["dropped"]) == (6, 3)
    # The last row is not broken off if it is too long.
    assert dropped(read("a,b\n1,2\n4,5,6")) == {"more fields than the header": (1, 3)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.csv: no column 'a', 'b'; found "),
        ("a,b\n", "f.csv: not a CSV file in UTF-8 with rows (Empty CSV file); get it again"),
        ("a;b\n1;2\n", "f.csv: no column 'a', 'b'; found a;b; correct the header, the delimiter or `table`, or get"),
        ("a,c\n1,2\n", "f.csv: no column 'b'; found a, c; correct the header"),
        ("<html>\n<body>502</body>\n", "f.csv: no column 'a', 'b'; found <html>"),
        ("a,b,b\n1,2,3\n", "f.csv: two columns are called 'b'"),
        ("a,b\n1,2\n3", "f.csv: the last row breaks off: 1 fields where 2 are expected; the file was cut"),
    ],
)
def test_another_kind_of_file_is_refused(text, message):
    with pytest.raises(PrivarmsError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_utf_8_is_refused():
    with pytest.raises(PrivarmsError, match=r"f\.csv: not a CSV file in UTF-8"):
        delimited.read("f.csv", io.BytesIO("a,b\nü,2\n".encode("latin-1")), ("a", "b"))


def test_numbers_and_their_faults():
    rows = rows_of(a=["1", " 2.5 ", "-3e1", ".5", "7.", "", "nan", "x", "inf", "1,5", "1_0", "9", "1e999", "+4"])
    values = rows.numbers("a", low=-30.0, high=8.0)
    assert values[[0, 1, 2, 3, 4, 13]].tolist() == [1, 2.5, -30, 0.5, 7, 4]
    assert rows.kept.tolist() == [True] * 5 + [False] * 8 + [True]
    assert dropped(rows) == {"a: no value": (2, 7), "a: not a number": (5, 9), "a: out of range": (1, 13)}


def test_numbers_are_those_that_python_reads():
    rng = np.random.default_rng(1)
    numbers = [*rng.standard_normal(1000), *np.exp(rng.uniform(-700, 700, 1000))]
    found, faulty = delimited.floats(pa.chunked_array([[repr(float(x)) for x in numbers]]))
    assert found.tolist() == numbers
    assert not faulty.any()


def test_amounts_may_be_written_as_dollars():
    rows = rows_of(a=["$1,234.50", "7", "$2,000,000", "€3", "9,75", "$"])
    assert rows.numbers("a", dollars=True)[:3].tolist() == [1234.5, 7, 2_000_000]
    # A comma for the decimal point is not taken for one between thousands.
    assert rows.kept.tolist() == [True] * 3 + [False] * 3


def test_levels_and_their_faults():
    rows = rows_of(a=["x", " y", "", "z", "x"])
    assert rows.codes("a", ("x", "y")).tolist() == [0, 1, -1, -1, 0]
    assert rows.kept.tolist() == [True, True, False, False, True]
    assert dropped(rows) == {"a: no value": (1, 4), "a: unknown category": (1, 5)}
    rows = rows_of(a=["x", ""])
    assert rows.codes("a", ("x", "y", "none"), missing=2).tolist() == [0, 2]
    assert rows.kept.all()


def test_a_row_is_counted_once_under_its_first_fault():
    rows = rows_of(a=["x", "1", "2"], b=["y", "y", "3"])
    rows.numbers("a")
    rows.numbers("b")
    rows.drop(np.array([True, True, False]), "a choice")
    assert dropped(rows) == {"a: not a number": (1, 2), "b: not a number": (1, 3)}


def test_too_many_rows_with_one_fault_are_an_error(monkeypatch):
    monkeypatch.setattr(delimited, "MOST_FAULTS", 3)
    rows = rows_of(a=["1", *["x"] * 4, "2"])
    rows.drop(np.arange(6) == 5, "a choice")
    rows.drop(np.arange(6) == 1, "another fault", "none")
    rows.numbers("a")
    with pytest.raises(PrivarmsError) as caught:
        rows_of(a=["1", *["x"] * 4]).numbers("a")
    assert str(caught.value) == (
        "f.csv, row 3, a: not a number, as in more than 3 rows; expected a number; correct the file"
    )
    # Any number may be left out by choice.
    rows_of(a=["x"] * 9).drop(np.ones(9, bool), "a choice")
    with pytest.raises(PrivarmsError, match="row 2, fewer fields than the header, as in more than 3 rows; expected 2"):
        read("a,b\n1\n1\n1\n1\n1,2\n")


def test_a_file_without_a_complete_row_is_refused():
    rows = read("a,b\nx,1\ny,1\n")
    rows.numbers("a")
    with pytest.raises(
        PrivarmsError, match=r"f\.csv: no complete row; dropped were 2 for a: not a number, first row 2"
    ):
        rows.account()
