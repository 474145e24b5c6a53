"""K arms with Bernoulli rewards."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, of_choices


class Environment(NamedTuple):
    """pull(environment, arm, rng) -> reward in {0, 1}; means: float64[K], the expected rewards in [0, 1]."""

    pull: Callable
    means: np.ndarray


# Inlined before the kernel is optimised: with `forceinline` only, a round of UCB takes a twelfth longer.
@njit(inline="always")
def pull(environment, arm, rng):
    return 1.0 if rng.random() < environment.means[arm] else 0.0


@of_choices
def configure(
    K: int,
    top: float,
    bottom: float,
    spacing: Literal["linear", "one_best", "convex", "concave"] = "linear",
    rotate: int = 0,
    arm_means: str = "",
) -> Environment:
    """Return K >= 2 arms with means in [0, 1]; arm `rotate`, from 0 to K - 1, is the best, with mean `top`.

    linear: linearly spaced down to `bottom`; one_best: all other arms have mean `bottom`; convex, concave: down to
    `bottom` on a parabola that is flat at the worst arm, or at the best one (mu3 and mu4 of Azize & Basu 2022)
    rotate: the arms come in this order after the best one, and again from arm 0
    arm_means: instead of a spacing, K numbers separated by blanks, with the largest `top` and the smallest `bottom`
    """
    at_least(2, K=K)
    if not 0 <= rotate < K:
        raise ValueError(f"rotate: expected 0 to {K - 1}; found {rotate}")
    if not 0 <= bottom <= top <= 1:
        raise ValueError(f"expected 0 <= bottom <= top <= 1, found bottom {bottom} and top {top}")
    if arm_means:
        arms = np.array([float(mean) for mean in arm_means.split()])
        if len(arms) != K or (arms.max(), arms.min()) != (top, bottom):
            expected = f"{K} numbers from {bottom} to {top}, both included"
            raise ValueError(f"arm_means: expected {expected}; found {arm_means!r}")
    elif spacing == "one_best":
        arms = np.array([top] + [bottom] * (K - 1), float)
    elif spacing == "convex":
        arms = bottom + (top - bottom) * (np.arange(K)[::-1] / (K - 1)) ** 2
    elif spacing == "concave":
        arms = top - (top - bottom) * (np.arange(K) / (K - 1)) ** 2
    else:
        arms = np.linspace(top, bottom, K)
    return Environment(pull, np.roll(arms, rotate))
