"""K arms with Bernoulli rewards whose means move to the next arm after each period."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.environments import bernoulli
from privarms.ranges import at_least, of_choices

# Every policy plays round by round, also those that have a fast path elsewhere.
SECONDS_PER_STEP = 1e-7


class Environment(NamedTuple):
    """pull(environment, arm, t, rng) -> reward in {0, 1}; mean(environment, arm, t), in round t = 1, 2, ...

    n_arms: K; period: rounds between two changes; first: float64[K], the means of the first period
    """

    pull: Callable
    mean: Callable
    n_arms: int
    period: int
    first: np.ndarray


@njit
def mean(environment, arm, t):
    changes = (t - 1) // environment.period
    return environment.first[(arm - changes) % environment.n_arms]


@njit
def pull(environment, arm, t, rng):
    return 1.0 if rng.random() < mean(environment, arm, t) else 0.0


@of_choices
def configure(
    K: int,
    top: float,
    bottom: float,
    period: int,
    spacing: Literal["linear", "one_best", "convex", "concave"] = "linear",
) -> Environment:
    """Return K >= 2 arms; arm 0 is the best in rounds 1 to `period`, arm 1 in the next `period` rounds, and so on.

    K, top, bottom, spacing: as in `bernoulli.configure`, whose means are those of the first period. Raises ValueError
    for values out of range; period >= 1.
    """
    at_least(1, period=period)
    return Environment(pull, mean, int(K), int(period), bernoulli.configure(K, top, bottom, spacing).means)
