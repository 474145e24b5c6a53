"""ConSE with EXP3E (Li, Shi & Simchi-Levi, arXiv v1, Algorithm 1; EXP3E is Simchi-Levi & Wang 2023).

The exponents of lines 9 and 10 mix epsilon_(n-1) and epsilon_n, so the printed probabilities do not add up to 1. Here
all exponents have epsilon_(n-1), as in the proof of Theorem 2. With C as printed, 1.6e5 for 20,000 patients, no arm is
eliminated before about ten million patients.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels import trial
from privarms.kernels.trial import Design, Trial, checked_design
from privarms.ranges import positive

LABEL = "ConSE (EXP3E)"
SECONDS_PER_RUN = 5e-6
SECONDS_PER_STEP = 2e-8


class Params(NamedTuple):
    """design; C: the constant of line 3, in epsilon_n = 1 / sqrt(C n) and in the elimination at 2 sqrt(C n)."""

    design: Design
    C: float


class State(NamedTuple):
    """viable: bool[M, 2], A(x); counts: int64[M], n_j; estimates: float64[M, 2], the sums R(a|x); trial."""

    viable: np.ndarray
    counts: np.ndarray
    estimates: np.ndarray
    trial: Trial


def configure(M: int, horizon: int, alpha: float, C: float | None = None) -> Params:
    """Return parameters for M >= 1 features, n = horizon patients, alpha in [0, 1]; trials are longer for small alpha.

    C > 0: by default 4 (e^2 + 2)^2 log(2 / delta)^2 with delta = 1 / (2 n^2)
    """
    design = checked_design(M, horizon, alpha)
    if C is None:
        C = 4 * (np.exp(2) + 2) ** 2 * np.log(4 * float(design.n) ** 2) ** 2
    positive(C=C)
    return Params(design, float(C))


@njit
def init(params):
    """Return the state of line 3."""
    M = params.design.M
    return State(np.ones((M, 2), np.bool_), np.zeros(M, np.int64), np.zeros((M, 2)), trial.new_trial(M))


@njit
def chance_of_arm_1(C, count, lead):
    """Return line 10 for `count` earlier patients of the feature in which arm 1 leads by `lead` = R(1|x) - R(0|x)."""
    return 1 / (1 + np.exp(-lead / np.sqrt(C * count))) if count > 0 else 0.5


@njit(forceinline=True)
def choose(params, state, feature, t, rng):
    """Return the arm of lines 7 to 14 or, in the second half, that of the trial."""
    if t <= params.design.n // 2 and state.viable[feature, 0] and state.viable[feature, 1]:
        lead = state.estimates[feature, 1] - state.estimates[feature, 0]
        return 1 if rng.random() < chance_of_arm_1(params.C, state.counts[feature], lead) else 0
    return trial.choose(state.trial, state.viable, feature, rng)


@njit(forceinline=True)
def learn(params, state, feature, arm, reward, t, rng):
    """Update the state: lines 15 to 21 in the first half, 33 in the second."""
    middle, second_half = params.design.n // 2, state.trial
    if t > middle:
        # Line 33 follows the half's last patient even in an incomplete trial, so the estimate is updated each time.
        if trial.count(second_half, feature, arm, reward) >= 0:
            total = second_half.reward_sums[feature, 1] / 0.5 - second_half.reward_sums[feature, 0] / 0.5
            second_half.estimates[feature] = total / second_half.lengths[feature]
        return state
    both = state.viable[feature, 0] and state.viable[feature, 1]
    if both:
        lead = state.estimates[feature, 1] - state.estimates[feature, 0]
        chance = chance_of_arm_1(params.C, state.counts[feature], lead)
        state.estimates[feature, arm] += reward / (chance if arm == 1 else 1 - chance)
    state.counts[feature] += 1
    if both:
        highest = max(state.estimates[feature, 0], state.estimates[feature, 1])
        for a in range(2):
            if highest - state.estimates[feature, a] > 2 * np.sqrt(params.C * state.counts[feature]):
                state.viable[feature, a] = False
    if t == middle:
        second_half.floor_T_min[0] = int(trial.T_min(params.design, state.counts))
        second_half.lengths.fill(second_half.floor_T_min[0])
    return state
