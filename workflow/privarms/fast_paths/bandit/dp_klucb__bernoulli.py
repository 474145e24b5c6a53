"""DP-KLUCB on Bernoulli arms, a batch at a time: see `_batches` for why the distribution is the same."""

from numba import njit

from privarms.fast_paths.bandit import _batches
from privarms.policies.bandit._growing_batches import batch_size
from privarms.policies.bandit.dp_klucb import best

_simulate = _batches.simulation(best, batch_size)


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, a batch at a time."""
    scale = params.noise / params.epsilon
    _simulate(params, scale, False, environment, checkpoints, rng, record)
