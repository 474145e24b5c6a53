"""Pulls, reward sums and held-out rewards of each arm, for tests after a bandit.

Every pull comes with a second reward of the same arm, which the policy never sees, as if every other user were held out
(Xu, Qin & Liu 2013). Given the pulls, the sum of these rewards is binomial for any policy.
"""

import numpy as np

from privarms.protocols._rows import rows
from privarms.protocols.bandit import run_bandit

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("arm",)
COLUMNS = {"arms": ("arm", "pulls", "reward_sum", "held_out_sum")}
RECORDS = tuple(COLUMNS)


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on Bernoulli arms, on the policy's stream; held-out rewards come from the environment's.

    The policy meets the arms rotated, by one position more in each replicate than in the one before. So no policy gains
    or loses by the position of the best arm. Raises ValueError for other arms than Bernoulli ones.
    """
    means, K = environment.means, len(environment.means)
    if set(environment._fields) != {"pull", "means"} or not ((means >= 0) & (means <= 1)).all():
        raise ValueError("environment: expected Bernoulli arms with no fields except their means; use bernoulli")
    pulls, reward_sums = np.zeros((replicates, K), np.int64), np.zeros((replicates, K))
    for shift in range(min(K, replicates)):
        rotated = environment._replace(means=np.roll(means, shift))
        those = np.arange(shift, replicates, K)
        _, *results = run_bandit(policy, params, rotated, cell, len(those), policy_rng)
        pulls[those], reward_sums[those] = (np.roll(one, -shift, axis=1) for one in results)
    held_out = environment_rng.binomial(pulls, means)
    return rows("arm", np.arange(K), pulls=pulls, reward_sum=reward_sums, held_out_sum=held_out.astype(float))
