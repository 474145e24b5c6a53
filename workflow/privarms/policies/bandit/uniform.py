"""Every arm with the same probability, in every round."""

from numba import njit

from privarms.policies.bandit._reward_sums import Params, configure

__all__ = ["Params", "choose", "configure", "init", "learn"]

LABEL = "uniform"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 20e-9

# It ignores contexts.
ALSO_FITS = ("contextual", "linear")


@njit
def init(params):
    """Return a state, which never changes, because nothing is learned."""
    return params


@njit
def choose(params, state, context, t, rng):
    """Return a uniformly random arm."""
    return int(rng.random() * params.n_arms)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Return the unchanged state."""
    return state
