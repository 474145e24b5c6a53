"""An unbiased, purely private release of a vector in a Euclidean ball (Duchi, Jordan & Wainwright 2018, section 4.2.3).

The vector has the direction u and is rounded at random to +r u or -r u on the sphere. Then a point is drawn uniformly
from half of a larger sphere: with probability e^epsilon / (1 + e^epsilon) the half on its side, else the other half.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, positive

LABEL = "Release in a ball"


class Mechanism(NamedTuple):
    """dimensions: D; radius: r, the largest norm of a vector; truth: the probability of the right half.

    norm: of the released vector; with it the mean of the released vector is the vector itself
    """

    dimensions: int
    radius: float
    truth: float
    norm: float


def configure(dimensions: int, radius: float, epsilon: float) -> Mechanism:
    """Return an epsilon-private mechanism for vectors of dimension >= 1 and norm <= radius > 0. Raise ValueError."""
    at_least(1, dimensions=dimensions)
    positive(radius=radius, epsilon=epsilon)
    D = dimensions
    gammas = math.exp(math.lgamma((D + 1) / 2) - math.lgamma(D / 2 + 1))
    norm = radius / math.tanh(epsilon / 2) * math.sqrt(math.pi) / 2 * D * gammas
    return Mechanism(int(D), float(radius), 1 / (1 + math.exp(-epsilon)), norm)


@njit(forceinline=True)
def release(mechanism, vector, rng, released):
    """Overwrite `released`, float64[D], with a private version of `vector`, float64[D], first scaled into the ball."""
    D, radius = mechanism.dimensions, mechanism.radius
    total, inner, squared = 0.0, 0.0, 0.0
    # One loop: while the sums wait for their last term, the processor draws the next number.
    for i in range(D):
        number = rng.standard_normal()
        released[i] = number
        total += number * number
        inner += number * vector[i]
        squared += vector[i] * vector[i]
    length = min(np.sqrt(squared), radius)
    # A vector of length 0 has no direction. Any direction serves, because its side is decided only by chance.
    side = 1.0 if inner >= 0 else -1.0
    if rng.random() >= 0.5 + length / (2 * radius):
        side = -side
    if rng.random() >= mechanism.truth:
        side = -side
    scale = side * mechanism.norm / np.sqrt(total)
    for i in range(D):
        released[i] *= scale
