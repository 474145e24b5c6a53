"""Arms pulled in batches of their own, after each of which a private sum is released.

In a batch an arm is pulled until its pulls reach a count that was fixed before; then the sum of the batch's rewards is
released with the noise Lap(1 / epsilon), once. Batches share no reward, so that all sums together cost epsilon
(parallel composition), and what is chosen from them costs nothing more. At the end of a batch every arm without one
comes first, in index order, and then a rule chooses from the released sums.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace


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
def new_state(K):
    """Nothing pulled yet."""
    return State(np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros(K), 0, 0, 0, 0.0)


@njit
def without_batch(state):
    """The first arm without a batch; -1 if every arm has one."""
    for arm in range(len(state.pulls)):
        if state.pulls[arm] == 0:
            return arm
    return -1


@njit
def private_mean(state, arm):
    """The noisy mean of the rewards in the arm's statistic; it may lie outside [0, 1]."""
    return state.private_sums[arm] / state.rewards[arm]


@njit
def clip(mean):
    """The nearest number in [0, 1]."""
    return min(max(mean, 0.0), 1.0)


@njit
def release(state, arm, size, batch_sum, scale, forget, rng):
    """Release the sum of a batch of `size` rewards, in place, with noise Lap(scale).

    forget: whether the arm's statistic is this batch alone, or all batches, each with its own noise
    """
    state.pulls[arm] += size
    if forget:
        state.rewards[arm] = 0
        state.private_sums[arm] = 0.0
    state.rewards[arm] += size
    state.private_sums[arm] += batch_sum + laplace(scale, rng)


@njit
def learn(size, state, arm, reward, scale, forget, rng):
    """Add a reward to a batch of `size` pulls, which begins with it if none is left; at its end release the sum."""
    left = state.left if state.left > 0 else size
    batch_sum = state.batch_sum + reward if state.left > 0 else reward
    if left == 1:
        release(state, arm, size, batch_sum, scale, forget, rng)
    return State(state.pulls, state.rewards, state.private_sums, arm, size, left - 1, batch_sum)
