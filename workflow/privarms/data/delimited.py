"""Rows of one CSV or Parquet file as columns of texts, and the numbers of dropped rows by reason."""

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
from pyarrow import csv as pa_csv
from pyarrow import parquet

from privarms.errors import PrivarmsError
from privarms.files import signatures

# pyarrow makes the functions of this module when it is imported, so their types are unknown.
pc: Any = pyarrow.compute
# If more rows than this share of a file, or this number in a small file, are malformed, it is probably another file.
MOST_MALFORMED, FEW_MALFORMED = 0.01, 5
# A sum of money, or a number with groups of three digits. 0,125 is none: its comma is a decimal comma.
GROUPED = r"-?\$?-?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d*)?"
# Words for a missing value in a column of numbers. In other columns they may be values, such as the severity "None".
WORDS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")


def column_name(text: str) -> str:
    """Return the name of a column: one blank instead of blanks and line breaks, and one form (NFC) of each letter."""
    return visible(unicodedata.normalize("NFC", text))


def visible(text: str) -> str:
    """Return a text with one blank instead of blanks and line breaks, without characters of no width."""
    return " ".join("".join(sign for sign in text if unicodedata.category(sign) != "Cf").split())


class Rows:
    """Rows of one file; a row is dropped for its first fault.

    columns: column -> texts; the conversion to `frame` empties it
    frame: texts without surrounding spaces, NaN for the empty text; the index is the row's number in the file
    missing: further texts that become NaN in every column
    kept: bool[n], False for the dropped rows; dropped: reason -> {rows, first_row}
    malformed: the reasons that are faults of the file
    """

    def __init__(self, file: str, columns: dict[str, pa.ChunkedArray], first_row: int, missing: Sequence[str] = ()):
        self.file = file
        index = pd.RangeIndex(first_row, first_row + len(next(iter(columns.values()), ())))
        self.frame = pd.DataFrame(index=index)
        for name in list(columns):
            # Each column is freed after its conversion, because all texts twice would be most of a job's memory.
            texts = columns.pop(name).to_pandas().set_axis(index).str.strip()
            self.frame[name] = texts.mask(texts.isin(("", *missing)))
        self.kept = np.ones(len(index), bool)
        self.dropped: dict[str, dict[str, int]] = {}
        self.malformed: set[str] = set()

    def drop(self, where: np.ndarray, reason: str, *, malformed: bool = False) -> None:
        """Drop the kept rows of a mask, and count them under a reason; malformed: whether it is a fault of the file."""
        self.malformed |= {reason} if malformed else set()
        rows = self.frame.index[where & self.kept]
        if len(rows):
            self.dropped[reason] = {"rows": len(rows), "first_row": int(rows[0])}
            self.kept &= ~where

    def texts(self, column: str) -> pd.Series:
        """Return texts[n]; drop rows without one."""
        self.drop(self.frame[column].isna().to_numpy(), f"{column}: no value")
        return self.frame[column]

    def clear_words(self, column: str) -> bool:
        """Make the WORDS of a column of numbers missing values; return whether there were any."""
        words = self.frame[column].isin(WORDS)
        self.frame[column] = self.frame[column].mask(words)
        return bool(words.any())

    def numbers(self, column: str, low: float = -np.inf, high: float = np.inf) -> np.ndarray:
        """Return float64[n]; drop rows without a finite number in this range. WORDS are missing values."""
        self.clear_words(column)
        values = floats(texts := self.texts(column))
        comma = texts[~np.isfinite(values)].dropna().str.fullmatch(r"-?\d+,\d+")
        hint = " (decimal commas are not read)" if len(comma) and comma.all() else ""
        self.drop(~np.isfinite(values), f"{column}: not a number{hint}", malformed=True)
        self.drop((values < low) | (values > high), f"{column}: out of range")
        return values

    def codes(self, column: str, levels: Sequence[str]) -> np.ndarray:
        """Return int16[n], the index of each text among the levels; drop rows with another text, whose index is -1."""
        # pandas' own index would make a Python object of each text.
        codes = pc.index_in(pa.array(self.texts(column), pa.string()), pa.array(levels, pa.string()))
        codes = codes.fill_null(-1).to_numpy().astype(np.int16)
        self.drop(codes < 0, f"{column}: unknown category", malformed=True)
        return codes

    def account(self) -> dict:
        """Return the numbers of read and dropped rows, and the reasons.

        Raises PrivarmsError if no row is left, or if more than MOST_MALFORMED of the rows are malformed.
        """
        if not self.kept.any():
            raise PrivarmsError(f"{self.file}: no complete row; dropped: {self._reasons(self.dropped) or 'none'}")
        malformed = sum(self.dropped[reason]["rows"] for reason in self.malformed & set(self.dropped))
        if malformed > max(MOST_MALFORMED * len(self.kept), FEW_MALFORMED):
            raise PrivarmsError(
                f"{self.file}: {malformed:,} of {len(self.kept):,} rows are malformed "
                f"({self._reasons(self.malformed)}); expected at most {MOST_MALFORMED:.0%}; correct the file or "
                "the columns in the dataset's entry of sources.yaml"
            )
        return {"rows": len(self.kept), "dropped": int((~self.kept).sum()), "dropped_because": self.dropped}

    def _reasons(self, reasons: Iterable[str]) -> str:
        those = {reason: entry for reason, entry in self.dropped.items() if reason in reasons}
        return "; ".join(f"{e['rows']:,} for {reason}, first row {e['first_row']}" for reason, e in those.items())


def read(
    file: str,
    stream: BinaryIO,
    columns: Sequence[str] | None = None,
    rename: Callable[[str], str] = column_name,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
    missing: Sequence[str] = (),
) -> Rows:
    """Read a CSV file, in which a header is row 1, or a Parquet file, which has the suffix .parquet.

    columns: the needed ones, after `rename` (default: all)
    names: the names of all columns, for a stream without a header
    missing: texts that are missing values in every column, as the empty text is
    The stream of a CSV file is closed, because that of a stand-in is in memory.

    Raises PrivarmsError for a file that is incomplete, is not UTF-8 text, lacks one of the columns, or has a row of
    another length.
    """
    if file.endswith(".parquet"):
        return Rows(file, _parquet(file, stream, columns), first_row=1, missing=missing)
    start = stream.tell()
    if reason := signatures.not_text(stream.read(signatures.LONGEST)):
        raise PrivarmsError(f"{file}: {reason}")
    stream.seek(start)
    try:
        first, more = (names, True) if names else _header(stream, delimiter)
        header = list(first if names else map(rename, first))
        if len(header) == 1 and any(sign in header[0] for sign in ";\t|"):
            raise PrivarmsError(f"{file}: the header is one column, {header[0]!r}; set the `delimiter` of `table`")
        require(file, columns or (), header)
        if not header:
            raise PrivarmsError(f"{file}: the first line is empty; expected the names of the columns; correct it")
        if not more:
            raise PrivarmsError(f"{file}: only a header; expected rows; close its quotes, or get the file again")
        table = pa_csv.read_csv(
            stream,
            # With several threads an error names no row.
            pa_csv.ReadOptions(column_names=header, skip_rows_after_names=0 if names else 1, use_threads=False),
            pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pa_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), include_columns=columns),
        )
        stream.close()
        if any(pc.any(pc.match_substring(column, "\0")).as_py() for column in table.columns):
            raise pa.ArrowInvalid("NUL bytes")
        _refuse_rows_in_values(table, header, delimiter)
    except (pa.ArrowInvalid, UnicodeDecodeError, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise PrivarmsError(
            f"{file}: {reason}; expected a CSV file in UTF-8 with rows of equal length; correct it or get it again"
        ) from error
    texts = {name: table[name] for name in table.column_names}
    # The table would keep the columns that `Rows` frees.
    del table
    return Rows(file, texts, first_row=1 if names else 2, missing=missing)


def _refuse_rows_in_values(table: pa.Table, header: Sequence[str], delimiter: str) -> None:
    """Raise ArrowInvalid if whole rows are in a value, because a quotation mark opens it and a later one closes it.

    Its first line then has at least the fields up to the end of a row, and at least two lines between it and the last
    one have all fields; a single one may be a sentence with as many commas.
    """
    for name in table.column_names:
        to_end = len(header) - header.index(name)
        for text in table[name].filter(pc.match_substring(table[name], "\n")).to_pylist():
            # A quotation mark would have closed the value, so every delimiter in it separates fields.
            fields = [line.count(delimiter) + 1 for line in text.splitlines()]
            if len(header) > 1 and len(fields) > 3 and fields[0] >= to_end and {*fields[1:-1]} == {len(header)}:
                raise pa.ArrowInvalid(
                    f"column {name!r} has a value of {len(fields):,} lines, which are rows: it begins with "
                    f"{text[:20]!r}; its quotation mark is not closed"
                )


def _parquet(file: str, stream: BinaryIO, columns: Sequence[str] | None) -> dict[str, pa.ChunkedArray]:
    try:
        table = parquet.read_table(stream)
        table = table.rename_columns([*map(column_name, table.column_names)])
        require(file, columns or (), table.column_names)
        table = table.select(columns or table.column_names)
        return {name: _as_texts(table[name]) for name in table.column_names}
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise PrivarmsError(
            f"{file}: not a complete Parquet file of texts and numbers ({reason}); get it again or convert it to CSV"
        ) from error


def _as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(column.type):
        # Its text "nan" would be a value in a column of labels.
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column.cast(pa.string())


def require(file: str, columns: Iterable[str], present: Iterable[str]) -> None:
    """Raise PrivarmsError if a file lacks one of the columns, or has two of one name."""
    present = list(present)
    if present.count("") > 1:
        unnamed = ", ".join(str(number) for number, name in enumerate(present, 1) if not name)
        raise PrivarmsError(
            f"{file}: columns {unnamed} have no name; name them, or remove the delimiters at the end of the lines"
        )
    twice = sorted({name for name in present if present.count(name) > 1})
    if twice:
        raise PrivarmsError(f"{file}: several columns named {', '.join(map(repr, twice))}; rename all but one")
    missing = [name for name in columns if name not in present]
    if missing:
        raise PrivarmsError(
            f"{file}: no column {', '.join(map(repr, missing))}; found {', '.join(present)}; correct the header, the "
            "delimiter or `table`, or get the file again"
        )


def floats(texts: pd.Series) -> np.ndarray:
    """Return float64[n], NaN for texts that are not numbers.

    $1,234.50 is a number, unless another text has a comma elsewhere, which may be a decimal comma.
    """
    values = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
    if np.isnan(values).any():
        comma = texts.str.contains(",").to_numpy(bool, na_value=False)
        grouped = texts.str.fullmatch(GROUPED).to_numpy(bool, na_value=False)
        if (comma & ~grouped).any():
            grouped = grouped & ~comma
        plain = pd.to_numeric(texts.str.replace(r"[$,]", "", regex=True), errors="coerce").to_numpy(np.float64)
        values = np.where(np.isnan(values) & grouped, plain, values)
    return values


def _header(stream: BinaryIO, delimiter: str) -> tuple[list[str], bool]:
    """Return the first record, which may have line breaks in quotes, and whether anything follows."""
    start = stream.tell()
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        return next(csv.reader(text, delimiter=delimiter), []), bool(text.read(1))
    finally:
        text.detach()
        stream.seek(start)
