"""The privacy audit of DP-ConSE: how often an event happens to what a run releases."""

import numpy as np
from numba import njit

from privarms.contextual_elimination import trial
from privarms.environments.neighbouring_experiments import RELEASES

KEYS = ()
ROW_PER_BLOCK = True

LENGTHS, ESTIMATE, LENGTHS_FROM_ACTIONS = range(len(RELEASES))


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Release `replicates` times from one run of an environment `neighbouring_experiments`.

    One row per block, not per replicate: `trials`, how many releases, and `events`, in how many of them the
    environment's event happened. `replicate` is the block's first one. The noise and the trial's coins come from the
    policy's stream.
    """
    events = count_events(params.design, environment, replicates, policy_rng)
    return {"replicate": np.array([0]), "trials": np.array([replicates]), "events": np.array([events])}


@njit
def count_events(design, environment, trials, rng):
    """In how many trials the event happens; design: a `trial.Design` with a finite epsilon."""
    events = 0
    for _ in range(trials):
        if environment.release == ESTIMATE:
            events += _estimates(design, environment, rng)
        else:
            events += _lengths(design, environment, rng)
    return events


@njit
def _lengths(design, environment, rng):
    """Whether every length, or every last pull of the losing arm, is at least T + 1."""
    for _ in range(design.M):
        last = trial.trial_length(design, environment.T + environment.run, rng)
        if environment.release == LENGTHS_FROM_ACTIONS:
            # From the trial's end backwards until a patient got the losing arm.
            while last > environment.T and rng.random() < 0.5:
                last -= 1
        if last <= environment.T:
            return False
    return True


@njit
def _estimates(design, environment, rng):
    """Whether the one or two estimates that change are at least what they are in run 1 without noise."""
    T = environment.T
    pulls = np.full(2, T // 2)
    rewards = np.zeros(2)
    if design.M > 1:
        rewards[0] = 1.0 if environment.run == 0 else 0.0
        if trial.release(design, T, pulls, rewards, rng) < 0:
            return False
        rewards[0] = 0.0
    rewards[1] = 1.0 if environment.run == 1 else 0.0
    return trial.release(design, T, pulls, rewards, rng) >= 2 / T
