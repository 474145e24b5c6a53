"""One fixed arm in every round; the best fixed arm bounds the reward of a policy that ignores the contexts."""

from typing import NamedTuple

from numba import njit

from privarms.policies.bandit.uniform import init, learn
from privarms.ranges import at_least, within

__all__ = ["Params", "choose", "configure", "init", "learn"]

LABEL = "constant arm"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 10e-9

# It ignores contexts.
ALSO_FITS = ("contextual", "linear")


class Params(NamedTuple):
    """n_arms: K >= 2; arm: in [0, K)."""

    n_arms: int
    arm: int


def configure(K: int, arm: int) -> Params:
    """Return parameters for always pulling `arm`, from 0, of K >= 2 arms. Raise ValueError for another arm."""
    at_least(2, K=K)
    within(0, K - 1, arm=arm)
    return Params(K, arm)


@njit
def choose(params, state, context, t, rng):
    """Return the fixed arm."""
    return params.arm
