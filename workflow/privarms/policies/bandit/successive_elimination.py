"""Successive Elimination with unknown biases, not private (Even-Dar, Mannor & Mansour 2002; 2006, Algorithm 3)."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.round_robin import next_viable
from privarms.ranges import at_least, strictly_within

LABEL = "Successive Elimination"
SECONDS_PER_RUN = 2e-4
SECONDS_PER_STEP = 0.0


class Params(NamedTuple):
    """n_arms: K >= 2; beta: the error probability in (0, 1), delta in the source; c > 4."""

    n_arms: int
    beta: float
    c: float


class State(NamedTuple):
    """viable: bool[K], `arms` of them true; sweeps: complete ones; arm: the next one; reward_sums: float64[K]."""

    viable: np.ndarray
    arms: int
    sweeps: int
    arm: int
    reward_sums: np.ndarray


def configure(K: int, horizon: int, beta: float | None = None, c: float = 5.0) -> Params:
    """Return parameters for K >= 2 arms; beta in (0, 1), by default 1 / horizon.

    c: the source requires a constant above 4 and gives no value; 5 is our choice
    """
    at_least(2, K=K)
    if beta is None:
        at_least(2, horizon=horizon)
        beta = 1 / horizon
    strictly_within(0, 1, beta=beta)
    if not c > 4:
        raise ValueError(f"c: expected a number > 4; found {c}")
    return Params(int(K), float(beta), float(c))


@njit
def elimination_width(params, sweeps):
    """Return 2 alpha_t times sweeps, alpha_t = sqrt(ln(c K sweeps^2 / beta) / sweeps); it grows with sweeps."""
    return 2 * np.sqrt(sweeps * np.log(params.c * params.n_arms * sweeps**2 / params.beta))


@njit
def eliminate(params, arms, sweeps, viable, reward_sums):
    """Eliminate from `viable`, in place, arms whose mean is 2 alpha_t or more below the best; return how many stay.

    It compares sums, that is, means times sweeps.
    """
    highest = -np.inf
    for arm in range(len(viable)):
        if viable[arm]:
            highest = max(highest, reward_sums[arm])
    width = elimination_width(params, sweeps)
    for arm in range(len(viable)):
        if viable[arm] and highest - reward_sums[arm] >= width:
            viable[arm] = False
            arms -= 1
    return arms


@njit
def init(params):
    """Return the state before the first pull: all arms are viable."""
    K = params.n_arms
    return State(np.ones(K, np.bool_), K, 0, 0, np.zeros(K))


@njit
def choose(params, state, context, t, rng):
    """Return the viable arms in turn."""
    return state.arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward; after the last arm of a sweep, eliminate. Arrays change in place."""
    viable, arms, sweeps, _, reward_sums = state
    reward_sums[arm] += reward
    following = next_viable(viable, arm)
    if arms > 1 and following <= arm:
        sweeps += 1
        arms = eliminate(params, arms, sweeps, viable, reward_sums)
        following = next_viable(viable, len(viable) - 1)
    return State(viable, arms, sweeps, following, reward_sums)
