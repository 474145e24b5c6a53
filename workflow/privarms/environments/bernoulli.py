"""K arms with Bernoulli rewards."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> reward in {0, 1}; means: float64[K], the expected rewards in [0, 1]."""

    pull: Callable
    means: np.ndarray


@njit
def pull(environment, arm, rng):
    """One Bernoulli(means[arm]) reward."""
    return 1.0 if rng.random() < environment.means[arm] else 0.0


def configure(K: int, top: float, bottom: float) -> Environment:
    """K >= 2 means linearly spaced from `top` (arm 0, the best) down to `bottom`, both in [0, 1]."""
    if not 0 <= bottom <= top <= 1:
        raise ValueError(f"expected 0 <= bottom <= top <= 1, found bottom {bottom} and top {top}")
    return Environment(pull, np.linspace(top, bottom, K))
