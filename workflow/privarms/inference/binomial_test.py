"""Exact tests of the mean of Bernoulli rewards from a fixed number of pulls."""

from typing import Literal

import numpy as np
import scipy


def randomised_p_value(successes, pulls, mean, u, alternative: Literal["greater", "less"]):
    """P(X > s) + u P(X = s), or P(X < s) + u P(X = s) for the alternative "less", with X ~ Bin(pulls, mean).

    successes: whole numbers s in [0, pulls]; pulls: whole numbers >= 0, without any of which the p-value is u; mean:
    under the null, in [0, 1], the ends included; u: uniform on [0, 1], independent of the data; arrays broadcast. The
    alternative says on which side of `mean` the true mean lies. Exactly uniform under the null where the pulls are
    fixed in advance, so that whatever departs from uniformity is due to adaptivity and not to the atoms of the binomial
    law.
    """
    s, pulls, mean, u = (np.asarray(x, float) for x in (successes, pulls, mean, u))
    if alternative == "greater":
        beyond, from_s_on = scipy.stats.binom.sf(s, pulls, mean), scipy.stats.binom.sf(s - 1, pulls, mean)
    else:
        beyond, from_s_on = scipy.stats.binom.cdf(s - 1, pulls, mean), scipy.stats.binom.cdf(s, pulls, mean)
    # A weighted mean of the two tails: never outside [0, 1] and, unlike a sum with P(X = s), without cancellation.
    return (1 - u) * beyond + u * from_s_on


def p_value(successes, pulls, mean):
    """P(X >= s), X ~ Bin(pulls, mean): the usual exact test, `randomised_p_value` with u = 1. Conservative."""
    return scipy.stats.binom.sf(np.asarray(successes, float) - 1, pulls, mean)
