"""The exact fast paths of the elimination policies against their plain ones: one law."""

import numpy as np
import pytest

from privarms import fast_paths
from privarms.environments.bernoulli import Environment, pull
from privarms.policies.bandit import dp_se, epoch_se, successive_elimination
from privarms.protocols.bandit import play_block, simulate_block

from ...two_sample import same_law

pytestmark = pytest.mark.statistical


def sample(policy, params, means, checkpoints, replicates, seed, fast):
    means, checkpoints = np.array(means), np.array(checkpoints)
    regret = np.zeros((replicates, len(checkpoints)))
    pulls = np.zeros((replicates, len(means)), np.int64)
    reward_sums = np.zeros((replicates, len(means)))
    block = simulate_block if fast else play_block
    law = fast_paths.find(policy, "bernoulli") if fast else policy.POLICY
    rng = np.random.default_rng(seed)
    block(law, params, Environment(pull, means), checkpoints, rng, regret, pulls, reward_sums)
    return regret, pulls, reward_sums


def pairs(one, other, kind):
    """The regret at each checkpoint, and each arm's pulls and reward sum."""
    for a, b in ((one[0], other[0]), (one[1], other[1])):
        yield from ((kind, a[:, i], b[:, i]) for i in range(a.shape[1]))
    yield from (("continuous", one[2][:, i], other[2][:, i]) for i in range(one[2].shape[1]))


# Gaps near the margins of epochs 1 (0.21 with noise, 0.12 without) and 2, so that every set of arms occurs; the
# horizon and the checkpoints cut epochs 1, 2 and 3 short.
NOISY = dp_se.configure(K=3, horizon=10, epsilon=0.05, beta=0.5)
NOISY_MEANS = [0.56, 0.74, 0.66]
CHECKPOINTS = [1001, 6000, 12_500, 20_000]


def test_dp_se_fast_is_plain():
    plain = sample(dp_se, NOISY, NOISY_MEANS, CHECKPOINTS, 2500, 1, fast=False)
    fast = sample(dp_se, NOISY, NOISY_MEANS, CHECKPOINTS, 40_000, 2, fast=True)
    assert len(np.unique(plain[0][:, -1])) >= 3
    assert same_law([*pairs(plain, fast, "atoms")])
    halved = dp_se.configure(K=3, horizon=10, epsilon=0.05, beta=0.5, noise=0.5)
    assert not same_law([*pairs(plain, sample(dp_se, halved, NOISY_MEANS, CHECKPOINTS, 40_000, 2, fast=True), "atoms")])


def test_epoch_se_fast_is_plain():
    params, means = epoch_se.configure(K=4, horizon=10, beta=0.3), [0.5, 0.62, 0.7, 0.62]
    checkpoints = [999, 4001, 15_000]
    plain = sample(epoch_se, params, means, checkpoints, 2500, 3, fast=False)
    fast = sample(epoch_se, params, means, checkpoints, 40_000, 4, fast=True)
    assert same_law([*pairs(plain, fast, "atoms")])
    wrong = epoch_se.configure(K=4, horizon=10, beta=0.33)
    assert not same_law([*pairs(plain, sample(epoch_se, wrong, means, checkpoints, 40_000, 4, fast=True), "atoms")])


def test_successive_elimination_fast_is_plain():
    params, means = successive_elimination.configure(K=4, horizon=10, beta=0.5), [0.4, 0.9, 0.65, 0.5]
    checkpoints = [500, 2002, 6000]
    plain = sample(successive_elimination, params, means, checkpoints, 6000, 5, fast=False)
    fast = sample(successive_elimination, params, means, checkpoints, 20_000, 6, fast=True)
    assert same_law([*pairs(plain, fast, "continuous")])
    wrong = successive_elimination.configure(K=4, horizon=10, beta=0.5, c=10)
    fast = sample(successive_elimination, wrong, means, checkpoints, 20_000, 6, fast=True)
    assert not same_law([*pairs(plain, fast, "continuous")])
