"""Audit everything that DP-ConSE releases, on two whole runs that differ in one patient of the first half.

Theorem 3.5 of Li, Shi & Simchi-Levi (2024) claims epsilon for all releases together. The patient has a reward of 1. In
run 0 it is in arm 0 of feature 1, in run 1 in arm 1 of feature 2. With one feature its reward is 0 in run 0 and 1 in
run 1, and no length changes. Event: that of `neighbouring_experiments.first_half` and, with two features or more, that
of `neighbouring_experiments.lengths`. Feature 2 is the rarest, so T_min is T in run 0 and T + 1 in run 1. The noises
are independent, so the probabilities multiply. As printed the loss is (3 + M / 2) epsilon from two features on.
"""

from typing import Literal

from numba import njit

from privarms.audits.audit import Audit, Inputs
from privarms.audits.events.neighbouring_experiments import (
    PATIENTS,
    first_half,
    first_half_probability,
    lengths,
    lengths_probability,
)
from privarms.policies.experiment import dp_conse, dp_conse_total

# A trial draws only the releases of a run, not the run.
SECONDS_PER_RUN = 3e-7
SECONDS_PER_STEP = 0.0


def configure(neighbour: Literal[0, 1], promised: float = 0.0) -> Inputs:
    """Return run 0, or its neighbour 1; promised: as in `neighbouring_experiments`."""
    return Inputs(neighbour)


@njit
def happens(params, inputs, rng):
    """Draw whether the event happens to both releases."""
    first = first_half(params, inputs.neighbour, rng)
    if not first or params.design.M == 1:
        return first
    return lengths(params, PATIENTS, inputs.neighbour, False, rng)


def probability(params: dp_conse.Params | dp_conse_total.Params, inputs: Inputs) -> float:
    """Return the probability of the event in the inputs' run."""
    first = first_half_probability(params, inputs.neighbour)
    return first if params.design.M == 1 else first * lengths_probability(params, PATIENTS, inputs.neighbour)


# Claimed: epsilon (Theorem 3.5).
AUDIT = Audit(
    subjects=("dp_conse", "dp_conse_total"),
    inputs=configure,
    event=happens,
    exact=probability,
    changed="Only one patient was changed, in the first half.",
)
