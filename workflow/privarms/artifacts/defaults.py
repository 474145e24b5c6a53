"""Figures and a table that fit any study: what is made of one that has no artifacts of its own.

Axes are the parameters of the environment, K, epsilons and the horizon, where they vary: what all policies share. A
policy without an axis (without an epsilon, say) is the same all along it, and stands in every panel.
"""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from privarms.artifacts import style
from privarms.artifacts.curves import in_words, interval, labels
from privarms.artifacts.results import Results
from privarms.studies import library

# What a study is about, the first of these that it has.
SUBJECTS = ("regret", "reward", "squared_error", "stopping_time", "p_value", "events")
MOST_PANELS = 24


def over_time(results: Results):
    """Regret, or reward, against the round."""
    cells = _cells(results)
    measure = _subject(cells)
    cells = cells.assign(curve=labels(cells, apart_from=_axes(cells)))

    def draw(ax, curves: Mapping[str, pd.DataFrame], looks):
        for label, rows in curves.items():
            style.band(ax, rows["t"], rows["mean"], rows["low"], rows["high"], label=label, **looks.line(label))
        ax.set(xscale="log", xlabel="round $t$")

    return _panels(_points(cells, _axes(cells)), draw, measure, ["t"], cells)


def final(results: Results):
    """What there is at the end of the runs, along each axis."""
    cells = _at_the_end(_cells(results))
    measure, axes = _subject(cells), _axes(cells)
    cells = cells.assign(curve=labels(cells, apart_from=axes))
    along = [axis for axis in axes if pd.api.types.is_numeric_dtype(cells[axis])]
    if not along:

        def draw_points(ax, curves: Mapping[str, pd.DataFrame], looks):
            for place, (label, rows) in enumerate(curves.items()):
                _marks(ax, np.full(len(rows), place), rows, label, looks)
            ax.set(xticks=[], xlim=(-0.7, len(curves) - 0.3))

        return _panels(_points(cells, axes), draw_points, measure, [], cells)

    def draw(ax, curves: Mapping[str, pd.DataFrame], looks):
        axis = ax.get_xlabel()
        for label, rows in curves.items():
            _marks(ax, rows[axis], rows, label, looks)
        values = np.unique(np.concatenate([rows[axis] for rows in curves.values()]))
        if values[0] > 0 and values[-1] >= 8 * values[0]:
            ax.set_xscale("log")

    panels = ((axis, *panel) for axis in along for panel in _points(cells, [a for a in axes if a != axis]))
    return _panels(((point, _all_along(rows, axis), axis) for axis, point, rows in panels), draw, measure, along, cells)


def pulls(results: Results):
    """Pulls of each arm at the horizon."""
    cells = _cells(results)
    cells = cells.assign(curve=labels(cells, apart_from=_axes(cells)))

    def draw(ax, curves: Mapping[str, pd.DataFrame], looks):
        for place, (label, rows) in enumerate(curves.items()):
            # Side by side: intervals of different policies must not hide each other.
            _marks(ax, rows["arm"] + 0.5 * (place + 0.5) / len(curves) - 0.25, rows, label, looks, line=False)
        arms = sorted({int(arm) for rows in curves.values() for arm in rows["arm"]})
        ax.set(yscale="log", xlabel="arm", xticks=arms if len(arms) <= 10 else arms[:: -(-len(arms) // 10)])

    return _panels(_points(cells, _axes(cells)), draw, "pulls", ["arm"], cells)


def summary(results: Results) -> pd.DataFrame:
    """Every measure at the end of the runs; a row a cell, a key of the protocol and a measure."""
    cells = _at_the_end(_cells(results))
    settings = [k for k in cells.columns if k in ("policy", "variant", "environment", *_parameters(cells))]
    measures = [c.removesuffix("_mean") for c in cells.columns if c.endswith("_mean")]
    first = f"{measures[0]}_mean"
    keys = list(cells.columns[cells.columns.get_loc("horizon") + 1 : cells.columns.get_loc(first)])
    keys = [k for k in keys if k not in (*settings, "panels", "replicates")]
    parts = []
    for measure in measures:
        mean, se = cells[f"{measure}_mean"], cells[f"{measure}_se"]
        low, high = interval(mean, se, cells["replicates"])
        quantiles = {q: cells[f"{measure}_{q}"] for q in ("p05", "p50", "p95")}
        numbers = {"measure": measure, "mean": mean, "se": se, "low": low, "high": high, **quantiles}
        parts.append(cells[[*settings, *keys, "replicates"]].assign(**numbers))
    return pd.concat(parts, ignore_index=True).dropna(axis="columns", how="all")


def _cells(results: Results) -> pd.DataFrame:
    (study,) = results.studies
    return results.cells(study).reset_index(drop=True)


def _subject(cells: pd.DataFrame) -> str:
    measures = [c.removesuffix("_mean") for c in cells.columns if c.endswith("_mean")]
    return next((s for s in SUBJECTS if s in measures), measures[0])


def _at_the_end(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["t"] == cells["horizon"]].reset_index(drop=True) if "t" in cells else cells


def _parameters(cells: pd.DataFrame) -> list[str]:
    own = [k for p in cells["policy"].unique() for k in library.arguments("policies", p)]
    around = [k for e in cells["environment"].unique() for k in library.environment_arguments(e)]
    return [k for k in dict.fromkeys((*around, *own, "horizon")) if k in cells]


def _axes(cells: pd.DataFrame) -> list[str]:
    around = {"K", "horizon"}.union(*(library.environment_arguments(e) for e in cells["environment"].unique()))
    shared = [k for k in _parameters(cells) if k in around or k.startswith("epsilon")]
    return [k for k in shared if cells[k].nunique() > 1]


def _points(cells: pd.DataFrame, axes: list[str]) -> Iterator[tuple[dict, pd.DataFrame]]:
    """The points of some axes at which there are cells, with the rows there: those without an axis count everywhere."""
    for values in itertools.product(*(cells[axis].dropna().unique() for axis in axes)):
        point = dict(zip(axes, values, strict=True))
        chosen = np.ones(len(cells), bool)
        for axis, value in point.items():
            chosen &= (cells[axis].isna() | (cells[axis] == value)).to_numpy()
        whole = cells.loc[chosen, axes].notna().all(axis=1).any()
        if whole:
            yield point, cells[chosen]


def _all_along(rows: pd.DataFrame, axis: str) -> pd.DataFrame:
    """A row without an axis stands at all its values."""
    values = np.sort(rows[axis].dropna().unique())
    lacking = rows[rows[axis].isna()]
    parts = [rows[rows[axis].notna()], *(lacking.assign(**{axis: value}) for value in values)]
    return pd.concat(parts).sort_values(axis, kind="stable")


def _marks(ax, x, rows: pd.DataFrame, label: str, looks, line: bool = True) -> None:
    look = looks.line(label) | ({} if line else {"linestyle": "none"})
    errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
    ax.errorbar(x, rows["mean"], yerr=errors, label=label, elinewidth=0.8, **look)


def _panels(points, draw, measure: str, along: list[str], cells: pd.DataFrame):
    """A figure with a panel a point, and the numbers that it shows.

    points: (point, rows) or (point, rows, axis along which they are drawn); draw(ax, curves, looks)
    """
    points = list(points)
    shown = points[:MOST_PANELS]
    looks = style.Palette(cells["curve"].unique())
    figure, axes = style.panels(len(shown), columns=2 if len(shown) == 4 else 3, sharey=measure != "pulls")
    drawn = []
    for ax, (point, rows, *axis) in zip(axes, shown, strict=True):
        low, high = interval(rows[f"{measure}_mean"], rows[f"{measure}_se"], rows["replicates"])
        rows = rows.assign(mean=rows[f"{measure}_mean"], low=low, high=high)
        ax.set(xlabel=axis[0] if axis else "", title=in_words(point))
        draw(ax, dict(list(rows.groupby("curve", sort=False))), looks)
        said = {"panel": in_words(point), "along": axis[0] if axis else None}
        keys = [k for k in (*point, *along) if k in rows]
        columns = ["curve", "policy", *dict.fromkeys(keys), "mean", "low", "high", "replicates"]
        drawn.append(rows[columns].assign(**{k: v for k, v in said.items() if v}))
    style.ylabel(axes, f"mean {measure.replace('_', ' ')}")
    if len(points) > len(shown):
        figure.suptitle(f"{len(shown)} of {len(points)} panels; the table of this study has all numbers")
    style.legend(figure)
    return figure, pd.concat(drawn, ignore_index=True)


FIGURES = {"over_time": over_time, "final": final, "pulls": pulls}
TABLES = {"summary": summary}
