"""Stopping rules: when they stop on a stream of samples, and their estimate of the mean.

The environment is a NamedTuple with `pull(environment, arm, rng) -> sample in [-R, R]` for any arm, and `means`.
"""

import numpy as np
from numba import njit

from privarms import fast_paths
from privarms.kernels.loops import loop
from privarms.policies import functions
from privarms.policies.stopping import Rule
from privarms.protocols._agreement import refuse

FAMILY = "stopping"
KEYS = ()
COLUMNS = {None: ("stopping_time", "estimate", "relative_error", "failure")}


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream, by its exact fast path for this environment if there is one.

    `failure` is 1 if the relative error is alpha or more (section 2 of Sajed & Sheffet 2019). A run that the fast path
    gives up has the estimate nan and is a failure.
    """
    if environment.R > params.R:
        refuse(cell, "R", environment.R, params.R)
    stopping_time = np.zeros(replicates, np.int64)
    estimate = np.zeros(replicates)
    simulate = fast_paths.find(policy, cell.environment)
    simulate, own = (simulate, (params,)) if simulate else (play, (functions(Rule, policy), params))
    loop(play_block)(simulate, own, environment, policy_rng, stopping_time, estimate)
    mu = environment.means[0]
    return {
        "replicate": np.arange(replicates),
        "stopping_time": stopping_time,
        "estimate": estimate,
        "relative_error": np.abs(estimate - mu) / abs(mu),
        # Not "error >= alpha", because a nan is a failure.
        "failure": (~(np.abs(estimate - mu) < params.alpha * abs(mu))).astype(np.int64),
    }


@njit
def play(rule, params, environment, rng):
    """Run one replicate sample by sample, the reference of every rule; return (stopping time, estimate)."""
    state = rule.init(params, rng)
    t, total, stopped = 0, 0.0, False
    while not stopped:
        state = rule.ask(params, state, rng)
        while t < state.at:
            t += 1
            total += environment.pull(environment, 0, rng)
        stopped = rule.stops(params, state, t, total, rng)
    return t, rule.estimate(params, t, total, rng)


@njit(inline="always")
def play_block(simulate, own, environment, rng, stopping_time, estimate):
    """Fill int64[n] `stopping_time` and float64[n] `estimate` with n runs, one after another on one stream.

    simulate(*own, environment, rng): `play`, or the rule's exact fast path
    """
    for i in range(len(estimate)):
        stopping_time[i], estimate[i] = simulate(*own, environment, rng)
