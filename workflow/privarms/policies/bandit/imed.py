"""IMED, not private (Honda & Takemura 2015, for Bernoulli rewards)."""

import numpy as np
from numba import njit

from privarms.inference.divergences import kl
from privarms.kernels import ties
from privarms.policies.bandit._reward_sums import Params, State, configure, init, learn

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "IMED"
SECONDS_PER_RUN = 5e-4
SECONDS_PER_STEP = 0.0


@njit
def smallest(pulls, reward_sums, rng):
    """Return the arm of the smallest n kl(mean, largest mean) + ln n, at random at ties. Every arm has a pull."""
    largest = 0.0
    for arm in range(len(pulls)):
        largest = max(largest, reward_sums[arm] / pulls[arm])
    indices = np.empty(len(pulls))
    for arm in range(len(pulls)):
        mean = reward_sums[arm] / pulls[arm]
        divergence = kl(mean, largest) if mean < largest else 0.0
        indices[arm] = pulls[arm] * divergence + np.log(pulls[arm])
    return ties.largest(-indices, rng)


@njit
def choose(params, state, context, t, rng):
    """Return each arm once, then that of the smallest index."""
    return t - 1 if t <= params.n_arms else smallest(state.pulls, state.reward_sums, rng)
