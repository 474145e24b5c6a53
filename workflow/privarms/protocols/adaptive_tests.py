"""A test that is chosen by how the data were gathered: a p-value for each selector a run."""

import numpy as np

from privarms.inference.binomial_test import randomised_p_value
from privarms.inference.histories import least_pulled, most_pulled
from privarms.protocols._rows import rows
from privarms.protocols.bandit import run_bandit

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ("selector",)
RECORDS = ("false_discovery", "power")
SELECTORS = {"false_discovery": ("least_pulled", "most_pulled"), "power": ("most_pulled",)}


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on Bernoulli arms and test, at the horizon, the arm that a selector picks from the pulls alone.

    A row per replicate and selector: `arm`, `pulls` and `p_value`, exact, randomised and binomial. Ties are broken at
    random: by index they would find an arm by its place. Ties and the tests' uniform variates come from
    environment_rng, after the runs. cell.record:
    false_discovery (the default): least_pulled, is the arm's mean below its true mean? most_pulled, is it above? The
    null is true.
    power: most_pulled, is its mean above the smallest of all arms?
    """
    record = cell.record or "false_discovery"
    means = environment.means
    _, pulls, reward_sums = run_bandit(policy, params, environment, cell, replicates, policy_rng)
    selectors, power = SELECTORS[record], record == "power"
    # Which of the two is drawn first does not matter, but stays as it is: a seed names these draws.
    ties = _ties(selectors, pulls.shape, environment_rng) if power else None
    uniforms = {selector: environment_rng.random(replicates) for selector in selectors}
    ties = ties or _ties(selectors, pulls.shape, environment_rng)
    run = np.arange(replicates)
    parts = []
    for selector in selectors:
        least = selector == "least_pulled"
        arm = (least_pulled if least else most_pulled)(pulls, ties[selector])
        mean = np.full(replicates, means.min()) if power else means[arm]
        n, successes = pulls[run, arm], np.rint(reward_sums[run, arm]).astype(np.int64)
        side = "less" if least else "greater"
        parts.append((arm, n, randomised_p_value(successes, n, mean, uniforms[selector], side)))
    arms, counts, p_values = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
    return rows("selector", selectors, arm=arms, pulls=counts, p_value=p_values)


def _ties(selectors, shape, rng) -> dict[str, np.ndarray]:
    return {selector: rng.random(shape) for selector in selectors}
