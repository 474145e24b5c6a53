"""DP-UCB on Bernoulli arms, many rounds at a time: see `_skip_ahead` for why the distribution is the same."""

from numba import njit

from privarms.fast_paths.bandit import _skip_ahead


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, many rounds at a time."""
    _skip_ahead.simulate(params.node_scale, params.width, environment.means, checkpoints, rng, record)
