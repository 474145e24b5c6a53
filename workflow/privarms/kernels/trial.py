"""The second half: T_j patients of every feature in a randomised trial, then the remaining arm.

Li, Shi & Simchi-Levi: ICML 2024, Algorithm 1, lines 25 to 38, and Algorithm 2, lines 26 to 40; arXiv v1, Algorithm 1,
lines 15 to 17 and 23 to 33. The policies set the lengths T_j and release the estimates. Assumptions: means start at
zero with the second half. An arm without a patient in the trial has the mean 0, as initialised. A feature with both
arms left after its trial gets a fresh random arm each time.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, within


class Design(NamedTuple):
    """Parameters that every policy of the family has.

    M: features; n: patients, of whom floor(n/2) are in the first half; alpha: in [0, 1]
    epsilon: privacy budget, inf without privacy
    """

    M: int
    n: int
    alpha: float
    epsilon: float


class Trial(NamedTuple):
    """State of the trials; arrays change in place.

    floor_T_min: int64[1], the length that all trials share; lengths: int64[M], T_j
    arrivals: int64[M], patients in the second half
    pulls: int64[M, 2], reward_sums: float64[M, 2], in the trials; estimates: float64[M], nan before they are released
    """

    floor_T_min: np.ndarray
    lengths: np.ndarray
    arrivals: np.ndarray
    pulls: np.ndarray
    reward_sums: np.ndarray
    estimates: np.ndarray


def checked_design(M: int, n: int, alpha: float, epsilon: float = np.inf) -> Design:
    """Return a design of checked parameters; private policies check epsilon. Raise ValueError."""
    at_least(1, M=M)
    at_least(3, horizon=n)
    within(0, 1, alpha=alpha)
    return Design(int(M), int(n), float(alpha), float(epsilon))


@njit
def T_min(design, counts):
    """Return max(log n, min_j f_j^(1 - alpha)), with log n / epsilon under privacy.

    counts: int64[M], f_j, patients of the first half
    """
    least = np.log(design.n)
    if design.epsilon < np.inf:
        least /= design.epsilon
    # The power is monotone, so the smallest count gives the smallest power.
    return max(least, float(counts.min()) ** (1 - design.alpha))


@njit
def new_trial(M):
    """Return the state before the second half, for M features."""
    return Trial(
        np.zeros(1, np.int64),
        np.zeros(M, np.int64),
        np.zeros(M, np.int64),
        np.zeros((M, 2), np.int64),
        np.zeros((M, 2)),
        np.full(M, np.nan),
    )


@njit(forceinline=True)
def choose(trial, viable, feature, rng):
    """Return a random arm in the trial or while both are viable, otherwise the viable one; viable: bool[M, 2]."""
    both = viable[feature, 0] and viable[feature, 1]
    if both or trial.arrivals[feature] < trial.lengths[feature]:
        return 1 if rng.random() < 0.5 else 0
    return 1 if viable[feature, 1] else 0


@njit(forceinline=True)
def count(trial, feature, arm, reward):
    """Count a patient, and the reward if in the trial; return the number of patients left in the trial, -1 after it."""
    trial.arrivals[feature] += 1
    if trial.arrivals[feature] > trial.lengths[feature]:
        return -1
    trial.pulls[feature, arm] += 1
    trial.reward_sums[feature, arm] += reward
    return trial.lengths[feature] - trial.arrivals[feature]


@njit(forceinline=True)
def mean_difference(pulls, reward_sums):
    """Return the mean of arm 1 minus that of arm 0, 0 for an arm without rewards, from int64[2] and float64[2]."""
    first = reward_sums[0] / pulls[0] if pulls[0] > 0 else 0.0
    second = reward_sums[1] / pulls[1] if pulls[1] > 0 else 0.0
    return second - first
