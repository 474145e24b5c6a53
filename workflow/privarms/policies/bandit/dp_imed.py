"""DP-IMED (Azize et al. 2025).

Assumptions: an arm has ceil(ratio^m) pulls after its m-th batch, also at the start, where every arm has one
batch; one of equals is drawn.
"""

import numpy as np
from numba import njit

from privarms.inference.divergences import d_epsilon
from privarms.policies.bandit import _batches
from privarms.policies.bandit._growing_batches import Params, configure, init, learn
from privarms.policies.bandit._ties import smallest

__all__ = ["Params", "choose", "configure", "init", "learn"]

LABEL = "DP-IMED"
SECONDS_PER_RUN = 2e-5
SECONDS_PER_STEP = 0.0


@njit
def largest_mean(state):
    """The largest clipped private mean."""
    largest = 0.0
    for arm in range(len(state.pulls)):
        largest = max(largest, _batches.clip(_batches.private_mean(state, arm)))
    return largest


@njit
def index(params, state, arm, largest):
    """n d_epsilon(clipped private mean, the largest of these) + ln n, of all n rewards."""
    n = state.rewards[arm]
    return n * d_epsilon(_batches.clip(_batches.private_mean(state, arm)), largest, params.epsilon) + np.log(n)


@njit
def best(params, state, t, rng):
    """The arm of the smallest index."""
    largest = largest_mean(state)
    return smallest(np.array([index(params, state, arm, largest) for arm in range(len(state.pulls))]), rng)


@njit
def choose(params, state, context, t, rng):
    """The arm of the batch; at its end each arm's first batch, then the arm of the smallest index."""
    if state.left > 0:
        return state.arm
    first = _batches.without_batch(state)
    return first if first >= 0 else best(params, state, t, rng)
