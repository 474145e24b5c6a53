"""A length of T or T + 1 with the noise Lap+: the audit of the noise itself.

Event: what is released is at least T + 1, where the law changes by e^(epsilon / 2) over a step of 1, but for what is
cut off at 0.
"""

import math
from typing import NamedTuple

from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms.lap_plus import Mechanism, lap_plus, survival

SUBJECT = "lap_plus"
SECONDS_PER_RUN = 5e-8
SECONDS_PER_STEP = 0.0


class Inputs(NamedTuple):
    """length: T; neighbour: what it has more, 0 or 1; noise: 1 / noise of the budget is what the noise is told."""

    length: int
    neighbour: int
    noise: float


def configure(neighbour: int, T: int = 1000, noise: float = 1.0) -> Inputs:
    """The length T >= 1, or its neighbour T + 1; noise > 0."""
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if T < 1:
        raise ValueError(f"T: expected a length of at least 1; found {T}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(T), int(neighbour), float(noise))


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the noisy length is at least T + 1."""
    return compiled(_count)(inputs.length, inputs.neighbour, params.epsilon / inputs.noise, trials, rng)


@njit
def _count(length, neighbour, epsilon, trials, rng):
    events = 0
    for _ in range(trials):
        events += lap_plus(float(length + neighbour), epsilon, rng) >= length + 1
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 1."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon / 2: appendix A.4 of Li, Shi & Simchi-Levi (2024)."""
    return epsilon / 2


def event_probability(params: Mechanism, inputs: Inputs) -> float:
    """P(Lap+(T + neighbour) >= T + 1)."""
    return survival(inputs.length + 1, inputs.length + inputs.neighbour, params.epsilon / inputs.noise)


def log_ratio(params: Mechanism, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0])."""
    one, zero = (event_probability(params, inputs._replace(neighbour=n)) for n in (1, 0))
    return math.log(one / zero)
