"""UCB1, not private (Auer et al. 2002; index as in Sajed & Sheffet 2019, section 2)."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.policies import Policy

LABEL = "UCB1"
SECONDS_PER_RUN = 3e-3
SECONDS_PER_STEP = 7e-10


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
def init(params):
    """Nothing pulled yet."""
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the largest mean + sqrt(2 ln t / pulls); ties go to the lowest index."""
    if t <= params.n_arms:
        return t - 1
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        index = state.reward_sums[arm] / state.pulls[arm] + np.sqrt(2 * np.log(t) / state.pulls[arm])
        if index > best_index:
            best_arm, best_index = arm, index
    return best_arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward to the arm's sum, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    return state


POLICY = Policy(init, choose, learn)
