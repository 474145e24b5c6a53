"""Tests of an arm that was chosen by its number of pulls: one p-value per run and selector."""

import numpy as np

from privarms.inference.binomial_test import randomised_p_value
from privarms.inference.histories import least_pulled, most_pulled
from privarms.protocols._rows import rows
from privarms.protocols.bandit import run_bandit

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("selector",)
COLUMNS = {None: ("selector", "arm", "pulls", "p_value")}
SELECTORS = ("least_pulled", "most_pulled")


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on Bernoulli arms and test, at the horizon, the arm that a selector picks by the pulls only.

    The selector least_pulled tests whether the arm's mean is below its true mean, most_pulled whether it is above. The
    null is true. `p_value` is exact, randomised and binomial. Ties are broken at random, because breaking them by
    index would prefer some arms. Ties and the tests' uniform variates come from environment_rng, after the runs.
    """
    _, pulls, reward_sums = run_bandit(policy, params, environment, cell, replicates, policy_rng)
    uniforms = {selector: environment_rng.random(replicates) for selector in SELECTORS}
    ties = {selector: environment_rng.random(pulls.shape) for selector in SELECTORS}
    run = np.arange(replicates)
    parts = []
    for selector in SELECTORS:
        least = selector == "least_pulled"
        arm = (least_pulled if least else most_pulled)(pulls, ties[selector])
        n, successes = pulls[run, arm], np.rint(reward_sums[run, arm]).astype(np.int64)
        side = "less" if least else "greater"
        parts.append((arm, n, randomised_p_value(successes, n, environment.means[arm], uniforms[selector], side)))
    arms, counts, p_values = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
    return rows("selector", SELECTORS, arm=arms, pulls=counts, p_value=p_values)
