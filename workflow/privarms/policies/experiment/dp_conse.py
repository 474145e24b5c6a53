"""DP-ConSE: successive elimination in epochs for every feature (Li, Shi & Simchi-Levi, ICML 2024, Algorithm 2).

`conse_se` is the same without privacy (epsilon = inf), Algorithm 1; arXiv v1 has it as Algorithm 2 too. Our repair,
which spends epsilon on the whole experiment, is `dp_conse_total`.

Assumptions: R_e is a real number, so an epoch without privacy takes ceil(R_e) patients. The first patient of a feature
is an epoch of its own, e = 0 with R_0 = 0, whose reward is forgotten. With privacy R_e^j is drawn as Lap+(R_e) when an
epoch begins (arXiv v1, line 15), and an epoch takes at least one patient. h_e, c_e and the noise of the means use R_e
itself. The mean of an arm without a patient is 0. Without privacy T_j = floor(T_min). The text and its own proof differ
in three points, and this follows the text:

- h_e = sqrt(log(16 n e^2) / (2 R_e)) counts R_e rewards for each arm, but two arms share R_e patients.
- c_e = 2 log(8 n e^2) / (R_e epsilon) in the list of sequences; the proof of Lemma 3.1 has half of it.
- Lap(2 / (epsilon R_e)) hides a change of 2 / R_e in a mean of R_e / 2 rewards at the cost of epsilon, while the proof
  allows epsilon / 2. `noise` multiplies the scale.

Each release uses the whole epsilon. If one patient of the first half has another feature, two batches' ends move
(epsilon / 2 each), two means (epsilon each) and M trials' lengths (epsilon / 2 each): (3 + M / 2) epsilon.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels import trial
from privarms.kernels.trial import Design, Trial
from privarms.mechanisms.lap_plus import LONGEST, lap_plus
from privarms.mechanisms.laplace import laplace
from privarms.ranges import positive

LABEL = "DP-ConSE"
SECONDS_PER_RUN = 6e-6
SECONDS_PER_STEP = 0.0


class Rules(NamedTuple):
    """The functions of this module that a repair can replace, by their names; T_min is that of `kernels.trial`."""

    T_min: Callable
    epoch_length: Callable
    elimination_margin: Callable
    mean_scale: Callable
    draw_length: Callable
    planned_length: Callable
    trial_length: Callable
    estimate_scale: Callable


class Params(NamedTuple):
    """Parameters of Algorithm 2. noise: multiple of the Laplace scales of means and estimates, 1 as printed."""

    design: Design
    noise: float
    rules: Rules


class State(NamedTuple):
    """State of the algorithm; arrays change in place.

    viable: bool[M, 2], the sets S_j; epochs: int64[M], e_j; lengths: float64[M], R_e^j; rounds: int64[M], r_j
    counts: int64[M], n_j in the first half; pulls: int64[M, 2], reward_sums: float64[M, 2], of the epoch
    trial: the second half
    """

    viable: np.ndarray
    epochs: np.ndarray
    lengths: np.ndarray
    rounds: np.ndarray
    counts: np.ndarray
    pulls: np.ndarray
    reward_sums: np.ndarray
    trial: Trial


def configure(M: int, horizon: int, alpha: float, epsilon: float, noise: float = 1.0) -> Params:
    """Return parameters for M >= 1 features, n = horizon patients, alpha in [0, 1] and a privacy budget epsilon > 0.

    noise: multiple of the Laplace scales of means and estimates; 1 as printed, which breaks the promised epsilon
    """
    positive(epsilon=epsilon)
    return parameters(trial.checked_design(M, horizon, alpha, epsilon), noise)


def parameters(design: Design, noise: float = 1.0) -> Params:
    """Return parameters of a checked design. Raise ValueError."""
    positive(noise=noise)
    batches = epoch_length, elimination_margin, mean_scale, draw_length
    rules = Rules(trial.T_min, *batches, planned_length, trial_length, estimate_scale)
    return Params(design, float(noise), rules)


@njit
def epoch_length(params, epoch):
    """Return R_e, a real number."""
    n, gap = params.design.n, 2.0**-epoch
    samples = 32 * np.log(16 * n * epoch**2) / gap**2
    private_samples = 8 * np.log(8 * n * epoch**2) / (params.design.epsilon * gap)
    return max(samples, private_samples) + 1


@njit
def confidence_radius(params, epoch):
    """Return h_e."""
    return np.sqrt(np.log(16 * params.design.n * epoch**2) / (2 * epoch_length(params, epoch)))


@njit
def privacy_radius(params, epoch):
    """Return c_e, 0 without privacy."""
    return 2 * np.log(8 * params.design.n * epoch**2) / (epoch_length(params, epoch) * params.design.epsilon)


@njit
def elimination_margin(params, epoch):
    """Return 2 h_e + 2 c_e of line 12."""
    return 2 * confidence_radius(params, epoch) + 2 * privacy_radius(params, epoch)


@njit
def mean_scale(params, epoch):
    """Return the scale of the Laplace noise of line 11, 2 / (epsilon R_e), 0 without privacy."""
    return 2 * params.noise / (params.design.epsilon * epoch_length(params, epoch))


@njit
def draw_length(params, epoch, rng):
    """Return R_e^j, a float: Lap+(R_e), or R_e without privacy."""
    length = epoch_length(params, epoch)
    if params.design.epsilon < np.inf:
        return float(lap_plus(length, params.design.epsilon, rng))
    return length


@njit
def released_mean(scale, pulls, reward_sum, rng):
    """Return an arm's mean in an epoch, 0 without a patient, plus Laplace noise of this scale: line 11."""
    mean = reward_sum / pulls if pulls > 0 else 0.0
    return mean + laplace(scale, rng) if scale > 0 else mean


@njit
def eliminated_arm(scale, margin, pulls, reward_sums, rng):
    """Return the arm that lines 10 to 12 eliminate at the end of an epoch, or -1.

    scale: of the noise of means; margin: 2 h_e + 2 c_e; pulls, reward_sums: int64[2] and float64[2], of the epoch
    """
    first = released_mean(scale, pulls[0], reward_sums[0], rng)
    second = released_mean(scale, pulls[1], reward_sums[1], rng)
    if second - first > margin:
        return 0
    if first - second > margin:
        return 1
    return -1


@njit
def planned_length(params, least, rng):
    """Return floor(T_min), which all trials share, for T_min = least."""
    return int(min(least, LONGEST))


@njit
def trial_length(params, planned, rng):
    """Return T_j of line 27 for planned = floor(T_min): Lap+ of it, or itself without privacy."""
    return lap_plus(planned, params.design.epsilon, rng) if params.design.epsilon < np.inf else planned


@njit
def estimate_scale(params, planned, length):
    """Return the scale of the Laplace noise of line 36, 2 / (epsilon T_j), for T_j = length; 0 without privacy."""
    return 2 * params.noise / (params.design.epsilon * length)


@njit
def release(params, planned, length, pulls, reward_sums, rng):
    """Return the estimate of line 36 of a trial of T_j = length patients, from int64[2] and float64[2]."""
    estimate = trial.mean_difference(pulls, reward_sums)
    scale = params.rules.estimate_scale(params, planned, length)
    return estimate + laplace(scale, rng) if scale > 0 else estimate


@njit
def init(params):
    """Return the state of lines 1 and 2: both arms viable, epoch 0."""
    M = params.design.M
    epochs, rounds, counts = np.zeros(M, np.int64), np.zeros(M, np.int64), np.zeros(M, np.int64)
    pulls, sums = np.zeros((M, 2), np.int64), np.zeros((M, 2))
    return State(np.ones((M, 2), np.bool_), epochs, np.zeros(M), rounds, counts, pulls, sums, trial.new_trial(M))


@njit(forceinline=True)
def choose(params, state, feature, t, rng):
    """Return a random arm while both are viable (line 7) or in the trial, else the viable one (line 19)."""
    # In the first half all lengths of trials are 0.
    return trial.choose(state.trial, state.viable, feature, rng)


@njit(forceinline=True)
def learn(params, state, feature, arm, reward, t, rng):
    """Update the state: lines 5 to 16; after the first half's last patient, 22 to 29; in the second half, 32 to 36."""
    middle, second_half, rules = params.design.n // 2, state.trial, params.rules
    if t > middle:
        if trial.count(second_half, feature, arm, reward) == 0:
            planned, length = second_half.floor_T_min[0], second_half.lengths[feature]
            pulls, reward_sums = second_half.pulls[feature], second_half.reward_sums[feature]
            second_half.estimates[feature] = release(params, planned, length, pulls, reward_sums, rng)
        return state
    if count(state, feature, arm, reward):
        end_epoch(params, state, feature, rng)
    if t == middle:
        second_half.floor_T_min[0] = rules.planned_length(params, rules.T_min(params.design, state.counts), rng)
        for j in range(params.design.M):
            second_half.lengths[j] = rules.trial_length(params, second_half.floor_T_min[0], rng)
    return state


@njit(forceinline=True)
def count(state, feature, arm, reward):
    """Count a patient of the first half, lines 5 to 9; return whether the feature's epoch is over."""
    state.counts[feature] += 1
    if not (state.viable[feature, 0] and state.viable[feature, 1]):
        return False
    state.pulls[feature, arm] += 1
    state.reward_sums[feature, arm] += reward
    state.rounds[feature] += 1
    return state.rounds[feature] >= state.lengths[feature]


@njit(forceinline=True)
def end_epoch(params, state, feature, rng):
    """Eliminate an arm, lines 10 to 12, and begin the next epoch, lines 14 to 16."""
    epoch, rules = state.epochs[feature], params.rules
    if epoch >= 1:
        scale, margin = rules.mean_scale(params, epoch), rules.elimination_margin(params, epoch)
        gone = eliminated_arm(scale, margin, state.pulls[feature], state.reward_sums[feature], rng)
        if gone >= 0:
            state.viable[feature, gone] = False
    state.epochs[feature], state.lengths[feature] = epoch + 1, rules.draw_length(params, epoch + 1, rng)
    state.rounds[feature] = 0
    state.pulls[feature].fill(0)
    state.reward_sums[feature].fill(0.0)
