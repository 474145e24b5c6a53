"""An unbiased, purely private release of a vector in a Euclidean ball (Duchi, Jordan & Wainwright 2018, section 4.2.3).

The vector is rounded at random to +r u or -r u on the sphere, u its direction, and a point is drawn uniformly from the
half of a larger sphere on its side, with probability e^epsilon / (1 + e^epsilon), or from the other half.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, positive

LABEL = "Release in a ball"


class Mechanism(NamedTuple):
    """dimensions: D; radius: r, the largest norm of a vector; truth: the probability of the right half; norm: of what
    is released, so that its mean is the vector."""

    dimensions: int
    radius: float
    truth: float
    norm: float


def configure(dimensions: int, radius: float, epsilon: float) -> Mechanism:
    """The mechanism for vectors of dimension >= 1 and norm at most radius > 0, epsilon-private. Raises ValueError.

    The norm is r (e^epsilon + 1)/(e^epsilon - 1) sqrt(pi)/2 D Gamma((D + 1)/2)/Gamma(D/2 + 1).
    """
    at_least(1, dimensions=dimensions)
    positive(radius=radius, epsilon=epsilon)
    D = dimensions
    gammas = math.exp(math.lgamma((D + 1) / 2) - math.lgamma(D / 2 + 1))
    norm = radius / math.tanh(epsilon / 2) * math.sqrt(math.pi) / 2 * D * gammas
    return Mechanism(int(D), float(radius), 1 / (1 + math.exp(-epsilon)), norm)


@njit(forceinline=True)
def _draw_normals(numbers, vector, rng):
    """Overwrite `numbers` by standard normal variates; the sums of their squares, of their products with `vector` and
    of the squares of `vector`."""
    squares, products, squared = 0.0, 0.0, 0.0
    # The sums wait for their last term, and meanwhile the next number is drawn.
    for i in range(len(numbers)):
        number = rng.standard_normal()
        numbers[i] = number
        squares += number * number
        products += number * vector[i]
        squared += vector[i] * vector[i]
    return squares, products, squared


@njit(forceinline=True)
def release(mechanism, vector, rng, released):
    """Overwrite `released`, float64[D], by a private version of `vector`, float64[D], which is first brought into the
    ball if it lies outside."""
    D, radius = mechanism.dimensions, mechanism.radius
    total, inner, squared = _draw_normals(released, vector, rng)
    length = min(np.sqrt(squared), radius)
    # Of a vector of length 0 every direction is as good; its side is decided by chance alone.
    side = 1.0 if inner >= 0 else -1.0
    if rng.random() >= 0.5 + length / (2 * radius):
        side = -side
    if rng.random() >= mechanism.truth:
        side = -side
    scale = side * mechanism.norm / np.sqrt(total)
    for i in range(D):
        released[i] *= scale
