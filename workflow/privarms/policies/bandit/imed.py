"""IMED, not private (Honda & Takemura 2015, for Bernoulli rewards).

The fast path plays the arm of the largest mean many rounds at a time: its index is ln n, and without a single further
reward its mean, to which the others' indices refer, falls as slowly as is known. So a number of rounds is known in
which no other arm has a smaller index, whatever the rewards, and these are one binomial draw.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.inference.divergences import kl
from privarms.jit.binomial import binomial
from privarms.policies import Policy

LABEL = "IMED"
SECONDS_PER_RUN = 5e-4
SECONDS_PER_STEP = 0.0

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
def smallest(pulls, reward_sums):
    """The arm of the smallest n kl(mean, largest mean) + ln n; the first of equals. Every arm has a pull."""
    largest = 0.0
    for arm in range(len(pulls)):
        largest = max(largest, reward_sums[arm] / pulls[arm])
    best_arm, best_index = 0, np.inf
    for arm in range(len(pulls)):
        mean = reward_sums[arm] / pulls[arm]
        divergence = kl(mean, largest) if mean < largest else 0.0
        value = pulls[arm] * divergence + np.log(pulls[arm])
        if value < best_index:
            best_arm, best_index = arm, value
    return best_arm


@njit
def init(params):
    """Nothing pulled yet."""
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the smallest index."""
    return t - 1 if t <= params.n_arms else smallest(state.pulls, state.reward_sums)


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
            arm, block = t, 1
        else:
            arm = smallest(pulls, reward_sums)
            block = _sure_rounds(pulls, reward_sums, arm, min(4 * block, horizon - t))
        gap = best - means[arm]
        while checkpoint < len(checkpoints) and checkpoints[checkpoint] <= t + block:
            record.regret[checkpoint] = regret + gap * (checkpoints[checkpoint] - t)
            checkpoint += 1
        pulls[arm] += block
        reward_sums[arm] += binomial(block, means[arm], rng)
        regret += gap * block
        t += block


@njit
def _sure_rounds(pulls, reward_sums, chosen, most):
    """In how many rounds from now on the chosen arm surely is chosen, at least 1 and at most `most`."""
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


POLICY = Policy(init, choose, learn)
SIMULATE = {"bernoulli": simulate}
