"""IMED on Bernoulli arms: the arm of the largest mean is played many rounds at a time, with one binomial draw.

The index of this arm is ln n. The others' indices refer to its mean, which falls fastest without any further reward.
This gives a number of rounds in which no other arm can have a smaller index, for any rewards. So only the sum of these
rewards matters.
"""

import numpy as np
from numba import njit

from privarms.fast_paths.bandit._skip_ahead import note_regret
from privarms.inference.divergences import kl
from privarms.jit.binomial import binomial
from privarms.policies.bandit.imed import smallest

# A closer comparison may be rounding. Then the rounds are played one by one.
ROUNDING = 1e-9


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, many rounds at a time."""
    means, horizon, best = environment.means, checkpoints[-1], environment.means.max()
    pulls, reward_sums = record.pulls, record.reward_sums
    t, checkpoint, regret, block = 0, 0, 0.0, 1
    while t < horizon:
        if t < params.n_arms:
            arm, block = t, 1
        else:
            arm = smallest(pulls, reward_sums, rng)
            block = _sure_rounds(pulls, reward_sums, arm, min(4 * block, horizon - t))
        gap = best - means[arm]
        checkpoint = note_regret(record.regret, checkpoints, checkpoint, t, block, regret, gap)
        pulls[arm] += block
        reward_sums[arm] += binomial(block, means[arm], rng)
        regret += gap * block
        t += block


@njit
def _sure_rounds(pulls, reward_sums, chosen, most):
    """Return a number of rounds, from 1 to `most`, for which the chosen arm is certain to be chosen."""
    block = most
    while block > 1:
        later = pulls[chosen] + block - 1
        mean = reward_sums[chosen] / later
        sure = True
        for arm in range(len(pulls)):
            if arm != chosen and sure:
                other = reward_sums[arm] / pulls[arm]
                index = pulls[arm] * kl(other, mean) + np.log(pulls[arm])
                sure = other < mean and index > np.log(later) * (1 + ROUNDING)
        if sure:
            break
        block = (block + 1) // 2
    return block
