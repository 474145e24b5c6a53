"""UCB1 on Bernoulli arms, many rounds at a time: DP-UCB's fast path without noise and width; see `_skip_ahead`."""

import numpy as np
from numba import njit

from privarms.fast_paths.bandit import _skip_ahead

# More than the number of bits of any horizon.
LEVELS = 62


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, many rounds at a time."""
    _skip_ahead.simulate(0.0, np.zeros(LEVELS + 2), environment.means, checkpoints, rng, record)
