"""What is gathered by a bandit and how to test it: pulls and reward sums of each arm, and rewards held out.

Every pull comes with a second reward of the same arm, which the policy never sees, as if every other user were held
out (Xu, Qin & Liu 2013). Given the pulls their sum is binomial, whatever the policy does.
"""

import numpy as np

from privarms.protocols.bandit import run_bandit

FAMILY = "bandit"
KEYS = ("arm",)
RECORDS = ("arms",)


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on Bernoulli arms, on the policy's stream; what is held out comes from the environment's.

    A row per replicate and arm with `arm`, `pulls`, `reward_sum` and `held_out_sum` at the horizon.
    """
    means = environment.means
    if not ((means >= 0) & (means <= 1)).all():
        raise ValueError(f"environment: expected Bernoulli arms; found means {means}")
    _, pulls, reward_sums = run_bandit(policy, params, environment, cell, replicates, policy_rng)
    held_out = environment_rng.binomial(pulls, means)
    return {
        "replicate": np.repeat(np.arange(replicates), len(means)),
        "arm": np.tile(np.arange(len(means)), replicates),
        "pulls": pulls.ravel(),
        "reward_sum": reward_sums.ravel(),
        "held_out_sum": held_out.ravel().astype(float),
    }
