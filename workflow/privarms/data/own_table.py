"""A user's own CSV or Parquet file, described by `table` in sources.yaml; docs/own-data.md explains the keys."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np
import pandas as pd

from privarms.data import delimited
from privarms.data.features import Features, Table
from privarms.data.sources import OwnTable
from privarms.errors import PrivarmsError

OPTIONS: dict = {}
# The names of an index column in files that pandas wrote.
INDEX = ("", "__index_level_0__")
MOST_CLASSES = 64
MOST_LEVELS = 256
# A column with more numbers than this share, and other texts, may be either; its user decides.
MOSTLY = 0.95
# If more rows than this share of a file, or this number in a small file, have no value in one column, its user decides:
# these rows are left out, or this column.
MOST_EMPTY, FEW_EMPTY = 0.1, 5
# What makes a text of a number in the tables that people have: signs of percent and money, comparisons, blanks, commas.
DECORATION = r"[\s%$€£,'<>≤≥~]"
# A number with groups of three digits; 1.020 may be one.
GROUPS = r"-?[1-9]\d{0,2}(?:[.,]\d{3})+"
MONTH = r"[^\W\d_]{3,9}\.?"
DATES = (
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:\D.*)?",
    r"\d{1,2}:\d{2}(?::\d{2}.*)?",
    rf"\d{{1,2}}\.?[ -]{MONTH}[ -]\d{{2,4}}",
    rf"{MONTH} \d{{1,2}},? \d{{2,4}}",
)
IN_OTHER_NOTATION = "|".join((*DATES, rf"{GROUPS}(?:[.,]\d*)?"))
EITHER_POINT = {
    ".": "the point was read as a decimal point; remove it if it separates thousands",
    ",": "the comma was read as separating thousands; write a point if it is a decimal comma",
}
# A number and its unit, such as 12 mg.
WITH_UNIT = r"[+-]?\d+(?:[.,]\d+)?\s?(?P<unit>[^\W\d_].*)"
# So few other texts among numbers are probably words for a missing value.
FEW_OTHERS = 3


def read(files: Mapping[str, BinaryIO], description: OwnTable) -> Table:
    """Return the complete rows of a file in their order; labels, sources and levels are sorted as texts.

    A missing value is the empty text or a text of `missing`; in a column whose other values are numbers, and that
    `texts` does not name, also a word of `delimited.WORDS`. Rows with a missing value, or with a text in a column of
    `numbers`, are dropped and counted.

    Raises PrivarmsError for more than 1% of such texts; for more than MOST_EMPTY of the rows without a value in a
    column that `incomplete` does not name; for a file that is neither CSV nor Parquet, a missing column, or a target
    without rows; for more than MOST_CLASSES labels, or MOST_LEVELS categories in a column.
    """
    ((file, stream),) = files.items()
    rows = delimited.read(file, stream, delimiter=description.delimiter, missing=description.missing)
    label, source = delimited.column_name(description.label), description.source
    named = [label, delimited.column_name(source.column)] if source else [label]
    leave_out, incomplete, must_be_numbers, must_be_texts = (
        [*map(delimited.column_name, names)]
        for names in (description.leave_out, description.incomplete, description.numbers, description.texts)
    )
    listed = [*named, *leave_out, *must_be_numbers, *must_be_texts, *incomplete]
    delimited.require(file, listed, rows.frame.columns)
    used = [*named, *(name for name in rows.frame if name not in (*named, *leave_out, *INDEX))]
    are_numbers = {
        name
        for name in used
        if name in must_be_numbers
        or (name not in must_be_texts and _are_numbers(file, rows.frame[name], may_be_mixed=name in named))
    }
    had_words = {name for name in used if name in are_numbers and rows.clear_words(name)}
    rows.drop(rows.frame[used].isna().all(axis="columns").to_numpy(), "empty row")
    _refuse_empty(rows, [name for name in used if name not in incomplete], named, had_words)
    label_texts, *source_texts = (rows.texts(name) for name in named)
    numbers, texts = {}, {}
    for name in used[len(named) :]:
        if name in are_numbers:
            numbers[name] = rows.numbers(name)
        else:
            texts[name] = rows.texts(name)
    account, kept = rows.account(), rows.kept
    categories = {name: _sorted_levels(values[kept]) for name, values in texts.items()}
    for name, (levels, _) in categories.items():
        if len(levels) > MOST_LEVELS:
            raise PrivarmsError(
                f"{file}, column {name}: {len(levels):,} different texts, such as {levels[0]!r}; expected at most "
                f"{MOST_LEVELS} categories; list the column in `leave_out`, or in `numbers` if most texts are numbers"
            )
    none = np.zeros((kept.sum(), 0))
    features = Features(
        np.column_stack([none, *(values[kept] for values in numbers.values())]),
        list(numbers),
        np.column_stack([none, *(codes for _, codes in categories.values())]).astype(np.int16),
        list(categories),
        [levels for levels, _ in categories.values()],
    )
    label_names, labels = _sorted_levels(_without_dots(label_texts[kept]))
    if len(label_names) > MOST_CLASSES:
        raise PrivarmsError(
            f"{file}, column {label}: {len(label_names):,} different labels; expected at most {MOST_CLASSES} classes"
        )
    sources, source_names = np.zeros(len(labels), np.int64), []
    if source:
        values = source_texts[0][kept]
        present = sorted(set(values))
        if source.target not in present or len(present) == 1:
            raise PrivarmsError(
                f"{file}, column {named[1]}: expected the target's value {source.target!r} and at least one "
                f"other in the complete rows; found {', '.join(present[:20])}"
            )
        source_names = [value for value in present if value != source.target]
        sources = pd.Index([source.target, *source_names]).get_indexer(pd.Index(values)).astype(np.int64)
    of_texts = {name: levels for name, (levels, _) in categories.items()}
    as_read = {name: rows.frame[name][kept] for name in numbers}
    remarks = [*_either_point(as_read, description.delimiter), *_row_numbers(numbers, rows)]
    remarks += _numbers_as_texts({name: levels for name, levels in of_texts.items() if name not in must_be_texts})
    remarks += _alike({label: label_names, **({named[1]: present} if source else {}), **of_texts})
    return Table(features, labels, label_names, sources, source_names, {file: account}, tuple(remarks))


def _refuse_empty(
    rows: delimited.Rows, columns: Sequence[str], named: Sequence[str], had_words: Collection[str]
) -> None:
    """Raise PrivarmsError if too many rows have no value in one of these columns.

    named: label and source, which cannot be left out; had_words: columns in which words count as missing values
    """
    total, faults = int(rows.kept.sum()), {}
    for name in columns:
        empty = rows.frame.index[rows.frame[name].isna().to_numpy() & rows.kept]
        if len(empty) > max(MOST_EMPTY * total, FEW_EMPTY):
            faults[name] = f"column {name}: {len(empty):,} of {total:,} rows have no value, first row {empty[0]}"
    if faults:
        leave_out = "" if faults.keys() <= set(named) else "in `leave_out`, or "
        words = ", or in `texts` if a word such as NA or None is a value there" if faults.keys() & had_words else ""
        raise PrivarmsError(
            f"{rows.file}, {'; '.join(faults.values())}; expected at most {MOST_EMPTY:.0%}; in `table`, list the "
            f"column {leave_out}in `incomplete` to leave out these rows{words}"
        )


def _numbers_as_texts(categories: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a remark for each column whose categories are mostly numbers or dates in another notation."""
    for name, levels in categories.items():
        texts = pd.Series(levels, dtype=str)
        plain = texts.str.replace(DECORATION, "", regex=True).str.replace("\N{MINUS SIGN}", "-")
        numbers = np.isfinite(delimited.floats(plain))
        units = texts.str.extract(f"^{WITH_UNIT}$")["unit"].str.strip()
        like = numbers | texts.str.fullmatch(IN_OTHER_NOTATION).to_numpy(bool)
        like |= units.notna().to_numpy() & (units.nunique() == 1)
        if like.sum() > len(levels) / 2:
            others, missing = texts[~like], ""
            if 0 < len(others) <= FEW_OTHERS:
                missing = f"list {' and '.join(map(repr, others))} in `missing` if it means no value; else "
            yield (
                f"column {name}: {like.sum():,} of {len(levels):,} categories look like numbers or dates, such as "
                f"{texts[like].iloc[0]!r}; {missing}write plain numbers, or list the column in `texts` or in "
                "`leave_out`"
            )


def _either_point(columns: Mapping[str, pd.Series], delimiter: str) -> Iterator[str]:
    """Yield a remark for each column of numbers whose points or commas may be read wrongly.

    In 850 and 1.020 the point may separate thousands. In a file with semicolons the comma of 1,020 may be decimal.
    """
    for name, texts in columns.items():
        groups = texts.str.fullmatch(GROUPS).to_numpy(bool)
        for sign, meaning in EITHER_POINT.items():
            has = texts.str.contains(sign, regex=False).to_numpy(bool)
            mixed = has.any() and not has.all() and not (has & ~groups).any()
            if mixed and (sign == "." or delimiter != ","):
                yield (
                    f"column {name}: {has.sum():,} numbers such as {texts[has].iloc[0]!r} are among whole numbers such "
                    f"as {texts[~has].iloc[0]!r}; {meaning}"
                )


def _row_numbers(numbers: Mapping[str, np.ndarray], rows: delimited.Rows) -> Iterator[str]:
    """Yield a remark for each column of numbers that counts the rows, as the index of a table does."""
    for name, values in numbers.items():
        kept, numbers_of_rows = values[rows.kept], rows.frame.index[rows.kept]
        if len(kept) > 2 and np.array_equal(kept - kept[0], numbers_of_rows - numbers_of_rows[0]):
            yield (
                f"column {name}: counts the rows, from {kept[0]:.15g} to {kept[-1]:.15g}; "
                "list it in `leave_out` if it is not a feature"
            )


def _alike(categories: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a remark for each column with values that people would take for the same, such as Good and good."""
    for name, levels in categories.items():
        same: dict[object, list[str]] = {}
        for level, number in zip(levels, delimited.floats(pd.Series(levels, dtype=str)), strict=True):
            folded = delimited.visible(unicodedata.normalize("NFKC", level).casefold())
            same.setdefault(number if np.isfinite(number) else folded, []).append(level)
        groups = [" and ".join(map(repr, group)) for group in same.values() if len(group) > 1]
        if groups:
            more = f", and {len(groups) - 1:,} more such groups" if len(groups) > 1 else ""
            yield f"column {name}: {groups[0]} are different values{more}; write them alike if they are the same"


def _without_dots(labels: pd.Series) -> pd.Series:
    """Return the labels; a label that equals another one plus a final dot, as in adult.test, becomes that label."""
    known = set(labels)
    return labels.replace({text: text[:-1] for text in known if text.endswith(".") and text[:-1] in known})


def _sorted_levels(texts: pd.Series) -> tuple[list[str], np.ndarray]:
    """Return the different texts, sorted, and int64[n], the index of each text among them."""
    codes, levels = pd.factorize(texts, sort=True)
    return list(levels), codes.astype(np.int64)


def _are_numbers(file: str, texts: pd.Series, may_be_mixed: bool) -> bool:
    """Return whether all values are numbers, apart from words for a missing value.

    may_be_mixed: whether a few other texts among the numbers are no fault, as in a column of labels
    """
    present = texts[texts.notna() & ~texts.isin(delimited.WORDS)]
    numbers = np.isfinite(delimited.floats(present))
    if len(present) and MOSTLY < numbers.mean() < 1 and not may_be_mixed:
        row = present.index[~numbers][0]
        raise PrivarmsError(
            f"{file}, column {texts.name}: {numbers.sum():,} of {len(present):,} values are numbers, but row {row} has "
            f"{present[row]!r}; list the column in `numbers` or in `texts`"
        )
    return len(present) > 0 and bool(numbers.all())
