"""Comma-separated text with a header, some thousands of rows at a time, and the account of the rows that are dropped.

A row is dropped and counted under the first fault that is found in it. More than MOST_FAULTS rows with one fault are
no accident but another kind of file: an error.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from privarms.errors import PrivarmsError

BATCH = 2**15
MOST_FAULTS = 2**15
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class Account:
    """How many rows of a file were read, and how many were dropped, why, and at which line first.

    unit: what the places count, lines of a text or rows of a table
    """

    def __init__(self, file: str, unit: str = "line"):
        self.file = file
        self.unit = unit
        self.rows = 0
        self.empty_lines = 0
        self._dropped: dict[str, dict[str, int]] = {}

    def drop(self, reason: str, places: np.ndarray, expected: str = "") -> None:
        """Count dropped rows; `expected` says what a fault should have been, and is empty for a choice."""
        if len(places) == 0:
            return
        entry = self._dropped.setdefault(reason, {"rows": 0, f"first_{self.unit}": int(places[0])})
        entry["rows"] += len(places)
        if expected and entry["rows"] > MOST_FAULTS:
            raise PrivarmsError(
                f"{self.file}, {self.unit} {entry[f'first_{self.unit}']}, {reason}, as in more than {MOST_FAULTS:,} "
                f"rows; expected {expected}; correct the file"
            )

    @property
    def dropped(self) -> int:
        """The number of dropped rows."""
        return sum(entry["rows"] for entry in self._dropped.values())

    def report(self, complete: int) -> dict:
        """What a dataset of this one file says about it; `complete` rows are left, PrivarmsError if none is.

        `dropped_because`: reason -> how many rows, and the first place
        """
        if complete == 0:
            raise PrivarmsError(f"{self.file}: no complete row is left; dropped were {self.reasons or 'none'}")
        of_file = {"rows": self.rows, "dropped": self.dropped, "dropped_because": self._dropped}
        if self.empty_lines:
            of_file["empty_lines"] = self.empty_lines
        return {"files": {self.file: of_file}, "rows": self.rows, "dropped": self.dropped, "complete": complete}

    @property
    def reasons(self) -> str:
        """Why rows were dropped, for a message."""
        first = f"first_{self.unit}"
        counts = [
            f"{entry['rows']:,} for {reason}, first {self.unit} {entry[first]}"
            for reason, entry in self._dropped.items()
        ]
        return "; ".join(counts)


class Batch:
    """Some rows of a file, column by column.

    places: int64[m], their lines; columns: name -> texts[m]; kept: bool[m], False for the rows that were dropped
    """

    def __init__(self, account: Account, places: np.ndarray, columns: dict[str, pa.Array]):
        self.account = account
        self.places = places
        self.columns = columns
        self.kept = np.ones(len(places), bool)

    def drop(self, where: np.ndarray, reason: str, expected: str = "") -> None:
        """Drop the rows of a mask that are still kept."""
        where = where & self.kept
        self.account.drop(reason, self.places[where], expected)
        self.kept &= ~where

    def numbers(self, column: str, low: float = -np.inf, high: float = np.inf, dollars: bool = False) -> np.ndarray:
        """float64[m], NaN in rows that are dropped for it; `dollars`: they may be written as $1,234.50."""
        texts = pc.utf8_trim_whitespace(self.columns[column])
        if dollars:
            texts = pc.replace_substring_regex(texts, r"^\$", "")
            texts = pc.replace_substring_regex(texts, r",([0-9]{3})", r"\1")
        values, faulty = floats(texts)
        self.drop(faulty, f"{column}: not a number", "a number")
        self.drop(np.isnan(values) & ~faulty, f"{column}: no value", "a number")
        with np.errstate(invalid="ignore"):
            outside = (values < low) | (values > high)
        self.drop(outside, f"{column}: out of range", f"a number from {low:g} to {high:g}")
        return values

    def codes(self, column: str, levels: Sequence[str], empty: int | None = None) -> np.ndarray:
        """int16[m], the place of each text among the levels, -1 in rows that are dropped; `empty`: the place of an
        empty text, a fault by default."""
        texts = pc.utf8_trim_whitespace(self.columns[column])
        codes = pc.index_in(texts, value_set=pa.array(levels, pa.string())).fill_null(-1).to_numpy().astype(np.int16)
        blank = pc.equal(texts, "").to_numpy(zero_copy_only=False)
        if empty is None:
            self.drop(blank, f"{column}: no value", f"one of {', '.join(levels)}")
        else:
            codes[blank] = empty
        self.drop(codes < 0, f"{column}: unknown category", f"one of {', '.join(levels)}")
        return codes


def floats(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """float64[m] from texts, NaN where there is none, and bool[m]: which texts are not a finite number."""
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    try:
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
        return values, np.isinf(values)
    except pa.ArrowInvalid:
        good = pc.match_substring_regex(texts, r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^(?i:nan)$")
        faulty = ~good.fill_null(True).to_numpy(zero_copy_only=False)
        values = pc.cast(pc.if_else(good, texts, None), pa.float64()).to_numpy(zero_copy_only=False)
        return values, faulty | np.isinf(values)


def read(
    file: str,
    lines: Iterable[str],
    account: Account,
    columns: Sequence[str] | None,
    rename: Callable[[str], str] = str.strip,
    delimiter: str = ",",
) -> Iterator[Batch]:
    """The rows of a file in batches; the account counts them, and those with another number of fields than the header.

    columns: the names, after `rename`, that are needed; None for all of the header

    Raises PrivarmsError, with file and line, for a header without one of the columns (another delimiter, say), quotes
    that are not closed, and a last row that breaks off.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    places, rows, ragged, end = [], [], None, 0
    try:
        header = _header(file, reader, rename, delimiter)
        places_of = _places(file, header, columns, delimiter)
        end = reader.line_num
        for fields in reader:
            place, end = end + 1, reader.line_num
            if not fields:
                account.empty_lines += 1
                continue
            account.rows += 1
            if ragged:
                _count_ragged(account, *ragged, len(header))
                ragged = None
            if len(fields) != len(header):
                ragged = place, len(fields)
                continue
            places.append(place)
            rows.append(fields)
            if len(rows) == BATCH:
                yield _batch(account, places, rows, places_of)
                places, rows = [], []
    except csv.Error as error:
        what = "the last row breaks off inside quotes" if "unexpected end" in str(error) else str(error)
        raise PrivarmsError(f"{file}, line {end + 1}: {what}; expected a whole CSV file; get it again") from error
    if ragged and ragged[1] < len(header):
        raise PrivarmsError(
            f"{file}, line {ragged[0]}: the last row breaks off: {ragged[1]} fields where the header has "
            f"{len(header)}; the file was cut, get it again"
        )
    if ragged:
        _count_ragged(account, *ragged, len(header))
    if rows:
        yield _batch(account, places, rows, places_of)


def _header(file: str, reader, rename: Callable[[str], str], delimiter: str) -> list[str]:
    fields = next(reader, None)
    if not fields:
        raise PrivarmsError(f"{file}: is empty; expected a header with the names of the columns")
    return [rename(field.removeprefix("\ufeff")) for field in fields]


def _places(file: str, header: list[str], columns: Sequence[str] | None, delimiter: str) -> dict[str, int]:
    """column -> its place in a row."""
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise PrivarmsError(f"{file}, line 1: the column {twice[0]!r} stands twice; give each a name of its own")
    if len(header) == 1:
        for other, word in DELIMITERS.items():
            if other != delimiter and other in header[0]:
                raise PrivarmsError(
                    f"{file}, line 1: the fields are separated by {word}; expected {DELIMITERS[delimiter]}"
                )
    missing = [name for name in columns or () if name not in header]
    if missing:
        raise PrivarmsError(
            f"{file}, line 1: no column {', '.join(map(repr, missing))}; found {', '.join(header)}; "
            "correct the header or get the file again"
        )
    return {name: header.index(name) for name in (columns or header)}


def _count_ragged(account: Account, place: int, found: int, width: int) -> None:
    more = "more" if found > width else "fewer"
    account.drop(f"{more} fields than the header", np.array([place]), f"{width} fields")


def _batch(account: Account, places: list[int], rows: list[list[str]], places_of: dict[str, int]) -> Batch:
    by_column = list(zip(*rows, strict=True))
    columns = {name: pa.array(by_column[i], pa.string()) for name, i in places_of.items()}
    return Batch(account, np.array(places), columns)
