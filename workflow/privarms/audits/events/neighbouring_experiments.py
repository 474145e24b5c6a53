"""Audit each release of DP-ConSE, as printed or repaired, on two runs that differ in one patient.

The proof of Theorem 3.5 of Li, Shi & Simchi-Levi (2024) claims a cost of epsilon / 2 for each of three releases: the
trials' lengths, the estimates, and the means and lengths of the first half. Each event is likelier in run 1 than in 0:

- lengths: one changed context moves T_min from T to T + 1. With alpha = 1/2 and T = 1000 the rarest feature has
  1,002,000 or 1,002,001 patients in the first half; the latter is (T + 1)^2. These suffice to eliminate every losing
  arm, which takes n of about 2 M (T + 1)^2. Event: every T_j >= T + 1. All M lengths share T_min, so the cost is M
  epsilon / 2. With M = 1 no change of a context moves T_min: that row tests only the mechanism.
- lengths_from_actions: the same, but only actions are observed. The losing arm is pulled only inside trials, half of
  the time. Event: for every feature the last pull of the losing arm is at its patient T + 1 or later.
- estimate: trials of T patients, half of them for each arm. With one feature, one reward of arm 1 is 0 in run 0 and 1
  in run 1. With more features, the only patient with a reward of 1 moves from arm 0 of feature 1 to arm 1 of feature 2.
  Patients without a reward fill the free places, so two estimates change. Event: each changed estimate is at least its
  noiseless value in run 1.
- first_half: the batches of epoch 1, half of each for each arm; only the changed patient has a reward. With one
  feature, one reward of arm 1 is 0 in run 0 and 1 in run 1. Event: its noisy mean is at least its noiseless value in
  run 1. With more features, a patient with a reward of 1 is in arm 0 of feature 1 in run 0, in arm 1 of feature 2 in
  run 1. Counted in patients that are in both runs, the first batch ends one earlier in run 0, the second one earlier in
  run 1. Event: the first batch ends at [R_1] or later and the second before it; the first mean is at most 0, and the
  second is at least its noiseless value in run 1.
"""

from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.jit.cache import compiled
from privarms.mechanisms import lap_plus
from privarms.policies.experiment import dp_conse, dp_conse_total
from privarms.policies.experiment.dp_conse import release, released_mean

STREAMED_AS = {"neighbour": "run"}
# A trial is one release, not a run of the policy.
SECONDS_PER_RUN = 3e-7
SECONDS_PER_STEP = 0.0

RELEASES = ("lengths", "estimate", "lengths_from_actions", "first_half")
LENGTHS, ESTIMATE, LENGTHS_FROM_ACTIONS, FIRST_HALF = range(len(RELEASES))
# Patients of a trial in run 0, an even number.
PATIENTS = 1000


class Inputs(NamedTuple):
    """release: index into RELEASES; neighbour: run 0 or 1."""

    release: int
    neighbour: int


def configure(
    release: Literal["lengths", "estimate", "lengths_from_actions", "first_half"],
    neighbour: Literal[0, 1],
    promised: float = 0.0,
) -> Inputs:
    """Return run 0, or its neighbour 1; promised: the claimed epsilon, if a weakened control gets a larger one."""
    return Inputs(RELEASES.index(release), neighbour)


@njit
def happens(params, inputs, rng):
    """Draw whether the event of the release happens."""
    if inputs.release == ESTIMATE:
        return estimates(params, PATIENTS, inputs.neighbour, rng)
    if inputs.release == FIRST_HALF:
        return first_half(params, inputs.neighbour, rng)
    return lengths(params, PATIENTS, inputs.neighbour, inputs.release == LENGTHS_FROM_ACTIONS, rng)


@njit
def lengths(params, T, neighbour, from_actions, rng):
    """Draw whether every length, or every last pull of the losing arm, is at least T + 1."""
    planned = params.rules.planned_length(params, float(T + neighbour), rng)
    for _ in range(params.design.M):
        last = params.rules.trial_length(params, planned, rng)
        if from_actions:
            # Go back from the trial's end to the last patient who got the losing arm.
            while last > T and rng.random() < 0.5:
                last -= 1
        if last <= T:
            return False
    return True


@njit
def estimates(params, T, neighbour, rng):
    """Draw whether the one or two estimates that change are at least their noiseless values in run 1."""
    pulls = np.full(2, T // 2)
    rewards = np.zeros(2)
    if params.design.M > 1:
        rewards[0] = 1.0 - neighbour
        if release(params, T, T, pulls, rewards, rng) < 0:
            return False
        rewards[0] = 0.0
    rewards[1] = neighbour
    return release(params, T, T, pulls, rewards, rng) >= 2 / T


@njit
def first_half(params, neighbour, rng):
    """Draw whether the event of the release happens in epoch 1."""
    rules = params.rules
    length, scale = np.floor(rules.epoch_length(params, 1)), rules.mean_scale(params, 1)
    pulls = length // 2
    second = released_mean(scale, pulls, float(neighbour), rng) >= 1 / pulls
    if params.design.M == 1:
        return second
    # The ends of the batches, counted in patients that are in both runs.
    first_end = rules.draw_length(params, 1, rng) - (1 - neighbour)
    second_end = rules.draw_length(params, 1, rng) - neighbour
    first = released_mean(scale, pulls, 1.0 - neighbour, rng) <= 0
    return second and first and first_end >= length and second_end < length


def probability(params: dp_conse.Params | dp_conse_total.Params, inputs: Inputs) -> float:
    """Return the probability of the release's event in the inputs' run."""
    if inputs.release == ESTIMATE:
        shift = 2 / PATIENTS / compiled(params.rules.estimate_scale)(params, PATIENTS, PATIENTS)
        return float((np.exp(-shift * (1 - inputs.neighbour)) / 2) ** min(params.design.M, 2))
    if inputs.release == FIRST_HALF:
        return first_half_probability(params, inputs.neighbour)
    return lengths_probability(params, PATIENTS, inputs.neighbour, inputs.release == LENGTHS_FROM_ACTIONS)


def lengths_probability(
    params: dp_conse.Params | dp_conse_total.Params, T: int, neighbour: int, from_actions: bool = False
) -> float:
    """Return the probability of `lengths`.

    As printed, with q = e^(-epsilon / 2) and c the constant of Lap+, P(T_j >= T + 1) = c q^(1 - neighbour) / (1 - q).
    Through actions: exactly g patients at the trial's end miss the losing arm with probability 2^-(g + 1). The sum over
    g of P(T_j >= T + 1 + g) 2^-(g + 1) is P(T_j >= T + 1) / (2 - q). Repaired: averaged over planned lengths.
    """
    design = params.design
    if isinstance(params, dp_conse.Params):
        reaches = lap_plus.survival(T + 1, T + neighbour, design.epsilon)
        return float((reaches / (2 - np.exp(-design.epsilon / 2)) if from_actions else reaches) ** design.M)
    shared, own = dp_conse_total.SHARED_LENGTH * design.epsilon, dp_conse_total.OWN_LENGTH * design.epsilon
    # Beyond this range the terms are below e^-50 of the largest.
    noise = np.arange(-int(50 / shared), int(50 / shared) + 1)
    chances = np.tanh(shared / 2) * np.exp(-shared * np.abs(noise))
    planned = np.maximum(1, T + neighbour + noise)
    # The number of patients at the trial's end who did not get the losing arm, with its probabilities.
    gone = np.arange(60) if from_actions else np.zeros(1, int)
    weights = 0.5 ** (gone + 1) if from_actions else np.ones(1)
    # P(T_j >= T + 1 + gone) for a difference of two geometric variables; lengths below T + 1 may be cut off.
    short, q = T + 1 - planned[:, None] + gone, np.exp(-own)
    upper = q ** np.maximum(short, 0) / (1 + q)
    reaches = np.where(short > 0, upper, 1 - q ** np.maximum(1 - short, 0) / (1 + q)) @ weights
    return float(chances @ reaches**design.M)


def first_half_probability(params: dp_conse.Params | dp_conse_total.Params, neighbour: int) -> float:
    """Return the probability of `first_half`.

    A mean in run 0 reaches its noiseless value in run 1 with probability e^(-shift / scale) / 2. The first batch ends
    at [R_1] or later with P(Lap+(R_1) >= [R_1] + 1 - neighbour), the second before it with P(Lap+(R_1) < [R_1] +
    neighbour).
    """
    epsilon, R = params.design.epsilon, compiled(params.rules.epoch_length)(params, 1)
    length = int(R)
    shift = 1 / (length // 2) / compiled(params.rules.mean_scale)(params, 1)
    mean = np.exp(-shift * (1 - neighbour)) / 2
    if params.design.M == 1:
        return float(mean)
    if isinstance(params, dp_conse_total.Params):
        epsilon *= 2 * dp_conse_total.BATCH_LENGTH
    first = lap_plus.survival(length + 1 - neighbour, R, epsilon)
    second = 1 - lap_plus.survival(length + neighbour, R, epsilon)
    return float(mean**2 * first * second)


# Claimed: epsilon / 2, which the proof assigns to the lengths, to the estimates, and to the first half.
AUDIT = Audit(
    subjects=("dp_conse", "dp_conse_total"),
    inputs=configure,
    event=happens,
    exact=probability,
    claimed=lambda epsilon: epsilon / 2,
    changed="Only one patient was changed, for one release.",
)
