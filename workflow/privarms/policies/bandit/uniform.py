"""Every arm with the same probability, in every round."""

from typing import NamedTuple

from numba import njit

from privarms.ranges import at_least

LABEL = "uniform"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 20e-9

# It ignores contexts.
ALSO_FITS = ("contextual", "linear")


class Params(NamedTuple):
    """n_arms: K >= 2."""

    n_arms: int


class State(NamedTuple):
    """Nothing is learned, but a state needs a field."""

    n_arms: int


def configure(K: int) -> Params:
    """Return parameters for K >= 2 arms. Raise ValueError for fewer."""
    at_least(2, K=K)
    return Params(K)


@njit
def init(params):
    """Return a state, which never changes."""
    return State(params.n_arms)


@njit
def choose(params, state, context, t, rng):
    """Return a uniformly random arm."""
    return int(rng.random() * params.n_arms)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Return the unchanged state."""
    return state
