"""OFUL, not private: optimism for a linear reward of each arm (Abbasi-Yadkori, Pal & Szepesvari 2011).

Neel & Roth (2018, section 5.2) name it without its constants: ridge = 1 and beta = .05 are not stated in the paper.
One ridge regression an arm, over the contexts and rewards of its own pulls; the largest index
theta_hat'x + radius sqrt(x'V^-1 x), V = ridge I + X'X, radius = sqrt(d ln((1 + n/ridge)/beta)) + sqrt(ridge).
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.policies.linear._regressions import (
    Params,
    add_row,
    checked,
    confidence_radius,
    exceeds,
    multiply,
    project,
)

STREAMED_AS = {"dimensions": "d"}
LABEL = "OFUL"
SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 4e-7


class State(NamedTuple):
    """Of each arm: n, theta_hat = V^-1 sum x y, V^-1, sum x y, and the radius at n.

    pulls: int64[K]; theta_hat, reward_sums: float64[K, d]; inverse: float64[K, d, d]; radius: float64[K]
    room: float64[d], for V^-1 x
    """

    pulls: np.ndarray
    theta_hat: np.ndarray
    inverse: np.ndarray
    reward_sums: np.ndarray
    radius: np.ndarray
    room: np.ndarray


def configure(K: int, dimensions: int, ridge: float = 1.0, beta: float = 0.05) -> Params:
    """Parameters for K >= 2 arms and contexts of d = dimensions >= 1; ValueError for values out of range."""
    return checked(K, dimensions, ridge, beta)


@njit
def init(params):
    """Nothing pulled yet: V = ridge I."""
    K, d = params.n_arms, params.dimensions
    inverse = np.zeros((K, d, d))
    for k in range(d):
        inverse[:, k, k] = 1 / params.ridge
    radius = np.full(K, confidence_radius(0, d, params.ridge, params.beta))
    return State(np.zeros(K, np.int64), np.zeros((K, d)), inverse, np.zeros((K, d)), radius, np.zeros(d))


@njit(error_model="numpy", forceinline=True)
def choose(params, state, contexts, t, rng):
    """The largest theta_hat'x + radius sqrt(x'V^-1 x); ties go to the lowest arm."""
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        predicted, square, _ = project(state.theta_hat, state.inverse, contexts, arm)
        index = predicted + state.radius[arm] * sqrt(square)
        if exceeds(index, best_index):
            best_arm, best_index = arm, index
    return best_arm


@njit(error_model="numpy", forceinline=True)
def learn(params, state, context, arm, reward, t, rng):
    """Add the row to the arm's regression, in place."""
    state.pulls[arm] += 1
    state.radius[arm] = confidence_radius(state.pulls[arm], params.dimensions, params.ridge, params.beta)
    add_row(state.inverse, arm, context, state.room)
    for k in range(params.dimensions):
        state.reward_sums[arm, k] += reward * context[k]
    multiply(state.inverse, arm, state.reward_sums, state.theta_hat)
    return state
