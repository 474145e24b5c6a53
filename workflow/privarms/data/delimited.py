"""The rows of one file as columns of texts, and how many of them are dropped for which reason.

A row is dropped and counted under the first fault that is found in it. More than MOST_FAULTS rows with one fault mean
another kind of file: an error.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from privarms.errors import PrivarmsError

MOST_FAULTS = 2**15
MISSING = pa.array(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"])
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


class Rows:
    """The rows of one file.

    columns: name -> texts[n] without spaces around them, null where a value is missing
    places: int64[n], the numbers of the rows in the file; in a CSV file the header is row 1
    kept: bool[n], False for the rows that were dropped; dropped: reason -> {rows, first_row}
    """

    def __init__(self, file: str, columns: Mapping[str, pa.ChunkedArray], places: np.ndarray):
        self.file, self.places = file, places
        self.columns = {name: _stripped(texts) for name, texts in columns.items()}
        self.kept = np.ones(len(places), bool)
        self.dropped: dict[str, dict[str, int]] = {}

    def drop(self, where: np.ndarray, reason: str, expected: str = "") -> None:
        """Drop the rows of a mask that are still kept; `expected` is empty for a choice that is no fault."""
        self.count(self.places[where & self.kept], reason, expected)
        self.kept &= ~where

    def count(self, places: np.ndarray, reason: str, expected: str) -> None:
        """Count dropped rows under a reason; too many faults are an error."""
        if len(places) == 0:
            return
        entry = self.dropped.setdefault(reason, {"rows": 0, "first_row": int(places[0])})
        entry["rows"] += len(places)
        if expected and entry["rows"] > MOST_FAULTS:
            raise PrivarmsError(
                f"{self.file}, row {entry['first_row']}, {reason}, as in more than {MOST_FAULTS:,} rows; expected "
                f"{expected}; correct the file"
            )

    def texts(self, column: str, expected: str = "a value in most rows") -> pa.ChunkedArray:
        """Return texts[n]; rows without one are dropped."""
        self.drop(_mask(pc.is_null(self.columns[column])), f"{column}: no value", expected)
        return self.columns[column]

    def numbers(self, column: str, low: float = -np.inf, high: float = np.inf, dollars: bool = False) -> np.ndarray:
        """Return float64[n], NaN in rows that are dropped; `dollars`: they may be written as $1,234.50."""
        texts = self.texts(column, "a number")
        if dollars:
            texts = pc.replace_substring_regex(texts, r"^\$", "")
            texts = pc.replace_substring_regex(texts, r",([0-9]{3})", r"\1")
        values, faulty = floats(texts)
        self.drop(faulty, f"{column}: not a number", "a number")
        with np.errstate(invalid="ignore"):
            outside = (values < low) | (values > high)
        self.drop(outside, f"{column}: out of range", f"a number from {low:g} to {high:g}")
        return values

    def codes(self, column: str, levels: Sequence[str], missing: int | None = None) -> np.ndarray:
        """Return int16[n], the place of each text among the levels, -1 in rows that are dropped.

        missing: the place of a missing text; by default its row is dropped
        """
        expected = f"one of {', '.join(levels)}"
        texts = self.columns[column] if missing is not None else self.texts(column, expected)
        codes = pc.index_in(texts, value_set=pa.array(levels)).fill_null(-1).to_numpy().astype(np.int16)
        if missing is not None:
            codes[_mask(pc.is_null(texts))] = missing
        self.drop(codes < 0, f"{column}: unknown category", expected)
        return codes

    def account(self) -> dict:
        """Return how many rows were read and dropped, and why; PrivarmsError if none is left."""
        n = sum(entry["rows"] for entry in self.dropped.values())
        if not self.kept.any():
            reasons = [f"{e['rows']:,} for {reason}, first row {e['first_row']}" for reason, e in self.dropped.items()]
            raise PrivarmsError(f"{self.file}: no complete row; dropped were {'; '.join(reasons) or 'none'}")
        return {"rows": int(self.kept.sum()) + n, "dropped": n, "dropped_because": self.dropped}


def read(
    file: str,
    stream: BinaryIO,
    columns: Sequence[str] | None = None,
    rename: Callable[[str], str] = str.strip,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
) -> Rows:
    """Read a CSV file; rows with another number of fields than the header are dropped and counted.

    columns: those that are needed, after `rename`; by default all
    names: of all columns, for a file without a header

    Raises PrivarmsError for a file that is not UTF-8 text, lacks one of the columns, or breaks off in its last row.
    """
    ragged: list[tuple[int, int]] = []

    def skip(row: pa.csv.InvalidRow) -> str:
        ragged.append((row.number, row.actual_columns))
        return "skip"

    try:
        header = list(names or map(rename, _header(stream, delimiter)))
        twice = [name for name in header if header.count(name) > 1]
        if twice:
            raise PrivarmsError(f"{file}: two columns are called {twice[0]!r}; give each a name of its own")
        require(file, columns or (), header)
        table = pa.csv.read_csv(
            stream,
            # One thread, or the rows have no numbers.
            pa.csv.ReadOptions(column_names=header, use_threads=False),
            pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), include_columns=list(columns or header)
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise PrivarmsError(f"{file}: not a CSV file in UTF-8 with rows ({reason}); get it again") from error
    n, above = table.num_rows + len(ragged), 0 if names else 1
    if ragged and ragged[-1][0] == n and ragged[-1][1] < len(header):
        raise PrivarmsError(
            f"{file}: the last row breaks off: {ragged[-1][1]} fields where {len(header)} are expected; the file was "
            "cut, get it again"
        )
    places = np.delete(np.arange(n), [number - 1 for number, _ in ragged]) + 1 + above
    rows = Rows(file, {name: table[name] for name in table.column_names}, places)
    for word, of_kind in (("fewer", np.less), ("more", np.greater)):
        wrong = np.array([number for number, fields in ragged if of_kind(fields, len(header))])
        rows.count(wrong + above, f"{word} fields than the header", f"{len(header)} fields")
    return rows


def require(file: str, columns: Iterable[str], found: Iterable[str]) -> None:
    """Raise PrivarmsError for a column that is not among those of a file."""
    missing = [name for name in columns if name not in found]
    if missing:
        raise PrivarmsError(
            f"{file}: no column {', '.join(map(repr, missing))}; found {', '.join(found)}; correct the header, the "
            "delimiter or `table`, or get the file again"
        )


def _header(stream: BinaryIO, delimiter: str) -> list[str]:
    return next(csv.reader([stream.readline().decode("utf-8-sig")], delimiter=delimiter), [])


def _stripped(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.is_in(texts, value_set=MISSING), None, texts)


def _mask(values: pa.ChunkedArray) -> np.ndarray:
    return values.fill_null(False).to_numpy().astype(bool)


def floats(texts: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return float64[n], NaN where there is no number, and bool[n]: which texts are not a finite number."""
    fine = pc.match_substring_regex(texts, NUMBER)
    values = pc.cast(pc.if_else(fine, texts, None), pa.float64()).to_numpy()
    return values, _mask(pc.invert(fine)) | np.isinf(values)
