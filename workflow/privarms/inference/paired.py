"""Methods compared over the same replicates.

Ma, Jiang, Zhao, Yang & Yu (2025), Table 2: the best method is bold. It is on grey if signed-rank tests at level 0.05
find it better than every other one. Larger values must be better: negate a regret.
"""

from typing import NamedTuple

import numpy as np
import scipy

from privarms.ranges import at_least, dimensions, finite, same_shape, strictly_within, whole, within

EXACT_PAIRS = 400
RESAMPLED_NUMBERS = 2**20  # resampled values of each sample in memory at once: 8 MB


class Interval(NamedTuple):
    estimate: float
    low: float
    high: float


def wilcoxon_p_value(ours, others) -> float:
    """Return the p-value of Wilcoxon's signed-rank test of "ours - others is symmetric about 0" against "ours larger".

    ours, others: finite float64[n] on the same replicates, n >= 1

    Pairs without a difference are dropped (Wilcoxon 1945); if none is left, p is 1. Equal sizes of differences share
    their mean rank. For up to `EXACT_PAIRS` remaining pairs p is exact: the probability of at least the observed rank
    sum over all 2^m signs. For more, p is the normal approximation with correction for ties, without correction for
    continuity. Only exactly equal differences tie: pass sums of rewards, because rounding can break ties of means.
    Raises ValueError for other numbers or shapes.
    """
    _check(1, ours, others)
    differences = np.asarray(ours, float) - np.asarray(others, float)
    differences = differences[differences != 0]
    if len(differences) > EXACT_PAIRS:
        return float(scipy.stats.wilcoxon(differences, alternative="greater", method="asymptotic").pvalue)
    # Mean ranks are whole numbers or halves.
    twice_ranks = np.rint(2 * scipy.stats.rankdata(np.abs(differences))).astype(int)
    chances = np.ones(1)
    for rank in twice_ranks:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return float(min(chances[twice_ranks[differences > 0].sum() :].sum(), 1.0))


def _check(least: int, ours, others) -> None:
    dimensions(1, ours=ours, others=others)
    finite(ours=ours, others=others)
    same_shape(ours=ours, others=others)
    if len(ours) < least:
        raise ValueError(f"ours: expected at least {least} replicate{'s' if least > 1 else ''}; found {len(ours)}")


def holm(p_values) -> np.ndarray:
    """Return float64[m]: p-values that are at most alpha if Holm's (1979) step-down test at alpha rejects.

    p_values: a list of numbers in [0, 1]; raises ValueError for others
    """
    dimensions(1, p_values=p_values)
    within(0, 1, p_values=p_values)
    p_values = np.asarray(p_values, float)
    order = np.argsort(p_values, kind="stable")
    left = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(left * p_values[order]), 1.0)
    return adjusted


def ratio_of_means(ours, others, rng: np.random.Generator, resamples: int = 10_000, level: float = 0.95) -> Interval:
    """Return mean(ours) / mean(others) and its percentile bootstrap interval.

    ours, others: finite float64[n] on the same replicates, n >= 2, others >= 0 of mean > 0; whole replicates are drawn
    with replacement (Efron & Tibshirani 1993, ch. 13). resamples: >= 2; level: in (0, 1), of the two-sided interval,
    reached for large n. An end is inf or nan if enough resamples have only zeros in `others`. Raises ValueError for
    other numbers or shapes.
    """
    _check(2, ours, others)
    at_least(0, others=others)
    dimensions(0, resamples=resamples, level=level)
    whole(2, resamples=resamples)
    strictly_within(0, 1, level=level)
    if not np.any(others):
        raise ValueError("others: expected numbers >= 0, not all of them 0; found only 0")
    ours, others = np.asarray(ours, float), np.asarray(others, float)

    def of_means(x, y, axis=-1):
        return np.true_divide(x.mean(axis=axis), y.mean(axis=axis))

    # A resample of few replicates may have a denominator of 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = scipy.stats.bootstrap(
            (ours, others),
            of_means,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, RESAMPLED_NUMBERS // len(ours)),
            confidence_level=level,
            method="percentile",
            rng=rng,
        ).confidence_interval
    return Interval(float(of_means(ours, others)), float(low), float(high))
