"""Patients who come with one of M features, and the rewards of two arms for each feature.

Arrivals are independent with probabilities that are constant inside a segment of time, so that the features' counts
in a half are sums of multinomial draws. A stationary experiment has one law throughout. The seasonal one runs for a
year: summer for the first third, winter for half of it, summer again for the last sixth. Features 1, 3, 5, ... have
the probability (1 + amplitude) / M in summer and (1 - amplitude) / M in winter, features 2, 4, 6, ... the other way
round; the last of an odd number always has 1 / M. Each half holds both seasons, one for twice as long as the other, so
that a feature that is frequent in the first half is rare in the second, and f_j(n) / f_j(n/2) lies between
2 / (1 + amplitude / 3) and 2 / (1 - amplitude / 3): Assumption 1.1.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least


class Environment(NamedTuple):
    """M features, two arms; arrays have a row per feature, or per segment.

    pull(environment, feature, arm, rng) -> reward
    pull_sum(environment, feature, arm, count, rng) -> the sum of `count` rewards in one draw
    means, deviations: float64[M, 2], of a reward
    ends: int64[G], the last round of each segment, non-decreasing; floor(n/2) is one, and n the last
    probabilities: float64[G, M], of the features in a segment
    bounded: whether every reward lies in [0, 1], as the noise of a private policy assumes
    """

    pull: Callable
    pull_sum: Callable
    means: np.ndarray
    deviations: np.ndarray
    ends: np.ndarray
    probabilities: np.ndarray
    bounded: bool = True


def checked_means(M: int, horizon: int, lower: float, smallest_gap: float, largest_gap: float) -> np.ndarray:
    """float64[M, 2]: arm 0 has mean `lower`, arm 1 is better by gaps equally spaced from the smallest to the largest.

    With one feature the gap is halfway between the two. Raises ValueError.
    """
    at_least(1, M=M)
    at_least(3, horizon=horizon)
    if not 0 <= smallest_gap <= largest_gap < np.inf:
        raise ValueError(f"gaps: expected 0 <= smallest_gap <= largest_gap; found {smallest_gap} and {largest_gap}")
    gaps = np.linspace(smallest_gap, largest_gap, M) if M > 1 else np.array([(smallest_gap + largest_gap) / 2])
    return np.stack([np.full(M, float(lower)), lower + gaps], axis=1)


def arrivals(M: int, horizon: int, pattern: str, amplitude: float, rarest: float | None):
    """The fields `ends` and `probabilities` of an `Environment`; see the module. Raises ValueError.

    amplitude: in [0, 1), of the seasons
    rarest: the probability of the last feature, the same in every season; None is the share that the others have
    """
    if not 0 <= amplitude < 1:
        raise ValueError(f"amplitude: expected a number in [0, 1); found {amplitude}")
    if rarest is not None and (M == 1 or not 0 <= rarest < 1):
        raise ValueError(f"rarest: expected a probability in [0, 1) and M >= 2; found {rarest} and M = {M}")
    common = M if rarest is None else M - 1
    if pattern == "stationary":
        ends, signs = [horizon // 2, horizon], [0, 0]
    else:
        ends, signs = [horizon // 3, horizon // 2, 5 * horizon // 6, horizon], [1, -1, -1, 1]
    turns = (-1.0) ** np.arange(common)
    if common % 2 == 1:
        turns[-1] = 0.0
    probabilities = (1 + amplitude * np.outer(signs, turns)) / common
    if rarest is not None:
        probabilities = np.column_stack([(1 - rarest) * probabilities, np.full(len(ends), float(rarest))])
    return np.array(ends, np.int64), probabilities


@njit(forceinline=True)
def arrive(environment, t, rng):
    """The feature of the patient of round t >= 1."""
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
    # Only rounding leads here.
    return last


@njit(forceinline=True)
def worse_arm(environment, feature):
    """The arm of the lower mean; 0 where they are equal."""
    return 1 if environment.means[feature, 1] < environment.means[feature, 0] else 0


@njit(forceinline=True)
def gap(environment, feature):
    """The absolute difference of the two means."""
    return abs(environment.means[feature, 1] - environment.means[feature, 0])
