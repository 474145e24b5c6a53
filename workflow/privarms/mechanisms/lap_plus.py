"""Lap+ noise on integers, cut off where the result would be negative (Li, Shi & Simchi-Levi 2024, appendix A.4).

P(Lap+(m) = [m] + k) is proportional to e^(-epsilon |k| / 2) for the integers k >= -[m]. Let a = e^(epsilon / 2). The
printed constant, (a - 1) / (a + 1 - a^[m]), does not give a probability distribution: the terms add up to (a + 1 -
a^-[m]) / (a + 1 - a^[m]) and not to 1. The right constant is (a - 1) / (a + 1 - a^-[m]).
"""

from math import fsum
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, positive, within

LABEL = "Lap+"

# Lengths are cut off here. No run is that long, and sums of two stay within an int64.
LONGEST = 2.0**61


class Mechanism(NamedTuple):
    """epsilon: the budget of a length; the noise costs half of it if neighbours move the length by at most 1."""

    epsilon: float


def configure(epsilon: float) -> Mechanism:
    """Return noise that makes a length epsilon / 2-private, except for the part cut off at 0. Raise ValueError."""
    positive(epsilon=epsilon)
    return Mechanism(float(epsilon))


@njit
def lap_plus(m, epsilon, rng):
    """Draw Lap+(m), an int64 >= 0, for m >= 0 and epsilon > 0.

    It is the difference of two geometric variables, drawn again while it is below -[m], which happens with a
    probability below 1/2. Values beyond 2**61 are cut off.
    """
    centre = int(min(np.floor(m), LONGEST))
    while True:
        k = two_sided(epsilon, rng)
        if k >= -centre:
            return centre + k


@njit
def two_sided(epsilon, rng):
    """Draw an int64 k with P(k) proportional to e^(-epsilon |k| / 2), not cut off."""
    return _geometric(epsilon, rng) - _geometric(epsilon, rng)


@njit
def _geometric(epsilon, rng):
    """Draw k = 0, 1, ... with P(k or more) = e^(-epsilon k / 2), as the floor of an exponential of mean 2 / epsilon."""
    return int(min(np.floor(2 * rng.standard_exponential() / epsilon), LONGEST))


def pmf(value, m: float, epsilon: float):
    """Return P(Lap+(m) = value), for an integer or an array of them."""
    centre = _centre(m, epsilon)
    value = np.asarray(value)
    chance = _constant(centre, epsilon) * np.exp(-epsilon / 2 * np.abs(value - centre))
    return np.where((value >= 0) & (value == np.floor(value)), chance, 0.0)[()]


def survival(value: int, m: float, epsilon: float) -> float:
    """Return P(Lap+(m) >= value), for an integer."""
    centre = _centre(m, epsilon)
    if value <= 0:
        return 1.0
    upper = _constant(centre, epsilon) / -np.expm1(-epsilon / 2)
    if value > centre:
        return float(upper * np.exp(-epsilon / 2 * (value - centre)))
    # The terms from 0 to value - 1, from the largest down.
    lower = np.exp(-epsilon / 2 * (centre - value + 1)) * -np.expm1(-epsilon / 2 * value)
    return float(1 - upper * lower)


def sums(epsilon: float, m: float) -> tuple[float, float]:
    """Return the sums of the probabilities of Lap+(m), with the printed constant and with the right one.

    Both are added term by term. The printed sum is negative if a^[m] > a + 1, and infinite at equality.
    epsilon: from 1e-5 to 1e3
    """
    within(1e-5, 1e3, epsilon=epsilon)
    centre = _centre(m, epsilon)
    # Beyond this range the terms are below 1e-20 of the largest.
    reach = int(np.ceil(100 / epsilon))
    k = np.arange(-min(centre, reach), reach + 1)
    terms = fsum(np.exp(-epsilon / 2 * np.abs(k)))
    # Numerator and denominator of the printed constant are multiplied by a^-[m], because a^[m] may overflow.
    step = np.expm1(epsilon / 2)
    shrunk = np.exp(-epsilon / 2 * centre)
    with np.errstate(divide="ignore"):
        printed = np.divide(step * shrunk, (step + 2) * shrunk - 1)
    return float(printed * terms), float(_constant(centre, epsilon) * terms)


def _constant(centre: int, epsilon: float) -> float:
    """Return P(Lap+(m) = [m]) = (a - 1) / (a + 1 - a^-[m]) = (1 - q) / (1 + q - q^([m] + 1)), with q = 1 / a."""
    q = np.exp(-epsilon / 2)
    return float(-np.expm1(-epsilon / 2) / (1 + q - q ** (centre + 1)))


def _centre(m: float, epsilon: float) -> int:
    positive(epsilon=epsilon)
    at_least(0, m=m)
    return int(np.floor(m))
