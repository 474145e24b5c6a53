"""One stream of samples from {-R, R} (the distributions of Sajed & Sheffet 2019, proof of Theorem 3.4)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import positive


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> -R or R, for any arm; means: float64[1], the mean mu; R > 0."""

    pull: Callable
    means: np.ndarray
    R: float


@njit
def pull(environment, arm, rng):
    return environment.R if rng.random() < probability_of_R(environment) else -environment.R


@njit
def probability_of_R(environment):
    return 0.5 + environment.means[0] / (2 * environment.R)


def configure(mu: float, R: float = 1.0) -> Environment:
    """Return the stream with mean mu, 0 < |mu| <= R."""
    positive(R=R)
    if not 0 < abs(mu) <= R:
        raise ValueError(f"mu: expected 0 < |mu| <= R = {R}, or no multiplicative approximation exists; found {mu}")
    return Environment(pull, np.array([float(mu)]), float(R))
