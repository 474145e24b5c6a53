"""Grids as tables: CSV files next to studies.yaml, with one grid per row."""

from collections.abc import Mapping
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.files.whole import read_csv


class Row(dict):
    """The axes of one row; `place` is its file and line, for messages."""

    place = ""


def filled(value, file: Path, scale: str):
    """Return a part of studies.yaml in which every `grid` with a `table` is replaced by the rows of the table."""
    if isinstance(value, list):
        return [filled(one, file, scale) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {k: _axes(v, file, scale) if k == "grid" else filled(v, file, scale) for k, v in value.items()}


def _axes(grid, file: Path, scale: str):
    if not isinstance(grid, Mapping) or "table" not in grid:
        return grid
    settings.validate(grid, "study", f"{file}: grid", part="table")
    table, only = file.parent / grid["table"], grid.get("only")
    header, lines = read_csv(table)
    rows = [_row(header, line, f"{table}: line {i}", scale) for i, line in enumerate(lines, 2)]
    if only is None:
        return rows
    panels = ["|".join(p if isinstance(p := row.get("panel", ""), list) else [p]) for row in rows]
    if unknown := [name for name in only if name not in panels]:
        raise PrivarmsError(f"{file}: grid.only: expected panels of {table}; found {unknown[0]!r}")
    return [row for row, panel in zip(rows, panels, strict=True) if panel in only]


def _row(header: list[str], line: list[str], place: str, scale: str) -> Row:
    """Return a row's axes: `NAME_quick` replaces NAME except at scale paper; `|` separates the values of an axis."""
    row = Row()
    row.place = place
    for column, text in zip(header, line, strict=True):
        if not text.strip():
            raise PrivarmsError(f"{place}, column {column}: expected a value, or several separated by |; found none")
        name = column.removesuffix("_quick")
        if name == column or scale != "paper":
            values = [settings.scalar(one) for one in text.split("|")]
            row[name] = values if len(values) > 1 else values[0]
    settings.validate(row, "study", place, part="axes")
    return row
