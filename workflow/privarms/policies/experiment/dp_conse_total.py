"""DP-ConSE with epsilon for the whole experiment, ours: a repair of Algorithm 2 of Li, Shi & Simchi-Levi (ICML 2024).

`dp_conse`, the printed algorithm, uses the whole epsilon for every release. Here the experiment is (epsilon,
1/n)-private. Neighbours: one patient has another feature, arm or reward. If a patient leaves one batch and joins
another, that batch is longer by one in one run and ends at the same patient, for a ratio of e^(epsilon_B). One mean of
each of the two batches moves by at most 1 / N, N the arm's patients. T_min moves by at most 1. All lengths start from
one noisy copy of it, and functions of that copy cost nothing more. So a patient of the first half costs twice
epsilon_B, twice epsilon_mu and once the shared length: 2/8 + 2/8 + 1/2. A patient of the second half costs the ends of
two trials and two means in estimates: 2/4 + 2/4.

Scales are 1 / (epsilon_mu N). An arm has fewer than N patients with probability at most 1 / (8 n) per noise and arm
that N depends on, four in all. The private part of R_e and c_e grow with the noise. T_min is at least 16 log(8 n) /
epsilon, and the noisy lengths are certain to exceed 5/8 of it.
"""

from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.kernels import trial
from privarms.kernels.trial import Design
from privarms.mechanisms.lap_plus import LONGEST, lap_plus, two_sided
from privarms.policies.experiment.dp_conse import Rules, State, choose, init, learn
from privarms.ranges import of_choices, positive

# Shares of epsilon. First half: of a batch's length, of a mean, and of the length that all trials share. Second half:
# of a trial's own length and of its estimate; a patient affects two of each.
BATCH_LENGTH, MEAN = 1 / 8, 1 / 8
SHARED_LENGTH, OWN_LENGTH, ESTIMATE = 1 / 2, 1 / 4, 1 / 4

FAST_PATHS_OF = "dp_conse"
LABEL = "DP-ConSE (total)"
SECONDS_PER_RUN = 6e-6
SECONDS_PER_STEP = 0.0
# Its random streams are those of dp_conse with the parameter budget = total.
STREAMED_AS = {"policy": "dp_conse"}

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]


class Params(NamedTuple):
    """design: M, n, alpha and epsilon, the budget of the whole experiment."""

    design: Design
    rules: Rules


@of_choices
def configure(M: int, horizon: int, alpha: float, epsilon: float, budget: Literal["total"] = "total") -> Params:
    """Return parameters for M >= 1 features, n = horizon patients, alpha in [0, 1] and a privacy budget epsilon > 0.

    budget: "total"; this column of the results distinguishes these cells from those of `dp_conse`
    """
    positive(epsilon=epsilon)
    batches = epoch_length, elimination_margin, mean_scale, draw_length
    rules = Rules(T_min, *batches, planned_length, trial_length, estimate_scale)
    return Params(trial.checked_design(M, horizon, alpha, epsilon), rules)


@njit
def certain(n):
    """Return log(8 n): a noise exceeds this multiple of its scale with probability at most 1 / (8 n)."""
    return np.log(8.0 * n)


@njit
def certain_count(n, patients):
    """Return a lower bound, >= 1, of an arm's share of `patients`; it errs with probability 1/(8 n) (Hoeffding)."""
    patients = max(patients, 0.0)
    return max(1.0, patients / 2 - np.sqrt(patients * certain(n) / 2))


@njit
def epoch_length(params, epoch):
    """Return R_e, a real number, with a mean's share of epsilon."""
    n, gap = params.design.n, 2.0**-epoch
    samples = 32 * np.log(16 * n * epoch**2) / gap**2
    private_samples = 8 * np.log(8 * n * epoch**2) / (MEAN * params.design.epsilon * gap)
    return max(samples, private_samples) + 1


@njit
def mean_scale(params, epoch):
    """Return the scale of the noise of means, 1 / (epsilon_mu N), N the certain count of each arm of a batch."""
    n, epsilon = params.design.n, params.design.epsilon
    patients = epoch_length(params, epoch) - certain(n) / (BATCH_LENGTH * epsilon)
    return 1 / (MEAN * epsilon * certain_count(n, patients))


@njit
def privacy_radius(params, epoch):
    """Return c_e: log(8 n e^2) times the scale of the noise of means."""
    return np.log(8 * params.design.n * epoch**2) * mean_scale(params, epoch)


@njit
def elimination_margin(params, epoch):
    """Return 2 h_e + 2 c_e of line 12, h_e as printed."""
    confidence_radius = np.sqrt(np.log(16 * params.design.n * epoch**2) / (2 * epoch_length(params, epoch)))
    return 2 * confidence_radius + 2 * privacy_radius(params, epoch)


@njit
def draw_length(params, epoch, rng):
    """Return R_e^j, a float: R_e with the noise of Lap+, for a batch length's share of epsilon."""
    return float(lap_plus(epoch_length(params, epoch), 2 * BATCH_LENGTH * params.design.epsilon, rng))


@njit
def T_min(design, counts):
    """Return max(16 log(8 n) / epsilon, min_j f_j^(1 - alpha)); counts: int64[M], f_j, of the first half."""
    return max(16 * certain(design.n) / design.epsilon, float(counts.min()) ** (1 - design.alpha))


@njit
def planned_length(params, least, rng):
    """Return the length that all trials share, at least 1: floor(T_min) with noise, for T_min = least."""
    return max(1, int(min(least, LONGEST)) + two_sided(2 * SHARED_LENGTH * params.design.epsilon, rng))


@njit
def trial_length(params, planned, rng):
    """Return T_j: the planned length with noise, cut off at 0."""
    return max(0, planned + two_sided(2 * OWN_LENGTH * params.design.epsilon, rng))


@njit
def estimate_scale(params, planned, length):
    """Return the scale of an estimate's noise, 1 / (epsilon_mu N), N the certain count of each arm of a trial.

    It depends on the planned length, which is released, and not on the trial's own.
    """
    n, epsilon = params.design.n, params.design.epsilon
    return 1 / (ESTIMATE * epsilon * certain_count(n, planned - certain(n) / (OWN_LENGTH * epsilon)))
