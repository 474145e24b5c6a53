"""Arms pulled in batches; after each batch a private sum of its rewards is released.

An arm is pulled until its pulls reach a count fixed at the start of the batch. Then the sum of the batch's rewards is
released once, with the noise Lap(1 / epsilon). Batches share no reward, so all sums together cost epsilon (parallel
composition), and choices made from them cost nothing more. At the end of a batch, arms without a batch come first, in
index order. Then comes the arm of the largest index, a function of the released sums; a tie is broken at random. A
policy is its index; `kernels.episodes` and `_growing_batches` define the sizes of the batches.

Params have epsilon; noise, a multiple of the Laplace scale; index(params, state, arm, t); batch_size(params, state,
arm); and forget, whether an arm's statistic is only its last batch or all batches, each with its own noise.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.ties import largest
from privarms.mechanisms.laplace import laplace


class State(NamedTuple):
    """The released sums, and the current batch.

    pulls: int64[K], in whole batches
    rewards: int64[K], the number of rewards in an arm's statistic; private_sums: float64[K], their noisy sum
    arm, size: of the current batch; left: its remaining pulls, 0 before a new one; batch_sum: of its rewards so far
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
    """Return the state before the first pull."""
    K = params.n_arms
    return State(np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros(K), 0, 0, 0, 0.0)


@njit
def private_mean(state, arm):
    """Return the noisy mean of the rewards in the arm's statistic; it may lie outside [0, 1]."""
    return state.private_sums[arm] / state.rewards[arm]


@njit
def clip(mean):
    """Return the nearest number in [0, 1]."""
    return min(max(mean, 0.0), 1.0)


@njit
def next_arm(params, state, t, rng):
    """Return the arm of the batch that begins in round t: the first without a batch, or that of the largest index."""
    for arm in range(len(state.pulls)):
        if state.pulls[arm] == 0:
            return arm
    return largest(np.array([params.index(params, state, arm, t) for arm in range(len(state.pulls))]), rng)


@njit
def choose(params, state, context, t, rng):
    """Return the arm of the batch; at its end that of the next one."""
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
    """Add the reward to the batch, or begin a batch with it; at its end release the sum."""
    size = state.size if state.left > 0 else params.batch_size(params, state, arm)
    left = state.left if state.left > 0 else size
    batch_sum = state.batch_sum + reward if state.left > 0 else reward
    if left == 1:
        release(params, state, arm, size, batch_sum, rng)
    return State(state.pulls, state.rewards, state.private_sums, arm, size, left - 1, batch_sum)
