"""Every arm with the same probability, in every round."""

from typing import NamedTuple

from numba import njit

from privarms.ranges import at_least

LABEL = "uniform"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 20e-9

# It looks at no context.
ALSO_FITS = ("contextual", "linear")


class Params(NamedTuple):
    """n_arms: K >= 2."""

    n_arms: int


class State(NamedTuple):
    """Nothing is learned; a state must hold something."""

    n_arms: int


def configure(K: int) -> Params:
    """Parameters for K >= 2 arms; ValueError for fewer."""
    at_least(2, K=K)
    return Params(K)


@njit
def init(params):
    """Nothing to remember."""
    return State(params.n_arms)


@njit
def choose(params, state, context, t, rng):
    """One arm, uniformly."""
    return int(rng.random() * params.n_arms)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Nothing to learn."""
    return state
