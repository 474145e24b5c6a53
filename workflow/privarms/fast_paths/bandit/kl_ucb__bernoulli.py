"""KL-UCB on Bernoulli arms: the leader is played many rounds at a time, with one binomial draw.

A level u lies between the leader's index and the others'. Another arm's index stays below u while n kl(mean, u) > ln t.
The leader's index stays at or above u while its mean does, or while n kl(mean, u) <= ln t. Without any further reward n
kl(mean, u) only grows with n. This gives a number of rounds in which no other arm can lead, for any rewards. So only
the sum of these rewards matters.
"""

import numpy as np
from numba import njit

from privarms.fast_paths.bandit._skip_ahead import note_regret
from privarms.inference.divergences import kl
from privarms.jit.binomial import binomial
from privarms.kernels.ties import largest
from privarms.policies.bandit.kl_ucb import index

# The position of the level between the second largest index (0) and the largest (1). It changes speed, not results.
LEVEL = 0.2
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
            # The arm is pulled for the first time in round t + 1; nothing is known about later rounds.
            arm, level, last = t, 1.0, t + 1
        else:
            arm, level, last = _leader(pulls, reward_sums, t + 1, horizon, rng)
        gap = best - means[arm]
        leads = True
        while leads:
            block = _sure_rounds(pulls[arm], reward_sums[arm], level, t + 1, min(4 * block, last - t))
            checkpoint = note_regret(record.regret, checkpoints, checkpoint, t, block, regret, gap)
            pulls[arm] += block
            reward_sums[arm] += binomial(block, means[arm], rng)
            regret += gap * block
            t += block
            leads = t < last and _reaches(pulls[arm], reward_sums[arm], level, t + 1)


@njit
def _leader(pulls, reward_sums, t, horizon, rng):
    """Return the arm of the largest index in round t, as `choose`, a level, and a last round t or later.

    The level is between this index and the others', which are certain to be below it up to the last round.
    """
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
    """Return whether the index of an arm is certain to be at or above the level in round t."""
    mean = reward_sum / pulls
    return mean >= level or pulls * kl(mean, level) <= np.log(t) * (1 - ROUNDING)


@njit
def _sure_rounds(pulls, reward_sum, level, t, most):
    """Return a number of rounds from t, from 1 to `most`, in which the leader of round t leads for any rewards."""
    block = most
    while block > 1 and not _reaches(pulls + block - 1, reward_sum, level, t):
        block = (block + 1) // 2
    return block
