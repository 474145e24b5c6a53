"""Figures of tidy tables with seaborn's facets: curves with bands, points with intervals, histograms.

A table has one row per point, a column that names its curve and columns that name its panel. The optional columns
`low` and `high` are the ends of the interval (`curves.with_interval`).
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec

from privarms.plots import style

log = logging.getLogger(__name__)

# In inches. A PDF page has at most 200 inches, and an image 65,536 pixels.
HIGHEST = 120


class Panels(seaborn.FacetGrid):
    """seaborn's grid without its tight layout, which takes a tenth of the drawing time and which `panels` replaces."""

    def tight_layout(self, *args, **kwargs):
        """Leave the layout to matplotlib's constrained layout."""
        return self


def panels(
    rows: pd.DataFrame,
    *,
    col: str | None = None,
    row: str | None = None,
    hue: str = "curve",
    looks: style.Looks | None = None,
    wrap: int = 4,
    width: float | None = None,
    height: float = 2.1,
    log: str = "",
    **options,
) -> Panels:
    """Return empty panels, one per value of the columns `col` and `row`, titled with these values.

    rows : the tidy table; an empty table gives one panel
    hue : the column with the names of the curves; `looks` defines their order
    wrap : the number of panels per line, if `row` is not given
    width, height : inches, of the figure (default: a page, or a column for one panel) and of one line of panels
    log : the logarithmic axes, "x", "y" or "xy"; options : of `seaborn.FacetGrid`, such as sharex
    """
    if not len(rows):
        col = row = None
    curve = hue if len(rows) else None
    columns = min(wrap, rows[col].nunique()) if col and not row else None
    order = [name for name in looks if name in set(rows[curve])] if looks and curve else None
    grid = Panels(rows, col=col, row=row, hue=curve, hue_order=order, col_wrap=columns, **options)
    across = columns or len(grid.col_names)
    lines = 1 if not col and not row else len(grid.row_names) or -(-len(grid.col_names) // across)
    width = width or (style.COLUMN if grid.axes.size == 1 else style.PAGE)
    grid.figure.set_size_inches(width, min(lines * height + 0.3, HIGHEST))
    grid.figure.set_layout_engine("constrained")
    scales: dict[str, Any] = {f"{axis}scale": "log" for axis in log}
    grid.set(**scales)
    names = [f"{{{which}_name}}" for which, column in (("col", col), ("row", row)) if column]
    grid.set_titles(", ".join(names))
    return grid


def place_of(ax: Axes) -> SubplotSpec:
    """Return the place of a panel in its grid, for example to label only the first column."""
    # Only axes without a grid have none.
    return cast(SubplotSpec, ax.get_subplotspec())


def parts(grid: Panels) -> Iterator[tuple[Axes, str | None, pd.DataFrame]]:
    """Yield (axes, curve, rows) of each curve in each panel."""
    for (row, col, hue), data in grid.facet_data():
        if len(data):
            yield grid.facet_axis(row, col, modify_state=False), (grid.hue_names or [None])[hue], data


def curves(
    rows: pd.DataFrame, x: str, y: str, *, looks: style.Looks, draw: Callable | None = None, **options
) -> Panels:
    """Draw each curve in panels, by default with the band of its interval; `options` are those of `panels`.

    A curve without x values is a horizontal line. draw: `points` draws points with error bars instead of lines
    """
    grid = panels(rows, looks=looks, **options)
    for ax, name, data in parts(grid):
        (draw or band)(ax, data, x, y, label=name, **looks[name])
    grid.set_axis_labels(x, y)
    return grid


def band(ax: Axes, rows: pd.DataFrame, x: str, y: str, **look: Any) -> None:
    """Draw a curve with the band of its interval; long curves have fewer markers than points.

    A line joins several values at one x, so a warning names such a curve: its settings need panels or names.
    """
    places = rows[[x, y]].dropna().drop_duplicates()[x]
    if (twice := places.duplicated()).any():
        at = places[twice].iloc[0]
        name = str(look.get("label", "")).removeprefix("_")
        log.warning("curve %r: several values at %s = %s; give each setting a panel or a name", name, x, at)
    if rows[x].isna().all():
        look["marker"] = None
        ax.axhline(rows[y].iloc[0], **look)
        return
    rows = rows.sort_values(x)
    look.setdefault("markevery", 0.12 if len(rows) > 12 else None)
    (line,) = ax.plot(rows[x], rows[y], **look)
    if "low" in rows:
        area = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0, "zorder": line.get_zorder() - 0.5}
        ax.fill_between(rows[x], rows["low"], rows["high"], **area)


def points(ax: Axes, rows: pd.DataFrame, x: str, y: str, *, along: str = "y", **look) -> None:
    """Draw points, without a line, with error bars along one of the axes.

    A hollow point has an interval of width 0: all its runs agree, but the value is still uncertain.
    """
    value = rows[y if along == "y" else x]
    error = {f"{along}err": [value - rows["low"], rows["high"] - value]} if "low" in rows else {}
    options: dict[str, Any] = look | error | {"linestyle": "none", "elinewidth": 0.8}
    line, *_ = ax.errorbar(rows[x], rows[y], **options)
    hollow = rows[~(rows["high"] > rows["low"])] if "low" in rows else rows.iloc[:0]
    if len(hollow):
        shape = {"marker": line.get_marker(), "markersize": line.get_markersize(), "zorder": line.get_zorder()}
        edge = {"markerfacecolor": "white", "markeredgecolor": line.get_color(), "markeredgewidth": 0.8}
        ax.plot(hollow[x], hollow[y], linestyle="none", **shape, **edge)


def name_lines(ax: Axes, names: Iterable[str], **options) -> None:
    """Label the positions 0, 1, ... of the y axis, from top to bottom, for points with intervals along x."""
    names = list(names)
    ax.set_yticks(range(len(names)), names, **options)
    ax.set_ylim(len(names) - 0.4, -0.6)


def dodged(place: pd.Series, names: pd.Series, most: float = 0.22) -> pd.Series:
    """Return positions on an axis, shifted by name so points of different names do not overlap."""
    order = list(dict.fromkeys(names))
    return place + min(most, 0.8 / len(order)) * (names.map(order.index) - (len(order) - 1) / 2)


def in_every(rows: pd.DataFrame, column: str, values: Iterable) -> pd.DataFrame:
    """Return the rows with each value in `panel_{column}`; rows without a value are repeated for every value."""
    parts = [rows[(rows[column] == v) | rows[column].isna()].assign(**{f"panel_{column}": v}) for v in values]
    return pd.concat(parts, ignore_index=True) if parts else rows.iloc[:0].assign(**{f"panel_{column}": 0.0})


def leading(rows: pd.DataFrame, column: str, names: Iterable[str]) -> pd.DataFrame:
    """Return the rows with one of these names in a column first, in the order of the names."""
    known = {name: place for place, name in enumerate(names)}
    return rows.sort_values(column, key=lambda c: c.map(known).fillna(len(known)), kind="stable")


def in_order(rows: pd.DataFrame, *columns: str, by: str | None = None) -> pd.DataFrame:
    """Return the rows grouped by the columns, in order of first appearance, then sorted by `by`."""
    if not columns or not len(rows):
        return (rows.sort_values(by) if by else rows).reset_index(drop=True)
    groups = (part for _, part in rows.groupby(columns[0], sort=False, dropna=False))
    return pd.concat([in_order(part, *columns[1:], by=by) for part in groups], ignore_index=True)
