"""DP-IMED (Azize et al. 2025).

Assumptions: an arm has ceil(ratio^m) pulls after its m-th batch, also at the start, where every arm has one
batch; ties go to the lowest arm.
"""

import numpy as np
from numba import njit

from privarms.inference.divergences import d_epsilon
from privarms.policies.bandit import _batches
from privarms.policies.bandit._growing_batches import Params, configure, init, learn

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
def best(params, state, t):
    """The arm of the smallest index; the first of equals."""
    largest = largest_mean(state)
    best_arm, best_index = 0, np.inf
    for arm in range(len(state.pulls)):
        value = index(params, state, arm, largest)
        if value < best_index:
            best_arm, best_index = arm, value
    return best_arm


@njit
def choose(params, state, context, t, rng):
    """The arm of the batch; at its end each arm's first batch, then the arm of the smallest index."""
    return state.arm if state.left > 0 else _batches.next_arm(best, params, state, t, rng)
