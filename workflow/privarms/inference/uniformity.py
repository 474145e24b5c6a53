"""How far p-values are from the uniform law that they would have without adaptivity."""

import numpy as np
import scipy

from privarms.ranges import strictly_within, within


def ks_uniform(p_values) -> tuple[float, float]:
    """The one-sample Kolmogorov-Smirnov distance to the uniform law on [0, 1], and its p-value.

    p_values: independent numbers in [0, 1], at least one; ValueError otherwise. Exact for a continuous law; for one
    with atoms (a test that is not randomised) the p-value says no more than that the law is not uniform.
    """
    result = scipy.stats.kstest(_p_values(p_values), "uniform")
    return float(result.statistic), float(result.pvalue)


def rejection_rate(p_values, alpha: float = 0.05) -> tuple[float, float]:
    """The share of p-values <= alpha, and its binomial standard error sqrt(rate (1 - rate) / n).

    p_values: as in `ks_uniform`; alpha: in (0, 1). The standard error is 0 where none or all reject: an interval is
    then better taken from `proportions.clopper_pearson`.
    """
    values = _p_values(p_values)
    strictly_within(0, 1, alpha=alpha)
    rate = float(np.mean(values <= alpha))
    return rate, float(np.sqrt(rate * (1 - rate) / len(values)))


def _p_values(values) -> np.ndarray:
    within(0, 1, p_values=values)
    return np.asarray(values, float).ravel()
