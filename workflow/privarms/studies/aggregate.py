"""Shards become a study: every replicate's rows with the cell's parameters beside them, and a summary per cell."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from privarms.errors import PrivarmsError
from privarms.studies import library, store
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


def cell_columns(cell: Cell, types: Mapping[str, pa.DataType], origin_of_data: str, rows: int) -> dict[str, pa.Array]:
    """The columns that say which cell a row belongs to; a parameter that does not apply is null."""
    columns = {
        "cell": _constant(cell.name, pa.string(), rows),
        "policy": _constant(cell.policy, pa.string(), rows),
        "variant": _constant(cell.variant or None, pa.string(), rows),
        "data": _constant(origin_of_data, pa.string(), rows),
        "environment": _constant(cell.environment, pa.string(), rows),
        "horizon": _constant(cell.horizon, pa.int64(), rows),
    }
    parameters = cell.parameters
    for key, kind in types.items():
        value = parameters.get(key)
        if value is not None and kind == pa.string():
            value = str(value)
        columns[key] = _constant(value, kind, rows)
    return columns


def _constant(value, kind: pa.DataType, rows: int) -> pa.Array:
    if kind == pa.string():
        index = pa.array(np.zeros(rows, np.int32), mask=np.full(rows, value is None))
        return pa.DictionaryArray.from_arrays(index, pa.array(["" if value is None else value]))
    return pa.nulls(rows, kind) if value is None else pa.repeat(pa.scalar(value, kind), rows)


def rows_by_cell(shards: Sequence[Path | str], cells: Sequence[Cell]) -> Iterator[tuple[Cell, pa.Table]]:
    """The rows of each cell in turn, read shard by shard; a cell may lie in several shards.

    Raises PrivarmsError if a shard is damaged or the shards do not hold just the cells' replicates, in order.
    """
    expected = iter(cells)
    pending: list[pa.Table] = []
    name = None

    def finish() -> tuple[Cell, pa.Table]:
        cell = next(expected, None)
        rows = pa.concat_tables(pending)
        found, counts = _runs(rows["replicate"].to_numpy())
        complete = cell is not None and cell.name == name and np.array_equal(found, expected_replicates(cell))
        if not complete or np.ptp(counts) > 0:
            wanted = "no further cell" if cell is None else f"{cell.replicates} replicates of {cell.name}"
            raise PrivarmsError(
                f"{shards[0]} and its neighbours: expected {wanted}, found {len(found)} replicates of {name}; "
                "delete the study's shards and run again"
            )
        return cell, rows

    for shard in shards:
        table = store.read(shard)
        names = table["cell"].combine_chunks().to_numpy(zero_copy_only=False)
        edges = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1), len(names)]
        for start, end in itertools.pairwise(edges):
            if pending and names[start] != name:
                yield finish()
                pending.clear()
            name = names[start]
            pending.append(table.slice(start, end - start).drop_columns("cell"))
    if pending:
        yield finish()
    if (cell := next(expected, None)) is not None:
        raise PrivarmsError(f"{shards[0]} and its neighbours: no rows of {cell.name}; delete them and run again")


def _runs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values without repetitions, and how often each stands in a row; one that comes back is there twice."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[starts], np.diff(np.append(starts, len(values)))


def expected_replicates(cell: Cell) -> np.ndarray:
    """The replicates that must be there: all, or the first of each block for a protocol with ROW_PER_BLOCK."""
    per_block = library.literals("protocols", cell.protocol).get("ROW_PER_BLOCK", False)
    return np.arange(0, cell.replicates, cell.block if per_block else 1)


def summarise(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Means, standard errors and quantiles over replicates of every measured column, one row per value of the keys.

    `replicates` counts the rows of each group. NaN marks a run without that value; it is left out of that column's
    summary and counted in `<column>_missing`. The standard error of a single run is NaN.
    """
    measures = [c for c in rows.columns if c != "replicate" and c not in keys]
    groups = rows.groupby(list(keys), sort=True) if keys else [((), rows)]
    summaries = []
    for values, group in groups:
        summary = dict(zip(keys, values, strict=True))
        summary["replicates"] = len(group)
        for measure in measures:
            sample = group[measure].to_numpy(np.float64)
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
    origin_of_data: Mapping[str, str],
    metadata: Mapping,
    study_path: Path | str,
    cells_path: Path | str,
) -> None:
    """Write `<study>.parquet` and `<study>_cells.parquet` from a study's shards, in the shards' order.

    origin_of_data: dataset -> real or stand-in; cells without a dataset are `simulated`
    """
    types = parameter_types(cells)
    protocol_keys = {name: library.literals("protocols", name)["KEYS"] for name in {c.protocol for c in cells}}
    summaries: list[pa.Table] = []

    def tables() -> Iterator[pa.Table]:
        for cell, rows in rows_by_cell(shards, cells):
            data = origin_of_data[cell.dataset] if cell.dataset else "simulated"
            keys = [k for k in protocol_keys[cell.protocol] if k in rows.column_names]
            summary = pa.Table.from_pandas(summarise(rows.to_pandas(), keys), preserve_index=False)
            summaries.append(_beside(cell_columns(cell, types, data, summary.num_rows), summary))
            yield _beside(cell_columns(cell, types, data, rows.num_rows), rows)

    described = {**metadata, **store.origin(), "cells": [describe(c) for c in cells]}
    store.write(study_path, tables(), described)
    store.write(cells_path, [pa.concat_tables(summaries, promote_options="permissive")], described)


def _beside(left: Mapping[str, pa.Array], right: pa.Table) -> pa.Table:
    return pa.table({**left, **{name: right[name] for name in right.column_names}}).unify_dictionaries()


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
