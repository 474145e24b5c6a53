"""DP-UCB on Bernoulli arms, many rounds at a time: see `_skip_ahead` for why the distribution is the same."""

from numba import njit

from privarms.fast_paths.bandit import _skip_ahead


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, many rounds at a time."""
    index = _skip_ahead.Index(params.node_scale, params.width)
    _skip_ahead.simulate(index, environment.means, checkpoints, rng, record)
