"""Two arms with one vector each and normal rewards: section 5 of Li, Shi & Simchi-Levi (ICML 2024)."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import of_choices

# By experiment: the vectors a0 and a1, and the means mu0 and mu1.
EXPERIMENTS = {
    "linear": (((1.0, 0.0), (0.0, 1.0)), (1.0, 1.0)),
    "ill_conditioned": (((1.0, 0.001), (1.0, 0.0)), (3.0, 1.0)),
}


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> reward; means: float64[2]; vectors: float64[2, 2], one row per arm."""

    pull: Callable
    means: np.ndarray
    vectors: np.ndarray


@njit
def pull(environment, arm, rng):
    return environment.means[arm] + rng.standard_normal()


@of_choices
def configure(experiment: Literal["linear", "ill_conditioned"]) -> Environment:
    """Return experiment 1 (linear: rewards are a'theta) or 2 (ill_conditioned: they are not, for any bounded theta)."""
    vectors, means = EXPERIMENTS[experiment]
    return Environment(pull, np.array(means), np.array(vectors))
