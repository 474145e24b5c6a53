"""IMED, not private (Honda & Takemura 2015, for Bernoulli rewards)."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.inference.divergences import kl
from privarms.policies import Policy

LABEL = "IMED"
SECONDS_PER_RUN = 5e-4
SECONDS_PER_STEP = 0.0


class Params(NamedTuple):
    """n_arms: K >= 2."""

    n_arms: int


class State(NamedTuple):
    """pulls: int64[K]; reward_sums: float64[K]."""

    pulls: np.ndarray
    reward_sums: np.ndarray


def configure(K: int) -> Params:
    """Parameters for K >= 2 arms."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    return Params(int(K))


@njit
def smallest(pulls, reward_sums):
    """The arm of the smallest n kl(mean, largest mean) + ln n; the first of equals. Every arm has a pull."""
    largest = 0.0
    for arm in range(len(pulls)):
        largest = max(largest, reward_sums[arm] / pulls[arm])
    best_arm, best_index = 0, np.inf
    for arm in range(len(pulls)):
        mean = reward_sums[arm] / pulls[arm]
        divergence = kl(mean, largest) if mean < largest else 0.0
        value = pulls[arm] * divergence + np.log(pulls[arm])
        if value < best_index:
            best_arm, best_index = arm, value
    return best_arm


@njit
def init(params):
    """Nothing pulled yet."""
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the smallest index."""
    return t - 1 if t <= params.n_arms else smallest(state.pulls, state.reward_sums)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward to the arm's sum, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    return state


POLICY = Policy(init, choose, learn)
