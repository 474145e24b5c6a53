"""Private halving: phase m pulls every remaining arm first * 2^m times in turn, then eliminates the worse half.

Each reward enters only the noisy sum of its arm and phase, so the choices are epsilon-private.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.round_robin import next_viable
from privarms.mechanisms.laplace import laplace

LABEL = "Private halving"  # name in legends
SECONDS_PER_RUN = 2e-5  # estimates that set the size of jobs but change no result
SECONDS_PER_STEP = 1e-10


class Params(NamedTuple):
    """n_arms: K >= 2; epsilon: privacy budget > 0; first: pulls of each arm in the first phase."""

    n_arms: int
    epsilon: float
    first: int


class State(NamedTuple):
    """viable: bool[K], remaining arms; reward_sums: float64[K], of this phase; left: remaining rounds of it."""

    viable: np.ndarray
    reward_sums: np.ndarray
    phase: int
    left: int
    arm: int


def configure(K: int, epsilon: float, first: int = 16) -> Params:
    """Return the parameters: K >= 2 arms, epsilon > 0, `first` >= 1 pulls of each arm in phase 0."""
    if first < 1:
        raise ValueError(f"first: expected at least 1 pull; found {first}")
    return Params(int(K), float(epsilon), int(first))


@njit
def phase_length(params, viable, phase):
    """Return the number of rounds of a phase."""
    return viable.sum() * params.first * 2**phase


@njit
def halve(params, viable, reward_sums, rng):
    """Eliminate the n // 2 of n arms with the smallest noisy sums, at the end of a phase."""
    noisy = np.full(len(viable), np.inf)
    for arm in range(len(viable)):
        if viable[arm]:
            noisy[arm] = reward_sums[arm] + laplace(1 / params.epsilon, rng)
    for _ in range(viable.sum() // 2):
        worst = np.argmin(noisy)
        viable[worst] = False
        noisy[worst] = np.inf


@njit
def init(params):
    """Return the state before round 1: phase 0 with all arms."""
    viable = np.ones(params.n_arms, np.bool_)
    return State(viable, np.zeros(params.n_arms), 0, phase_length(params, viable, 0), 0)


@njit
def choose(params, state, context, t, rng):
    """Return the next of the remaining arms, in turn."""
    return state.arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward, and halve after the last round of a phase. Arrays change in place."""
    viable, reward_sums, phase, left, _ = state
    reward_sums[arm] += reward
    left -= 1
    if left > 0:
        return State(viable, reward_sums, phase, left, next_viable(viable, arm))
    halve(params, viable, reward_sums, rng)
    reward_sums[:] = 0.0
    phase += 1
    return State(viable, reward_sums, phase, phase_length(params, viable, phase), next_viable(viable, len(viable) - 1))
