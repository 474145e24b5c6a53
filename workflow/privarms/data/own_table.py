"""A user's own CSV or Parquet file, described by `table` in sources.yaml; docs/own-data.md explains the keys."""

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np
import pandas as pd

from privarms.data import delimited
from privarms.data.features import Features, Table
from privarms.errors import PrivarmsError

OPTIONS: dict = {}
# The names of an index column in files that pandas wrote.
INDEX = ("", "__index_level_0__")
MOST_CLASSES = 64
MOST_LEVELS = 256
# A column with more numbers than this share, and other texts, may be either; its user decides.
MOSTLY = 0.95


def read(files: Mapping[str, BinaryIO], description: Mapping) -> Table:
    """Return the complete rows of a file in their order; labels, sources and levels are sorted as texts.

    Rows with a missing value, or with a text in a column of `numbers`, are dropped and counted. Raises PrivarmsError
    for more than 1% of such texts, a file that is neither CSV nor Parquet, a missing column, or a target without rows;
    also for more than MOST_CLASSES labels, or MOST_LEVELS categories in a column.
    """
    ((file, stream),) = files.items()
    rows = delimited.read(file, stream, delimiter=description.get("delimiter", ","))
    label, source = description["label"], description.get("source")
    leave_out, must_be_numbers, must_be_texts = (description.get(k, []) for k in ("leave_out", "numbers", "texts"))
    named = [label, source["column"]] if source else [label]
    delimited.require(file, [*named, *leave_out, *must_be_numbers, *must_be_texts], list(rows.frame))
    label_texts, *source_texts = (rows.texts(name) for name in named)
    numbers, texts = {}, {}
    for name in rows.frame:
        if name in (*named, *leave_out, *INDEX):
            continue
        if name in must_be_numbers or (name not in must_be_texts and _are_numbers(file, rows.frame[name])):
            numbers[name] = rows.numbers(name)
        else:
            texts[name] = rows.texts(name)
    account, kept = rows.account(), rows.kept
    categories = {name: _sorted_levels(values[kept]) for name, values in texts.items()}
    for name, (levels, _) in categories.items():
        if len(levels) > MOST_LEVELS:
            raise PrivarmsError(
                f"{file}, column {name}: {len(levels):,} different texts; expected at most {MOST_LEVELS} categories; "
                "list the column in `leave_out`, or in `numbers` if most texts are numbers"
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
        if source["target"] not in present or len(present) == 1:
            raise PrivarmsError(
                f"{file}, column {source['column']}: expected the target's value {source['target']!r} and at least one "
                f"other in the complete rows; found {', '.join(present[:20])}"
            )
        source_names = [value for value in present if value != source["target"]]
        sources = pd.Index([source["target"], *source_names]).get_indexer(values).astype(np.int64)
    return Table(features, labels, label_names, sources, source_names, {file: account})


def _without_dots(labels: pd.Series) -> pd.Series:
    """Return the labels; a label that equals another one plus a final dot, as in adult.test, becomes that label."""
    known = set(labels)
    return labels.replace({text: text[:-1] for text in known if text.endswith(".") and text[:-1] in known})


def _sorted_levels(texts: pd.Series) -> tuple[list[str], np.ndarray]:
    """Return the different texts, sorted, and int64[n], the index of each text among them."""
    codes, levels = pd.factorize(texts, sort=True)
    return list(levels), codes.astype(np.int64)


def _are_numbers(file: str, texts: pd.Series) -> bool:
    present = texts.dropna()
    numbers = np.isfinite(delimited.floats(present))
    if len(present) and MOSTLY < numbers.mean() < 1:
        row = present.index[~numbers][0]
        raise PrivarmsError(
            f"{file}, column {texts.name}: {numbers.sum():,} of {len(present):,} values are numbers, but row {row} has "
            f"{present[row]!r}; list the column in `numbers` or in `texts`"
        )
    return len(present) > 0 and bool(numbers.all())
