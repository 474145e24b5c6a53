"""Contrasts of means in tables: ratios, differences and growth, with errors, runs and cells.

A table of means has one row per cell: a mean (such as `regret_mean`), its standard error (`regret_se`), `replicates`
and `cell`. A contrast has the value, its first-order error `{name}_se`, `runs`, the smaller number of replicates,
and `cells`, the names of the cells that it uses, separated by blanks. Means of different cells are independent.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

# A standard error below this share of the mean is zero up to rounding.
ROUNDING = 1e-12
# The bound on the share of different runs holds for this number of cells together, with probability .999.
TOGETHER, TAIL = 100, 0.0005


def error(mean, se, runs, least, most) -> np.ndarray:
    """Return standard errors of means; if all runs agree, one that bounds how far other runs could move the mean.

    least, most : the ends between which the number of one run must lie, numbers or columns
    n identical runs leave, with probability .999, at most a share p of different runs, p = 1 - (TAIL / TOGETHER)^(1/n).
    The mean then moves by at most p times the distance to the farther end. This is divided by Student's quantile, so
    the usual interval has this half-width.
    """
    mean, se, runs = (np.asarray(v, float) for v in (mean, se, runs))
    far = np.maximum(np.asarray(most, float) - mean, mean - np.asarray(least, float))
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = far * (1 - (TAIL / TOGETHER) ** (1 / runs)) / -stdtrit(np.maximum(runs - 1, 1), TAIL)
    return np.where((se <= ROUNDING * np.abs(mean)) & (runs > 1), moved, se)


def ratios(
    tops: pd.DataFrame, bottoms: pd.DataFrame, value: str, on: Sequence[str], *, name: str = "ratio"
) -> pd.DataFrame:
    """Return `tops` with the ratio of each row's mean to that of its partner, the row of `bottoms` with the same `on`.

    value : the mean is the column `{value}_mean`, its standard error `{value}_se`
    Rows without a partner are left out. The columns `{name}_top_sd`, `{name}_bottom_sd` and `{name}_bottom` state the
    standard deviations of one run and the denominator. Raises pandas' MergeError if a row has several partners.
    """
    both = _paired(tops, bottoms, value, on)
    top, bottom, top_se, bottom_se = _parts(both, value)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = top / bottom
        se = np.hypot(top_se, ratio * bottom_se) / np.abs(bottom)
    columns = {name: ratio, f"{name}_se": se, f"{name}_bottom": bottom}
    columns |= {f"{name}_top_sd": top_se * np.sqrt(both["replicates"].to_numpy(float))}
    columns |= {f"{name}_bottom_sd": bottom_se * np.sqrt(both["replicates_of_bottom"].to_numpy(float))}
    return _contrast(both, columns)


def differences(
    tops: pd.DataFrame, bottoms: pd.DataFrame, value: str, on: Sequence[str], *, name: str = "difference"
) -> pd.DataFrame:
    """Return `tops` with the mean of each row minus that of its partner; arguments as in `ratios`."""
    both = _paired(tops, bottoms, value, on)
    top, bottom, top_se, bottom_se = _parts(both, value)
    return _contrast(both, {name: top - bottom, f"{name}_se": np.hypot(top_se, bottom_se)})


def growth(
    rows: pd.DataFrame, value: str, along: str, by: Sequence[str], *, name: str = "exponent", scale=np.log
) -> pd.DataFrame:
    """Return the exponent p of growth like `along`^p from the first to the last row, one row per group of `by`.

    scale : logarithm of what grows; for growth like ln(`along`)^p it is the logarithm of the logarithm
    """
    found = []
    columns = [*by, "first", "last", name, f"{name}_se", "runs", "cells"]
    for values, group in rows.groupby(list(by), dropna=False, sort=False, observed=True):
        ends = group.sort_values(along).iloc[[0, -1]]
        means, errors = ends[f"{value}_mean"].to_numpy(float), ends[f"{value}_se"].to_numpy(float)
        first, last = scale(ends[along].to_numpy(float))
        width = last - first or np.nan
        found.append(
            dict(zip(by, values, strict=True))
            | {
                "first": ends[along].iloc[0],
                "last": ends[along].iloc[-1],
                name: np.log(means[1] / means[0]) / width,
                f"{name}_se": np.hypot(*(errors / means)) / width,
                "runs": int(ends["replicates"].min()),
                "cells": " ".join(dict.fromkeys(map(str, ends["cell"]))),
            }
        )
    return pd.DataFrame(found, columns=columns)


def log_spread(sample: np.ndarray) -> tuple[float, float]:
    """Return the logarithm of a sample's standard deviation, and its standard error by the fourth moment."""
    if len(sample) < 2 or not np.ptp(sample) > 0:
        return math.nan, math.nan
    centred = sample - sample.mean()
    variance = (centred**2).mean()
    kurtosis = (centred**4).mean() / variance**2
    return math.log(sample.std(ddof=1)), math.sqrt(max(kurtosis - 1, 0) / (4 * len(sample)))


def _paired(tops: pd.DataFrame, bottoms: pd.DataFrame, value: str, on: Sequence[str]) -> pd.DataFrame:
    needed = [*on, f"{value}_mean", f"{value}_se", "replicates", "cell"]
    return tops.merge(bottoms[needed], on=list(on), suffixes=("", "_of_bottom"), validate="many_to_one")


def _parts(both: pd.DataFrame, value: str) -> list[np.ndarray]:
    names = (f"{value}_mean", f"{value}_mean_of_bottom", f"{value}_se", f"{value}_se_of_bottom")
    return [both[name].to_numpy(float) for name in names]


def _contrast(both: pd.DataFrame, columns: dict) -> pd.DataFrame:
    aside = [column for column in both.columns if column.endswith("_of_bottom")]
    runs = both[["replicates", "replicates_of_bottom"]].min(axis="columns").astype(int)
    cells = [" ".join(dict.fromkeys(pair)) for pair in zip(both["cell"], both["cell_of_bottom"], strict=True)]
    return both.assign(**columns, runs=runs, cells=cells).drop(columns=aside)
