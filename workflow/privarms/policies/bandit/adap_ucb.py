"""AdaP-UCB (Azize & Basu 2022, Algorithm 1 with the index (7)).

Assumptions: the 2 in ln(2 t) stands in (7) and is kept; t is the first round of the episode, the one about to
be played; an arm with one pull has the mean of that reward; one of equals is drawn.
"""

import numpy as np
from numba import njit

from privarms.policies.bandit import _batches
from privarms.policies.bandit._episodes import Params, configure, init, learn
from privarms.policies.bandit._ties import largest

__all__ = ["Params", "choose", "configure", "init", "learn"]

LABEL = "AdaP-UCB"
SECONDS_PER_RUN = 1.5e-5
SECONDS_PER_STEP = 0.0


@njit
def index(params, state, arm, t):
    """(7): private mean + sqrt(alpha ln(2 t) / (2 n)) + alpha ln t / (epsilon n), of the n rewards in the mean."""
    n = state.rewards[arm]
    radius = np.sqrt(params.alpha * np.log(2 * t) / (2 * n))
    return _batches.private_mean(state, arm) + radius + params.alpha * np.log(t) / (params.epsilon * n)


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
