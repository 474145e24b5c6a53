"""Lengths T and T + 1 with the noise Lap+.

Event: the released length is at least T + 1. There the probabilities change by e^(epsilon / 2) over a step of 1, except
for what is cut off at 0.
"""

from typing import NamedTuple

from numba import njit

from privarms.audits.audit import Audit, checked, count_events
from privarms.mechanisms.lap_plus import Mechanism, lap_plus, survival

SUBJECT = "lap_plus"
SECONDS_PER_RUN = 5e-8
SECONDS_PER_STEP = 0.0


class Inputs(NamedTuple):
    """length: T; neighbour: 0 or 1, added to T; noise: the mechanism gets 1 / noise of its budget."""

    length: int
    neighbour: int
    noise: float


def configure(neighbour: int, T: int = 1000, noise: float = 1.0) -> Inputs:
    """Return the length T >= 1, or its neighbour T + 1; noise > 0."""
    if T < 1:
        raise ValueError(f"T: expected a length of at least 1; found {T}")
    return checked(Inputs(int(T), int(neighbour), float(noise)))


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which the noisy length is at least T + 1."""
    return count_events(happens, (inputs.length, inputs.neighbour, params.epsilon / inputs.noise), trials, rng)


@njit
def happens(T, neighbour, epsilon, rng):
    return lap_plus(float(T + neighbour), epsilon, rng) >= T + 1


def probability(params: Mechanism, inputs: Inputs) -> float:
    """Return P(Lap+(T + neighbour) >= T + 1)."""
    return survival(inputs.length + 1, inputs.length + inputs.neighbour, params.epsilon / inputs.noise)


# Claimed: epsilon / 2 (appendix A.4 of Li, Shi & Simchi-Levi 2024).
AUDIT = Audit(count, probability, claimed=lambda epsilon: epsilon / 2)
