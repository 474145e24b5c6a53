"""UCB1, not private (Auer et al. 2002; index as in Sajed & Sheffet 2019, section 2)."""

import numpy as np
from numba import njit

from privarms.kernels.ties import largest
from privarms.policies.bandit._reward_sums import Params, State, configure, init, learn

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "UCB1"
SECONDS_PER_RUN = 3e-3
SECONDS_PER_STEP = 7e-10


@njit
def choose(params, state, context, t, rng):
    """Return each arm once, then that of the largest mean + sqrt(2 ln t / pulls); ties are broken at random."""
    if t <= params.n_arms:
        return t - 1
    indices = np.empty(params.n_arms)
    for arm in range(params.n_arms):
        indices[arm] = state.reward_sums[arm] / state.pulls[arm] + np.sqrt(2 * np.log(t) / state.pulls[arm])
    return largest(indices, rng)
