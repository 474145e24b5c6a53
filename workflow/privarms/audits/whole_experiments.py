"""Two whole runs of DP-ConSE that differ in one patient of the first half: the composed loss of everything released.

Theorem 3.5 of Li, Shi & Simchi-Levi (2024) claims epsilon for all of it. The patient has a reward of 1 and is in arm 0
of feature 1 in run 0 and in arm 1 of feature 2 in run 1; with one feature its reward is 0 in run 0 and 1 in run 1, and
no length moves. The event is that of `neighbouring_experiments.first_half` and, with two features or more, of
`neighbouring_experiments.lengths`: feature 2 is the rarest, so that T_min is T in run 0 and T + 1 in run 1. The noises
are independent, so that the probabilities multiply: as printed the loss is (3 + M / 2) epsilon from two features on.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.audits import neighbouring_experiments
from privarms.jit.cache import compiled
from privarms.policies.experiment import dp_conse, dp_conse_total

SUBJECT = ("dp_conse", "dp_conse_total")
# A trial is what is released of a run, not the run.
SECONDS_PER_RUN = 3e-7
SECONDS_PER_STEP = 0.0


class Inputs(NamedTuple):
    """neighbour: run 0 or 1; T: patients of a trial, in run 0; promised: as in `neighbouring_experiments`."""

    neighbour: int
    T: int
    promised: float


def configure(neighbour: int, T: int = 1000, promised: float = 0.0) -> Inputs:
    """Run 0, or its neighbour 1; T is at least 2; promised: as in `neighbouring_experiments`."""
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if T < 2:
        raise ValueError(f"T: expected a number of patients, at least 2; found {T}")
    return Inputs(int(neighbour), int(T), float(promised))


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many of so many experiments the event happens; noise and the trial's coins are random."""
    return compiled(_count)(neighbouring_experiments.rules_of(policy), params, inputs, trials, rng)


@njit
def _count(rules, params, inputs, trials, rng):
    events = 0
    for _ in range(trials):
        happens = neighbouring_experiments.first_half(rules, params, inputs.neighbour, rng)
        if happens and params.design.M > 1:
            happens = neighbouring_experiments.lengths(rules, params, inputs.T, inputs.neighbour, False, rng)
        events += happens
    return events


def likelier(inputs: Inputs) -> int:
    """Run 1."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon: Theorem 3.5."""
    return epsilon


def event_probability(params: dp_conse.Params | dp_conse_total.Params, inputs: Inputs) -> float:
    """The probability of the event in the inputs' run."""
    found = neighbouring_experiments.first_half_probability(params, inputs.neighbour)
    if params.design.M > 1:
        found *= neighbouring_experiments.lengths_probability(params, inputs.T, inputs.neighbour)
    return found


def log_ratio(params: dp_conse.Params | dp_conse_total.Params, inputs: Inputs) -> float:
    """ln(Pr[event | run 1] / Pr[event | run 0])."""
    likely, unlikely = (event_probability(params, inputs._replace(neighbour=run)) for run in (1, 0))
    return float(np.log(likely / unlikely))
