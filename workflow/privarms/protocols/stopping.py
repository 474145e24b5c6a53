"""Stopping rules: when one stops on a stream of samples, and what it then says of their mean."""

import numpy as np
from numba import njit

from privarms.errors import PrivarmsError

KEYS = ()


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream, by its exact fast path for this environment where it has one.

    A row per replicate: `stopping_time`, in samples; `estimate`; `relative_error` = |estimate - mu| / |mu|; `failure`,
    1 where that is alpha or more (section 2 of Sajed & Sheffet 2019), else 0. A run that the fast path gives up has
    the estimate nan and is a failure.
    """
    if environment.R > params.R:
        raise PrivarmsError(
            f"{cell.policy} on {cell.environment}: the samples reach {environment.R} and the rule was told R = "
            f"{params.R}; give both the same R in the study's config"
        )
    rule = getattr(policy, "SIMULATE", {}).get(cell.environment, policy.run)
    stopping_time = np.zeros(replicates, np.int64)
    estimate = np.zeros(replicates)
    run_rule(rule, params, environment, policy_rng, stopping_time, estimate)
    mu = environment.means[0]
    return {
        "replicate": np.arange(replicates),
        "stopping_time": stopping_time,
        "estimate": estimate,
        "relative_error": np.abs(estimate - mu) / abs(mu),
        # Not "error >= alpha": a nan is a failure.
        "failure": (~(np.abs(estimate - mu) < params.alpha * abs(mu))).astype(np.int64),
    }


@njit
def run_rule(rule, params, environment, rng, stopping_time, estimate):
    """Fill int64[n] `stopping_time` and float64[n] `estimate` with n runs, one after another on one stream."""
    for i in range(len(estimate)):
        stopping_time[i], estimate[i] = rule(params, environment, rng)
