"""Compare the distributions of fast paths and reference implementations: batches, KL-UCB and IMED."""

import numpy as np
import pytest

from privarms import fast_paths
from privarms.environments.bernoulli import Environment, pull
from privarms.policies import Policy, functions
from privarms.policies.bandit import adap_klucb, adap_ucb, dp_imed, dp_klucb, imed, kl_ucb, ucb1
from privarms.protocols.bandit import play_block, simulate_block

from ...two_sample import same_law

pytestmark = pytest.mark.statistical

MEANS = [0.5, 0.7, 0.4]
# Horizon and checkpoints cut batches.
CHECKPOINTS = [37, 150, 500]


def sample(law, params, replicates, seed, fast):
    """Return the regret at the checkpoints, and pulls and reward sums at the last one."""
    means, checkpoints = np.array(MEANS), np.array(CHECKPOINTS)
    samples = np.zeros((replicates, 3)), np.zeros((replicates, 3), np.int64), np.zeros((replicates, 3))
    block = simulate_block if fast else play_block
    block(law, params, Environment(pull, means), checkpoints, np.random.default_rng(seed), *samples)
    return samples


def pairs(one, other):
    for a, b in zip(one, other, strict=True):
        yield from (("continuous", a[:, i], b[:, i]) for i in range(a.shape[1]))


def agree(policy, params, replicates=4000):
    """Return whether the fast path of a policy has the distribution of the reference implementation."""
    plain = sample(functions(Policy, policy), params, replicates, 1, fast=False)
    fast = sample(fast_paths.find(policy, "bernoulli"), params, 4 * replicates, 2, fast=True)
    return plain, same_law([*pairs(plain, fast)])


@pytest.mark.parametrize(
    ("policy", "params", "changed"),
    [
        (adap_ucb, adap_ucb.configure(3, 2.0, alpha=0.3), adap_ucb.configure(3, 2.0, alpha=0.3, noise=0.5)),
        (adap_klucb, adap_klucb.configure(3, 2.0, alpha=0.3), adap_klucb.configure(3, 2.0, alpha=0.3, noise=0.5)),
        (dp_klucb, dp_klucb.configure(3, 0.5), dp_klucb.configure(3, 0.5, noise=0.5)),
        (dp_klucb, dp_klucb.configure(3, 0.5, 1.3), dp_klucb.configure(3, 0.5, 1.25)),
        (dp_imed, dp_imed.configure(3, 0.5), dp_imed.configure(3, 0.5, noise=0.5)),
        (dp_imed, dp_imed.configure(3, 0.5, 1.5, 4), dp_imed.configure(3, 0.5, 1.5, 2)),
    ],
)
def test_batches_fast_is_plain(policy, params, changed):
    plain, same = agree(policy, params)
    assert same
    assert len(np.unique(plain[0][:, -1])) > 3
    other = sample(fast_paths.find(policy, "bernoulli"), changed, 16_000, 2, fast=True)
    assert not same_law([*pairs(plain, other)]), "the test detects a wrong parameter"


@pytest.mark.parametrize("policy", [adap_ucb, adap_klucb, dp_klucb, dp_imed, kl_ucb, imed, ucb1])
def test_the_order_of_the_arms_changes_no_mean_regret(policy):
    private = policy in (adap_ucb, adap_klucb, dp_klucb, dp_imed)
    params, regrets = policy.configure(3, 0.05) if private else policy.configure(3), []
    for seed, means in enumerate(([0.7, 0.5, 0.4], [0.4, 0.5, 0.7])):
        samples = np.zeros((4000, 1)), np.zeros((4000, 3), np.int64), np.zeros((4000, 3))
        environment, rng = Environment(pull, np.array(means)), np.random.default_rng(seed)
        simulate_block(fast_paths.find(policy, "bernoulli"), params, environment, np.array([1000]), rng, *samples)
        regrets.append(samples[0][:, 0])
    first, last = regrets
    # A difference above 4.6 standard errors has probability 4e-6.
    assert abs(first.mean() - last.mean()) < 4.6 * np.sqrt((first.var() + last.var()) / 4000)


@pytest.mark.parametrize("policy", [kl_ucb, imed])
def test_skipping_rounds_is_playing_them(policy):
    plain, same = agree(policy, policy.configure(3))
    assert same
    other = kl_ucb if policy is imed else imed
    wrong = sample(fast_paths.find(other, "bernoulli"), other.configure(3), 16_000, 2, fast=True)
    assert not same_law([*pairs(plain, wrong)])
