"""K arms whose rewards are Bernoulli, normal or truncated normal: the laws in the history of the program of Neel & Roth
2018."""

from collections.abc import Callable
from math import erf, exp, pi, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, of_choices

LAWS = ("bernoulli", "normal", "truncated_normal")


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> reward; means: float64[K], the expected rewards; law: the place in LAWS.

    shifts: float64[K], what a truncated normal's mean lacks of the arm's
    """

    pull: Callable
    means: np.ndarray
    law: int
    shifts: np.ndarray


@njit(forceinline=True)
def pull(environment, arm, rng):
    """One reward of the arm."""
    mean = environment.means[arm]
    if environment.law == 0:
        return 1.0 if rng.random() < mean else 0.0
    if environment.law == 1:
        return mean + rng.standard_normal()
    while True:
        z = rng.standard_normal()
        if -mean <= z <= 1 - mean:
            return z + environment.shifts[arm]


def truncated_mean(low: float, high: float) -> float:
    """The mean of a standard normal variable that is known to lie between two numbers."""

    def density(x):
        return exp(-x * x / 2) / sqrt(2 * pi)

    return (density(low) - density(high)) / ((erf(high / sqrt(2)) - erf(low / sqrt(2))) / 2)


@of_choices
def configure(
    K: int, top: float, bottom: float, law: Literal["bernoulli", "normal", "truncated_normal"]
) -> Environment:
    """K >= 2 means, linearly spaced from `top` down to `bottom`; in [0, 1] but for normal rewards.

    normal: of variance 1; truncated_normal: a standard normal variable in [-mu, 1 - mu], moved to mean mu
    """
    at_least(2, K=K)
    if not bottom <= top or (law != "normal" and not 0 <= bottom <= top <= 1):
        raise ValueError(f"expected 0 <= bottom <= top <= 1, found bottom {bottom} and top {top}")
    means = np.linspace(top, bottom, K)
    shifts = np.zeros(K)
    if law == "truncated_normal":
        shifts = means - np.array([truncated_mean(-mean, 1 - mean) for mean in means])
    return Environment(pull, means, LAWS.index(law), shifts)
