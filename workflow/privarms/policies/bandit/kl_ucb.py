"""KL-UCB, not private (Garivier & Cappe 2011, Algorithm 1 with c = 0, their choice in practice).

The fast path plays the leader many rounds at a time. A level u lies between its index and the others'. Arm a's index
stays below u as long as n kl(mean, u) > ln t, and the leader's at or above u as long as its mean is, or n kl(mean, u)
<= ln t; without a single further reward n kl(mean, u) only grows with n. So a number of rounds is known in which no
other arm can lead, whatever the rewards, and these are one binomial draw.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.inference.divergences import kl, kl_upper
from privarms.jit.binomial import binomial
from privarms.policies import Policy

LABEL = "KL-UCB"
SECONDS_PER_RUN = 2e-3
SECONDS_PER_STEP = 3e-10

# Speed alone: where the level lies between the second largest index and the largest.
LEVEL = 0.2
# A comparison that is closer than this may be rounding: then the rounds are played one by one.
ROUNDING = 1e-9


class Params(NamedTuple):
    """n_arms: K >= 2."""

    n_arms: int


class State(NamedTuple):
    """pulls: int64[K]; reward_sums: float64[K]."""

    pulls: np.ndarray
    reward_sums: np.ndarray


def configure(K: int) -> Params:
    """Parameters for K >= 2 arms."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    return Params(int(K))


@njit
def index(pulls, reward_sum, t):
    """The largest q in [0, 1] with n kl(mean, q) <= ln t."""
    return kl_upper(reward_sum / pulls, np.log(t) / pulls)


@njit
def init(params):
    """Nothing pulled yet."""
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the largest index; ties go to the lowest arm."""
    if t <= params.n_arms:
        return t - 1
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        value = index(state.pulls[arm], state.reward_sums[arm], t)
        if value > best_index:
            best_arm, best_index = arm, value
    return best_arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward to the arm's sum, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    return state


@njit
def simulate(params, environment, checkpoints, rng, record):
    """What `play` does with Bernoulli rewards, in the same law, many rounds at a time."""
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
            arm, level, last = _leader(pulls, reward_sums, t + 1, horizon)
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
def _leader(pulls, reward_sums, t, horizon):
    """The arm of the largest index in round t, the first of equals; a level between it and the others' indices; and the
    last round, t or later, in which these are sure to be below the level."""
    leader, highest, second = 0, -np.inf, -np.inf
    for arm in range(len(pulls)):
        value = index(pulls[arm], reward_sums[arm], t)
        if value > highest:
            leader, highest, second = arm, value, highest
        elif value > second:
            second = value
    level = second + LEVEL * (highest - second)
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


POLICY = Policy(init, choose, learn)
SIMULATE = {"bernoulli": simulate}
