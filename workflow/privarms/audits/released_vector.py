"""Two opposite vectors of the largest norm, released in a ball: the audit of the release itself.

Event: what is released lies in the half of the ball of neighbour 1, which has the probability e^epsilon / (1 +
e^epsilon) with that neighbour and 1 / (1 + e^epsilon) with the other.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms import l2_ball

SUBJECT = "l2_ball"
SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 0.0


class Inputs(NamedTuple):
    """neighbour: on which end of the first axis the vector lies; noise: 1 / noise of the budget is what is used."""

    neighbour: int
    noise: float


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """The vector -r e_1, or its neighbour r e_1; noise > 0."""
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(neighbour), float(noise))


def with_noise(params: l2_ball.Mechanism, noise: float) -> l2_ball.Mechanism:
    """The mechanism with 1 / noise of its budget."""
    epsilon = math.log(params.truth / (1 - params.truth))
    return l2_ball.configure(params.dimensions, params.radius, epsilon / noise)


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the first coordinate of what is released is positive."""
    mechanism = with_noise(params, inputs.noise)
    return compiled(_count)(mechanism, (2 * inputs.neighbour - 1) * params.radius, trials, rng)


@njit
def _count(mechanism, first, trials, rng):
    vector, released = np.zeros(mechanism.dimensions), np.zeros(mechanism.dimensions)
    vector[0] = first
    events = 0
    for _ in range(trials):
        l2_ball.release(mechanism, vector, rng, released)
        events += released[0] > 0
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 1."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon: Duchi, Jordan & Wainwright (2018), section 4.2.3."""
    return epsilon


def event_probability(params: l2_ball.Mechanism, inputs: Inputs) -> float:
    """Of the right half with neighbour 1, of the wrong one with neighbour 0."""
    truth = with_noise(params, inputs.noise).truth
    return truth if inputs.neighbour == 1 else 1 - truth


def log_ratio(params: l2_ball.Mechanism, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0])."""
    one, zero = (event_probability(params, inputs._replace(neighbour=n)) for n in (1, 0))
    return math.log(one / zero)
