"""Default figures and a table, for studies without artifacts of their own.

There is one panel per combination of the varying shared parameters: of the environment, K, epsilons and the horizon.
A policy without such a parameter is drawn in every panel.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from privarms.inference.intervals import fieller
from privarms.planning.labels import in_words, labels
from privarms.planning.results import Results
from privarms.plots import facets, style
from privarms.plots.curves import interval, with_interval
from privarms.plots.facets import dodged
from privarms.registry.modules import EnvironmentModule, PolicyModule

# The figures draw the first of these measures that the study has.
MEASURES = ("regret", "reward", "squared_error", "stopping_time", "p_value", "events")
MOST_PANELS = 24


def over_time(results: Results):
    """Draw regret, or reward, against the round."""
    return _over_rounds(results, _mean)


def quantiles(results: Results):
    """Draw the median of the runs against the round, with the band from the 5% to the 95% quantile."""
    return _over_rounds(results, _median)


def ratios(results: Results):
    """Draw the mean of each curve divided by that of the panel's first curve, against the round."""
    return _over_rounds(results, _ratio)


def final(results: Results):
    """Draw the measure at the end of the runs along each numeric parameter, or one point per curve if none varies."""
    cells, axes = _cells(results, at_end=True)
    along = [axis for axis in axes if pd.api.types.is_numeric_dtype(cells[axis])] or [None]
    panels = [(point, rows, x) for x in along for point, rows in _points(cells, [a for a in axes if a != x])]
    return _draw(cells, _measure(cells), panels)


def pulls(results: Results):
    cells, axes = _cells(results)
    return _draw(cells, "pulls", [(point, rows, "arm") for point, rows in _points(cells, axes)])


def summary(results: Results) -> pd.DataFrame:
    """Return every measure at the end of the runs, one row per cell, key of the protocol and measure."""
    cells, _ = _cells(results, at_end=True)
    measures = [c.removesuffix("_mean") for c in cells.columns if c.endswith("_mean")]
    settings = [k for k in cells if k in ("policy", "variant", "environment", *_parameters(cells))]
    # The columns between the horizon and the first measure are keys of the protocol.
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


def _over_rounds(results: Results, number_of: Callable):
    cells, axes = _cells(results)
    return _draw(cells, _measure(cells), [(point, rows, "t") for point, rows in _points(cells, axes)], number_of)


def _cells(results: Results, at_end: bool = False) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of the study, each with its curve, and the varying parameters that policies share."""
    cells = results.cells(next(iter(results.studies)))
    cells = (cells[cells["t"] == cells["horizon"]] if at_end and "t" in cells else cells).reset_index(drop=True)
    around = {"K", "horizon"}.union(*(EnvironmentModule(e).arguments for e in cells["environment"].unique()))
    # An environment without a value differs from one with it; a policy without one is drawn with all values.
    for k in [k for k in around if k in cells and cells[k].isna().any() and cells[k].notna().any()]:
        cells[k] = cells[k].astype(object).fillna("default")
    shared = [k for k in _parameters(cells) if k in around or k.startswith("epsilon")]
    axes = [k for k in shared if cells[k].nunique() > 1]
    return cells.assign(curve=labels(cells, apart_from=axes)), axes


def _parameters(cells: pd.DataFrame) -> list[str]:
    own = [k for p in cells["policy"].unique() for k in PolicyModule(p).arguments]
    around = [k for e in cells["environment"].unique() for k in EnvironmentModule(e).arguments]
    return [k for k in dict.fromkeys((*around, *own, "horizon")) if k in cells]


def _measure(cells: pd.DataFrame) -> str:
    measures = [c.removesuffix("_mean") for c in cells.columns if c.endswith("_mean")]
    return next((m for m in MEASURES if m in measures), measures[0])


def _points(cells: pd.DataFrame, axes: list[str]) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield each combination of values of the axes, with the rows that have these values or none."""
    for values in itertools.product(*(cells[axis].dropna().unique() for axis in axes)):
        point = dict(zip(axes, values, strict=True))
        rows = cells
        for axis, value in point.items():
            rows = rows[rows[axis].isna() | (rows[axis] == value)]
        if rows[axes].notna().all(axis=1).any():
            yield point, rows


def _mean(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows with columns `mean`, `low` and `high`: the mean and its 95% interval."""
    return with_interval(rows.assign(mean=rows[f"{measure}_mean"]), "mean", f"{measure}_se")


def _median(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows with columns `median`, `low` and `high`: quantiles of the runs."""
    return rows.assign(median=rows[f"{measure}_p50"], low=rows[f"{measure}_p05"], high=rows[f"{measure}_p95"])


def _ratio(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows with columns `ratio`, `low` and `high`: the mean over that of the panel's first curve.

    Both are of the same round. low, high: Fieller's interval, nan for the first curve itself and where none of finite
    length exists. The ratio of equal means is 1; otherwise there is none to a mean of 0 or to no mean.
    """
    rows = _mean(rows, measure)
    is_base = (rows["curve"] == rows["curve"].iloc[0]).to_numpy()
    base = rows[is_base].set_index("t").reindex(rows["t"])
    means = [one["mean"].to_numpy() for one in (rows, base)]
    halves = [(one["high"] - one["mean"]).to_numpy() for one in (rows, base)]
    ends = map(fieller, means[0], halves[0], means[1], halves[1])
    low, high = np.array([(np.nan, np.nan) if own else pair for own, pair in zip(is_base, ends, strict=True)]).T
    low, high = (np.where(np.isfinite(low) & np.isfinite(high), end, np.nan) for end in (low, high))
    ratio = np.where(means[0] == means[1], 1.0, means[0] / np.where(means[1] == 0, np.nan, means[1]))
    return rows.assign(ratio=ratio, low=low, high=high)


def _draw(
    cells: pd.DataFrame, measure: str, panels: list[tuple[dict, pd.DataFrame, str | None]], number_of: Callable = _mean
):
    """Return a figure and its numbers, with one panel per (point, rows, column of the x axis)."""
    name = number_of.__name__.removeprefix("_")
    drawn, numbers = [], []
    for number, (point, rows, along) in enumerate(panels[:MOST_PANELS]):
        rows = number_of(rows, measure).assign(panel=in_words(point), along=along)
        columns = ["panel", "along", "curve", "policy", *point, *([along] if along else []), name, "low", "high"]
        numbers.append(rows[[*columns, "replicates"]])
        place = dodged(rows[along] if along else pd.Series(0.0, rows.index), rows["curve"], 0.03)
        drawn.append(rows.assign(number=number, x=rows[along] if along not in (None, "arm") else place))
    shown = pd.concat(drawn, ignore_index=True)
    # Intervals at the same x value are drawn side by side, so they do not hide each other.
    draw = facets.points if shown["along"].isin(["arm"]).all() or shown["along"].isna().all() else facets.band
    options = {"col": "number", "wrap": 2 if len(drawn) == 4 else 3, "sharex": False, "sharey": measure != "pulls"}
    looks = style.looks(cells["curve"])
    grid = facets.curves(shown, "x", name, looks=looks, draw=draw, **options)
    for number, ax in grid.axes_dict.items():
        point, rows, along = panels[number]
        values = np.sort(rows[along].dropna().unique()) if along else np.zeros(1)
        ax.set(title=in_words(point), xlabel="round $t$" if along == "t" else along or "")
        if along == "t" or (along != "arm" and values[0] > 0 and values[-1] >= 8 * values[0]):
            ax.set_xscale("log")
        if not along:
            ax.set_xticks([])
        if number_of is _ratio:
            ax.set_yscale("log")
        if measure == "pulls":
            ax.set(yscale="log", xticks=values[:: -(-len(values) // 10)])
    what = measure.replace("_", " ")
    grid.set_ylabels(f"ratio of {what}" if number_of is _ratio else f"{name} {what}")
    if len(panels) > len(drawn):
        grid.figure.suptitle(f"{len(drawn)} of {len(panels)} panels; the table of this study has all numbers")
    style.legend(grid.figure)
    return grid.figure, pd.concat(numbers, ignore_index=True).dropna(axis="columns", how="all")
