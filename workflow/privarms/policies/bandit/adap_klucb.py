"""AdaP-KLUCB (Azize & Basu 2022, Algorithm 1 with its index by the Kullback-Leibler divergence).

Assumptions: t is the first round of the episode, the one about to be played; an arm with one pull has the mean
of that reward; of equals, which are many while indices are 1, one is drawn.
"""

import numpy as np
from numba import njit

from privarms.inference.divergences import kl_upper
from privarms.policies.bandit import _batches
from privarms.policies.bandit._episodes import Params, configure, init, learn
from privarms.policies.bandit._ties import largest

__all__ = ["Params", "choose", "configure", "init", "learn"]

LABEL = "AdaP-KLUCB"
SECONDS_PER_RUN = 4e-5
SECONDS_PER_STEP = 0.0


@njit
def optimistic_mean(params, state, arm, t):
    """The private mean + alpha ln t / (epsilon n), clipped to [0, 1]."""
    n = state.rewards[arm]
    return _batches.clip(_batches.private_mean(state, arm) + params.alpha * np.log(t) / (params.epsilon * n))


@njit
def index(params, state, arm, t):
    """The largest q in [0, 1] with kl(optimistic mean, q) <= alpha ln t / n."""
    level = params.alpha * np.log(t) / state.rewards[arm]
    return kl_upper(optimistic_mean(params, state, arm, t), level)


@njit
def best(params, state, t, rng):
    """Line 6: the arm of the largest index."""
    return largest(np.array([index(params, state, arm, t) for arm in range(len(state.pulls))]), rng)


@njit
def choose(params, state, context, t, rng):
    """The arm of the episode; at its end each arm once (line 3), then the one of the largest index."""
    if state.left > 0:
        return state.arm
    first = _batches.without_batch(state)
    return first if first >= 0 else best(params, state, t, rng)
