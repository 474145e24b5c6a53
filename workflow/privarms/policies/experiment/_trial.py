"""The second half: T_j patients of every feature in a randomised trial, the estimate, then the arm that is left.

Lines 25 to 38 of Algorithm 1 and 26 to 40 of Algorithm 2 (Li, Shi & Simchi-Levi, ICML 2024); lines 15 to 17 and 23 to
33 of Algorithm 1 in arXiv v1. Readings of the text: without privacy the trial has T_j = floor(T_min) patients; the
means start at zero with the second half; the mean of an arm that no patient of a trial got is 0, as initialised; a
feature with both arms left after its trial gets a fresh random arm each time. With the budget `total` lengths and
estimates are released otherwise; see `dp_conse`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.environments._patients import gap, worse_arm
from privarms.jit.binomial import binomial
from privarms.mechanisms.lap_plus import LONGEST, lap_plus, two_sided
from privarms.mechanisms.laplace import laplace
from privarms.policies.experiment import BOTH

# What the releases of the second half get of epsilon with the budget `total`: the length that all trials share, to
# which a patient of the first half may have come; a trial's own length and its estimate, of which a patient of the
# second half touches two each.
SHARED_LENGTH, OWN_LENGTH, ESTIMATE = 1 / 2, 1 / 4, 1 / 4


class Design(NamedTuple):
    """What the second half needs.

    M: features; n: patients, of whom floor(n/2) come in the first half; alpha: in [0, 1]
    epsilon: privacy budget, inf without privacy
    noise: multiple of the Laplace scales of means and estimates; 1 as printed
    inverse_propensity: whether the estimate is Horvitz and Thompson's (arXiv v1, line 33), or the mean difference
    total: whether epsilon is the budget of the whole experiment, see `dp_conse`
    """

    M: int
    n: int
    alpha: float
    epsilon: float
    noise: float
    inverse_propensity: bool
    total: bool


class Trial(NamedTuple):
    """Where the trials stand; arrays change in place.

    floor_T_min: int64[1], with the budget `total` the noisy length that all trials share; lengths: int64[M], T_j
    arrivals: int64[M], patients in the second half
    pulls: int64[M, 2], reward_sums: float64[M, 2], in the trials; estimates: float64[M], nan before they are released
    """

    floor_T_min: np.ndarray
    lengths: np.ndarray
    arrivals: np.ndarray
    pulls: np.ndarray
    reward_sums: np.ndarray
    estimates: np.ndarray


def checked_design(
    M: int,
    n: int,
    alpha: float,
    epsilon: float = np.inf,
    noise: float = 1.0,
    inverse_propensity: bool = False,
    total: bool = False,
) -> Design:
    """A design of checked parameters. Raises ValueError."""
    if M < 1:
        raise ValueError(f"M: expected at least 1 feature; found {M}")
    if n < 3:
        raise ValueError(f"horizon: expected at least 3 rounds; found {n}")
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha: expected a number in [0, 1]; found {alpha}")
    if not epsilon > 0:
        raise ValueError(f"epsilon: expected a number > 0; found {epsilon}")
    if not 0 < noise < np.inf:
        raise ValueError(f"noise: expected a finite multiple > 0 of the Laplace scale; found {noise}")
    return Design(int(M), int(n), float(alpha), float(epsilon), float(noise), bool(inverse_propensity), bool(total))


@njit
def T_min(design, counts):
    """max(log n, min_j f_j^(1 - alpha)), or with log n / epsilon; counts: int64[M], f_j, of the first half.

    With the budget `total` the least is 16 log(8 n) / epsilon: above 5/8 of it the noisy lengths are certain.
    """
    least = np.log(design.n)
    if design.total:
        least = 16 * certain(design.n) / design.epsilon
    elif design.epsilon < np.inf:
        least /= design.epsilon
    # The power is monotone: the smallest count has the smallest.
    return max(least, float(counts.min()) ** (1 - design.alpha))


@njit
def certain(n):
    """log(8 n): so many times its scale a noise exceeds with probability 1 / (8 n) at most."""
    return np.log(8.0 * n)


@njit
def certain_count(n, patients):
    """How many of so many patients an arm gets at least, with probability 1 - 1/(8 n) (Hoeffding); 1 or more."""
    patients = max(patients, 0.0)
    return max(1.0, patients / 2 - np.sqrt(patients * certain(n) / 2))


@njit
def planned_length(design, least, rng):
    """The length that all trials share, for T_min = least: floor(T_min), with the budget `total` with noise."""
    planned = int(min(least, LONGEST))
    if design.total:
        planned = max(1, planned + two_sided(2 * SHARED_LENGTH * design.epsilon, rng))
    return planned


@njit
def trial_length(design, planned, rng):
    """T_j: the planned length, or Lap+ of it with privacy; with the budget `total` with noise and cut off at 0."""
    if design.total:
        return max(0, planned + two_sided(2 * OWN_LENGTH * design.epsilon, rng))
    if design.epsilon < np.inf:
        return lap_plus(planned, design.epsilon, rng)
    return planned


@njit
def estimate_scale(design, planned, length):
    """The scale of an estimate's Laplace noise: 2 / (epsilon T_j) in Algorithm 2's line 36.

    With the budget `total` 1 / (epsilon / 4 N), N what each arm of a trial has with certainty: it depends on the
    planned length, which is released, and not on the trial's own.
    """
    if design.total:
        patients = planned - certain(design.n) / (OWN_LENGTH * design.epsilon)
        return design.noise / (ESTIMATE * design.epsilon * certain_count(design.n, patients))
    return 2 * design.noise / (design.epsilon * length)


@njit
def mean_difference(pulls, reward_sums):
    """Mean of arm 1 less mean of arm 0, 0 for an arm without rewards; int64[2] and float64[2]."""
    first = reward_sums[0] / pulls[0] if pulls[0] > 0 else 0.0
    second = reward_sums[1] / pulls[1] if pulls[1] > 0 else 0.0
    return second - first


@njit
def release(design, planned, length, pulls, reward_sums, rng):
    """The estimate of a trial of T_j = length patients, of which so many were planned: Algorithm 2's line 36."""
    estimate = mean_difference(pulls, reward_sums)
    if design.epsilon < np.inf:
        estimate += laplace(estimate_scale(design, planned, length), rng)
    return estimate


@njit
def new_trial(design):
    """Before the second half."""
    M = design.M
    return Trial(
        np.zeros(1, np.int64),
        np.zeros(M, np.int64),
        np.zeros(M, np.int64),
        np.zeros((M, 2), np.int64),
        np.zeros((M, 2)),
        np.full(M, np.nan),
    )


@njit
def start(design, trial, counts, rng):
    """At the end of the first half, with counts f_j, int64[M]: T_min and the lengths."""
    trial.floor_T_min[0] = planned_length(design, T_min(design, counts), rng)
    for feature in range(design.M):
        trial.lengths[feature] = trial_length(design, trial.floor_T_min[0], rng)


@njit(forceinline=True)
def choose(trial, viable, feature, rng):
    """A random arm inside the trial or while both are viable, else the viable one; viable: bool[M, 2]."""
    both = viable[feature, 0] and viable[feature, 1]
    if both or trial.arrivals[feature] < trial.lengths[feature]:
        return 1 if rng.random() < 0.5 else 0
    return 1 if viable[feature, 1] else 0


@njit(forceinline=True)
def learn(design, trial, feature, arm, reward, rng):
    """Count the patient; inside the trial, count the reward, and release the estimate where it is due."""
    trial.arrivals[feature] += 1
    length = trial.lengths[feature]
    if trial.arrivals[feature] > length:
        return
    trial.pulls[feature, arm] += 1
    trial.reward_sums[feature, arm] += reward
    if design.inverse_propensity:
        # Line 33 comes after the last patient, whether or not the trial is complete.
        total = trial.reward_sums[feature, 1] / 0.5 - trial.reward_sums[feature, 0] / 0.5
        trial.estimates[feature] = total / length
    elif trial.arrivals[feature] == length:
        pulls, reward_sums = trial.pulls[feature], trial.reward_sums[feature]
        trial.estimates[feature] = release(design, trial.floor_T_min[0], length, pulls, reward_sums, rng)


@njit
def run_trial(design, environment, feature, arrivals, kept, rng, record):
    """The second half of one feature at once, in the law of `choose` and `learn`.

    arrivals: how many patients of the feature come; kept: the arm that is left, or -1
    record.length[feature] is T_j, record.floor_T_min[feature] the planned length; the feature's other rows of the
    second half are written, the regret is added.
    """
    length = record.length[feature]
    inside = min(arrivals, length)
    pulls, reward_sums = record.pulls[feature], record.reward_sums[feature]
    pulls[1] = binomial(inside, 0.5, rng) if inside > 0 else 0
    pulls[0] = inside - pulls[1]
    for arm in range(2):
        reward_sums[arm] = environment.pull_sum(environment, feature, arm, pulls[arm], rng)
    record.estimate[feature] = np.nan
    if design.inverse_propensity:
        if inside > 0:
            record.estimate[feature] = 2 * (reward_sums[1] - reward_sums[0]) / length
    elif length > 0 and arrivals >= length:
        record.estimate[feature] = release(design, record.floor_T_min[feature], length, pulls, reward_sums, rng)
    worse = worse_arm(environment, feature)
    wrong = pulls[worse]
    after = arrivals - inside
    if after > 0:
        if kept == BOTH:
            wrong += binomial(after, 0.5, rng)
        elif kept == worse:
            wrong += after
    record.regret[feature] += gap(environment, feature) * wrong
