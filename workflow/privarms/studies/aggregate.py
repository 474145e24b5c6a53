"""Shards become a study: every replicate's rows with the cell's parameters beside them, and a summary per cell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from privarms.errors import PrivarmsError
from privarms.files import parquet
from privarms.studies import library
from privarms.studies.cells import Cell

QUANTILES = {"p05": 0.05, "p50": 0.50, "p95": 0.95}


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


def rows_by_cell(
    cells: Sequence[Cell], shards: Sequence[Path | str], places: Sequence[Sequence[int]]
) -> Iterator[tuple[Cell, pa.Table]]:
    """The rows of each cell in turn; a shard may hold other studies' cells too.

    places: for each cell the indices of the shards that hold its blocks, in the order of these
    Raises PrivarmsError if a shard is damaged or the shards do not hold just the cells' replicates, in order.
    """
    # Cells that follow each other lie in one shard, or in two at the edge of it.
    latest: dict[int, parquet.RowsBy] = {}

    def held(index: int) -> parquet.RowsBy:
        if index not in latest:
            while len(latest) > 1:
                del latest[next(iter(latest))]
            latest[index] = parquet.RowsBy(shards[index], "cell")
        return latest[index]

    for cell, indices in zip(cells, places, strict=True):
        where = ", ".join(str(shards[i]) for i in indices)
        parts = [held(i).rows(cell.name) for i in indices]
        if not parts or any(part is None for part in parts):
            raise PrivarmsError(f"{where}: no rows of {cell.name}; delete what is there and run again")
        rows = _joined(parts)
        found, counts = _runs(rows["replicate"].to_numpy())
        if not np.array_equal(found, expected_replicates(cell)) or np.ptp(counts) > 0:
            raise PrivarmsError(
                f"{where}: expected {cell.replicates} replicates of {cell.name}, found {len(found)}; "
                "delete what is there and run again"
            )
        yield cell, rows


def _joined(parts: list[pa.Table]) -> pa.Table:
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts)


def _runs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values without repetitions, and how often each stands in a row; one that comes back is there twice."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[starts], np.diff(np.append(starts, len(values)))


def expected_replicates(cell: Cell) -> np.ndarray:
    """The replicates that must be there: all, or the first of each block for a record of ROW_PER_BLOCK."""
    protocol = library.literals("protocols", cell.protocol)
    record = cell.record or next(iter(protocol.get("RECORDS", ())), None)
    return np.arange(0, cell.replicates, cell.block if record in protocol.get("ROW_PER_BLOCK", ()) else 1)


def summarise(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Means, standard errors and quantiles over replicates of every measured column, one row per value of the keys.

    `replicates` counts the rows of each group. NaN marks a run without that value; it is left out of that column's
    summary and counted in `<column>_missing`. The standard error of a single run is NaN.
    """
    measures = [c for c in rows.columns if c != "replicate" and c not in keys]
    # Where the rows of each group are, and no copy of them: a cell may have millions.
    groups = rows[list(keys)].groupby(list(keys), sort=True).indices if keys else {(): np.arange(len(rows))}
    columns = {measure: rows[measure].to_numpy() for measure in measures}
    summaries = []
    for values in sorted(groups):
        group = groups[values]
        summary = dict(zip(keys, values if len(keys) != 1 else [values], strict=True))
        summary["replicates"] = len(group)
        for measure in measures:
            sample = columns[measure][group].astype(np.float64)
            sample = sample[~np.isnan(sample)]
            n = len(sample)
            summary[f"{measure}_mean"] = sample.mean() if n else np.nan
            summary[f"{measure}_se"] = sample.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
            levels = np.quantile(sample, list(QUANTILES.values())) if n else [np.nan] * len(QUANTILES)
            summary |= {f"{measure}_{label}": level for label, level in zip(QUANTILES, levels, strict=True)}
            summary[f"{measure}_missing"] = len(group) - n
        summaries.append(summary)
    return pd.DataFrame(summaries)


def aggregate(
    shards: Sequence[Path | str],
    cells: Sequence[Cell],
    places: Sequence[Sequence[int]],
    origin_of_data: Mapping[str, str],
    metadata: Mapping,
    study_path: Path | str,
    cells_path: Path | str,
) -> None:
    """Write `<study>.parquet` and `<study>_cells.parquet` from the shards that hold a study's cells, in these' order.

    In memory are a batch of cells, row groups of two shards and the summaries, which are a row per cell and key.

    places: as in `rows_by_cell`
    origin_of_data: dataset -> real or stand-in; cells without a dataset are `simulated`
    """
    types = parameter_types(cells)
    summaries: list[pa.Table] = []

    def tables() -> Iterator[pa.Table]:
        for batch, counts, rows in _batches(rows_by_cell(cells, shards, places)):
            keys = [k for k in library.literals("protocols", batch[0].protocol)["KEYS"] if k in rows.column_names]
            summary, groups = _summary(batch, counts, rows, keys)
            summaries.append(_beside(cell_columns(batch, groups, types, origin_of_data), summary))
            # A cell may have millions of rows, and most columns say which one it is.
            ends = np.cumsum([0, *counts])
            for start in range(0, rows.num_rows, parquet.ROWS_PER_GROUP):
                part = rows.slice(start, parquet.ROWS_PER_GROUP)
                here = np.diff(np.clip(ends, start, start + part.num_rows))
                yield _beside(cell_columns(batch, here, types, origin_of_data), part)

    described = {**metadata, **parquet.origin(), "cells": [describe(c) for c in cells]}
    parquet.write(study_path, tables(), described)
    parquet.write(cells_path, [pa.concat_tables(summaries, promote_options="permissive")], described)


def _batches(rows_of_cells: Iterable[tuple[Cell, pa.Table]]) -> Iterator[tuple[list[Cell], list[int], pa.Table]]:
    """Consecutive cells, how many rows each has, and their rows: as many cells as make up a row group, since what a
    table costs however small it is would be most of a study of many small cells."""
    cells, tables, rows = [], [], 0
    for cell, table in rows_of_cells:
        cells.append(cell)
        tables.append(table)
        rows += table.num_rows
        if rows >= parquet.ROWS_PER_GROUP:
            yield cells, [t.num_rows for t in tables], pa.concat_tables(tables)
            cells, tables, rows = [], [], 0
    if cells:
        yield cells, [t.num_rows for t in tables], pa.concat_tables(tables)


def _summary(cells: list[Cell], counts: list[int], rows: pa.Table, keys: list[str]) -> tuple[pa.Table, np.ndarray]:
    """The summaries of some cells one below the other, and how many rows each cell has there."""
    position = pa.array(np.repeat(np.arange(len(cells)), counts))
    frame = rows.append_column("cell", position).to_pandas(split_blocks=True)
    summary = summarise(frame, ["cell", *keys])
    groups = summary.pop("cell").value_counts(sort=False).reindex(range(len(cells)), fill_value=0)
    return pa.Table.from_pandas(summary, preserve_index=False), groups.to_numpy()


def _beside(left: Mapping[str, pa.Array], right: pa.Table) -> pa.Table:
    return pa.table({**left, **{name: right[name] for name in right.column_names}})


def describe(cell: Cell) -> dict:
    """A cell's resolved parameters and size, as plain values."""
    return {
        "cell": cell.name,
        "policy": cell.policy,
        "environment": cell.environment,
        "protocol": cell.protocol,
        "horizon": cell.horizon,
        "policy_parameters": dict(cell.policy_parameters),
        "environment_parameters": dict(cell.environment_parameters),
        "replicates": cell.replicates,
        "block": cell.block,
        "stream": cell.identity,
    }
