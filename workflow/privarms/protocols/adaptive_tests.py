"""A test that is chosen by how the data were gathered: one p-value for each of two selectors a run."""

import numpy as np

from privarms.inference.binomial_test import randomised_p_value
from privarms.play import play_block, simulate_block

KEYS = ("selector",)
SELECTORS = ("least_pulled", "most_pulled")


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on Bernoulli arms and test, at the horizon, the arm that a selector picks from the pulls alone.

    least_pulled: is the arm's mean below mu? most_pulled: is it above mu? Ties are broken at random: by index they
    would favour an arm for its place. A row per replicate and selector: `arm`, `pulls`, and exact randomised binomial
    p-values, `p_value` with mu the arm's own mean, so that the null is true, and `p_value_extreme` with mu the largest
    (least_pulled) or the smallest mean of all arms, a null that is false where the arm differs from that one. Both use
    one uniform variate; it and the ties come from environment_rng, after the runs.
    """
    means = environment.means
    arms, checkpoints = len(means), np.array([cell.horizon])
    regret = np.zeros((replicates, 1))
    pulls = np.zeros((replicates, arms), np.int64)
    reward_sums = np.zeros((replicates, arms))
    simulate = getattr(policy, "SIMULATE", {}).get(cell.environment)
    if simulate is None:
        play_block(policy.POLICY, params, environment, checkpoints, policy_rng, regret, pulls, reward_sums)
    else:
        simulate_block(simulate, params, environment, checkpoints, policy_rng, regret, pulls, reward_sums)
    run = np.arange(replicates)
    columns: dict[str, list] = {"arm": [], "pulls": [], "p_value": [], "p_value_extreme": []}
    for selector in SELECTORS:
        least = selector == "least_pulled"
        tied = pulls == (pulls.min(axis=1) if least else pulls.max(axis=1))[:, None]
        arm = np.where(tied, environment_rng.random(pulls.shape), -1.0).argmax(axis=1)
        n, successes = pulls[run, arm], np.rint(reward_sums[run, arm]).astype(np.int64)
        u = environment_rng.random(replicates)
        extreme = np.full(replicates, means.max() if least else means.min())
        alternative = "less" if least else "greater"
        columns["arm"].append(arm)
        columns["pulls"].append(n)
        columns["p_value"].append(randomised_p_value(successes, n, means[arm], u, alternative))
        columns["p_value_extreme"].append(randomised_p_value(successes, n, extreme, u, alternative))
    return {
        "replicate": np.repeat(run, len(SELECTORS)),
        "selector": np.tile(np.array(SELECTORS), replicates),
        **{name: np.stack(parts, axis=1).ravel() for name, parts in columns.items()},
    }
