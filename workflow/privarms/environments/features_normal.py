"""M features and two arms with normal rewards: as in section 5 of Li, Shi & Simchi-Levi (ICML 2024).

The privacy of the private policies needs rewards in [0, 1]; on these rewards they run, and promise nothing.
"""

from typing import Literal

import numpy as np
from numba import njit

from privarms.environments import _patients
from privarms.ranges import at_least


@njit
def pull(environment, feature, arm, rng):
    """One normal reward."""
    return environment.means[feature, arm] + environment.deviations[feature, arm] * rng.standard_normal()


@njit
def pull_sum(environment, feature, arm, count, rng):
    """The sum of `count` rewards: normal."""
    spread = environment.deviations[feature, arm] * np.sqrt(count)
    return count * environment.means[feature, arm] + spread * rng.standard_normal()


def configure(
    M: int,
    horizon: int,
    lower: float = 0.3,
    smallest_gap: float = 0.3,
    largest_gap: float = 0.5,
    deviation: float = 1.0,
    arrivals: Literal["stationary", "seasonal"] = "stationary",
    amplitude: float = 0.8,
    rarest: float | None = None,
) -> _patients.Environment:
    """M >= 1 features; arm 0 has mean `lower`, arm 1 is better by equally spaced gaps; every reward has one deviation.

    arrivals, amplitude: see `_patients`; rarest: the probability of the last feature, by default that of the others
    """
    at_least(0, deviation=deviation)
    means = _patients.checked_means(M, horizon, lower, smallest_gap, largest_gap)
    pattern = _patients.arrivals(M, horizon, arrivals, amplitude, rarest)
    deviations = np.full((M, 2), float(deviation))
    return _patients.Environment(pull, pull_sum, means, deviations, *pattern, bounded=False)
