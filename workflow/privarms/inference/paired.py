"""Methods compared over the same replicates.

Ma, Jiang, Zhao, Yang & Yu (2025), Table 2: the best method in bold, on grey where signed-rank tests at level 0.05 find
it better than every other one. Larger values are better throughout: hand in a regret negated.
"""

from typing import NamedTuple

import numpy as np
import scipy

from privarms.ranges import within

EXACT_PAIRS = 400
RESAMPLED_NUMBERS = 2**20  # of each sample that stand in memory at once: 8 MB


class Interval(NamedTuple):
    estimate: float
    low: float
    high: float


def wilcoxon_p_value(ours, others) -> float:
    """The p-value of Wilcoxon's signed-rank test that ours - others is symmetric about 0, against ours being larger.

    ours, others: float64[n] on the same replicates, n >= 1. Pairs without a difference are dropped (Wilcoxon 1945);
    without any other pair p is 1. Equal sizes of differences share their mean rank. Exact (the probability of the
    observed rank sum or more over all 2^m signs) for up to `EXACT_PAIRS` pairs that are left; for more the normal
    approximation with its correction for ties and none for continuity. Differences tie if they are the same number:
    sums of rewards do, their means may miss it by rounding.
    """
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


def holm(p_values) -> np.ndarray:
    """Adjusted p-values in the given order: at most alpha where Holm's (1979) step-down test at level alpha rejects.

    p_values: float64[m] in [0, 1], m >= 1
    """
    p_values = np.asarray(p_values, float)
    within(0, 1, p_values=p_values)
    order = np.argsort(p_values, kind="stable")
    left = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(left * p_values[order]), 1.0)
    return adjusted


def ratio_of_means(ours, others, rng: np.random.Generator, resamples: int = 10_000, level: float = 0.95) -> Interval:
    """mean(ours) / mean(others) and its percentile interval.

    ours, others: float64[n] on the same replicates, n >= 2, others >= 0 of mean > 0; whole replicates are drawn with
    replacement (Efron & Tibshirani 1993, ch. 13). level: of the two-sided interval, which it reaches for large n.
    """
    ours, others = np.asarray(ours, float), np.asarray(others, float)

    def of_means(x, y, axis=-1):
        return np.true_divide(x.mean(axis=axis), y.mean(axis=axis))

    # A resample of few replicates may have a mean of 0 below the line.
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
