"""AdaP-KLUCB on Bernoulli arms, an episode at a time: see `_batches` for why the distribution is the same."""

from numba import njit

from privarms.fast_paths.bandit import _batches
from privarms.policies.bandit._episodes import episode_length
from privarms.policies.bandit.adap_klucb import best

_simulate = _batches.simulation(best, episode_length)


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, an episode at a time."""
    scale = params.noise / params.epsilon
    _simulate(params, scale, True, environment, checkpoints, rng, record)
