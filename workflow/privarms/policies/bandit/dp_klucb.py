"""DP-KLUCB (Azize et al. 2025).

Assumptions: an arm has ceil(ratio^m) pulls after its m-th batch, also at the start, where every arm has one
batch; t is the round about to be played; of equals, which are many while indices are 1, one is drawn.
"""

import numpy as np
from numba import njit

from privarms.inference.divergences import d_epsilon_upper
from privarms.policies.bandit import _batches
from privarms.policies.bandit._growing_batches import Params, configure, init, learn
from privarms.policies.bandit._ties import largest

__all__ = ["Params", "choose", "configure", "init", "learn"]

LABEL = "DP-KLUCB"
SECONDS_PER_RUN = 4e-5
SECONDS_PER_STEP = 0.0


@njit
def index(params, state, arm, t):
    """The largest q in [0, 1] with d_epsilon(clipped private mean, q) <= ln t / n, of all n rewards."""
    mean = _batches.clip(_batches.private_mean(state, arm))
    return d_epsilon_upper(mean, np.log(t) / state.rewards[arm], params.epsilon)


@njit
def best(params, state, t, rng):
    """The arm of the largest index."""
    return largest(np.array([index(params, state, arm, t) for arm in range(len(state.pulls))]), rng)


@njit
def choose(params, state, context, t, rng):
    """The arm of the batch; at its end each arm's first batch, then the arm of the largest index."""
    if state.left > 0:
        return state.arm
    first = _batches.without_batch(state)
    return first if first >= 0 else best(params, state, t, rng)
