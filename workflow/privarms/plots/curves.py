"""Intervals of means, and horizons in words, for curves."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from privarms.inference.intervals import normal_interval
from privarms.ledger.contrasts import ROUNDING

# A mean of fewer runs is drawn without an interval, which would cover the whole panel.
FEWEST = 5


def horizon_in_words(horizon: float) -> str:
    """Return a horizon for a legend or a title, as a power of ten."""
    exponent = int(np.log10(horizon) + 1e-9)
    factor = horizon / 10**exponent
    return f"$T = 10^{exponent}$" if factor == 1 else f"$T = {factor:g}\\times10^{exponent}$"


def interval(mean, se, replicates) -> tuple[np.ndarray, np.ndarray]:
    """Return Student's 95% interval of means from standard errors; nan if all replicates agree or there is only one."""
    mean, se, replicates = (np.asarray(v, dtype=float) for v in (mean, se, replicates))
    known = np.where(se > ROUNDING * np.abs(mean), se, np.nan)
    half = stdtrit(np.maximum(replicates - 1, 1), 0.975) * known
    return mean - half, mean + half


def with_interval(
    rows: pd.DataFrame,
    mean: str,
    se: str,
    *,
    least: float | None = None,
    normal: bool = False,
    fewest: int = FEWEST,
) -> pd.DataFrame:
    """Return the rows with new columns `low` and `high`, the interval of a mean.

    least: on a logarithmic axis, the smallest `low` is the mean over `least`
    normal: use the normal quantile instead of Student's, for estimates that are not means of the replicates
    fewest: rows with fewer replicates have no interval (nan)
    """
    low, high = normal_interval(rows[mean], rows[se]) if normal else interval(rows[mean], rows[se], rows["replicates"])
    low = low if least is None else np.maximum(low, rows[mean] / least)
    enough = np.asarray(rows["replicates"] >= fewest)
    return rows.assign(low=np.where(enough, low, np.nan), high=np.where(enough, high, np.nan))
