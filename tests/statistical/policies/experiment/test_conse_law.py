"""The exact fast paths of ConSE and DP-ConSE against their plain ones: one law."""

import numpy as np
import pytest

from privarms import fast_paths
from privarms.environments import features_bernoulli, features_normal
from privarms.policies.experiment import BOTH, conse_exp3e, conse_se, dp_conse, dp_conse_total
from privarms.protocols import experiment

from ...two_sample import same_law

pytestmark = pytest.mark.statistical


def sample(policy, params, environment, replicates, seed, fast):
    records = experiment.new_records(replicates, params.design.M)
    rng = np.random.default_rng(seed)
    if fast:
        kind = "features_bernoulli" if environment.bounded else "features_normal"
        experiment.simulate_block(fast_paths.find(policy, kind), params, environment, rng, records)
    else:
        experiment.play_block(policy.POLICY, params, environment, rng, records)
    return records


def number(values):
    """With a number for nan, far below the others."""
    return np.nan_to_num(values, nan=-1e6)


def pairs(one, other):
    """Every column of the records by feature, and what depends on all of them."""
    for i in range(one.regret.shape[1]):
        for name in ("regret", "first_half_regret", "eliminated_after", "estimate", "length"):
            yield "continuous", number(getattr(one, name)[:, i]), number(getattr(other, name)[:, i])
        yield "atoms", one.kept[:, i], other.kept[:, i]
        for name in ("pulls", "reward_sums"):
            for arm in range(2):
                yield "continuous", getattr(one, name)[:, i, arm], getattr(other, name)[:, i, arm]
    yield "continuous", one.regret.sum(axis=1), other.regret.sum(axis=1)
    yield "continuous", one.floor_T_min[:, 0], other.floor_T_min[:, 0]
    yield "atoms", np.isnan(one.estimate).sum(axis=1), np.isnan(other.estimate).sum(axis=1)


BERNOULLI, NORMAL = features_bernoulli.configure, features_normal.configure


def eliminates_at_times(records, environment):
    """Whether both arms stay at times, and with wide normal rewards the better arm goes at times."""
    both, wrong = (records.kept == BOTH).mean(), (records.kept == 0).mean()
    return 0.02 < both < 0.98 and (wrong > 0.02 or environment.deviations.max() < 1)


# n is small and gaps are near the margin of epoch 1 (0.125), so that some runs eliminate and some do not; at alpha = 0
# about half of the trials are not finished. Each case has two wrong settings, which must be told apart.
CASES = [
    (
        conse_se,
        BERNOULLI(2, 7000, lower=0.4, smallest_gap=0.05, largest_gap=0.14),
        {"alpha": 0.0},
        [{"confidence": "per_arm"}, {"alpha": 0.02}],
    ),
    (
        conse_se,
        BERNOULLI(3, 12_000, lower=0.4, smallest_gap=0.1, largest_gap=0.14, arrivals="seasonal"),
        {"alpha": 0.3},
        [{"confidence": "per_arm"}, {"alpha": 0.32}],
    ),
    (
        conse_se,
        NORMAL(2, 9000, lower=-1.0, smallest_gap=0.1, largest_gap=0.2, deviation=3.0, rarest=0.4),
        {"alpha": 0.1},
        [{"confidence": "per_arm"}, {"alpha": 0.12}],
    ),
    (
        dp_conse,
        BERNOULLI(2, 9000, lower=0.4, smallest_gap=0.16, largest_gap=0.2),
        {"alpha": 0.0, "epsilon": 0.5},
        [{"width": "proof"}, {"epsilon": 0.45}],
    ),
    (
        dp_conse,
        BERNOULLI(3, 12_000, lower=0.3, smallest_gap=0.15, largest_gap=0.2, arrivals="seasonal"),
        {"alpha": 0.8, "epsilon": 0.5},
        [{"noise": 1.5}, {"epsilon": 0.45}],
    ),
    (
        dp_conse,
        NORMAL(1, 9000, lower=0.0, smallest_gap=0.2, largest_gap=0.2, deviation=9.0),
        {"alpha": 0.5, "epsilon": 0.05},
        [{"width": "proof"}, {"epsilon": 0.045}],
    ),
    (
        dp_conse_total,
        BERNOULLI(2, 9000, lower=0.4, smallest_gap=0.16, largest_gap=0.2),
        {"alpha": 0.2, "epsilon": 8.0},
        [{"epsilon": 4.0}],
    ),
    # Some trials have no patients, and some are not finished.
    (
        dp_conse_total,
        BERNOULLI(2, 6000, lower=0.4, smallest_gap=0.17, largest_gap=0.2, rarest=0.1),
        {"alpha": 0.0, "epsilon": 20.0},
        [{"epsilon": 10.0}],
    ),
    (
        conse_exp3e,
        BERNOULLI(2, 3000, lower=0.4, smallest_gap=0.1, largest_gap=0.3),
        {"alpha": 0.3, "C": 12.0},
        [{"C": 13.2}],
    ),
    (
        conse_exp3e,
        NORMAL(2, 2000, lower=0.2, smallest_gap=0.1, largest_gap=0.3, deviation=3.0, arrivals="seasonal"),
        {"alpha": 0.3, "C": 20.0},
        [{"C": 22.0}],
    ),
]


@pytest.mark.parametrize(("policy", "environment", "given", "wrong"), CASES)
def test_fast_is_plain(policy, environment, given, wrong):
    M, n = len(environment.means), int(environment.ends[-1])
    plain = sample(policy, policy.configure(M, n, **given), environment, 3000, 1, fast=False)
    assert eliminates_at_times(plain, environment)
    for settings in (given, *(given | change for change in wrong)):
        fast = sample(policy, policy.configure(M, n, **settings), environment, 20_000, 2, fast=True)
        assert same_law([*pairs(plain, fast)]) == (settings == given), settings
