"""K arms with Beta-distributed rewards."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> reward in [0, 1]; means: float64[K]; size: a + b of each Beta(a, b)."""

    pull: Callable
    means: np.ndarray
    size: float


@njit
def pull(environment, arm, rng):
    """Return a Beta reward with mean means[arm]."""
    a = environment.size * environment.means[arm]
    return rng.beta(a, environment.size - a)


def configure(K: int, top: float, bottom: float, size: float = 4.0) -> Environment:
    """Return an environment with K means, linearly spaced from `top` to `bottom`."""
    if not 0 < bottom <= top < 1:
        raise ValueError(f"expected 0 < bottom <= top < 1; found bottom {bottom} and top {top}")
    return Environment(pull, np.linspace(top, bottom, K), float(size))
