"""KL-UCB, not private (Garivier & Cappe 2011, Algorithm 1 with c = 0, their choice in practice)."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.inference.divergences import kl_upper
from privarms.policies import Policy

LABEL = "KL-UCB"
SECONDS_PER_RUN = 2e-3
SECONDS_PER_STEP = 3e-10


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
def index(pulls, reward_sum, t):
    """The largest q in [0, 1] with n kl(mean, q) <= ln t."""
    return kl_upper(reward_sum / pulls, np.log(t) / pulls)


@njit
def init(params):
    """Nothing pulled yet."""
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the largest index; ties go to the lowest arm."""
    if t <= params.n_arms:
        return t - 1
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        value = index(state.pulls[arm], state.reward_sums[arm], t)
        if value > best_index:
            best_arm, best_index = arm, value
    return best_arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward to the arm's sum, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    return state


POLICY = Policy(init, choose, learn)
