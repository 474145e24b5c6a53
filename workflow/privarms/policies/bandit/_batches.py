"""Arms pulled in batches of their own, after each of which a private sum is released.

In a batch an arm is pulled until its pulls reach a count that was fixed before; then the sum of the batch's rewards is
released with the noise Lap(1 / epsilon), once. Batches share no reward, so that all sums together cost epsilon
(parallel composition), and what is chosen from them costs nothing more. At the end of a batch every arm without one
comes first, in index order, and then the arm of the largest index, which is made of the released sums; one of equals is
drawn. A policy is its index; `_episodes` and `_growing_batches` have the sizes of the batches.

Params have, besides epsilon and noise, a multiple of the Laplace scale: index(params, state, arm, t);
batch_size(params, state, arm); forget: whether an arm's statistic is its last batch alone, or all batches, each with
its own noise.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace
from privarms.policies.bandit._ties import largest


class State(NamedTuple):
    """What was released, and the batch that is being pulled.

    pulls: int64[K], in whole batches
    rewards: int64[K], how many rewards an arm's statistic is made of; private_sums: float64[K], their noisy sum
    arm, size: of the current batch; left: its pulls to come, 0 before a new one; batch_sum: of its rewards so far
    """

    pulls: np.ndarray
    rewards: np.ndarray
    private_sums: np.ndarray
    arm: int
    size: int
    left: int
    batch_sum: float


@njit
def init(params):
    """Nothing pulled yet."""
    K = params.n_arms
    return State(np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros(K), 0, 0, 0, 0.0)


@njit
def private_mean(state, arm):
    """The noisy mean of the rewards in the arm's statistic; it may lie outside [0, 1]."""
    return state.private_sums[arm] / state.rewards[arm]


@njit
def clip(mean):
    """The nearest number in [0, 1]."""
    return min(max(mean, 0.0), 1.0)


@njit
def next_arm(params, state, t, rng):
    """The arm of the batch that begins in round t: the first arm without a batch, or that of the largest index."""
    for arm in range(len(state.pulls)):
        if state.pulls[arm] == 0:
            return arm
    return largest(np.array([params.index(params, state, arm, t) for arm in range(len(state.pulls))]), rng)


@njit
def choose(params, state, context, t, rng):
    """The arm of the batch; at its end that of the next one."""
    return state.arm if state.left > 0 else next_arm(params, state, t, rng)


@njit
def release(params, state, arm, size, batch_sum, rng):
    """Release the sum of a batch of `size` rewards, in place, with noise Lap(noise / epsilon)."""
    state.pulls[arm] += size
    if params.forget:
        state.rewards[arm] = 0
        state.private_sums[arm] = 0.0
    state.rewards[arm] += size
    state.private_sums[arm] += batch_sum + laplace(params.noise / params.epsilon, rng)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward to the batch, which begins with it if none is left; at its end release the sum."""
    size = state.size if state.left > 0 else params.batch_size(params, state, arm)
    left = state.left if state.left > 0 else size
    batch_sum = state.batch_sum + reward if state.left > 0 else reward
    if left == 1:
        release(params, state, arm, size, batch_sum, rng)
    return State(state.pulls, state.rewards, state.private_sums, arm, size, left - 1, batch_sum)
