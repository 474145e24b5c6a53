"""Shards become a study: every replicate's rows with the cell's parameters beside them, and a summary per cell."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from privarms.errors import PrivarmsError
from privarms.files import parquet
from privarms.studies import library
from privarms.studies.cells import Cell, plain

QUANTILES = {"p05": 0.05, "p50": 0.50, "p95": 0.95}
# 32 MB: of the measures of a long cell that stand in memory together. One always does.
NUMBERS_AT_ONCE = 2**22
# Of one measure: in small studies calls of numpy are what takes the time, in large ones copies are.
NUMBERS_TOGETHER = 2**13


class Rows(NamedTuple):
    """The rows of cells that follow each other, which are read again whenever they are asked for.

    counts: how many rows each cell has; by: the shards, by cell
    """

    cells: list[Cell]
    counts: list[int]
    by: parquet.RowsBy

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows, in their order, a part at a time, none longer than a row group."""
        parts = (part for cell in self.cells for part in self.by.rows(cell.name, columns))
        yield from [pa.concat_tables(parts)] if len(self.cells) > 1 else parts


def parameter_types(cells: Sequence[Cell]) -> dict[str, pa.DataType]:
    """The parameter columns of a study, in the order in which they first appear, each of one type."""
    values: dict[str, list] = {}
    for cell in cells:
        for key, value in cell.parameters.items():
            values.setdefault(key, []).append(value)
    return {key: _type_of(found) for key, found in values.items()}


def _type_of(values: list) -> pa.DataType:
    if all(isinstance(v, bool) for v in values):
        return pa.bool_()
    if all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        return pa.int64()
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return pa.float64()
    return pa.string()


def cell_columns(
    cells: Sequence[Cell], counts: Sequence[int], types: Mapping[str, pa.DataType], origin_of_data: Mapping[str, str]
) -> dict[str, pa.Array]:
    """The columns that say which cell a row belongs to, `counts` rows a cell; null where a parameter does not apply."""
    parameters = [cell.parameters for cell in cells]
    columns = {
        "cell": pa.array([c.name for c in cells]),
        "policy": pa.array([c.policy for c in cells]),
        "variant": pa.array([c.variant or None for c in cells], pa.string()),
        "data": pa.array([origin_of_data[c.dataset] if c.dataset else "simulated" for c in cells]),
        "environment": pa.array([c.environment for c in cells]),
        "horizon": pa.array([c.horizon for c in cells], pa.int64()),
    }
    for key, kind in types.items():
        values = [p.get(key) for p in parameters]
        if kind == pa.string():
            values = [v if v is None else str(v) for v in values]
        columns[key] = pa.array(values, kind)
    if any(cell.panels for cell in cells):
        columns["panels"] = pa.array([cell.panels for cell in cells])
    index = np.repeat(np.arange(len(cells)), counts)
    return {
        name: (values.dictionary_encode() if values.type == pa.string() else values).take(index)
        for name, values in columns.items()
    }


def batches(cells: Iterable[Cell], by: parquet.RowsBy) -> Iterator[Rows]:
    """The rows of consecutive cells, as many together as fit a row group, or of one long cell.

    What a table costs however small it is would be most of a study of many small cells.
    Raises PrivarmsError if the rows of a cell are not those of just its replicates, in order.
    """
    batch, counts = [], []
    for cell in cells:
        count = _checked_count(cell, by)
        if batch and sum(counts) + count > parquet.ROWS_PER_GROUP:
            yield Rows(batch, counts, by)
            batch, counts = [], []
        batch.append(cell)
        counts.append(count)
    yield Rows(batch, counts, by)


def _checked_count(cell: Cell, by: parquet.RowsBy) -> int:
    parts = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for table in by.rows(cell.name, ["replicate"]):
        values = table["replicate"].to_numpy()
        parts.append(_runs(values, np.ones(len(values), np.int64)))
    # One that comes back is there twice.
    replicates, counts = _runs(*map(np.concatenate, zip(*parts, strict=True)))
    if not np.array_equal(replicates, expected_replicates(cell)) or np.ptp(counts) > 0:
        files = dict.fromkeys(str(place[0]) for place in by.places.get(cell.name, ()))
        raise PrivarmsError(
            f"{', '.join(files) or f'the shards of {cell.paper}'}: expected {cell.replicates} replicates of "
            f"{cell.name}, found {len(replicates)}; delete what is there and run again"
        )
    return int(counts.sum())


def _runs(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values, of which each stands for so many, without repetitions in a row, and for how many each stands then."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    return values[starts], np.add.reduceat(counts, starts)


def expected_replicates(cell: Cell) -> np.ndarray:
    """The replicates that must be there: all, or the first of each block for a record of ROW_PER_BLOCK."""
    protocol = library.attributes("protocols", cell.protocol)
    record = cell.record or next(iter(protocol.get("RECORDS", ())), None)
    return np.arange(0, cell.replicates, cell.block if record in protocol.get("ROW_PER_BLOCK", ()) else 1)


def summarise(
    read: Callable[[Sequence[str]], Iterable[pd.DataFrame]], columns: Sequence[str], keys: Sequence[str]
) -> pd.DataFrame:
    """Means, standard errors and quantiles over replicates of every measured column, one row per value of the keys.

    `replicates` counts the rows of each group. NaN marks a run without that value; it is left out of that column's
    summary and counted in `<column>_missing`. The standard error of a single run is NaN.

    read: gives some columns of the rows, as `Rows.read`; columns: the names of all; keys: at least one
    """
    measures = [c for c in columns if c != "replicate" and c not in keys]
    values, groups = _groups(read(keys), keys)
    counts = np.bincount(groups, minlength=len(values))
    summary = dict(zip(keys, zip(*values, strict=True), strict=True)) | {"replicates": counts}
    at_once = max(1, NUMBERS_AT_ONCE // len(groups))
    for first in range(0, len(measures), at_once):
        some = measures[first : first + at_once]
        summary |= _summaries(read(some), some, groups, counts)
    return pd.DataFrame(summary)


def _groups(parts: Iterable[pd.DataFrame], keys: Sequence[str]) -> tuple[list[tuple], np.ndarray]:
    """The values that the keys have together, sorted, and for each row which of these it has."""
    known: dict[tuple, int] = {}
    numbers = []
    for part in parts:
        groups = part.groupby(list(keys), observed=True, dropna=False)
        found = groups.size().index
        own = [known.setdefault(v, len(known)) for v in (found if len(keys) > 1 else zip(found, strict=True))]
        # In the smallest type that does: of a cell with millions of rows this is held all the time.
        numbers.append(np.array(own, np.min_scalar_type(len(known)))[groups.ngroup().to_numpy()])
    values = sorted(known)
    places = np.empty(len(known), np.min_scalar_type(len(known)))
    places[[known[v] for v in values]] = np.arange(len(known))
    return values, places[np.concatenate(numbers)]


def _summaries(
    parts: Iterable[pd.DataFrame], measures: Sequence[str], groups: np.ndarray, counts: np.ndarray
) -> dict[str, np.ndarray]:
    """The columns that say something of each measure, a number a group.

    groups: of each row; counts: how many rows each group has
    """
    ends = np.cumsum(counts)
    # The values of each group one after another, in the order of the rows.
    sorted_by_group = {measure: np.empty(len(groups)) for measure in measures}
    start, next_of_group = 0, ends - counts
    for part in parts:
        own = groups[start : start + len(part)]
        order, of_group = np.argsort(own, kind="stable"), np.bincount(own, minlength=len(counts))
        places = np.arange(len(own)) + np.repeat(next_of_group - (np.cumsum(of_group) - of_group), of_group)
        for measure in measures:
            sorted_by_group[measure][places] = part[measure].to_numpy()[order].astype(np.float64)
        start += len(part)
        next_of_group += of_group
    columns: dict[str, np.ndarray] = {}
    together = max(1, NUMBERS_TOGETHER // counts.max())
    for measure in measures:
        samples = np.split(sorted_by_group[measure], ends[:-1])
        parts = [_described(samples[first : first + together]) for first in range(0, len(samples), together)]
        columns |= {f"{measure}_{name}": np.concatenate([p[name] for p in parts]) for name in parts[0]}
        if measure == "regret":
            columns["regret_largest_share"] = np.array([_largest_share(sample) for sample in samples])
    return columns


def _largest_share(sample: np.ndarray) -> float:
    """The largest part that one replicate has in the mean; NaN where that is 0."""
    total = np.nansum(sample)
    return float(np.nanmax(sample) / total) if total > 0 else np.nan


def _described(samples: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """What is said of each sample of one measure; samples of one size together, which is many times faster."""
    there = [sample[~np.isnan(sample)] for sample in samples]
    sizes = np.array([len(some) for some in there])
    told = {name: np.full(len(samples), np.nan) for name in ("mean", "se", *QUANTILES)}
    for n in set(sizes.tolist()) - {0}:
        which = np.flatnonzero(sizes == n)
        rows = np.stack([there[i] for i in which])
        told["mean"][which] = rows.mean(axis=1)
        if n > 1:
            told["se"][which] = rows.std(axis=1, ddof=1) / np.sqrt(n)
        for name, level in zip(QUANTILES, np.quantile(rows, list(QUANTILES.values()), axis=1), strict=True):
            told[name][which] = level
    return told | {"missing": np.array([len(sample) for sample in samples]) - sizes}


def aggregate(
    shards: Sequence[Path | str],
    cells: Sequence[Cell],
    origin_of_data: Mapping[str, str],
    metadata: Mapping,
    study_path: Path | str,
    cells_path: Path | str,
) -> None:
    """Write `<study>.parquet` and `<study>_cells.parquet` from the shards that hold a study's cells, in these' order.

    In memory are a batch of cells or one measure of a long one, row groups of two shards, and the summaries, which are
    a row per cell and key. A shard may hold other studies' cells too.

    origin_of_data: dataset -> real or stand-in; cells without a dataset are `simulated`
    """
    types = parameter_types(cells)
    summaries: list[pa.Table] = []

    def tables() -> Iterator[pa.Table]:
        for rows in batches(cells, parquet.RowsBy(shards, "cell")):
            summary, groups = _summary(rows)
            summaries.append(_beside(cell_columns(rows.cells, groups, types, origin_of_data), summary))
            start, ends = 0, np.cumsum([0, *rows.counts])
            for part in rows.read(rows.by.columns):
                here = np.diff(np.clip(ends, start, start + part.num_rows))
                yield _beside(cell_columns(rows.cells, here, types, origin_of_data), part)
                start += part.num_rows

    described = {**metadata, **parquet.origin(), "cells": [{"cell": c.name, **plain(c)} for c in cells]}
    parquet.write(study_path, tables(), described)
    parquet.write(cells_path, [pa.concat_tables(summaries, promote_options="permissive")], described)


def _summary(rows: Rows) -> tuple[pa.Table, np.ndarray]:
    """The summaries of some cells one below the other, and how many rows each cell has there."""
    keys = [k for k in library.attributes("protocols", rows.cells[0].protocol)["KEYS"] if k in rows.by.columns]
    ends = np.cumsum(rows.counts)

    def read(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        start = 0
        for part in rows.read([c for c in columns if c != "cell"] or ["replicate"]):
            positions = np.searchsorted(ends, np.arange(start, start + part.num_rows), side="right")
            yield part.append_column("cell", pa.array(positions)).to_pandas(split_blocks=True)
            start += part.num_rows

    summary = summarise(read, ["cell", *rows.by.columns], ["cell", *keys])
    groups = summary.pop("cell").value_counts(sort=False).reindex(range(len(rows.cells)), fill_value=0)
    return pa.Table.from_pandas(summary, preserve_index=False), groups.to_numpy()


def _beside(left: Mapping[str, pa.Array], right: pa.Table) -> pa.Table:
    return pa.table({**left, **{name: right[name] for name in right.column_names}})
