"""A number that is 0 or 1 with Laplace noise: the audit of the noise itself.

Event: what is released is at least 1, where the law changes by exactly e^epsilon over a step of 1.
"""

import math
from typing import NamedTuple

from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms.laplace import Mechanism, laplace

SUBJECT = "laplace"
SECONDS_PER_RUN = 2e-8
SECONDS_PER_STEP = 0.0


class Inputs(NamedTuple):
    """neighbour: the number, 0 or 1; noise: multiple of the scale."""

    neighbour: int
    noise: float


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """The number 0, or its neighbour 1; noise > 0."""
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(neighbour), float(noise))


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the noisy number is at least 1."""
    return compiled(_count)(params.scale * inputs.noise, float(inputs.neighbour), trials, rng)


@njit
def _count(scale, number, trials, rng):
    events = 0
    for _ in range(trials):
        events += number + laplace(scale, rng) >= 1
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 1."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon: Dwork et al. 2006."""
    return epsilon


def event_probability(params: Mechanism, inputs: Inputs) -> float:
    """e^(-(1 - number) / scale) / 2."""
    return math.exp((inputs.neighbour - 1) / (params.scale * inputs.noise)) / 2


def log_ratio(params: Mechanism, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0])."""
    return 1 / (params.scale * inputs.noise)
