"""AdaP-KLUCB (Azize & Basu 2022, Algorithm 1 with its index by the Kullback-Leibler divergence).

Assumptions: t is the first round of the episode that is about to start; an arm with one pull has the mean of that
reward. Ties are broken at random; they are frequent while indices are 1.
"""

from functools import partial

import numpy as np
from numba import njit

from privarms.inference.divergences import kl_upper
from privarms.kernels import batches, episodes
from privarms.kernels.batches import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

FAST_PATHS_OF = "_batches"
LABEL = "AdaP-KLUCB"
SECONDS_PER_RUN = 4e-5
SECONDS_PER_STEP = 0.0


@njit
def index(params, state, arm, t):
    """Return the largest q in [0, 1] with kl(mean, q) <= alpha ln t / n, for n rewards.

    mean: optimistic, the private mean + alpha ln t / (epsilon n), clipped to [0, 1]
    """
    n = state.rewards[arm]
    mean = batches.clip(batches.private_mean(state, arm) + params.alpha * np.log(t) / (params.epsilon * n))
    return kl_upper(mean, params.alpha * np.log(t) / n)


configure = partial(episodes.configure, index)
