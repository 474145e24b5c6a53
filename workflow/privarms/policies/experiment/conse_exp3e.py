"""ConSE with EXP3E (Li, Shi & Simchi-Levi, arXiv v1, Algorithm 1; EXP3E is Simchi-Levi & Wang 2023).

The exponents of lines 9 and 10 mix epsilon_(n-1) and epsilon_n, so that the printed probabilities do not add up to 1;
all have epsilon_(n-1) here, as in the proof of Theorem 2. With C as printed, 1.6e5 for 20,000 patients, nothing is
eliminated before some ten million patients.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.environments._patients import count_arrivals, gap, worse_arm
from privarms.jit.intrinsics import either
from privarms.policies import Policy
from privarms.policies.experiment import BOTH
from privarms.policies.experiment import _trial as trial
from privarms.policies.experiment._trial import Design, Trial, checked_design

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
    """Parameters for M >= 1 features, n = horizon patients and alpha in [0, 1], the smaller the longer the trial.

    C > 0: by default 4 (e^2 + 2)^2 log(2 / delta)^2 with delta = 1 / (2 n^2)
    """
    if C is not None and not 0 < C < np.inf:
        raise ValueError(f"C: expected a finite number > 0; found {C}")
    design = checked_design(M, horizon, alpha, inverse_propensity=True)
    if C is None:
        C = 4 * (np.exp(2) + 2) ** 2 * np.log(4 * float(design.n) ** 2) ** 2
    return Params(design, float(C))


@njit
def init(params):
    """Line 3."""
    M = params.design.M
    return State(np.ones((M, 2), np.bool_), np.zeros(M, np.int64), np.zeros((M, 2)), trial.new_trial(params.design))


@njit
def chance_of_arm_1(C, count, lead):
    """Line 10, for `count` earlier patients of the feature in which arm 1 leads by `lead` = R(1|x) - R(0|x)."""
    return 1 / (1 + np.exp(-lead / np.sqrt(C * count))) if count > 0 else 0.5


@njit(forceinline=True)
def choose(params, state, feature, t, rng):
    """Lines 7 to 14; the second half is the trial's."""
    if t > params.design.n // 2:
        return trial.choose(state.trial, state.viable, feature, rng)
    if state.viable[feature, 0] and state.viable[feature, 1]:
        return 1 if rng.random() < _chance_of_arm_1(params, state, feature) else 0
    return 1 if state.viable[feature, 1] else 0


@njit
def _chance_of_arm_1(params, state, feature):
    lead = state.estimates[feature, 1] - state.estimates[feature, 0]
    return chance_of_arm_1(params.C, state.counts[feature], lead)


@njit(forceinline=True)
def learn(params, state, feature, arm, reward, t, rng):
    """Lines 15 to 21 in the first half, line 29 in the second."""
    middle = params.design.n // 2
    if t > middle:
        trial.learn(params.design, state.trial, feature, arm, reward, rng)
        return state
    both = state.viable[feature, 0] and state.viable[feature, 1]
    if both:
        chance = _chance_of_arm_1(params, state, feature)
        state.estimates[feature, arm] += reward / (chance if arm == 1 else 1 - chance)
    state.counts[feature] += 1
    if both:
        highest = max(state.estimates[feature, 0], state.estimates[feature, 1])
        for a in range(2):
            if highest - state.estimates[feature, a] > 2 * np.sqrt(params.C * state.counts[feature]):
                state.viable[feature, a] = False
    if t == middle:
        trial.start(params.design, state.trial, state.counts, rng)
    return state


@njit
def simulate(params, environment, rng, record):
    """What `play` does, in the same law: the first half patient by patient until an arm goes, the rest at once."""
    design = params.design
    counts = np.empty(design.M, np.int64)
    count_arrivals(environment, 0, rng, counts)
    for feature in range(design.M):
        wrong = _first_half(params, environment, feature, counts[feature], rng, record)
        record.regret[feature] = wrong * gap(environment, feature)
        record.first_half_regret[feature] = record.regret[feature]
    least = trial.T_min(design, counts)
    count_arrivals(environment, 1, rng, counts)
    for feature in range(design.M):
        record.floor_T_min[feature] = int(least)
        record.length[feature] = int(least)
        trial.run_trial(design, environment, feature, counts[feature], record.kept[feature], rng, record)


@njit
def _first_half(params, environment, feature, patients, rng, record):
    """How often the worse arm is pulled among so many patients; writes `kept` and `eliminated_after`."""
    worse = worse_arm(environment, feature)
    record.kept[feature] = BOTH
    record.eliminated_after[feature] = np.nan
    lead, exponent, pulls_of_1 = 0.0, 0.0, 0
    for count in range(1, patients + 1):
        odds = np.exp(-exponent)
        # Without a branch, which could not be predicted.
        arm = int(rng.random() * (1 + odds) < 1)
        pulls_of_1 += arm
        first, second = environment.outcomes(environment, feature, rng)
        # The next patient waits for the lead, but not where it stays as it is, nor for a quotient that counts nothing.
        if first != 0:
            lead += either(arm == 1, second * (1 + odds), -first * (1 + 1 / odds))
        elif second != 0:
            lead += either(arm == 1, second * (1 + odds), 0.0)
        # epsilon_n times the lead: the exponent of the next patient, above 2 where the lead is above 2 sqrt(C n).
        exponent = lead / np.sqrt(params.C * count)
        if abs(exponent) > 2:
            record.eliminated_after[feature] = count
            record.kept[feature] = 1 if exponent > 0 else 0
            wrong = pulls_of_1 if worse == 1 else count - pulls_of_1
            return wrong + (patients - count if record.kept[feature] == worse else 0)
    return pulls_of_1 if worse == 1 else patients - pulls_of_1


POLICY = Policy(init, choose, learn)
SIMULATE = {"features_bernoulli": simulate, "features_normal": simulate}
