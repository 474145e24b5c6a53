"""The shared part of UCB1, KL-UCB and IMED, and of `uniform`: pulls and reward sums of each arm."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least


class Params(NamedTuple):
    """n_arms: K >= 2."""

    n_arms: int


class State(NamedTuple):
    """pulls: int64[K]; reward_sums: float64[K]."""

    pulls: np.ndarray
    reward_sums: np.ndarray


def configure(K: int) -> Params:
    """Return parameters for K >= 2 arms."""
    at_least(2, K=K)
    return Params(int(K))


@njit
def init(params):
    """Return the state before the first pull."""
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward to the arm's sum, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    return state
