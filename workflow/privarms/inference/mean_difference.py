"""The difference of two means after a randomised trial: estimates, intervals, their coverage and their law.

Li, Shi & Simchi-Levi (ICML 2024), Propositions 2.6 and 3.6: sqrt(N) (estimate - effect) tends to N(0, s0^2 + s1^2),
with N = max{f_min(n)^(1 - alpha), log n} over all n patients. Their proofs have T = T_min in place of N, which comes
from the patients of the first half. Each of T patients gets one of the two arms, about T / 2 each, so that the
variance is 2 (s0^2 + s1^2) / T; the private estimate has Lap(2 / (epsilon T)) on top, of variance 8 / (epsilon T)^2.
Leading axes are replicates: everything broadcasts.
"""

import numpy as np
import scipy

from privarms.inference.intervals import normal_interval
from privarms.mechanisms import lap_plus
from privarms.ranges import at_least

# Of a trial: 160 MB in each array.
MOST_LENGTHS = 20_000_000
INTERVALS = ("printed", "trial", "corrected", "corrected_laplace")


def variance(T, variance_0, variance_1, interval: str, epsilon: float | None = None):
    """The variance that an interval gives to the estimate; interval: one of INTERVALS.

    T: T_min, or N for `printed`, >= 1; variance_0, variance_1: s0^2 and s1^2; epsilon: needed for corrected_laplace
    alone, where inf adds nothing. Raises ValueError.
    """
    T, both = np.asarray(T, float), np.add(variance_0, variance_1)
    at_least(1, T=T)
    if interval in ("printed", "trial"):
        return both / T
    if interval == "corrected":
        return 2 * both / T
    return 2 * both / T + 8 / (epsilon * T) ** 2


def coverage(estimate, effect, variance, confidence: float = 0.95) -> tuple[float, float, int]:
    """How often the interval holds the effect among the runs with an estimate: share, its standard error, runs.

    nan without any run.
    """
    estimate = np.asarray(estimate, float)
    low, high = normal_interval(estimate, np.sqrt(variance), confidence)
    there = ~np.isnan(estimate)
    runs = int(there.sum())
    if runs == 0:
        return np.nan, np.nan, 0
    share = float(((low <= effect) & (effect <= high))[there].mean())
    return share, float(np.sqrt(share * (1 - share) / runs)), runs


def variance_ratio(estimate, effect, variance) -> tuple[float, float]:
    """The sample variance of the estimate over the one that an interval gives to it; the propositions say 1.

    Returns it and its standard error, from the fourth moment; both are nan with fewer than two estimates.
    """
    scaled = standardised(estimate, effect, variance)
    known = scaled[~np.isnan(scaled)]
    if len(known) < 2:
        return np.nan, np.nan
    squares = (known - known.mean()) ** 2
    return float(np.nanvar(scaled, ddof=1)), float(squares.std(ddof=1) / np.sqrt(len(known)))


def standardised(estimate, effect, variance):
    """(estimate - effect) / sqrt(variance): what the interval takes for standard normal."""
    return (np.asarray(estimate, float) - effect) / np.sqrt(variance)


def normality(estimate, effect, variance) -> tuple[float, float]:
    """Kolmogorov and Smirnov's distance of the standardised estimates from N(0, 1), and its p-value; nans are left out.

    nan without any estimate. That of a Bernoulli trial of few patients is discrete, and the distance says so.
    """
    sample = standardised(estimate, effect, variance).ravel()
    sample = sample[~np.isnan(sample)]
    if len(sample) == 0:
        return np.nan, np.nan
    result = scipy.stats.kstest(sample, scipy.stats.norm.cdf)
    return float(result.statistic), float(result.pvalue)


def inverse_propensity_variance(T, means, variances):
    """Var of Horvitz and Thompson's estimate after T patients with a fair coin each (arXiv v1, line 33).

    means, variances: of a reward of either arm; (2 (E Y_0^2 + E Y_1^2) - effect^2) / T
    """
    squares = np.sum(np.asarray(variances) + np.asarray(means) ** 2)
    return (2 * squares - (means[1] - means[0]) ** 2) / np.asarray(T, float)


def relative_bias(T: float, epsilon: float) -> float:
    """E[estimate] / effect - 1 where an arm without a patient has mean 0: -E[2^-T_j], exactly.

    Either arm has no patient with probability 2^-T_j, so that both means lose that part. T_j is floor(T) without
    privacy (epsilon inf), else Lap+(T) given T_j >= 1; T >= 1.
    """
    if np.isinf(epsilon):
        return float(-(2.0 ** -np.floor(T)))
    # Where the terms have fallen below 1e-300.
    lengths = np.arange(1, 1001)
    return float(-(lap_plus.pmf(lengths, T, epsilon) @ 2.0**-lengths) / lap_plus.survival(1, T, epsilon))


def private_variance(T: float, variance_0: float, variance_1: float, epsilon: float) -> float:
    """The variance of DP-ConSE's estimate: E[2 (s0^2 + s1^2) / T_j + 8 / (epsilon T_j)^2] over the noisy length.

    T_j is Lap+(T) given T_j >= 1; without privacy (epsilon inf) it is floor(T). The part of the trial is to first
    order in 1 / T_j. At small epsilon rare short trials carry the second part: a simulation that has not seen them
    underestimates it, one that has overestimates it.
    """
    at_least(1, T=T)
    both = variance_0 + variance_1
    if np.isinf(epsilon):
        return float(2 * both / np.floor(T))
    longest = int(T) + int(np.ceil(100 / epsilon))
    if longest > MOST_LENGTHS:
        raise ValueError(f"epsilon, T: {epsilon} and {T} need {longest:,} lengths; expected at most {MOST_LENGTHS:,}")
    lengths = np.arange(1, longest + 1)
    chances = lap_plus.pmf(lengths, T, epsilon)
    errors = 2 * both / lengths + 8 / (epsilon * lengths) ** 2
    # Not a matrix product, whose order of additions is the machine's.
    return float((chances * errors).sum() / chances.sum())
