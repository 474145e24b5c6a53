"""Grids as tables: CSV files next to studies.yaml, with one grid per row."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.files.model import checked
from privarms.files.whole import csv_rows
from privarms.planning.studies import Axes, GridTable, listed


def filled(value: Any, file: Path, scale: str) -> Any:
    """Return a part of studies.yaml in which every `grid` with a `table` is replaced by the rows of the table."""
    if isinstance(value, list):
        return [filled(one, file, scale) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {k: _axes(v, file, scale) if k == "grid" else filled(v, file, scale) for k, v in value.items()}


def _axes(grid, file: Path, scale: str):
    if not isinstance(grid, Mapping) or "table" not in grid:
        return grid
    of_table = checked(GridTable, grid, f"{file}: grid")
    table, only = file.parent / of_table.table, of_table.only
    (_, header), *lines = csv_rows(table)
    rows = [_row(header, line, f"{table}: line {i}", scale) for i, line in lines]
    if only is None:
        return rows
    panels = ["|".join(listed(row.parameters.get("panel", ""))) for row in rows]
    if unknown := [name for name in only if name not in panels]:
        raise PrivarmsError(f"{file}: grid.only: expected panels of {table}; found {unknown[0]!r}")
    return [row for row, panel in zip(rows, panels, strict=True) if panel in only]


def _row(header: list[str], line: list[str], place: str, scale: str) -> Axes:
    """Return a row's axes: `NAME_quick` replaces NAME except at scale paper; `|` separates the values of an axis."""
    row = {}
    for column, text in zip(header, line, strict=True):
        if not text.strip():
            raise PrivarmsError(f"{place}, column {column}: expected a value, or several separated by |; found none")
        name = column.removesuffix("_quick")
        if name == column or scale != "paper":
            values = [settings.scalar(one) for one in text.split("|")]
            row[name] = values if len(values) > 1 else values[0]
    return checked(Axes, row, place).at(place)
