"""A user's own data: one CSV or Parquet file whose columns the dataset's entry in sources.yaml describes (`table`).

label      the column of the class to predict; its values are the arms
source     {column: ..., target: ...}: the column that says where a row is from, and its value for the target's rows;
           every other value is an auxiliary source. Without it all rows are the target's
leave_out  columns that are no features
numbers    columns that must be numbers; other columns are numbers where all their values are
texts      columns that are categories although their values look like numbers
delimiter  of a CSV file, a comma by default
"""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from privarms.data import delimited
from privarms.data.features import Features, Table
from privarms.data.reduction import REDUCTIONS
from privarms.errors import PrivarmsError

# The names that pandas gives an index that it writes.
INDEX = ("", "__index_level_0__")
MOST_CLASSES = 64
MOST_LEVELS = 256


def reductions(description: Mapping) -> tuple[str, ...]:
    """Return the possible reductions, the default first: without sources there are no auxiliary rows to fit on."""
    return REDUCTIONS if "source" in description else ("pca_all",)


def read(file: str, stream: BinaryIO, description: Mapping) -> Table:
    """Return the complete rows of a file in their order; labels, sources and levels are sorted as texts.

    Rows with a missing value, or with a text in a column of `numbers`, are dropped and counted. Raises PrivarmsError
    for a file that is neither CSV nor Parquet, a missing column, more than MOST_CLASSES labels or MOST_LEVELS
    categories in a column, and a target without rows.
    """
    rows = (
        _read_parquet(file, stream)
        if Path(file).suffix == ".parquet"
        else delimited.read(file, stream, delimiter=description.get("delimiter", ","))
    )
    label, source = description["label"], description.get("source")
    lists = {key: description.get(key, []) for key in ("leave_out", "numbers", "texts")}
    named = [label, *([source["column"]] if source else [])]
    delimited.require(file, [*named, *(column for columns in lists.values() for column in columns)], rows.columns)
    label_texts, *source_texts = (np.asarray(rows.texts(name)) for name in named)

    numbers, texts = {}, {}
    for name in rows.columns:
        if name in (*named, *lists["leave_out"], *INDEX):
            continue
        if name in lists["numbers"] or (name not in lists["texts"] and _all_numbers(rows.columns[name])):
            numbers[name] = rows.numbers(name)
        else:
            texts[name] = np.asarray(rows.texts(name))
    account, kept = rows.account(), rows.kept
    pairs = {name: np.unique(values[kept], return_inverse=True) for name, values in texts.items()}
    for name, (levels, _) in pairs.items():
        if len(levels) > MOST_LEVELS:
            raise PrivarmsError(
                f"{file}, column {name}: {len(levels):,} different texts; expected at most {MOST_LEVELS} categories; "
                "name it in `leave_out`, or in `numbers` if most of them are numbers"
            )
    n = int(kept.sum())
    features = Features(
        np.column_stack([np.zeros((n, 0)), *(values[kept] for values in numbers.values())]),
        list(numbers),
        np.column_stack([np.zeros((n, 0)), *(codes for _, codes in pairs.values())]).astype(np.int16),
        list(pairs),
        [levels.tolist() for levels, _ in pairs.values()],
    )
    label_names, labels = np.unique(label_texts[kept], return_inverse=True)
    if len(label_names) > MOST_CLASSES:
        raise PrivarmsError(
            f"{file}, column {label}: {len(label_names):,} different labels; expected at most {MOST_CLASSES} classes"
        )
    sources, source_names = np.zeros(n, np.int64), []
    if source:
        values = source_texts[0][kept]
        found = sorted(set(values))
        if source["target"] not in found or len(found) == 1:
            raise PrivarmsError(
                f"{file}, column {source['column']}: expected the target's value {source['target']!r} and at least one "
                f"other in the complete rows; found {', '.join(found[:20])}"
            )
        source_names = [value for value in found if value != source["target"]]
        order = {value: m for m, value in enumerate([source["target"], *source_names])}
        sources = np.array([order[value] for value in values], np.int64)
    return Table(features, labels.astype(np.int64), label_names.tolist(), sources, source_names, {file: account})


def _all_numbers(texts: pa.ChunkedArray) -> bool:
    values, faulty = delimited.floats(texts)
    return not faulty.any() and not np.isnan(values).all()


def _read_parquet(file: str, stream: BinaryIO) -> delimited.Rows:
    try:
        table = pq.read_table(stream)
        columns = {name: pc.cast(table[name], pa.string()) for name in table.column_names}
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise PrivarmsError(
            f"{file}: not a whole Parquet file of texts and numbers ({reason}); get it again, or convert it to CSV"
        ) from error
    return delimited.Rows(file, columns, np.arange(1, table.num_rows + 1))
