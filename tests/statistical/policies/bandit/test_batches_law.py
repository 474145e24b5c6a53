"""The exact fast paths of the policies that pull in batches, KL-UCB and IMED against their plain ones: one law."""

import numpy as np
import pytest
from numba import njit

from privarms.environments.bernoulli import Environment, pull
from privarms.policies.bandit import adap_klucb, adap_ucb, dp_imed, dp_klucb, imed, kl_ucb

from ...two_sample import same_law
from .samples import fast, pairs, sample

pytestmark = pytest.mark.statistical

ARMS = Environment(pull, np.array([0.5, 0.7, 0.4]))
# The horizon and the checkpoints cut batches short.
CHECKPOINTS = [37, 150, 500]


def played(law, params, replicates, seed):
    return sample(law, params, ARMS, CHECKPOINTS, replicates, seed)


TWINS = [
    (adap_ucb, adap_ucb.configure(3, 2.0, alpha=0.3), adap_ucb.configure(3, 2.0, alpha=0.3, noise=0.5)),
    (adap_klucb, adap_klucb.configure(3, 2.0, alpha=0.3), adap_klucb.configure(3, 2.0, alpha=0.3, noise=0.5)),
    (dp_klucb, dp_klucb.configure(3, 0.5), dp_klucb.configure(3, 0.5, noise=0.5)),
    (dp_klucb, dp_klucb.configure(3, 0.5, 1.3), dp_klucb.configure(3, 0.5, 1.25)),
    (dp_imed, dp_imed.configure(3, 0.5), dp_imed.configure(3, 0.5, noise=0.5)),
    (dp_imed, dp_imed.configure(3, 0.5, 1.5, 4), dp_imed.configure(3, 0.5, 1.5, 2)),
]


@pytest.mark.parametrize(("policy", "params", "twin"), TWINS)
def test_batches_fast_is_plain(policy, params, twin):
    plain = played(policy.POLICY, params, 4000, 1)
    assert len(np.unique(plain[0][:, -1])) > 3
    assert same_law([*pairs(plain, played(fast(policy), params, 16_000, 2))])
    assert not same_law([*pairs(plain, played(fast(policy), twin, 16_000, 2))]), "the test tells a twin apart"


@pytest.mark.parametrize(("policy", "other"), [(kl_ucb, imed), (imed, kl_ucb)])
def test_skipping_rounds_is_playing_them(policy, other):
    plain = played(policy.POLICY, policy.configure(3), 4000, 1)
    assert same_law([*pairs(plain, played(fast(policy), policy.configure(3), 16_000, 2))])
    assert not same_law([*pairs(plain, played(fast(other), other.configure(3), 16_000, 2))])


def test_a_fast_path_that_leads_too_long_is_told_apart():
    whole = fast(kl_ucb)

    @njit
    def greedy(params, environment, checkpoints, rng, record):
        # As KL-UCB's, with an index in which ln t is 3% short.
        short = np.array([int(max(c**0.97, 3)) for c in checkpoints])
        whole(params, environment, short, rng, record)

    plain = played(kl_ucb.POLICY, kl_ucb.configure(3), 4000, 1)
    assert not same_law([*pairs(plain, played(greedy, kl_ucb.configure(3), 16_000, 2))])
