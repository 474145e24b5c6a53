"""KL-UCB on Bernoulli arms: the leader is played many rounds at a time, with one binomial draw.

A level u lies between the leader's index and the others'. Arm a's index stays below u as long as n kl(mean, u) > ln t.
The leader's index stays at or above u as long as its mean is at or above u, or n kl(mean, u) <= ln t; without a single
further reward n kl(mean, u) only grows with n. So a number of rounds is known in which no other arm can lead, whatever
the rewards, and only the sum of these rewards matters.
"""

import numpy as np
from numba import njit

from privarms.inference.divergences import kl
from privarms.jit.binomial import binomial
from privarms.policies.bandit._ties import largest
from privarms.policies.bandit.kl_ucb import index

# Where the level lies between the second largest index (0) and the largest (1). It changes speed, not results.
LEVEL = 0.2
# A comparison that is closer than this may be rounding: then the rounds are played one by one.
ROUNDING = 1e-9


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Play one run, many rounds at a time."""
    means, horizon, best = environment.means, checkpoints[-1], environment.means.max()
    pulls, reward_sums = record.pulls, record.reward_sums
    pulls[:] = 0
    reward_sums[:] = 0.0
    t, checkpoint, regret, block = 0, 0, 0.0, 1
    while t < horizon:
        if t < params.n_arms:
            # Round t + 1 is the arm's first pull: nothing else is sure.
            arm, level, last = t, 1.0, t + 1
        else:
            arm, level, last = _leader(pulls, reward_sums, t + 1, horizon, rng)
        gap = best - means[arm]
        leads = True
        while leads:
            block = _sure_rounds(pulls[arm], reward_sums[arm], level, t + 1, min(4 * block, last - t))
            while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + block:
                record.regret[checkpoint] = regret + gap * (checkpoints[checkpoint] - t)
                checkpoint += 1
            pulls[arm] += block
            reward_sums[arm] += binomial(block, means[arm], rng)
            regret += gap * block
            t += block
            leads = t < last and _reaches(pulls[arm], reward_sums[arm], level, t + 1)


@njit
def _leader(pulls, reward_sums, t, horizon, rng):
    """The arm of the largest index in round t, as `choose`; a level between it and the others' indices; and the
    last round, t or later, in which these are sure to be below the level."""
    indices = np.array([index(pulls[arm], reward_sums[arm], t) for arm in range(len(pulls))])
    leader = largest(indices, rng)
    highest, indices[leader] = indices[leader], -np.inf
    level = indices.max() + LEVEL * (highest - indices.max())
    below = np.inf
    for arm in range(len(pulls)):
        if arm != leader:
            mean = reward_sums[arm] / pulls[arm]
            below = min(below, pulls[arm] * kl(mean, level) if mean < level else 0.0)
    # Rounds s with ln s < below.
    last = np.exp(min(below * (1 - ROUNDING), np.log(horizon)))
    return leader, level, max(min(int(last), horizon), t)


@njit
def _reaches(pulls, reward_sum, level, t):
    """Whether the index of an arm is surely at the level or above in round t."""
    mean = reward_sum / pulls
    return mean >= level or pulls * kl(mean, level) <= np.log(t) * (1 - ROUNDING)


@njit
def _sure_rounds(pulls, reward_sum, level, t, most):
    """In how many rounds from t on the leader, which leads in round t, surely does, whatever its rewards.

    At least 1 and at most `most`
    """
    block = most
    while block > 1 and not _reaches(pulls + block - 1, reward_sum, level, t):
        block = (block + 1) // 2
    return block
