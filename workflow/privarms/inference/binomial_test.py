"""Exact tests of the mean of Bernoulli rewards from a fixed number of pulls."""

from typing import Literal

import numpy as np
import scipy

from privarms.ranges import of_choices, part_and_total, within


@of_choices
def randomised_p_value(successes, pulls, mean, u, alternative: Literal["greater", "less"]):
    """Return P(X > s) + u P(X = s), or P(X < s) + u P(X = s) for the alternative "less", with X ~ Bin(pulls, mean).

    successes: whole numbers s in [0, pulls]; pulls: whole numbers >= 0 (with 0 pulls the p-value is u); mean: under the
    null, in [0, 1]; u: uniform on [0, 1], independent of the data; alternative: on which side of `mean` the true mean
    lies. Arrays broadcast. The p-value is exactly uniform under the null if the pulls are fixed in advance. Any
    departure from uniformity is therefore due to adaptivity, not to the atoms of the binomial distribution. Raises
    ValueError for another alternative, for impossible counts, and outside the ranges.
    """
    part_and_total(successes=successes, pulls=pulls)
    within(0, 1, mean=mean, u=u)
    s, pulls, mean, u = (np.asarray(x, float) for x in (successes, pulls, mean, u))
    if alternative == "greater":
        beyond, from_s_on = scipy.stats.binom.sf(s, pulls, mean), scipy.stats.binom.sf(s - 1, pulls, mean)
    else:
        beyond, from_s_on = scipy.stats.binom.cdf(s - 1, pulls, mean), scipy.stats.binom.cdf(s, pulls, mean)
    # A weighted mean of the two tails stays in [0, 1] and, unlike a sum with P(X = s), has no cancellation.
    return (1 - u) * beyond + u * from_s_on


def p_value(successes, pulls, mean):
    """Return P(X >= s), X ~ Bin(pulls, mean): the usual exact test, `randomised_p_value` with u = 1. Conservative.

    Ranges and errors are those of `randomised_p_value`.
    """
    part_and_total(successes=successes, pulls=pulls)
    within(0, 1, mean=mean)
    return scipy.stats.binom.sf(np.asarray(successes, float) - 1, pulls, mean)
