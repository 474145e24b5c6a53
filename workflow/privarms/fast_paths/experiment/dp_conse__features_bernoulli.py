"""DP-ConSE, its repair and ConSE, one epoch at a time.

The distribution is that of `policies/experiment/dp_conse`. Decisions in an epoch depend only on counts and sums, arms
are fair coins, and rewards of an arm are independent. So the arms of an epoch are one binomial draw, and the rewards of
each arm one draw of their sum. Features interact only through T_min, which depends on the counts of the first half.
"""

import numpy as np
from numba import njit

from privarms.environments.features_bernoulli import gap, worse_arm
from privarms.fast_paths.experiment._halves import count_arrivals, finish, run_trial
from privarms.jit.binomial import binomial
from privarms.policies.experiment.dp_conse import eliminated_arm, release


@njit
def simulate(params, environment, rng, record):
    """Run one experiment; record: as in `play` of the protocol."""
    M, rules = params.design.M, params.rules
    counts = np.empty(M, np.int64)
    count_arrivals(environment, 0, rng, counts)
    for feature in range(M):
        run_epochs(params, environment, feature, counts[feature], rng, record)
    least = rules.T_min(params.design, counts)
    count_arrivals(environment, 1, rng, counts)
    planned = rules.planned_length(params, least, rng)
    for feature in range(M):
        record.floor_T_min[feature] = planned
        length = rules.trial_length(params, planned, rng)
        record.length[feature] = length
        inside = run_trial(environment, feature, counts[feature], rng, record)
        if 0 < length == inside:
            pulls, reward_sums = record.pulls[feature], record.reward_sums[feature]
            record.estimate[feature] = release(params, planned, length, pulls, reward_sums, rng)
        finish(environment, feature, counts[feature] - inside, rng, record)


@njit
def run_epochs(params, environment, feature, patients, rng, record):
    """Run the first half of a feature with this number of patients."""
    worse, rules = worse_arm(environment, feature), params.rules
    # The trial overwrites these arrays later, so the epochs can use them.
    pulls, reward_sums = record.pulls[feature], record.reward_sums[feature]
    used, epoch, wrong = 0, 0, 0
    while True:
        # Epoch 0 takes one patient. Compared as floats: an epoch may be longer than an int64 can count.
        length = 1.0 if epoch == 0 else max(1.0, np.ceil(rules.draw_length(params, epoch, rng)))
        complete = used + length <= patients
        rounds = int(length) if complete else patients - used
        used += rounds
        pulls[1] = binomial(rounds, 0.5, rng) if rounds > 0 else 0
        pulls[0] = rounds - pulls[1]
        wrong += pulls[worse]
        if not complete:
            break
        if epoch >= 1:
            for arm in range(2):
                reward_sums[arm] = environment.pull_sum(environment, feature, arm, pulls[arm], rng)
            scale, margin = rules.mean_scale(params, epoch), rules.elimination_margin(params, epoch)
            gone = eliminated_arm(scale, margin, pulls, reward_sums, rng)
            if gone >= 0:
                record.eliminated_after[feature] = used
                record.kept[feature] = 1 - gone
                wrong += patients - used if gone != worse else 0
                break
        epoch += 1
    record.regret[feature] = wrong * gap(environment, feature)
    record.first_half_regret[feature] = record.regret[feature]
