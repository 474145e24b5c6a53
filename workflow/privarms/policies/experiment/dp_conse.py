"""DP-ConSE: successive elimination in epochs for every feature (Li, Shi & Simchi-Levi, ICML 2024, Algorithm 2).

`conse_se` is the same without privacy (epsilon = inf), Algorithm 1; arXiv v1 has it as Algorithm 2 too.

Readings of the text: R_e is a real number, so that an epoch without privacy takes ceil(R_e) patients; the first
patient of a feature is an epoch of its own, e = 0 with R_0 = 0, whose reward is forgotten; with privacy R_e^j is drawn
as Lap+(R_e) when an epoch begins (arXiv v1, line 15), and an epoch takes one patient at least; h_e, c_e and the noise
of the means use R_e itself; the mean of an arm without a patient is 0. Where the text and its own proof differ, both
can be run:

- h_e = sqrt(log(16 n e^2) / (2 R_e)) counts R_e rewards for each arm, but R_e patients are shared by two arms.
  confidence "printed" is this, "per_arm" has R_e / 2 in its place.
- c_e = 2 log(8 n e^2) / (R_e epsilon) in the list of sequences, half of it in the proof of Lemma 3.1: width "printed"
  or "proof".
- Lap(2 / (epsilon R_e)) hides a change of 2 / R_e in a mean of R_e / 2 rewards at the cost of epsilon, while the proof
  allows epsilon / 2: `noise` multiplies the scale.
- budget "printed" gives every release what Algorithm 2 does. A patient of the first half who comes with another feature
  moves the ends of two batches (epsilon / 2 each), two means (epsilon each) and M trials' lengths (epsilon / 2 each):
  (3 + M / 2) epsilon. budget "total" keeps epsilon for the whole experiment, with delta = 1 / n:

  Neighbours: one patient has another feature, arm or reward. Where a patient leaves one batch and joins another, that
  batch is longer by one in one run and its end the same, for a ratio of e^(epsilon_B); one mean of each of the two
  batches moves by 1 / N at most, N the arm's patients. T_min moves by 1 at most; the lengths start from one noisy copy
  of it, and what depends on that copy alone costs nothing more. So a patient of the first half costs twice epsilon_B,
  twice epsilon_mu and once the shared length: 2/8 + 2/8 + 1/2; one of the second half the ends of two trials and two
  means in estimates: 2/4 + 2/4. Scales are 1 / (epsilon_mu N) with an N that no arm falls below, but with probability
  1 / (8 n) for each noise and each arm on which it rests, four in all. R_e's part for privacy and c_e grow with the
  noise.
"""

from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.environments._patients import count_arrivals, gap, worse_arm
from privarms.jit.binomial import binomial
from privarms.mechanisms.lap_plus import lap_plus
from privarms.mechanisms.laplace import laplace
from privarms.policies import Policy
from privarms.policies.experiment import BOTH
from privarms.policies.experiment import _trial as trial
from privarms.policies.experiment._trial import Design, Trial

# What a batch's length and a mean get of epsilon with the budget `total`.
BATCH_LENGTH, MEAN = 1 / 8, 1 / 8

LABEL = "DP-ConSE"
SECONDS_PER_RUN = 6e-6
SECONDS_PER_STEP = 0.0


class Params(NamedTuple):
    """design; confidence_share: the part of R_e that h_e counts for an arm; width: multiple of log(8 n e^2) in c_e."""

    design: Design
    confidence_share: float
    width: float


class State(NamedTuple):
    """Where the algorithm stands; arrays change in place.

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


def configure(
    M: int,
    horizon: int,
    alpha: float,
    epsilon: float,
    confidence: Literal["printed", "per_arm"] = "printed",
    width: Literal["printed", "proof"] = "printed",
    noise: float = 1.0,
    budget: Literal["printed", "total"] = "printed",
) -> Params:
    """Parameters for M >= 1 features, n = horizon patients, alpha in [0, 1] and a privacy budget epsilon > 0.

    confidence, width: readings of h_e and c_e, see the module
    noise: multiple of the Laplace scales of means and estimates; 1 as printed, which does not keep what is promised
    budget: what epsilon is for, each release as printed or the experiment in total; see the module
    """
    if epsilon == float("inf"):
        raise ValueError("epsilon: expected a finite number > 0; without privacy the policy is conse_se")
    if budget not in ("printed", "total"):
        raise ValueError(f"budget: expected printed or total; found {budget!r}")
    design = trial.checked_design(M, horizon, alpha, epsilon, noise, total=budget == "total")
    return parameters(design, confidence, width)


def parameters(design: Design, confidence: str, width: str) -> Params:
    """Parameters with the readings by name; see the module. Raises ValueError."""
    shares, widths = {"printed": 1.0, "per_arm": 0.5}, {"printed": 2.0, "proof": 1.0}
    if confidence not in shares:
        raise ValueError(f"confidence: expected printed or per_arm; found {confidence!r}")
    if width not in widths:
        raise ValueError(f"width: expected printed or proof; found {width!r}")
    return Params(design, shares[confidence], widths[width])


@njit
def epoch_length(params, epoch):
    """R_e, real."""
    n, epsilon, gap = params.design.n, params.design.epsilon, 2.0**-epoch
    if params.design.total:
        epsilon *= MEAN
    samples = 32 * np.log(16 * n * epoch**2) / gap**2
    private_samples = 8 * np.log(8 * n * epoch**2) / (epsilon * gap)
    return max(samples, private_samples) + 1


@njit
def confidence_radius(params, epoch):
    """h_e."""
    samples = params.confidence_share * epoch_length(params, epoch)
    return np.sqrt(np.log(16 * params.design.n * epoch**2) / (2 * samples))


@njit
def mean_scale(params, epoch):
    """The scale of the Laplace noise of a batch's means: 2 / (epsilon R_e), 0 without privacy.

    With the budget `total` 1 / (epsilon / 8 N), N what each arm of a batch has with certainty.
    """
    design, length = params.design, epoch_length(params, epoch)
    if design.total:
        patients = length - trial.certain(design.n) / (BATCH_LENGTH * design.epsilon)
        return design.noise / (MEAN * design.epsilon * trial.certain_count(design.n, patients))
    return 2 * design.noise / (design.epsilon * length)


@njit
def privacy_radius(params, epoch):
    """c_e, 0 without privacy; as often the scale of the means' noise with the budget `total`."""
    logarithm = np.log(8 * params.design.n * epoch**2)
    if params.design.total:
        return params.width / 2 * logarithm * mean_scale(params, epoch) / params.design.noise
    return params.width * logarithm / (epoch_length(params, epoch) * params.design.epsilon)


@njit
def elimination_margin(params, epoch):
    """2 h_e + 2 c_e of line 12."""
    return 2 * confidence_radius(params, epoch) + 2 * privacy_radius(params, epoch)


@njit
def draw_length(params, epoch, rng):
    """R_e^j: Lap+(R_e), or R_e without privacy; float."""
    length = epoch_length(params, epoch)
    if params.design.total:
        return float(lap_plus(length, 2 * BATCH_LENGTH * params.design.epsilon, rng))
    if params.design.epsilon < np.inf:
        return float(lap_plus(length, params.design.epsilon, rng))
    return length


@njit
def released_mean(scale, pulls, reward_sum, rng):
    """The mean of an arm in a batch, 0 without a patient, with Laplace noise of a scale: line 11."""
    mean = reward_sum / pulls if pulls > 0 else 0.0
    return mean + laplace(scale, rng) if scale > 0 else mean


@njit
def eliminated_arm(params, epoch, pulls, reward_sums, rng):
    """Lines 10 to 12 at the end of an epoch >= 1: the arm that goes, or -1; int64[2] and float64[2] of the epoch."""
    means = np.zeros(2)
    scale = mean_scale(params, epoch)
    for arm in range(2):
        means[arm] = released_mean(scale, pulls[arm], reward_sums[arm], rng)
    margin = elimination_margin(params, epoch)
    if means[1] - means[0] > margin:
        return 0
    if means[0] - means[1] > margin:
        return 1
    return -1


@njit
def init(params):
    """Lines 1 and 2."""
    M = params.design.M
    return State(
        np.ones((M, 2), np.bool_),
        np.zeros(M, np.int64),
        np.zeros(M),
        np.zeros(M, np.int64),
        np.zeros(M, np.int64),
        np.zeros((M, 2), np.int64),
        np.zeros((M, 2)),
        trial.new_trial(params.design),
    )


@njit(forceinline=True)
def choose(params, state, feature, t, rng):
    """A random arm while both are viable (line 7), else the viable one; the second half is the trial's."""
    if t > params.design.n // 2:
        return trial.choose(state.trial, state.viable, feature, rng)
    if state.viable[feature, 0] and state.viable[feature, 1]:
        return 1 if rng.random() < 0.5 else 0
    return 1 if state.viable[feature, 1] else 0


@njit(forceinline=True)
def learn(params, state, feature, arm, reward, t, rng):
    """Lines 5 to 19 and, after the last patient of the first half, 21 to 29."""
    middle = params.design.n // 2
    if t > middle:
        trial.learn(params.design, state.trial, feature, arm, reward, rng)
        return state
    state.counts[feature] += 1
    if state.viable[feature, 0] and state.viable[feature, 1]:
        state.pulls[feature, arm] += 1
        state.reward_sums[feature, arm] += reward
        state.rounds[feature] += 1
        if state.rounds[feature] >= state.lengths[feature]:
            epoch = state.epochs[feature]
            if epoch >= 1:
                gone = eliminated_arm(params, epoch, state.pulls[feature], state.reward_sums[feature], rng)
                if gone >= 0:
                    state.viable[feature, gone] = False
            state.epochs[feature] = epoch + 1
            state.rounds[feature] = 0
            state.lengths[feature] = draw_length(params, epoch + 1, rng)
            for a in range(2):
                state.pulls[feature, a] = 0
                state.reward_sums[feature, a] = 0.0
    if t == middle:
        trial.start(params.design, state.trial, state.counts, rng)
    return state


@njit
def simulate(params, environment, rng, record):
    """What `play` does, in the same law, epoch by epoch: binomial numbers of patients, sums of rewards in one draw."""
    design = params.design
    counts = np.empty(design.M, np.int64)
    count_arrivals(environment, 0, rng, counts)
    for feature in range(design.M):
        wrong = _first_half(params, environment, feature, counts[feature], rng, record)
        record.regret[feature] = wrong * gap(environment, feature)
        record.first_half_regret[feature] = record.regret[feature]
    least = trial.T_min(design, counts)
    count_arrivals(environment, 1, rng, counts)
    planned = trial.planned_length(design, least, rng)
    for feature in range(design.M):
        record.floor_T_min[feature] = planned
        record.length[feature] = trial.trial_length(design, planned, rng)
        trial.run_trial(design, environment, feature, counts[feature], record.kept[feature], rng, record)


@njit
def _first_half(params, environment, feature, patients, rng, record):
    """How often the worse arm is pulled among so many patients; writes `kept` and `eliminated_after`."""
    worse = worse_arm(environment, feature)
    record.kept[feature] = BOTH
    record.eliminated_after[feature] = np.nan
    # Room for the epochs' numbers: the trial writes them later.
    pulls, reward_sums = record.pulls[feature], record.reward_sums[feature]
    used, epoch, wrong = 0, 0, 0
    while True:
        # Epoch 0 takes one patient. Compared as floats: an epoch may be longer than an int64 can count.
        length = 1.0 if epoch == 0 else max(1.0, np.ceil(draw_length(params, epoch, rng)))
        complete = used + length <= patients
        rounds = int(length) if complete else patients - used
        used += rounds
        pulls[1] = binomial(rounds, 0.5, rng) if rounds > 0 else 0
        pulls[0] = rounds - pulls[1]
        wrong += pulls[worse]
        if not complete:
            return wrong
        if epoch >= 1:
            for arm in range(2):
                reward_sums[arm] = environment.pull_sum(environment, feature, arm, pulls[arm], rng)
            gone = eliminated_arm(params, epoch, pulls, reward_sums, rng)
            if gone >= 0:
                record.eliminated_after[feature] = used
                record.kept[feature] = 1 - gone
                return wrong + (patients - used if gone != worse else 0)
        epoch += 1


POLICY = Policy(init, choose, learn)
SIMULATE = {"features_bernoulli": simulate, "features_normal": simulate}
