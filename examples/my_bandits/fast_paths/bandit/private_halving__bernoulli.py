"""Private halving on Bernoulli arms, one phase at a time.

This is exact: decisions use only the reward sums of a phase, and a sum of n Bernoulli rewards is binomial.
"""

import numpy as np
from numba import njit

from privarms.kernels.round_robin import pull_in_turn

from ...policies.bandit.private_halving import halve, phase_length


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Simulate a whole run, up to round `checkpoints[-1]`, and write it into `record`."""
    horizon = checkpoints[-1]
    viable, reward_sums = np.ones(params.n_arms, np.bool_), np.zeros(params.n_arms)
    t, checkpoint, phase = 0, 0, 0
    while t < horizon:
        arms, length = viable.sum(), phase_length(params, viable, phase)
        rounds = min(length, horizon - t)
        reward_sums[:] = 0.0
        checkpoint = pull_in_turn(
            environment.means, viable, arms, t, rounds, checkpoint, checkpoints, rng, reward_sums, record
        )
        t += rounds
        if rounds == length:
            halve(params, viable, reward_sums, rng)
        phase += 1
