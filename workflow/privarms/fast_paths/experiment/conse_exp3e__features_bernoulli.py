"""ConSE with EXP3E: arrivals of the first half are counts, and the second half is drawn at once.

The distribution is that of `policies/experiment/conse_exp3e`. In the first half features are independent, so one after
another runs patient by patient, until an arm is eliminated. Only the difference of the sums R(a|x) matters. The rest is
drawn at once.
"""

import numpy as np
from numba import njit

from privarms.environments.features_bernoulli import gap, worse_arm
from privarms.fast_paths.experiment._halves import count_arrivals, finish, run_trial
from privarms.kernels.trial import T_min


@njit
def simulate(params, environment, rng, record):
    """Run one experiment; record: as in `play` of the protocol."""
    M = params.design.M
    counts = np.empty(M, np.int64)
    count_arrivals(environment, 0, rng, counts)
    for feature in range(M):
        wrong = run_first_half(params, environment, feature, counts[feature], rng, record)
        record.regret[feature] = wrong * gap(environment, feature)
        record.first_half_regret[feature] = record.regret[feature]
    length = int(T_min(params.design, counts))
    count_arrivals(environment, 1, rng, counts)
    for feature in range(M):
        record.floor_T_min[feature] = length
        record.length[feature] = length
        inside = run_trial(environment, feature, counts[feature], rng, record)
        if inside > 0:
            reward_sums = record.reward_sums[feature]
            record.estimate[feature] = 2 * (reward_sums[1] - reward_sums[0]) / length
        finish(environment, feature, counts[feature] - inside, rng, record)


@njit
def run_first_half(params, environment, feature, patients, rng, record):
    """Return the number of pulls of the worse arm among these patients; write `kept` and `eliminated_after`."""
    worse = worse_arm(environment, feature)
    # lead: R(1|x) - R(0|x); exponent: epsilon_(n-1) times the lead
    lead, exponent, pulls_of_1 = 0.0, 0.0, 0
    for count in range(1, patients + 1):
        # Arm 1 has the probability 1 / (1 + odds) of line 10.
        odds = np.exp(-exponent)
        arm = 1 if rng.random() * (1 + odds) < 1 else 0
        pulls_of_1 += arm
        reward = environment.pull(environment, feature, arm, rng)
        if reward != 0:
            lead += reward * (1 + odds) if arm == 1 else -reward * (1 + 1 / odds)
        # An arm is eliminated if the lead is above 2 sqrt(C n), which is 2 / epsilon_n.
        exponent = lead / np.sqrt(params.C * count)
        if abs(exponent) > 2:
            record.eliminated_after[feature] = count
            record.kept[feature] = 1 if exponent > 0 else 0
            wrong = pulls_of_1 if worse == 1 else count - pulls_of_1
            return wrong + (patients - count if record.kept[feature] == worse else 0)
    return pulls_of_1 if worse == 1 else patients - pulls_of_1
