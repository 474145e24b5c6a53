"""The linear UCB in the released program of Neel & Roth (2018), whose text names OFUL.

The differences from OFUL (`oful`):

- The width is sqrt(2 K ln((1 + n/lambda)/beta)) x'V^-1 x, without the root of the last factor.
- The constants are lambda = .001 and beta = .99.
- Nothing is regularised; each arm is first pulled once, in index order.
- The arms share one list, to which every update appends its context. With at most d earlier pulls, the arm's V^-1
  becomes the pseudo-inverse of the Gram matrix of all contexts in this list. Later updates add only the arm's own row.
- The sum of x y is only the arm's own, so its V is too large and theta_hat = V^-1 sum x y is not a regression.

The shared list is our interpretation of the program. With shared_contexts = False every arm has its own list.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.regressions import add_row, checked, multiply, project

STREAMED_AS = {"dimensions": "d"}
LABEL = "linear UCB (as released)"
SECONDS_PER_RUN = 1e-4
SECONDS_PER_STEP = 4e-7

# Relative to the largest, smaller eigenvalues of a Gram matrix are rounding errors: it has fewer than d contexts.
RANK_TOLERANCE = 1e-13


class Params(NamedTuple):
    """n_arms: K; dimensions: d; ridge: lambda > 0; beta in (0, 1), of the confidence; lists: of contexts, 1 or K."""

    n_arms: int
    dimensions: int
    ridge: float
    beta: float
    lists: int


class State(NamedTuple):
    """Per arm: n, theta_hat = V^-1 sum x y, V^-1, sum x y, and the width's factor at n; arrays change in place.

    pulls: int64[K]; theta_hat, reward_sums: float64[K, d]; inverse: float64[K, d, d]; radius: float64[K]
    grams: float64[1 or K, d, d], the sum of x x' over the pulls of all arms, or of each; room: float64[d], for V^-1 x
    """

    pulls: np.ndarray
    theta_hat: np.ndarray
    inverse: np.ndarray
    reward_sums: np.ndarray
    radius: np.ndarray
    grams: np.ndarray
    room: np.ndarray


def configure(
    K: int, dimensions: int, ridge: float = 0.001, beta: float = 0.99, shared_contexts: bool = True
) -> Params:
    """Return parameters for K >= 2 arms and contexts of d = dimensions >= 1; the ridge affects only the width.

    shared_contexts: whether the arms share one list of contexts
    """
    return Params(*checked(K, dimensions, ridge, beta), lists=1 if shared_contexts else int(K))


@njit
def init(params):
    """Return the state before the first pull."""
    K, d = params.n_arms, params.dimensions
    theta_hat, inverse, reward_sums = np.zeros((K, d)), np.zeros((K, d, d)), np.zeros((K, d))
    grams = np.zeros((params.lists, d, d))
    return State(np.zeros(K, np.int64), theta_hat, inverse, reward_sums, np.zeros(K), grams, np.zeros(d))


@njit(error_model="numpy", forceinline=True)
def choose(params, state, contexts, t, rng):
    """Return each arm once, then that of the largest theta_hat'x + radius x'V^-1 x; ties go to the lowest arm."""
    if t <= params.n_arms:
        return t - 1
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        predicted, square, _ = project(state.theta_hat, state.inverse, contexts, arm)
        index = predicted + state.radius[arm] * square
        if index > best_index:
            best_arm, best_index = arm, index
    return best_arm


@njit(error_model="numpy")
def learn(params, state, context, arm, reward, t, rng):
    """Update the arm's V^-1, from the shared list or with its own row, and its sum of x y, in place."""
    d, own = params.dimensions, arm % params.lists
    for i in range(d):
        for j in range(d):
            state.grams[own, i, j] += context[i] * context[j]
    if state.pulls[arm] > d:
        add_row(state.inverse, arm, context, state.room)
    else:
        inverse = np.linalg.pinv(state.grams[own], RANK_TOLERANCE)
        for i in range(d):
            for j in range(d):
                state.inverse[arm, i, j] = inverse[i, j]
    state.pulls[arm] += 1
    n = state.pulls[arm]
    state.radius[arm] = sqrt(2 * params.n_arms * log((1 + n / params.ridge) / params.beta))
    for k in range(d):
        state.reward_sums[arm, k] += reward * context[k]
    multiply(state.inverse, arm, state.reward_sums, state.theta_hat)
    return state
