"""AdaP-UCB (Azize & Basu 2022, Algorithm 1 with the index (7)): line 6 takes the arm of the largest index.

Assumptions: the 2 in ln(2 t), printed in (7), is kept; t is the first round of the episode that is about to start; an
arm with one pull has the mean of that reward; ties are broken at random.
"""

from functools import partial

import numpy as np
from numba import njit

from privarms.kernels import batches, episodes
from privarms.kernels.batches import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

FAST_PATHS_OF = "_batches"
LABEL = "AdaP-UCB"
SECONDS_PER_RUN = 1.5e-5
SECONDS_PER_STEP = 0.0


@njit
def index(params, state, arm, t):
    """Return (7): private mean + sqrt(alpha ln(2 t) / (2 n)) + alpha ln t / (epsilon n), for n rewards in the mean."""
    n = state.rewards[arm]
    radius = np.sqrt(params.alpha * np.log(2 * t) / (2 * n))
    return batches.private_mean(state, arm) + radius + params.alpha * np.log(t) / (params.epsilon * n)


configure = partial(episodes.configure, index)
