"""KL-UCB, not private (Garivier & Cappe 2011, Algorithm 1 with c = 0, their choice in practice)."""

import numpy as np
from numba import njit

from privarms.inference.divergences import kl_upper
from privarms.kernels.ties import largest
from privarms.policies.bandit._reward_sums import Params, State, configure, init, learn

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "KL-UCB"
SECONDS_PER_RUN = 2e-3
SECONDS_PER_STEP = 3e-10


@njit
def index(pulls, reward_sum, t):
    """Return the largest q in [0, 1] with n kl(mean, q) <= ln t."""
    return kl_upper(reward_sum / pulls, np.log(t) / pulls)


@njit
def choose(params, state, context, t, rng):
    """Return each arm once, then that of the largest index; ties are broken at random."""
    if t <= params.n_arms:
        return t - 1
    pulls, sums = state.pulls, state.reward_sums
    return largest(np.array([index(pulls[arm], sums[arm], t) for arm in range(params.n_arms)]), rng)
