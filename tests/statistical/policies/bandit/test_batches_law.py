"""Compare the distributions of fast paths and reference implementations: batches, KL-UCB and IMED."""

import numpy as np
import pytest

from privarms.environments.bernoulli import Environment, pull
from privarms.policies import Policy, functions
from privarms.policies.bandit import adap_klucb, adap_ucb, dp_imed, dp_klucb, imed, kl_ucb, ucb1

from ...two_sample import same_law
from .samples import fast, pairs, sample

pytestmark = pytest.mark.statistical

ARMS = Environment(pull, np.array([0.5, 0.7, 0.4]))
# Horizon and checkpoints cut batches.
CHECKPOINTS = [37, 150, 500]


def agree(policy, params, replicates=4000):
    """Return whether the fast path of a policy has the distribution of the reference implementation."""
    plain = sample(functions(Policy, policy), params, ARMS, CHECKPOINTS, replicates, 1)
    return plain, same_law([*pairs(plain, sample(fast(policy), params, ARMS, CHECKPOINTS, 4 * replicates, 2))])


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
    other = sample(fast(policy), changed, ARMS, CHECKPOINTS, 16_000, 2)
    assert not same_law([*pairs(plain, other)]), "the test detects a wrong parameter"


@pytest.mark.parametrize("policy", [adap_ucb, adap_klucb, dp_klucb, dp_imed, kl_ucb, imed, ucb1])
def test_the_order_of_the_arms_changes_no_mean_regret(policy):
    private = policy in (adap_ucb, adap_klucb, dp_klucb, dp_imed)
    params, regrets = policy.configure(3, 0.05) if private else policy.configure(3), []
    for seed, means in enumerate(([0.7, 0.5, 0.4], [0.4, 0.5, 0.7])):
        regret, *_ = sample(fast(policy), params, Environment(pull, np.array(means)), [1000], 4000, seed)
        regrets.append(regret[:, 0])
    first, last = regrets
    # A difference above 4.6 standard errors has probability 4e-6.
    assert abs(first.mean() - last.mean()) < 4.6 * np.sqrt((first.var() + last.var()) / 4000)


@pytest.mark.parametrize("policy", [kl_ucb, imed])
def test_skipping_rounds_is_playing_them(policy):
    plain, same = agree(policy, policy.configure(3))
    assert same
    other = kl_ucb if policy is imed else imed
    wrong = sample(fast(other), other.configure(3), ARMS, CHECKPOINTS, 16_000, 2)
    assert not same_law([*pairs(plain, wrong)])
