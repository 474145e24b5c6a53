"""Columns of inference tables that statements use: errors, shares over a bound, exponents, runs and cells."""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference.proportions import clopper_pearson
from privarms.ledger import contrasts
from privarms.ledger.intervals import CONFIDENCE

# Intervals that a table states itself hold for this many rows at once. A fixed number, so further rows change no other.
EACH = 1 - (1 - CONFIDENCE) / contrasts.TOGETHER
# An epoch is at most 5 times as long as the one before (Algorithm 3, line 8), so one more epoch makes a run's regret at
# most 6 times as large.
LONGER = 6


def used(cells: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns `runs` and `cells` of a table with one row per cell."""
    return {"runs": cells["replicates"], "cells": cells["cell"].astype(str)}


def regret_error(cells: pd.DataFrame) -> np.ndarray:
    """Return the standard errors of DP-SE's mean regrets; if all runs agree, another may have one more epoch."""
    mean = cells["regret_mean"]
    return contrasts.error(mean, cells["regret_se"], cells["replicates"], 0, LONGER * mean)


def stopping_error(cells: pd.DataFrame) -> np.ndarray:
    """Return the standard errors of mean stopping times; if all runs agree, another may stop one doubling away."""
    mean = cells["stopping_time_mean"]
    return contrasts.error(mean, cells["stopping_time_se"], cells["replicates"], mean / 2, 2 * mean)


def share_over(name: str, events, trials, bound) -> dict[str, np.ndarray]:
    """Return shares of runs over a bound as the columns `name`, `{name}_low`, `{name}_high` (Clopper and Pearson)."""
    events = np.rint(np.asarray(events, float))
    low, high = clopper_pearson(events, trials, EACH)
    shares = {name: events / trials, f"{name}_low": low, f"{name}_high": high}
    return {column: np.asarray(share / bound, float) for column, share in shares.items()}


def exponents(cells: pd.DataFrame, value: str, by: list[str]) -> Iterator[pd.DataFrame]:
    """Yield p of growth like ln(T)^p, one row per group of `by` and pair of its horizons; nan for a single horizon.

    A statement selects a pair by the tags of its cells, so another horizon changes no other row.
    """
    for _, some in cells.groupby(by, observed=True, dropna=False, sort=False):
        horizons = sorted(some["horizon"].unique())
        for pair in list(itertools.combinations(horizons, 2)) or [horizons]:
            ends = some[some["horizon"].isin(pair)]
            yield contrasts.growth(ends, value, "horizon", by, scale=lambda T: np.log(np.log(T)))
