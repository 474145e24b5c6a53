"""Successive Elimination on Bernoulli arms: many sweeps at a time, with one binomial draw per arm.

The difference of two sums grows by at most 1 per sweep, and the elimination width never decreases. So no arm can be
eliminated before the largest difference could have reached the width of the next sweep, for any rewards. The sweeps
until then use only the sums of the rewards; after them the reference implementation's `eliminate` decides.
"""

import numpy as np
from numba import njit

from privarms.kernels.round_robin import pull_in_turn
from privarms.policies.bandit.successive_elimination import eliminate, elimination_width


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, in blocks of sweeps that cannot eliminate an arm."""
    means, horizon = environment.means, checkpoints[-1]
    arms = params.n_arms
    viable = np.ones(arms, np.bool_)
    reward_sums = np.zeros(arms)
    t, checkpoint, sweeps = 0, 0, 0
    while t < horizon:
        rounds = horizon - t
        safe = 0
        if arms > 1:
            safe = max(1, int(np.ceil(elimination_width(params, sweeps + 1) - _spread(viable, reward_sums))))
        checks = arms > 1 and safe <= rounds // arms
        if checks:
            rounds = safe * arms
            sweeps += safe
        checkpoint = pull_in_turn(means, viable, arms, t, rounds, checkpoint, checkpoints, rng, reward_sums, record)
        t += rounds
        if checks:
            arms = eliminate(params, arms, sweeps, viable, reward_sums)


@njit
def _spread(viable, reward_sums):
    """Return the highest sum of a viable arm minus the lowest."""
    highest, lowest = -np.inf, np.inf
    for arm in range(len(viable)):
        if viable[arm]:
            highest, lowest = max(highest, reward_sums[arm]), min(lowest, reward_sums[arm])
    return highest - lowest
