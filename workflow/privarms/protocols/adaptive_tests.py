"""A test that is chosen by how the data were gathered: a p-value for each selector a run."""

import numpy as np

from privarms.inference.binomial_test import randomised_p_value
from privarms.inference.histories import least_pulled, most_pulled
from privarms.protocols._rows import rows
from privarms.protocols.bandit import run_bandit

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("selector",)
SELECTORS = ("least_pulled", "most_pulled")


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on Bernoulli arms and test, at the horizon, the arm that a selector picks from the pulls alone.

    A row per replicate and selector: `arm`, `pulls` and `p_value`, exact, randomised and binomial. Ties are broken at
    random: by index they would find an arm by its place. Ties and the tests' uniform variates come from
    environment_rng, after the runs. least_pulled: is the arm's mean below its true mean? most_pulled: is it above? The
    null is true.
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
