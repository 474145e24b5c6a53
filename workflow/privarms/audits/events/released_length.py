"""Audit the noise Lap+ on the lengths T and T + 1, T = 1000.

Event: the released length is at least T + 1. There the probabilities change by e^(epsilon / 2) over a step of 1, except
for the part cut off at 0. Appendix A.4 of Li, Shi & Simchi-Levi (2024) promises epsilon / 2.
"""

from typing import Literal

from numba import njit

from privarms.audits.audit import Audit, Inputs
from privarms.mechanisms.lap_plus import lap_plus, survival

SECONDS_PER_RUN = 5e-8

T = 1000


def configure(neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return the length T, or its neighbour T + 1; the mechanism gets 1 / noise of its budget."""
    return Inputs(neighbour, noise)


@njit
def happens(params, inputs, rng):
    return lap_plus(float(T + inputs.neighbour), params.epsilon, rng) >= T + 1


AUDIT = Audit(
    subjects="lap_plus",
    inputs=configure,
    event=happens,
    exact=lambda params, inputs: survival(T + 1, T + inputs.neighbour, params.epsilon),
    claimed=lambda epsilon: epsilon / 2,
    with_noise=lambda params, noise: params._replace(epsilon=params.epsilon / noise),
    changed="Only a length was changed, by 1.",
)
