"""Intervals for a probability, from counts."""

import numpy as np
from scipy.special import betaincinv

from privarms.ranges import strictly_within


def clopper_pearson(events, trials, confidence: float = 0.95):
    """Return the exact two-sided interval (low, high) of Clopper & Pearson 1934 for a binomial probability.

    events, trials: counts, 0 <= events <= trials, trials >= 1, or arrays of them. Each end by itself is a bound of
    confidence (1 + confidence) / 2. Raises ValueError for impossible counts or a confidence outside (0, 1).
    """
    events, trials = np.asarray(events, float), np.asarray(trials, float)
    if not np.all((events >= 0) & (events <= trials) & (trials >= 1)):
        raise ValueError("expected 0 <= events <= trials and trials >= 1")
    strictly_within(0, 1, confidence=confidence)
    tail = (1 - confidence) / 2
    # A beta quantile is nan if a shape is 0; the interval then ends at 0 or 1.
    low = np.where(events > 0, betaincinv(events, trials - events + 1, tail), 0.0)
    high = np.where(events < trials, betaincinv(events + 1, trials - events, 1 - tail), 1.0)
    return low[()], high[()]
