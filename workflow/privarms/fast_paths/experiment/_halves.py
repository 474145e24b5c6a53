"""The shared part of the family's fast paths: the patients of a half, and the second half of a feature.

Arrivals are independent with constant probabilities inside a segment, so the features' counts in a segment are
multinomial. They are drawn one feature after another, each as a binomial number of the remaining patients. Arms in a
trial are fair coins and rewards of an arm are independent. So a binomial number of pulls, and one draw of the sum of
each arm's rewards, have the distribution of the trial.
"""

import numpy as np
from numba import njit

from privarms.environments.features_bernoulli import gap, worse_arm
from privarms.jit.binomial import binomial
from privarms.policies.experiment import BOTH


@njit
def count_arrivals(environment, half, rng, counts):
    """Draw the number of patients of each feature in a half (0 or 1) of the experiment: int64[M], overwritten."""
    M, middle, begin = len(counts), environment.ends[-1] // 2, 0
    counts.fill(0)
    # The probability of a feature or a later one.
    from_here_on = np.zeros(M + 1)
    for segment in range(len(environment.ends)):
        end = environment.ends[segment]
        if (end > middle) == (half == 1):
            probabilities, left = environment.probabilities[segment], end - begin
            for feature in range(M - 1, -1, -1):
                from_here_on[feature] = from_here_on[feature + 1] + probabilities[feature]
            for feature in range(M):
                if left > 0 and probabilities[feature] > 0:
                    share = min(probabilities[feature] / from_here_on[feature], 1.0)
                    count = left if share == 1 else binomial(left, share, rng)
                    counts[feature] += count
                    left -= count
        begin = end


@njit
def run_trial(environment, feature, arrivals, rng, record):
    """Run the trial of a feature with `arrivals` patients in the second half; return how many are in the trial.

    record: `length`, T_j, is read; `pulls` and `reward_sums` are written
    """
    inside = min(arrivals, record.length[feature])
    pulls, reward_sums = record.pulls[feature], record.reward_sums[feature]
    pulls[1] = binomial(inside, 0.5, rng) if inside > 0 else 0
    pulls[0] = inside - pulls[1]
    for arm in range(2):
        reward_sums[arm] = environment.pull_sum(environment, feature, arm, pulls[arm], rng)
    return inside


@njit
def finish(environment, feature, after, rng, record):
    """Treat the `after` patients after the trial with the remaining arm; add the second half's regret."""
    worse, kept = worse_arm(environment, feature), record.kept[feature]
    wrong = record.pulls[feature, worse]
    if after > 0:
        if kept == BOTH:
            wrong += binomial(after, 0.5, rng)
        elif kept == worse:
            wrong += after
    record.regret[feature] += gap(environment, feature) * wrong
