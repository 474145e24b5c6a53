"""Patients who have one of M features, and Bernoulli rewards of two arms for each (Li, Shi & Simchi-Levi 2024).

Arrivals are independent, with constant probabilities within a segment of time, so the features' counts in a half are
sums of multinomial draws. A stationary experiment has one distribution throughout. A seasonal one lasts a year: summer
for the first third, winter for half of it, summer again for the last sixth. Features 1, 3, 5, ... have probability
(1 + amplitude) / M in summer and (1 - amplitude) / M in winter, features 2, 4, 6, ... the reverse. For an odd M the
last one always has 1 / M. Each half contains both seasons, one twice as long as the other. So a feature that is
frequent in the first half is rare in the second, and f_j(n) / f_j(n/2) is between 2 / (1 + amplitude / 3) and 2 / (1 -
amplitude / 3): Assumption 1.1.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.jit.binomial import binomial
from privarms.ranges import at_least, of_choices


class Environment(NamedTuple):
    """M features and two arms; arrays have one row per feature, or per segment.

    pull(environment, feature, arm, rng) -> reward
    pull_sum(environment, feature, arm, count, rng) -> the sum of `count` rewards in one draw
    means, deviations: float64[M, 2], of a reward
    ends: int64[G], the last round of each segment, non-decreasing; floor(n/2) is one of them, and n the last
    probabilities: float64[G, M], of the features in a segment
    """

    pull: Callable
    pull_sum: Callable
    means: np.ndarray
    deviations: np.ndarray
    ends: np.ndarray
    probabilities: np.ndarray


@njit
def pull(environment, feature, arm, rng):
    return 1.0 if rng.random() < environment.means[feature, arm] else 0.0


@njit
def pull_sum(environment, feature, arm, count, rng):
    """Draw the sum of `count` rewards, a binomial."""
    return float(binomial(count, environment.means[feature, arm], rng))


@of_choices
def configure(
    M: int,
    horizon: int,
    lower: float = 0.3,
    smallest_gap: float = 0.3,
    largest_gap: float = 0.5,
    arrivals: Literal["stationary", "seasonal"] = "stationary",
    amplitude: float = 0.8,
) -> Environment:
    """Return M >= 1 features; arm 0 has mean `lower`, arm 1 is better by equally spaced gaps, all means in [0, 1].

    With one feature the gap is halfway between the two. amplitude: in [0, 1), of the seasons
    """
    at_least(1, M=M)
    at_least(3, horizon=horizon)
    if not 0 <= smallest_gap <= largest_gap < np.inf:
        raise ValueError(f"gaps: expected 0 <= smallest_gap <= largest_gap; found {smallest_gap} and {largest_gap}")
    if not 0 <= amplitude < 1:
        raise ValueError(f"amplitude: expected a number in [0, 1); found {amplitude}")
    gaps = np.linspace(smallest_gap, largest_gap, M) if M > 1 else np.array([(smallest_gap + largest_gap) / 2])
    means = np.stack([np.full(M, float(lower)), lower + gaps], axis=1)
    if not 0 <= lower <= means.max() <= 1:
        raise ValueError(f"lower: expected rewards in [0, 1]; found means from {lower} to {means.max()}")
    if arrivals == "stationary":
        ends, signs = [horizon // 2, horizon], [0, 0]
    else:
        ends, signs = [horizon // 3, horizon // 2, 5 * horizon // 6, horizon], [1, -1, -1, 1]
    turns = (-1.0) ** np.arange(M)
    if M % 2 == 1:
        turns[-1] = 0.0
    probabilities = (1 + amplitude * np.outer(signs, turns)) / M
    return Environment(pull, pull_sum, means, np.sqrt(means * (1 - means)), np.array(ends, np.int64), probabilities)


@njit(forceinline=True)
def arrive(environment, t, rng):
    """Draw the feature of the patient of round t >= 1."""
    segment = 0
    while environment.ends[segment] < t:
        segment += 1
    u = rng.random()
    last = 0
    for feature in range(environment.probabilities.shape[1]):
        probability = environment.probabilities[segment, feature]
        if probability > 0:
            last = feature
            if u < probability:
                return feature
            u -= probability
    # Reached only through rounding.
    return last


@njit(forceinline=True)
def worse_arm(environment, feature):
    """Return the arm with the lower mean; 0 if the means are equal."""
    return 1 if environment.means[feature, 1] < environment.means[feature, 0] else 0


@njit(forceinline=True)
def gap(environment, feature):
    return abs(environment.means[feature, 1] - environment.means[feature, 0])
