"""One ridge regression per arm, over the contexts and rewards of its own pulls: V = ridge I + X'X and its inverse.

Loops replace `@`, because calling BLAS takes longer than a product of five numbers. The functions get whole arrays and
an arm, because a view of an arm's part would cost another such call.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, positive, strictly_within

# Indices with a smaller relative difference are ties. Arms that were not pulled yet all have the same index on contexts
# of length 1, but rounding would make them differ.
TIE = 1e-12


class Params(NamedTuple):
    """n_arms: K; dimensions: d; ridge: lambda > 0; beta in (0, 1), of the confidence."""

    n_arms: int
    dimensions: int
    ridge: float
    beta: float


def checked(K: int, dimensions: int, ridge: float, beta: float) -> Params:
    """Return parameters. Raise ValueError for values that no linear policy accepts."""
    at_least(2, K=K)
    at_least(1, dimensions=dimensions)
    positive(ridge=ridge)
    strictly_within(0, 1, beta=beta)
    return Params(int(K), int(dimensions), float(ridge), float(beta))


@njit(error_model="numpy", forceinline=True)
def exceeds(index, best_index):
    """Return whether an index is larger than the best one so far, which is -inf at the start."""
    return best_index == -np.inf or index - best_index > TIE * abs(best_index)


@njit(error_model="numpy", forceinline=True)
def confidence_radius(n, d, ridge, beta):
    """Return sqrt(d ln((1 + n/ridge)/beta)) + sqrt(ridge), after n pulls."""
    return sqrt(d * log((1 + n / ridge) / beta)) + sqrt(ridge)


@njit(error_model="numpy", forceinline=True)
def project(theta_hat, inverse, contexts, arm):
    """Return theta_hat'x, x'V^-1 x and x'V^-1 V^-1 x, for the arm's context x."""
    d = contexts.shape[1]
    predicted = square = weight = 0.0
    for i in range(d):
        w = 0.0
        for j in range(d):
            w += inverse[arm, i, j] * contexts[arm, j]
        predicted += theta_hat[arm, i] * contexts[arm, i]
        square += w * contexts[arm, i]
        weight += w * w
    # With a tiny ridge, rounding may leave a square below 0.
    return predicted, max(square, 0.0), weight


@njit(error_model="numpy", forceinline=True)
def add_row(inverse, arm, context, room):
    """Update V^-1 in place after the row x joins V: V^-1 - V^-1 x x'V^-1 / (1 + x'V^-1 x) (Sherman & Morrison).

    room: float64[d], overwritten by V^-1 x
    """
    d = len(room)
    square = 0.0
    for i in range(d):
        w = 0.0
        for j in range(d):
            w += inverse[arm, i, j] * context[j]
        room[i] = w
        square += w * context[i]
    for i in range(d):
        factor = room[i] / (1 + square)
        for j in range(d):
            inverse[arm, i, j] -= factor * room[j]


@njit(error_model="numpy", forceinline=True)
def multiply(inverse, arm, sums, theta_hat):
    """Set theta_hat = V^-1 times the arm's sums, in place."""
    d = sums.shape[1]
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += inverse[arm, i, j] * sums[arm, j]
        theta_hat[arm, i] = total
