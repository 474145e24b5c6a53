"""The DP-ConSE that keeps epsilon for the whole experiment: exact as that of `dp_conse`, with its rules."""

import numpy as np
from numba import njit

from privarms.fast_paths.experiment._halves import count_arrivals, finish, run_trial
from privarms.fast_paths.experiment.dp_conse__features_bernoulli import run_epochs
from privarms.policies.experiment import dp_conse_total as rules


@njit
def simulate(params, environment, rng, record):
    """Run one experiment; record: as in `play` of the protocol."""
    M = params.design.M
    counts = np.empty(M, np.int64)
    count_arrivals(environment, 0, rng, counts)
    draw_length, mean_scale, margin = rules.draw_length, rules.mean_scale, rules.elimination_margin
    for feature in range(M):
        run_epochs(draw_length, mean_scale, margin, params, environment, feature, counts[feature], rng, record)
    least = rules.T_min(params.design, counts)
    count_arrivals(environment, 1, rng, counts)
    planned = rules.planned_length(params, least, rng)
    for feature in range(M):
        record.floor_T_min[feature] = planned
        length = rules.trial_length(params, planned, rng)
        record.length[feature] = length
        inside = run_trial(environment, feature, counts[feature], rng, record)
        record.estimate[feature] = np.nan
        if 0 < length == inside:
            pulls, reward_sums = record.pulls[feature], record.reward_sums[feature]
            record.estimate[feature] = rules.release(params, planned, pulls, reward_sums, rng)
        finish(environment, feature, counts[feature] - inside, rng, record)
