"""The numbers 0 and 1 with Laplace noise.

Event: the released number is at least 1. There the density of the noise falls by exactly e^epsilon over a step of 1.
"""

import math

from numba import njit

from privarms.audits.audit import Audit, Inputs, checked, count_events
from privarms.mechanisms.laplace import Mechanism, laplace

SUBJECT = "laplace"
SECONDS_PER_RUN = 2e-8
SECONDS_PER_STEP = 0.0


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """Return the number 0, or its neighbour 1; noise > 0."""
    return checked(Inputs(int(neighbour), float(noise)))


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which the noisy number is at least 1."""
    return count_events(happens, (params.scale * inputs.noise, float(inputs.neighbour)), trials, rng)


@njit
def happens(scale, number, rng):
    return number + laplace(scale, rng) >= 1


def probability(params: Mechanism, inputs: Inputs) -> float:
    """Return e^(-(1 - number) / scale) / 2."""
    return math.exp((inputs.neighbour - 1) / (params.scale * inputs.noise)) / 2


# Claimed: epsilon (Dwork et al. 2006).
AUDIT = Audit(count, probability, closed_form=lambda params, inputs: 1 / (params.scale * inputs.noise))
