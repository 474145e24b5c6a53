"""Policies that ignore their rewards, for tests of the protocols."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.policies import Policy


class Params(NamedTuple):
    n_arms: int


@njit
def init(params):
    return np.zeros(1, np.int64)


@njit
def learn(params, state, context, arm, reward, t, rng):
    return state


def policy(choose):
    """Return a policy's module with arms from `choose`, which depends only on the round."""
    return Policy(init, choose, learn)
