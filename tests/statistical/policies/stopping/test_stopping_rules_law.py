"""Compare the distributions of fast paths and reference implementations: private stopping rules."""

import numpy as np
import pytest

from privarms import fast_paths
from privarms.environments import two_point
from privarms.policies import functions
from privarms.policies.stopping import Rule, dp_exponential_nas, dp_nas
from privarms.protocols.stopping import play, play_block

from ...two_sample import same_law

pytestmark = pytest.mark.statistical

# The stop depends on the drift (long runs), on both, or on the noise (epsilon and 1 - beta small, |mu| large). Further
# cases: a negative mean, samples scaled by R, and samples that do not reach the rule's R.
SETTINGS = {
    "drift": ({"epsilon": 1.0, "alpha": 0.5, "beta": 0.05}, {"mu": 0.4}),
    "negative": ({"epsilon": 0.3, "alpha": 0.5, "beta": 0.05}, {"mu": -0.6}),
    "noise": ({"epsilon": 0.02, "alpha": 0.9, "beta": 0.9}, {"mu": 0.9}),
    "noise and small mu": ({"epsilon": 0.1, "alpha": 0.9, "beta": 0.9}, {"mu": 0.2}),
    "little noise": ({"epsilon": 50.0, "alpha": 0.5, "beta": 0.2}, {"mu": 0.3}),
    "R": ({"epsilon": 0.5, "alpha": 0.6, "beta": 0.1, "R": 3.0}, {"mu": 2.0, "R": 3.0}),
    "within R": ({"epsilon": 0.5, "alpha": 0.6, "beta": 0.1, "R": 2.0}, {"mu": 0.9, "R": 1.0}),
}
KINDS = [(dp_nas, "continuous"), (dp_exponential_nas, "atoms")]


def sample(law, params, environment, replicates, seed):
    stopping_time, estimate = np.zeros(replicates, np.int64), np.zeros(replicates)
    simulate, own = (play, (law, params)) if isinstance(law, Rule) else (law, (params,))
    play_block(simulate, own, environment, np.random.default_rng(seed), stopping_time, estimate)
    return stopping_time, estimate


def fast(rule):
    return fast_paths.find(rule, "two_point")


def pairs(one, other, kind):
    """Return stopping time, estimate, and their product, the noisy sum, which tests their dependence."""
    yield kind, one[0], other[0]
    yield "continuous", one[1], other[1]
    yield "continuous", one[0] * one[1], other[0] * other[1]


@pytest.mark.parametrize(("rule", "kind"), KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_fast_is_plain(setting, rule, kind):
    inputs, stream = SETTINGS[setting]
    params, environment = rule.configure(**inputs), two_point.configure(**stream)
    plain = sample(functions(Rule, rule), params, environment, 4000, 1)
    assert same_law([*pairs(plain, sample(fast(rule), params, environment, 40_000, 2), kind)])


def test_wrong_laws_are_told_apart():
    inputs, stream = SETTINGS["noise"]
    environment = two_point.configure(**stream)
    for rule, kind in KINDS:
        plain = sample(functions(Rule, rule), rule.configure(**inputs), environment, 4000, 5)
        # Wrong cases: 10% more privacy budget, and a wrong scale only for the noise of the queries.
        budget = rule.configure(**{**inputs, "epsilon": 1.1 * inputs["epsilon"]})
        queries = rule.configure(**inputs)
        queries = queries._replace(sigma_2=0.9 * queries.sigma_2)
        for wrong in (budget, queries):
            assert not same_law([*pairs(plain, sample(fast(rule), wrong, environment, 40_000, 6), kind)])
