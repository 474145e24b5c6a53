"""K arms with Bernoulli, normal or truncated normal rewards, as in versions of the program of Neel & Roth (2018)."""

from collections.abc import Callable
from math import erf, exp, pi, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, of_choices

LAWS = ("bernoulli", "normal", "truncated_normal")


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> reward; means: float64[K], the expected rewards; law: an index into LAWS.

    shifts: float64[K], the arm's mean minus the mean of its truncated normal variable (0 for other distributions)
    """

    pull: Callable
    means: np.ndarray
    law: int
    shifts: np.ndarray


@njit(forceinline=True)
def pull(environment, arm, rng):
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
    """Return the mean of a standard normal variable given that it is between two numbers."""

    def density(x):
        return exp(-x * x / 2) / sqrt(2 * pi)

    return (density(low) - density(high)) / ((erf(high / sqrt(2)) - erf(low / sqrt(2))) / 2)


@of_choices
def configure(
    K: int, top: float, bottom: float, law: Literal["bernoulli", "normal", "truncated_normal"]
) -> Environment:
    """Return K >= 2 arms with means linearly spaced from `top` down to `bottom`, in [0, 1] except for normal rewards.

    normal: of variance 1; truncated_normal: a standard normal variable in [-mu, 1 - mu], shifted to mean mu
    """
    at_least(2, K=K)
    if not bottom <= top or (law != "normal" and not 0 <= bottom <= top <= 1):
        raise ValueError(f"expected 0 <= bottom <= top <= 1, found bottom {bottom} and top {top}")
    means = np.linspace(top, bottom, K)
    shifts = np.zeros(K)
    if law == "truncated_normal":
        shifts = means - np.array([truncated_mean(-mean, 1 - mean) for mean in means])
    return Environment(pull, means, LAWS.index(law), shifts)
