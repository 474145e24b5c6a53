"""M features and two arms with Bernoulli rewards: the setting of Li, Shi & Simchi-Levi (2024)."""

from typing import Literal

import numpy as np
from numba import njit

from privarms.environments import _patients
from privarms.jit.binomial import binomial


@njit
def pull(environment, feature, arm, rng):
    """One Bernoulli(means[feature, arm]) reward."""
    return 1.0 if rng.random() < environment.means[feature, arm] else 0.0


@njit
def pull_sum(environment, feature, arm, count, rng):
    """The sum of `count` rewards: binomial."""
    return float(binomial(count, environment.means[feature, arm], rng))


def configure(
    M: int,
    horizon: int,
    lower: float = 0.3,
    smallest_gap: float = 0.3,
    largest_gap: float = 0.5,
    arrivals: Literal["stationary", "seasonal"] = "stationary",
    amplitude: float = 0.8,
    rarest: float | None = None,
) -> _patients.Environment:
    """M >= 1 features; arm 0 has mean `lower`, arm 1 is better by equally spaced gaps, all means in [0, 1].

    arrivals, amplitude: see `_patients`; rarest: the probability of the last feature, by default that of the others
    """
    means = _patients.checked_means(M, horizon, lower, smallest_gap, largest_gap)
    if not 0 <= lower <= means.max() <= 1:
        raise ValueError(f"lower: expected rewards in [0, 1]; found means from {lower} to {means.max()}")
    pattern = _patients.arrivals(M, horizon, arrivals, amplitude, rarest)
    return _patients.Environment(pull, pull_sum, means, np.sqrt(means * (1 - means)), *pattern)
