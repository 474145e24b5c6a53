"""One arm, in every round; the best of these is what a policy that sees no context can come to."""

from typing import NamedTuple

from numba import njit

from privarms.policies.bandit.uniform import State, init, learn
from privarms.ranges import at_least, within

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "constant arm"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 10e-9

# It looks at no context.
ALSO_FITS = ("contextual", "linear")


class Params(NamedTuple):
    """n_arms: K >= 2; arm: in [0, K)."""

    n_arms: int
    arm: int


def configure(K: int, arm: int) -> Params:
    """Parameters for always pulling `arm`, counted from 0, of K >= 2 arms; ValueError for another arm."""
    at_least(2, K=K)
    within(0, K - 1, arm=arm)
    return Params(K, arm)


@njit
def choose(params, state, context, t, rng):
    """The arm."""
    return params.arm
