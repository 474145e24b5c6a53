"""Two opposite vectors of the largest norm, released in a ball.

Event: the released vector lies in the half of the ball of neighbour 1. It has the probability e^epsilon /
(1 + e^epsilon) with neighbour 1 and 1 / (1 + e^epsilon) with neighbour 0.
"""

import math

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, Inputs, checked, count_events
from privarms.mechanisms import l2_ball

SUBJECT = "l2_ball"
SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 0.0


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """Return the vector -r e_1, or its neighbour r e_1; the mechanism gets 1 / noise of its budget, noise > 0."""
    return checked(Inputs(int(neighbour), float(noise)))


def with_noise(params: l2_ball.Mechanism, noise: float) -> l2_ball.Mechanism:
    """Return the mechanism with 1 / noise of its budget."""
    epsilon = math.log(params.truth / (1 - params.truth))
    return l2_ball.configure(params.dimensions, params.radius, epsilon / noise)


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which the first coordinate of the released vector is positive."""
    vector, released = np.zeros(params.dimensions), np.zeros(params.dimensions)
    vector[0] = (2 * inputs.neighbour - 1) * params.radius
    return count_events(happens, (with_noise(params, inputs.noise), vector, released), trials, rng)


@njit
def happens(mechanism, vector, released, rng):
    l2_ball.release(mechanism, vector, rng, released)
    return released[0] > 0


def probability(params: l2_ball.Mechanism, inputs: Inputs) -> float:
    """Return the probability of the right half with neighbour 1, of the wrong one with neighbour 0."""
    truth = with_noise(params, inputs.noise).truth
    return truth if inputs.neighbour == 1 else 1 - truth


# Claimed: epsilon (Duchi, Jordan & Wainwright 2018, section 4.2.3).
AUDIT = Audit(count, probability)
