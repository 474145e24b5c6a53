"""Exact tests of the mean of Bernoulli rewards from a fixed number of pulls."""

import numpy as np
import scipy


def randomised_p_value(successes, pulls, mean, u, alternative: str = "greater"):
    """P(X > s) + u P(X = s), or P(X < s) + u P(X = s) for the alternative "less", with X ~ Bin(pulls, mean).

    successes: whole numbers s in [0, pulls]; pulls: whole numbers >= 0, without any of which the p-value is u; mean:
    under the null, in [0, 1], the ends included; u: uniform on [0, 1], independent of the data; arrays broadcast. The
    alternative says on which side of `mean` the true mean lies. Exactly uniform under the null where the pulls are
    fixed in advance, so that whatever departs from uniformity is due to adaptivity and not to the atoms of the binomial
    law.
    Raises ValueError outside these ranges.
    """
    s, pulls, mean = _data(successes, pulls, mean)
    u = np.asarray(u, float)
    if not ((u >= 0) & (u <= 1)).all():
        raise ValueError(f"u: expected numbers in [0, 1]; found {_first(u, (u >= 0) & (u <= 1))}")
    beyond, from_s_on = _tails(s, pulls, mean, alternative)
    # A weighted mean of the two tails: never outside [0, 1] and, unlike a sum with P(X = s), without cancellation.
    return (1 - u) * beyond + u * from_s_on


def p_value(successes, pulls, mean, alternative: str = "greater"):
    """P(X >= s), or P(X <= s) for the alternative "less", with X ~ Bin(pulls, mean): the usual exact test.

    Conservative: below any level with at most that probability under the null. Arguments as in `randomised_p_value`,
    which this is with u = 1.
    """
    return _tails(*_data(successes, pulls, mean), alternative)[1]


def _tails(s, pulls, mean, alternative: str):
    """The probabilities of more than s and of s or more; of fewer than s and of s or fewer for "less"."""
    if alternative == "greater":
        return scipy.stats.binom.sf(s, pulls, mean), scipy.stats.binom.sf(s - 1, pulls, mean)
    if alternative == "less":
        return scipy.stats.binom.cdf(s - 1, pulls, mean), scipy.stats.binom.cdf(s, pulls, mean)
    raise ValueError(f'alternative: expected "greater" or "less"; found {alternative!r}')


def _data(successes, pulls, mean):
    s, pulls, mean = np.broadcast_arrays(*(np.asarray(x, float) for x in (successes, pulls, mean)))
    for name, values, expected, holds in (
        ("pulls", pulls, "whole numbers >= 0", (pulls >= 0) & (pulls == np.floor(pulls)) & np.isfinite(pulls)),
        ("successes", s, "whole numbers in [0, pulls]", (s >= 0) & (s <= pulls) & (s == np.floor(s))),
        ("mean", mean, "numbers in [0, 1]", (mean >= 0) & (mean <= 1)),
    ):
        if not holds.all():
            raise ValueError(f"{name}: expected {expected}; found {_first(values, holds)}")
    return s, pulls, mean


def _first(values, holds):
    return values[~holds].ravel()[0]
