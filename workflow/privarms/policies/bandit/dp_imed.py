"""DP-IMED (Azize et al. 2025).

Assumptions: an arm has ceil(ratio^m) pulls after its m-th batch, also at the start, where every arm has one
batch; ties go to the lowest arm.
"""

import numpy as np
from numba import njit

from privarms.inference.divergences import d_epsilon
from privarms.policies import Policy
from privarms.policies.bandit import _batches, _growing_batches
from privarms.policies.bandit._growing_batches import Params, batch_size

LABEL = "DP-IMED"
SECONDS_PER_RUN = 2e-5
SECONDS_PER_STEP = 0.0


def configure(K: int, epsilon: float, ratio: float = 2.0, first: float = 0.0, noise: float = 1.0) -> Params:
    """Parameters for K >= 2 arms and a privacy budget epsilon > 0; ratio > 1: by which an arm's pulls grow in a batch.

    first: an arm's first batch has at least first / epsilon pulls; 0, the default, is the algorithm, more is ours
    noise: multiple of the Laplace scale. Only 1, the default, is private; a privacy audit sets less.
    """
    return _growing_batches.parameters(K, epsilon, ratio, first, noise)


@njit
def largest_mean(state):
    """The largest clipped private mean."""
    largest = 0.0
    for arm in range(len(state.pulls)):
        largest = max(largest, _batches.clip(_batches.private_mean(state, arm)))
    return largest


@njit
def index(params, state, arm, largest):
    """n d_epsilon(clipped private mean, the largest of these) + ln n, of all n rewards."""
    n = state.rewards[arm]
    return n * d_epsilon(_batches.clip(_batches.private_mean(state, arm)), largest, params.epsilon) + np.log(n)


@njit
def best(params, state, t):
    """The arm of the smallest index; the first of equals."""
    largest = largest_mean(state)
    best_arm, best_index = 0, np.inf
    for arm in range(len(state.pulls)):
        value = index(params, state, arm, largest)
        if value < best_index:
            best_arm, best_index = arm, value
    return best_arm


@njit
def init(params):
    """Nothing pulled yet."""
    return _batches.new_state(params.n_arms)


@njit
def choose(params, state, context, t, rng):
    """The arm of the batch; at its end each arm's first batch, then the arm of the smallest index."""
    return state.arm if state.left > 0 else _batches.next_arm(best, params, state, t, rng)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward; at the end of a batch release its sum, with a noise of its own."""
    return _batches.learn(batch_size, params, state, arm, reward, params.noise / params.epsilon, False, rng)


POLICY = Policy(init, choose, learn)
