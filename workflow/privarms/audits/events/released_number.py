"""Audit Laplace noise on the numbers 0 and 1.

Event: the released number is at least 1. There the density of the noise falls by exactly e^epsilon over a step of 1.
Dwork et al. (2006) promise epsilon.
"""

import math
from typing import Literal

from numba import njit

from privarms.audits.audit import Audit, Inputs, scaled
from privarms.mechanisms.laplace import laplace

SECONDS_PER_RUN = 2e-8


def configure(neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return the number 0, or its neighbour 1."""
    return Inputs(neighbour, noise)


@njit
def happens(params, inputs, rng):
    return inputs.neighbour + laplace(params.scale, rng) >= 1


AUDIT = Audit(
    subjects="laplace",
    inputs=configure,
    event=happens,
    exact=lambda params, inputs: math.exp((inputs.neighbour - 1) / params.scale) / 2,
    exact_loss=lambda params, inputs: 1 / params.scale,
    with_noise=scaled("scale"),
    changed="Only a number was changed, by 1.",
)
