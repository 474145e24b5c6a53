"""Intervals for a probability, from counts."""

import numpy as np
from scipy.special import betaincinv

from privarms.ranges import part_and_total, strictly_within, whole


def clopper_pearson(events, trials, confidence: float = 0.95):
    """Return the exact two-sided interval (low, high) of Clopper & Pearson 1934 for a binomial probability.

    events, trials: whole numbers, 0 <= events <= trials, trials >= 1, or arrays of them. Each end by itself is a bound
    of confidence (1 + confidence) / 2. Raises ValueError for impossible counts or a confidence outside (0, 1).
    """
    whole(1, trials=trials)
    part_and_total(events=events, trials=trials)
    strictly_within(0, 1, confidence=confidence)
    events, trials = np.asarray(events, float), np.asarray(trials, float)
    tail = (1 - confidence) / 2
    # A beta quantile is nan if a shape is 0; the interval then ends at 0 or 1.
    low = np.where(events > 0, betaincinv(events, trials - events + 1, tail), 0.0)
    high = np.where(events < trials, betaincinv(events + 1, trials - events, 1 - tail), 1.0)
    return low[()], high[()]
