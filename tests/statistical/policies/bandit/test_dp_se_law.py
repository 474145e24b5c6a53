"""Compare the distributions of fast paths and reference implementations: elimination policies."""

import numpy as np
import pytest

from privarms.environments.bernoulli import Environment, pull
from privarms.policies import Policy, functions
from privarms.policies.bandit import dp_se, epoch_se, successive_elimination

from ...two_sample import same_law
from .samples import fast, pairs, sample

pytestmark = pytest.mark.statistical


# Gaps are near the margins of epoch 1 (0.21 with noise, 0.12 without) and epoch 2, so every set of arms occurs.
# Horizon and checkpoints cut epochs 1, 2 and 3.
NOISY = {"K": 3, "horizon": 10, "epsilon": 0.05, "beta": 0.5}
FOUR = {"K": 4, "horizon": 10}
CASES = [
    (dp_se, NOISY, {"noise": 0.5}, [0.56, 0.74, 0.66], [1001, 6000, 12_500, 20_000], "atoms"),
    (epoch_se, FOUR | {"beta": 0.3}, {"beta": 0.33}, [0.5, 0.62, 0.7, 0.62], [999, 4001, 15_000], "atoms"),
    (successive_elimination, FOUR | {"beta": 0.5}, {"c": 10}, [0.4, 0.9, 0.65, 0.5], [500, 2002, 6000], "continuous"),
]


@pytest.mark.parametrize(("policy", "inputs", "wrong", "means", "checkpoints", "kind"), CASES)
def test_fast_is_plain(policy, inputs, wrong, means, checkpoints, kind):
    environment = Environment(pull, np.array(means))
    plain = sample(functions(Policy, policy), policy.configure(**inputs), environment, checkpoints, 2500, 1)
    assert len(np.unique(plain[0][:, -1])) >= 3
    for settings, same in ((inputs, True), (inputs | wrong, False)):
        other = sample(fast(policy), policy.configure(**settings), environment, checkpoints, 30_000, 2)
        assert same_law([*pairs(plain, other, kind)]) == same
