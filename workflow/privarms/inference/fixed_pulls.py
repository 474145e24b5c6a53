"""Tests and intervals of Bernoulli means for numbers of pulls that were fixed in advance, at arbitrarily small levels.

Levels that a correction can make smaller than any float are given by their logarithm. Counts are whole numbers,
0 <= successes <= pulls; arrays broadcast. An arm without a pull has p-value 1 and interval [0, 1]. All functions raise
ValueError outside their ranges.
"""

import numpy as np
from numba import njit
from scipy.special import betainc, betaincinv, gammaln, ndtri, xlog1py, xlogy

from privarms.inference.divergences import kl_upper
from privarms.jit.cache import compiled
from privarms.ranges import finite, part_and_total, strictly_within, within

# Tails below this value are summed in logarithms.
SMALLEST = 1e-280


def log_p_value(successes, pulls, mean):
    """Return ln P(X >= s), X ~ Bin(pulls, mean): the exact test of "at most `mean`", also if the p-value underflows.

    A tail that underflows is its first term times 1 + r_s (1 + r_(s+1) (1 + ...)), with r_k = P(X = k + 1) / P(X = k).
    These ratios decrease, and are below 1 right of the mean. mean: in [0, 1]. The result is -inf only if the p-value is
    exactly 0: mean = 0 and at least one success.
    """
    part_and_total(successes=successes, pulls=pulls)
    within(0, 1, mean=mean)
    s, n, m = np.broadcast_arrays(*(np.asarray(x, float) for x in (successes, pulls, mean)))
    with np.errstate(divide="ignore"):
        # P(X >= s) = I_m(s, n - s + 1).
        tail = np.where(s > 0, betainc(np.maximum(s, 1), n - s + 1, m), 1.0)
        result = np.array(np.log(tail))
    far = (tail < SMALLEST) & (m > 0) & (m < 1)
    s, n, m = s[far], n[far], m[far]
    first = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1) + xlogy(s, m) + xlog1py(n - s, -m)
    result[far] = first + np.log(compiled(_over_first)(s, n, m))
    return result[()]


@njit
def _over_first(s, n, m):
    result = np.ones(len(s))
    for i in range(len(s)):
        term, k = 1.0, s[i]
        while term > 1e-17 * result[i] and k < n[i]:
            term *= (n[i] - k) / (k + 1) * m[i] / (1 - m[i])
            result[i] += term
            k += 1
    return result


def exact_interval(successes, pulls, alpha: float = 0.05):
    """Return (low, high) of Clopper & Pearson 1934; each end errs with probability alpha / 2 or less."""
    part_and_total(successes=successes, pulls=pulls)
    strictly_within(0, 1, alpha=alpha)
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(pulls, float))
    low = np.where(s > 0, betaincinv(np.maximum(s, 1), n - s + 1, alpha / 2), 0.0)
    high = np.where(s < n, 1 - betaincinv(np.maximum(n - s, 1), s + 1, alpha / 2), 1.0)
    return low[()], high[()]


def chernoff_interval(successes, pulls, log_alpha: float):
    """Return (low, high), where n kl(s / n, mean) <= ln(2 / alpha): Chernoff's bound, valid but wide.

    log_alpha: at most 0; -inf gives [0, 1]
    """
    part_and_total(successes=successes, pulls=pulls)
    within(-np.inf, 0, log_alpha=log_alpha)
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(pulls, float))
    most = np.maximum(n, 1)
    level = np.where(n > 0, (np.log(2) - log_alpha) / most, np.inf)
    return kl_interval(s / most, level)


def wilson_interval(successes, pulls, alpha: float = 0.05):
    """Return (low, high) of Wilson 1927, from the score test; approximate."""
    part_and_total(successes=successes, pulls=pulls)
    strictly_within(0, 1, alpha=alpha)
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(pulls, float))
    z2, most = ndtri(alpha / 2) ** 2, np.maximum(n, 1)
    share = s / most
    middle = (share + z2 / (2 * most)) / (1 + z2 / most)
    half = np.sqrt(z2 * (share * (1 - share) / most + z2 / (4 * most**2))) / (1 + z2 / most)
    return np.where(n > 0, middle - half, 0.0)[()], np.where(n > 0, middle + half, 1.0)[()]


def newcombe_interval(successes, pulls, other_successes, other_pulls, alpha: float = 0.05):
    """Return (low, high) of first mean - other mean, from Wilson intervals (Newcombe 1998, method 10); approximate."""
    part_and_total(successes=successes, pulls=pulls)
    part_and_total(other_successes=other_successes, other_pulls=other_pulls)
    strictly_within(0, 1, alpha=alpha)
    first, other = (wilson_interval(s, n, alpha) for s, n in ((successes, pulls), (other_successes, other_pulls)))
    shares = [
        np.where(np.asarray(n) > 0, np.asarray(s, float) / np.maximum(n, 1), 0.5)
        for s, n in ((successes, pulls), (other_successes, other_pulls))
    ]
    difference = shares[0] - shares[1]
    low = difference - np.sqrt((shares[0] - first[0]) ** 2 + (other[1] - shares[1]) ** 2)
    high = difference + np.sqrt((first[1] - shares[0]) ** 2 + (shares[1] - other[0]) ** 2)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def difference_interval(first, other):
    """Return (low, high) of a difference, from the intervals of its two means; it covers if both of them do.

    first, other: (low, high), finite numbers or arrays of them
    """
    for name, ends in (("first", first), ("other", other)):
        if len(ends) != 2:
            raise ValueError(f"{name}: expected low and high; found {len(ends)} values")
        for end in ends:
            finite(**{name: end})
    return first[0] - other[1], first[1] - other[0]


def kl_interval(share, level):
    """Return (low, high), the means m with kl(share, m) <= level; level: >= 0, inf for all of [0, 1]."""
    within(0, 1, share=share)
    within(0, np.inf, level=level)
    share, level = np.broadcast_arrays(np.asarray(share, float), np.asarray(level, float))
    low, high = (compiled(_kl_upper)(x.ravel(), level.ravel()).reshape(share.shape) for x in (1 - share, share))
    return (1 - low)[()], high[()]


@njit
def _kl_upper(x, level):
    result = np.empty(len(x))
    for i in range(len(x)):
        result[i] = kl_upper(x[i], level[i]) if level[i] < np.inf else 1.0
    return result
