"""Join shards into a study: every replicate's rows with the cell's parameters, and a summary per cell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from privarms.errors import PrivarmsError
from privarms.execution.cell import Cell, plain
from privarms.execution.result_columns import LARGEST_SHARE, QUANTILES, STATISTICS, refuse_parameters
from privarms.files import parquet
from privarms.registry.modules import ProtocolModule

# Values that are described together.
PART = 2**16


def parameter_types(cells: Sequence[Cell]) -> dict[str, pa.DataType]:
    """Return the parameter columns of a study, in the order in which they first appear, each with one type."""
    values: dict[str, list] = {}
    for cell in cells:
        for key, value in cell.parameters.items():
            values.setdefault(key, []).append(value)
    return {key: _type_of(entries) for key, entries in values.items()}


def _type_of(values: list) -> pa.DataType:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def beside_cells(
    cells: Sequence[Cell],
    counts: Sequence[int],
    types: Mapping[str, pa.DataType],
    origin_of_data: Mapping[str, str],
    rows: pa.Table,
) -> pa.Table:
    """Return rows, `counts` for each cell, after columns that identify the cell (null if not applicable)."""
    columns = {
        "cell": pa.array([c.name for c in cells]),
        "policy": pa.array([c.policy for c in cells]),
        "variant": pa.array([c.variant or None for c in cells], pa.string()),
        "data": pa.array([origin_of_data[c.dataset] if c.dataset else "simulated" for c in cells]),
        "environment": pa.array([c.environment for c in cells]),
        "horizon": pa.array([c.horizon for c in cells], pa.int64()),
    }
    parameters = [{**c.parameters, "panels": c.panels} for c in cells]
    for key, kind in types.items():
        values = [some.get(key) for some in parameters]
        if kind == pa.string():
            values = [None if value is None else str(value) for value in values]
        columns[key] = pa.array(values, kind)
    index = np.repeat(np.arange(len(cells)), counts)
    for name, values in columns.items():
        columns[name] = (values.dictionary_encode() if values.type == pa.string() else values).take(index)
    return pa.table({**columns, **{name: rows[name] for name in rows.column_names}})


def expected_replicates(cell: Cell) -> np.ndarray:
    """Return the expected replicates: all, or the first of each block for a record of ROW_PER_BLOCK."""
    protocol = ProtocolModule(cell.protocol)
    per_block = protocol.record(cell.record) in protocol.row_per_block
    return np.arange(0, cell.replicates, cell.block if per_block else 1)


def replicates_of(cell: Cell, by: parquet.RowsBy) -> np.ndarray:
    """Return the replicate of each row; raise PrivarmsError unless they are exactly those of the cell, in order."""
    expected, replicates = expected_replicates(cell), by.column(cell.name, "replicate")
    per, left = divmod(len(replicates), len(expected))
    if not per or left or (replicates.reshape(-1, per) != expected[:, None]).any():
        files = dict.fromkeys(str(place[0]) for place in by.places.get(cell.name, ()))
        raise PrivarmsError(
            f"{', '.join(files) or f'the shards of {cell.paper}'}: expected {cell.replicates} replicates of "
            f"{cell.name}, found {len(np.unique(replicates))}; delete these files and run again"
        )
    return replicates


class Groups(NamedTuple):
    """The rows of a cell by the values of the keys.

    values: of the keys in each group; counts: rows of each group
    order: the rows group by group; None if they take turns, because sorting takes several times the memory of a column
    """

    values: list[tuple]
    counts: np.ndarray
    order: np.ndarray | None


def group(replicates: np.ndarray, keys: Mapping[str, np.ndarray]) -> Groups:
    """Return the groups of rows with these replicates and keys."""
    n = int(np.searchsorted(replicates, replicates[0], side="right"))
    if len(replicates) % n == 0 and (replicates.reshape(-1, n) == replicates[::n, None]).all():
        columns = [column.reshape(-1, n) for column in keys.values()]
        values = list(zip(*(column[0].tolist() for column in columns), strict=True)) if keys else [()] * n
        if values == sorted(set(values)) and all((column == column[0]).all() for column in columns):
            return Groups(values, np.full(n, len(replicates) // n), None)
    if not keys:
        return Groups([()], np.array([len(replicates)]), np.arange(len(replicates)))
    grouped = pd.DataFrame(keys).groupby(list(keys), dropna=False)
    values, numbers = grouped.size().index, grouped.ngroup().to_numpy()
    values = list(values) if len(keys) > 1 else [(value,) for value in values]
    return Groups(values, np.bincount(numbers), np.argsort(numbers, kind="stable"))


def summarise(
    keys: Sequence[str], groups: Groups, measures: Iterable[tuple[str, np.ndarray]]
) -> dict[str, Sequence | np.ndarray]:
    """Return means, standard errors and quantiles over replicates of every measure, one row per group.

    measures: names and columns. `replicates` counts the rows of each group. NaN marks a run without that value. Such a
    run is left out of the measure's summary and counted in `<measure>_missing`. The standard error of a single run is
    NaN.
    """
    values, counts, order = groups
    ends = np.cumsum(counts)[:-1]
    summary: dict[str, Sequence | np.ndarray] = dict(zip(keys, zip(*values, strict=True), strict=True))
    summary["replicates"] = counts
    for measure, column in measures:
        column = column.astype(np.float64, copy=False)
        samples = column.reshape(-1, len(values)).T if order is None else np.split(column[order], ends)
        summary |= {f"{measure}_{name}": column for name, column in _described(samples).items()}
        if measure == "regret":
            summary[LARGEST_SHARE] = [_largest_share(sample) for sample in samples]
    return summary


def _largest_share(sample: np.ndarray) -> float:
    """Return the largest share of one replicate in the sum; NaN if the sum is not positive."""
    total = np.nansum(sample)
    return float(np.nanmax(sample) / total) if total > 0 else np.nan


def _described(samples: Sequence[np.ndarray] | np.ndarray) -> dict[str, np.ndarray]:
    """Return the statistics of each sample of one measure; samples of one size together, which is many times faster."""
    sizes = np.array([np.count_nonzero(~np.isnan(sample)) for sample in samples])
    described = {name: np.full(len(samples), np.nan) for name in STATISTICS[:-1]}
    for n in set(sizes.tolist()) - {0}:
        alike = np.flatnonzero(sizes == n)
        for which in np.array_split(alike, min(len(alike), -(-len(alike) * n // PART))):
            rows = np.stack([samples[i][~np.isnan(samples[i])] for i in which])
            described["mean"][which] = rows.mean(axis=1)
            if n > 1:
                described["se"][which] = rows.std(axis=1, ddof=1) / np.sqrt(n)
            for name, level in zip(QUANTILES, np.quantile(rows, list(QUANTILES.values()), axis=1), strict=True):
                described[name][which] = level
    return described | {"missing": np.array([len(sample) for sample in samples]) - sizes}


def aggregate(
    shards: Sequence[Path | str],
    cells: Sequence[Cell],
    origin_of_data: Mapping[str, str],
    metadata: Mapping,
    study_path: Path | str,
    cells_path: Path | str,
) -> None:
    """Write a study's rows and summaries from its shards, in cell order; origin_of_data: of each dataset."""
    types, by = parameter_types(cells), parquet.RowsBy(shards, "cell")
    if any(cell.panels for cell in cells):
        types["panels"] = pa.string()
    keys = [k for k in ProtocolModule(cells[0].protocol).keys if k in by.columns]
    measures = [name for name in by.columns if name not in ("replicate", *keys)]
    about = dict.fromkeys(types, f"{cells[0].paper}/studies.yaml: studies.{cells[0].study}")
    refuse_parameters(about, ProtocolModule(cells[0].protocol), cells[0].record, [*keys, *measures])
    summaries: list[dict[str, Sequence | np.ndarray]] = []

    def tables() -> Iterator[pa.Table]:
        for cell in cells:
            # Column by column, because some cells have millions of rows.
            groups = group(replicates_of(cell, by), {key: by.column(cell.name, key) for key in keys})
            summaries.append(summarise(keys, groups, ((name, by.column(cell.name, name)) for name in measures)))
            for part in by.rows(cell.name, by.columns):
                yield beside_cells([cell], [part.num_rows], types, origin_of_data, part)

    described = {**metadata, **parquet.origin(), "cells": [{"cell": c.name, **plain(c)} for c in cells]}
    parquet.write(study_path, tables(), described)
    counts = [len(summary["replicates"]) for summary in summaries]
    # Once, not per cell, which would take longer than everything else.
    joined = pd.DataFrame({name: np.concatenate([summary[name] for summary in summaries]) for name in summaries[0]})
    summary = beside_cells(cells, counts, types, origin_of_data, pa.Table.from_pandas(joined, preserve_index=False))
    parquet.write(cells_path, [summary], described)
