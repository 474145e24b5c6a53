"""DP-KLUCB (Azize et al. 2025).

Assumptions: an arm has ceil(ratio^m) pulls after its m-th batch, also at the start, where every arm has one batch; t is
the round about to be played. Ties are broken at random; they are frequent while indices are 1.
"""

from functools import partial

import numpy as np
from numba import njit

from privarms.inference.divergences import d_epsilon_upper
from privarms.kernels import batches
from privarms.kernels.batches import choose, init, learn
from privarms.policies.bandit import _growing_batches

__all__ = ["choose", "configure", "init", "learn"]

FAST_PATHS_OF = "_batches"
LABEL = "DP-KLUCB"
SECONDS_PER_RUN = 4e-5
SECONDS_PER_STEP = 0.0


@njit
def index(params, state, arm, t):
    """Return the largest q in [0, 1] with d_epsilon(clipped private mean, q) <= ln t / n, for n rewards."""
    mean = batches.clip(batches.private_mean(state, arm))
    return d_epsilon_upper(mean, np.log(t) / state.rewards[arm], params.epsilon)


configure = partial(_growing_batches.configure, index)
