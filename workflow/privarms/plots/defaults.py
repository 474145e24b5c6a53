"""Figures and a table that fit any study, for studies without artifacts of their own.

Panels are the points of the parameters that all policies share and that vary: those of the environment, K, epsilons and
the horizon. A policy without such a parameter is drawn in every panel.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.plots import old_style as style
from privarms.plots.curves import in_words, interval, labels
from privarms.studies import library
from privarms.studies.results import Results

# What a study measures, the first of these that it has.
MEASURES = ("regret", "reward", "squared_error", "stopping_time", "p_value", "events")
MOST_PANELS = 24


def over_time(results: Results):
    """Draw regret, or reward, against the round."""
    cells, axes = _cells(results)
    return _draw(cells, _measure(cells), [(point, rows, "t") for point, rows in _points(cells, axes)])


def final(results: Results):
    """Draw the measure at the end of the runs along each numeric parameter, or curve by curve where none varies."""
    cells, axes = _cells(results, at_end=True)
    along = [axis for axis in axes if pd.api.types.is_numeric_dtype(cells[axis])] or [None]
    panels = [(point, rows, x) for x in along for point, rows in _points(cells, [a for a in axes if a != x])]
    return _draw(cells, _measure(cells), panels)


def pulls(results: Results):
    """Draw the pulls of each arm at the horizon."""
    cells, axes = _cells(results)
    return _draw(cells, "pulls", [(point, rows, "arm") for point, rows in _points(cells, axes)])


def summary(results: Results) -> pd.DataFrame:
    """Return every measure at the end of the runs: a row per cell, key of the protocol and measure."""
    cells, _ = _cells(results, at_end=True)
    measures = [c.removesuffix("_mean") for c in cells if c.endswith("_mean")]
    settings = [k for k in cells if k in ("policy", "variant", "environment", *_parameters(cells))]
    # The protocol's keys stand between the horizon and the first measure.
    columns = list(cells)
    keys = columns[columns.index("horizon") + 1 : columns.index(f"{measures[0]}_mean")]
    keys = [k for k in keys if k not in (*settings, "panels", "replicates")]
    parts = []
    for measure in measures:
        mean, se = cells[f"{measure}_mean"], cells[f"{measure}_se"]
        low, high = interval(mean, se, cells["replicates"])
        quantiles = {q: cells[f"{measure}_{q}"] for q in ("p05", "p50", "p95")}
        numbers = {"measure": measure, "mean": mean, "se": se, "low": low, "high": high, **quantiles}
        parts.append(cells[[*settings, *keys, "replicates"]].assign(**numbers))
    return pd.concat(parts, ignore_index=True).dropna(axis="columns", how="all")


def _cells(results: Results, at_end: bool = False) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of the study, each with its curve, and the parameters that vary and that policies share."""
    cells = results.cells(next(iter(results.studies)))
    cells = (cells[cells["t"] == cells["horizon"]] if at_end and "t" in cells else cells).reset_index(drop=True)
    around = {"K", "horizon"}.union(*(library.environment_arguments(e) for e in cells["environment"].unique()))
    shared = [k for k in _parameters(cells) if k in around or k.startswith("epsilon")]
    axes = [k for k in shared if cells[k].nunique() > 1]
    return cells.assign(curve=labels(cells, apart_from=axes)), axes


def _parameters(cells: pd.DataFrame) -> list[str]:
    own = [k for p in cells["policy"].unique() for k in library.arguments("policies", p)]
    around = [k for e in cells["environment"].unique() for k in library.environment_arguments(e)]
    return [k for k in dict.fromkeys((*around, *own, "horizon")) if k in cells]


def _measure(cells: pd.DataFrame) -> str:
    measures = [c.removesuffix("_mean") for c in cells if c.endswith("_mean")]
    return next((m for m in MEASURES if m in measures), measures[0])


def _points(cells: pd.DataFrame, axes: list[str]) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the points of some axes, and the rows of each: those at the point, and those without an axis."""
    for values in itertools.product(*(cells[axis].dropna().unique() for axis in axes)):
        point = dict(zip(axes, values, strict=True))
        rows = cells
        for axis, value in point.items():
            rows = rows[rows[axis].isna() | (rows[axis] == value)]
        if rows[axes].notna().all(axis=1).any():
            yield point, rows


def _draw(cells: pd.DataFrame, measure: str, panels: list[tuple[dict, pd.DataFrame, str | None]]):
    """Return a figure with a panel per (point, rows, column along which they are drawn), and the numbers in it."""
    looks = style.Palette(cells["curve"].unique())
    shown = panels[:MOST_PANELS]
    figure, axes = style.panels(len(shown), columns=2 if len(shown) == 4 else 3, sharey=measure != "pulls")
    drawn = []
    for ax, (point, rows, along) in zip(axes, shown, strict=True):
        low, high = interval(rows[f"{measure}_mean"], rows[f"{measure}_se"], rows["replicates"])
        rows = rows.assign(mean=rows[f"{measure}_mean"], low=low, high=high, panel=in_words(point), along=along)
        columns = ["panel", "along", "curve", "policy", *point, *([along] if along else []), "mean", "low", "high"]
        drawn.append(rows[[*columns, "replicates"]])
        values = np.sort(rows[along].dropna().unique()) if along else np.zeros(1)
        for place, (label, curve) in enumerate(rows.groupby("curve", sort=False)):
            look = looks.line(label)
            if along == "t":
                style.band(ax, curve["t"], curve["mean"], curve["low"], curve["high"], label=label, **look)
                continue
            if along and curve[along].isna().all():  # the same all along the axis
                curve = curve.drop(columns=along).merge(pd.DataFrame({along: values}), how="cross")
            curve = curve.sort_values(along) if along else curve
            # Side by side where x is a place: intervals must not hide each other.
            x = curve[along] + 0.03 * place * (along == "arm") if along else np.full(len(curve), place)
            look |= {"linestyle": "none"} if along == "arm" else {}
            errors = [curve["mean"] - curve["low"], curve["high"] - curve["mean"]]
            ax.errorbar(x, curve["mean"], yerr=errors, label=label, elinewidth=0.8, **look)
        ax.set(title=in_words(point), xlabel="round $t$" if along == "t" else along or "")
        if along == "t" or (along != "arm" and values[0] > 0 and values[-1] >= 8 * values[0]):
            ax.set_xscale("log")
        if measure == "pulls":
            ax.set(yscale="log", xticks=values[:: -(-len(values) // 10)])
    style.ylabel(axes, f"mean {measure.replace('_', ' ')}")
    if len(panels) > len(shown):
        figure.suptitle(f"{len(shown)} of {len(panels)} panels; the table of this study has all numbers")
    style.legend(figure)
    return figure, pd.concat(drawn, ignore_index=True).dropna(axis="columns", how="all")


FIGURES = {"over_time": over_time, "final": final, "pulls": pulls}
TABLES = {"summary": summary}
