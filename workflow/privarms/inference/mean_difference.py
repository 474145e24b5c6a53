"""The difference of two means after a randomised trial: estimates, intervals, coverage and distribution.

Li, Shi & Simchi-Levi (ICML 2024), Propositions 2.6 and 3.6: sqrt(N) (estimate - effect) tends to N(0, s0^2 + s1^2),
with N = max{f_min(n)^(1 - alpha), log n} over all n patients. Their proofs use T = T_min, from the patients of the
first half, instead of N. Each of T patients gets one of two arms, about T / 2 each, so the variance is 2 (s0^2 +
s1^2) / T. The private estimate adds Lap(2 / (epsilon T)), of variance 8 / (epsilon T)^2. Leading axes are replicates:
everything broadcasts.

estimate: finite, or nan for a run without an estimate; effect: finite; variance: of the interval, > 0 and finite;
variance_0, variance_1: s0^2 and s1^2, >= 0 and finite; T: >= 1 and finite; epsilon: > 0, inf for no privacy. All
functions raise ValueError for other numbers.
"""

from typing import Literal, get_args

import numpy as np
import scipy

from privarms.inference.intervals import normal_interval
from privarms.mechanisms import lap_plus
from privarms.ranges import above, at_least, dimensions, finite, known, of_choices, positive, same_shape

# The longest trial considered: 160 MB per array.
MOST_LENGTHS = 20_000_000
Interval = Literal["printed", "trial", "corrected", "corrected_laplace"]
INTERVALS = get_args(Interval)


@of_choices
def variance(T, variance_0, variance_1, interval: Interval, epsilon: float | None = None):
    """Return the variance that an interval assigns to the estimate; interval: one of INTERVALS.

    T: T_min, or N for `printed`; epsilon: needed only for corrected_laplace, where inf adds nothing
    """
    at_least(1, T=T)
    at_least(0, variance_0=variance_0, variance_1=variance_1)
    if epsilon is not None or interval == "corrected_laplace":
        dimensions(0, epsilon=epsilon)
        above(0, epsilon=epsilon)
    T, both = np.asarray(T, float), np.add(variance_0, variance_1)
    if interval in ("printed", "trial"):
        return both / T
    if interval == "corrected":
        return 2 * both / T
    return 2 * both / T + 8 / (epsilon * T) ** 2


def coverage(estimate, effect, variance, confidence: float = 0.95) -> tuple[float, float, int]:
    """Return how often the interval contains the effect, its standard error, and the number of runs with an estimate.

    The first two are nan without any such run.
    """
    _check(estimate, effect, variance)
    estimate = np.asarray(estimate, float)
    low, high = normal_interval(estimate, np.sqrt(variance), confidence)
    has_estimate = ~np.isnan(estimate)
    runs = int(has_estimate.sum())
    if runs == 0:
        return np.nan, np.nan, 0
    share = float(((low <= effect) & (effect <= high))[has_estimate].mean())
    return share, float(np.sqrt(share * (1 - share) / runs)), runs


def variance_ratio(estimate, effect, variance) -> tuple[float, float]:
    """Return the sample variance of the estimate over the variance that an interval assigns; the propositions claim 1.

    The second value is its standard error, from the fourth moment. Both are nan with fewer than two estimates.
    """
    scaled = standardised(estimate, effect, variance)
    known = scaled[~np.isnan(scaled)]
    if len(known) < 2:
        return np.nan, np.nan
    squares = (known - known.mean()) ** 2
    return float(np.nanvar(scaled, ddof=1)), float(squares.std(ddof=1) / np.sqrt(len(known)))


def standardised(estimate, effect, variance):
    """Return (estimate - effect) / sqrt(variance), which the interval treats as standard normal; nan stays nan."""
    _check(estimate, effect, variance)
    return (np.asarray(estimate, float) - effect) / np.sqrt(variance)


def _check(estimate, effect, variance) -> None:
    finite(estimate=known(estimate), effect=effect)
    positive(variance=variance)


def normality(estimate, effect, variance) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance of the standardised estimates from N(0, 1), and its p-value.

    Missing estimates are dropped; without any, both are nan. With few patients and Bernoulli rewards the estimate is
    discrete, which adds to the distance.
    """
    sample = standardised(estimate, effect, variance).ravel()
    sample = sample[~np.isnan(sample)]
    if len(sample) == 0:
        return np.nan, np.nan
    result = scipy.stats.kstest(sample, scipy.stats.norm.cdf)
    return float(result.statistic), float(result.pvalue)


def inverse_propensity_variance(T, means, variances):
    """Return the variance of the Horvitz-Thompson estimate after T patients with a fair coin each (arXiv v1, line 33).

    means, variances: of a reward of either arm; result: (2 (E Y_0^2 + E Y_1^2) - effect^2) / T
    """
    at_least(1, T=T)
    finite(means=means)
    at_least(0, variances=variances)
    if np.shape(means) != (2,):
        raise ValueError(f"means: expected two numbers; found the shape {np.shape(means)}")
    same_shape(means=means, variances=variances)
    squares = np.sum(np.asarray(variances) + np.asarray(means) ** 2)
    return (2 * squares - (means[1] - means[0]) ** 2) / np.asarray(T, float)


def relative_bias(T: float, epsilon: float) -> float:
    """Return E[estimate] / effect - 1 if an arm without a patient counts as mean 0: -E[2^-T_j], exactly.

    Either arm has no patient with probability 2^-T_j, so both means lose this share. T_j is floor(T) without privacy
    (epsilon inf), otherwise Lap+(T) given T_j >= 1.
    """
    dimensions(0, T=T, epsilon=epsilon)
    at_least(1, T=T)
    above(0, epsilon=epsilon)
    if np.isinf(epsilon):
        return float(-(2.0 ** -np.floor(T)))
    # Later terms are below 1e-300.
    lengths = np.arange(1, 1001)
    return float(-(lap_plus.pmf(lengths, T, epsilon) @ 2.0**-lengths) / lap_plus.survival(1, T, epsilon))


def private_variance(T: float, variance_0: float, variance_1: float, epsilon: float) -> float:
    """Return the variance of DP-ConSE's estimate: E[2 (s0^2 + s1^2) / T_j + 8 / (epsilon T_j)^2] over the length T_j.

    T_j is Lap+(T) given T_j >= 1; without privacy (epsilon inf) it is floor(T). The first term is to first order in
    1 / T_j. At small epsilon the second term comes mostly from rare short trials. A simulation that misses them
    underestimates it; one with unusually many overestimates it.
    """
    dimensions(0, T=T, variance_0=variance_0, variance_1=variance_1, epsilon=epsilon)
    at_least(1, T=T)
    at_least(0, variance_0=variance_0, variance_1=variance_1)
    above(0, epsilon=epsilon)
    both = variance_0 + variance_1
    if np.isinf(epsilon):
        return float(2 * both / np.floor(T))
    longest = int(T) + int(np.ceil(100 / epsilon))
    if longest > MOST_LENGTHS:
        raise ValueError(f"epsilon, T: {epsilon} and {T} need {longest:,} lengths; expected at most {MOST_LENGTHS:,}")
    lengths = np.arange(1, longest + 1)
    chances = lap_plus.pmf(lengths, T, epsilon)
    errors = 2 * both / lengths + 8 / (epsilon * lengths) ** 2
    # Not a matrix product, whose order of additions depends on the machine.
    return float((chances * errors).sum() / chances.sum())
