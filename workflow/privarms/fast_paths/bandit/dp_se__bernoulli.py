"""DP-SE on Bernoulli arms: one binomial and one Laplace draw per arm and epoch.

The number of viable arms fixes the length of an epoch before it begins (line 8), and lines 15 to 20 use only the sums
of the epoch's rewards. So the sum of an arm's r rewards is one draw of Binomial(r, mean), and the rest is the reference
implementation's `eliminate`. An epoch that the horizon cuts short eliminates no arm.
"""

import numpy as np
from numba import njit

from privarms.kernels.round_robin import pull_in_turn
from privarms.policies.bandit.dp_se import eliminate, epoch_length


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, one epoch at a time."""
    means, horizon = environment.means, checkpoints[-1]
    arms = params.n_arms
    viable = np.ones(arms, np.bool_)
    reward_sums = np.zeros(arms)
    t, checkpoint, epoch = 0, 0, 0
    while t < horizon:
        epoch += 1
        rounds = horizon - t
        # Compared as floats: with a tiny epsilon an epoch is longer than an int64 can count.
        finishes = arms > 1 and np.ceil(epoch_length(params, arms, epoch)) * arms <= rounds
        if finishes:
            rounds = int(np.ceil(epoch_length(params, arms, epoch))) * arms
        reward_sums[:] = 0.0
        checkpoint = pull_in_turn(means, viable, arms, t, rounds, checkpoint, checkpoints, rng, reward_sums, record)
        t += rounds
        if finishes:
            arms = eliminate(params, arms, epoch, viable, reward_sums, rng)
