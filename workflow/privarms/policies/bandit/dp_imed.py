"""DP-IMED (Azize et al. 2025).

Assumptions: an arm has ceil(ratio^m) pulls after its m-th batch, also after the first; ties are broken at random.
"""

from functools import partial

import numpy as np
from numba import njit

from privarms.inference.divergences import d_epsilon
from privarms.kernels import batches
from privarms.kernels.batches import choose, init, learn
from privarms.policies.bandit import _growing_batches

__all__ = ["choose", "configure", "init", "learn"]

FAST_PATHS_OF = "_batches"
LABEL = "DP-IMED"
SECONDS_PER_RUN = 2e-5
SECONDS_PER_STEP = 0.0


@njit
def index(params, state, arm, t):
    """Return -n d_epsilon(clipped private mean, the largest of these) - ln n, the paper's index times -1."""
    largest = 0.0
    for other in range(len(state.pulls)):
        largest = max(largest, batches.clip(batches.private_mean(state, other)))
    n = state.rewards[arm]
    return -(n * d_epsilon(batches.clip(batches.private_mean(state, arm)), largest, params.epsilon) + np.log(n))


configure = partial(_growing_batches.configure, index)
