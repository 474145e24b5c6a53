"""The linear UCB that the released program of Neel & Roth (2018) runs where their text says OFUL.

It differs from OFUL (`oful`) in this: the width is sqrt(2 K ln((1 + n/lambda)/beta)) x'V^-1 x, without the root of
the last factor, and with lambda = .001 and beta = .99; nothing is regularised; each arm is pulled once first, in
index order; and an arm's V^-1 starts from contexts of all arms. The arms share one list, to which every update appends
its context: with at most d earlier pulls, the arm's V^-1 becomes the pseudo-inverse of the Gram matrix of all contexts
pulled so far, whatever the arm; later updates add their own row. The sum of x y is the arm's own, so that its V is too
large and theta_hat = V^-1 sum x y is no regression.

An arm's pseudo-inverse is made anew d + 1 times, of which the last is what its later rows are added to: that one is a
decomposition. Those before it serve choices alone, and come from an inverse that is kept up to date context by context.
"""

from functools import partial
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.policies import Policy
from privarms.policies.linear._regressions import add_row, check, multiply, project
from privarms.sure import sure

STREAMED_AS = {"dimensions": "d"}
LABEL = "linear UCB (as released)"
SECONDS_PER_RUN = 3e-5
SECONDS_PER_STEP = 4e-7

# Smaller eigenvalues of a Gram matrix, relative to the largest, are rounding: it has fewer than d contexts.
RANK_TOLERANCE = 1e-13
# The inverse that choices are made with is too rough, and is decomposed too, if the first d contexts over their lengths
# span no more than this volume, squared: what rounding makes of it grows by as much. The mean of five random directions
# is 0.04; from 17 dimensions on it is below this, and nothing is gained.
FLAT = 1e-6


class Params(NamedTuple):
    """n_arms: K; dimensions: d; ridge: lambda > 0, in the width alone; beta in (0, 1)."""

    n_arms: int
    dimensions: int
    ridge: float
    beta: float


class State(NamedTuple):
    """Of each arm: n, theta_hat = V^-1 sum x y, V^-1, sum x y, and the width's factor at n; and of all arms together.

    pulls: int64[K]; theta_hat, reward_sums: float64[K, d]; inverse: float64[K, d, d]; radius: float64[K]
    Of an arm with at most d pulls, theta_hat and inverse are right but for rounding.
    young: int64[1], how many arms have at most d pulls. As long as there are some, of all pulls together:
    shared_gram: float64[d, d], the sum of x x'; shared_inverse: float64[d, d], its pseudo-inverse but for rounding
    rank: int64[1], of shared_gram; volume: float64[1], the squared volume that the first d contexts over their lengths
    span, or those so far. Where it is not above FLAT, rank stops, and shared_inverse is the last decomposition.
    room, outside: float64[d], for V^-1 x and for the part of x outside the span of earlier contexts
    """

    pulls: np.ndarray
    theta_hat: np.ndarray
    inverse: np.ndarray
    reward_sums: np.ndarray
    radius: np.ndarray
    young: np.ndarray
    shared_gram: np.ndarray
    shared_inverse: np.ndarray
    rank: np.ndarray
    volume: np.ndarray
    room: np.ndarray
    outside: np.ndarray


def configure(K: int, dimensions: int, ridge: float = 0.001, beta: float = 0.99) -> Params:
    """Parameters for K >= 2 arms and contexts of d = dimensions >= 1; ValueError for values out of range."""
    check(K, dimensions, ridge, beta)
    return Params(int(K), int(dimensions), float(ridge), float(beta))


@njit
def init(params):
    """Nothing pulled yet."""
    K, d = params.n_arms, params.dimensions
    theta_hat, inverse, reward_sums = np.zeros((K, d)), np.zeros((K, d, d)), np.zeros((K, d))
    young, shared_gram, shared_inverse = np.full(1, K), np.zeros((d, d)), np.zeros((d, d))
    pulls, radius, rank, volume = np.zeros(K, np.int64), np.zeros(K), np.zeros(1, np.int64), np.ones(1)
    shared = young, shared_gram, shared_inverse, rank, volume
    return State(pulls, theta_hat, inverse, reward_sums, radius, *shared, np.zeros(d), np.zeros(d))


@njit(error_model="numpy", forceinline=True)
def choose(params, state, contexts, t, rng):
    """Each arm once, then the largest theta_hat'x + radius x'V^-1 x; ties go to the lowest arm."""
    if t <= params.n_arms:
        return t - 1
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        predicted, square, _ = project(state.theta_hat, state.inverse, contexts, arm)
        index = predicted + state.radius[arm] * square
        if index > best_index:
            best_arm, best_index = arm, index
    return best_arm


@njit(error_model="numpy", forceinline=True)
def learn(params, state, context, arm, reward, t, rng):
    """Update the arm's V^-1, from the shared list or by its own row, and its sum of x y, in place."""
    d = params.dimensions
    n = state.pulls[arm]
    if state.young[0] > 0:
        # Unrolled, as in `_regressions`.
        if d == 5:
            _join(state, context, 5)
        else:
            _join(state, context, d)
    if n > d:
        add_row(state.inverse, arm, context, state.room)
    else:
        # The last one is what the arm's own rows are added to, and what is recorded; those before serve choices alone.
        if n == d or not state.volume[0] > FLAT:
            inverse = np.linalg.pinv(state.shared_gram, RANK_TOLERANCE)
            for i in range(d):
                for j in range(d):
                    state.shared_inverse[i, j] = inverse[i, j]
        for i in range(d):
            for j in range(d):
                state.inverse[arm, i, j] = state.shared_inverse[i, j]
        if n == d:
            state.young[0] -= 1
    state.pulls[arm] += 1
    n = state.pulls[arm]
    state.radius[arm] = sqrt(2 * params.n_arms * log((1 + n / params.ridge) / params.beta))
    for k in range(d):
        state.reward_sums[arm, k] += reward * context[k]
    multiply(state.inverse, arm, state.reward_sums, state.theta_hat)
    return state


@njit(error_model="numpy", forceinline=True)
def _join(state, context, d):
    """Add a context x to the shared Gram matrix G, and to its pseudo-inverse P, in place."""
    gram, inverse, k = state.shared_gram, state.shared_inverse, state.room
    if state.volume[0] > FLAT:
        if state.rank[0] < d:
            _widen(gram, inverse, state.rank, state.volume, k, state.outside, context)
        else:
            # P - k k' / (1 + x'k) with k = P x (Sherman & Morrison).
            one_more = 1.0
            for i in range(d):
                w = 0.0
                for j in range(d):
                    w += inverse[i, j] * context[j]
                k[i] = w
                one_more += w * context[i]
            scale = 1 / one_more
            for i in range(d):
                factor = k[i] * scale
                for j in range(d):
                    inverse[i, j] -= factor * k[j]
    for i in range(d):
        for j in range(d):
            gram[i, j] += context[i] * context[j]


@partial(sure, rare=True)
@njit(error_model="numpy")
def _widen(gram, inverse, rank, volume, k, u, context):
    """P after a context x that is not in the span of those before, in place.

    P - (k u' + u k') / u'u + (1 + x'k) u u' / (u'u)^2, with k = P x and u = x - G k (Meyer 1973, theorem 1).
    """
    d = len(context)
    for i in range(d):
        k[i], u[i] = 0.0, context[i]
    square, length, one_more = 0.0, 0.0, 1.0
    # Twice, for what rounding leaves of the span in u grows with every context.
    for _ in range(2):
        for i in range(d):
            for j in range(d):
                k[i] += inverse[i, j] * u[j]
        for i in range(d):
            u[i] = context[i]
            for j in range(d):
                u[i] -= gram[i, j] * k[j]
    for i in range(d):
        square += u[i] * u[i]
        length += context[i] * context[i]
        one_more += k[i] * context[i]
    rank[0] += 1
    volume[0] *= square / length
    # Infinite where u is 0; there is no volume then either, and P is decomposed.
    scale = 1 / square
    for i in range(d):
        of_u, of_k = (one_more * scale * u[i] - k[i]) * scale, u[i] * scale
        for j in range(d):
            inverse[i, j] += of_u * u[j] - of_k * k[j]


POLICY = Policy(init, choose, learn)
