"""Audit the release in a ball on two opposite vectors of the largest norm.

Event: the released vector lies in the half of the ball of neighbour 1. Its probability is e^epsilon / (1 + e^epsilon)
with neighbour 1 and 1 / (1 + e^epsilon) with neighbour 0. Duchi, Jordan & Wainwright (2018, section 4.2.3) promise
epsilon.
"""

import math
from typing import Literal

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, Inputs
from privarms.mechanisms import l2_ball

SECONDS_PER_RUN = 1e-7


def configure(neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return the vector -r e_1, or its neighbour r e_1; the mechanism's budget is divided by `noise`."""
    return Inputs(neighbour, noise)


def with_noise(params: l2_ball.Mechanism, noise: float) -> l2_ball.Mechanism:
    """Return the mechanism with its budget divided by `noise`. Raise ValueError as `budget`."""
    return l2_ball.configure(params.dimensions, params.radius, budget(params.truth) / noise)


def budget(truth: float) -> float:
    """Return the epsilon of a mechanism that keeps the right half with this probability.

    Raises ValueError for a probability of 1: in double precision that of every epsilon above 37.
    """
    if truth == 1:
        raise ValueError(
            "epsilon: expected at most 37 for this audit; found a larger number, with which the wrong half of the "
            "ball has the probability 0 in double precision"
        )
    return math.log(truth / (1 - truth))


@njit
def happens(mechanism, inputs, rng):
    vector, released = np.zeros(mechanism.dimensions), np.zeros(mechanism.dimensions)
    vector[0] = (2 * inputs.neighbour - 1) * mechanism.radius
    l2_ball.release(mechanism, vector, rng, released)
    return released[0] > 0


AUDIT = Audit(
    subjects="l2_ball",
    inputs=configure,
    event=happens,
    exact=lambda params, inputs: params.truth if inputs.neighbour == 1 else 1 - params.truth,
    with_noise=with_noise,
    changed="Only a vector was changed, to its opposite.",
)
