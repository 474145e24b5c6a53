"""Compare the distributions of fast paths and reference implementations: ConSE and DP-ConSE."""

import numpy as np
import pytest
from numba import njit
from scipy.special import gammaln

from privarms import fast_paths
from privarms.environments import features_bernoulli
from privarms.policies import Policy, functions
from privarms.policies.experiment import BOTH, conse_exp3e, conse_se, dp_conse, dp_conse_total
from privarms.protocols import experiment

from ...two_sample import same_law

pytestmark = pytest.mark.statistical


def sample(policy, params, environment, replicates, seed, fast):
    records = experiment.new_records(replicates, params.design.M)
    rng = np.random.default_rng(seed)
    if fast:
        simulate, own = fast_paths.find(policy, "features_bernoulli"), (params,)
    else:
        simulate, own = experiment.play, (functions(Policy, policy), params)
    experiment.play_block(simulate, own, environment, rng, records)
    return records


def number(values):
    """Replace nan by a number far below the others."""
    return np.nan_to_num(values, nan=-1e6)


def pairs(one, other):
    """Return every column of the records by feature, and numbers that depend on all columns."""
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


def is_same(policy, params, environment, plain, seed):
    return same_law([*pairs(plain, sample(policy, params, environment, 20_000, seed, fast=True))])


def eliminates_at_times(records):
    """Return whether both arms remain in some runs."""
    return 0.02 < (records.kept == BOTH).mean() < 0.98


def arms(M, n, gaps, arrivals="stationary", lower=0.4):
    return features_bernoulli.configure(M, n, lower, *gaps, arrivals)


@njit
def wider_margin(params, epoch):
    return 1.4 * dp_conse.elimination_margin(params, epoch)


def wider(params):
    return params._replace(rules=params.rules._replace(elimination_margin=wider_margin))


def with_noise(params):
    return params._replace(noise=1.5)


def with_larger_C(params):
    return params._replace(C=1.1 * params.C)


def trial(**changes):
    """Return a function that changes the design of the trials, and nothing else."""
    return lambda params: params._replace(design=params.design._replace(**changes))


def with_a_better_arm_0(environment):
    """Return the environment in which arm 0 is the better one for the first feature."""
    means = environment.means.copy()
    means[0] = means[0, ::-1]
    return environment._replace(means=means)


# Some trials have no patients, and some are not finished.
RARE = arms(2, 6000, (0.17, 0.2))._replace(probabilities=np.array([[0.9, 0.1]] * 2))
# n is small and gaps are near the margin of epoch 1 (0.125), so only some runs eliminate an arm. At alpha = 0 about
# half of the trials are not finished.
CASES = [
    (conse_se, arms(2, 7000, (0.05, 0.14)), (0.0,), [wider, trial(alpha=0.02)]),
    (conse_se, with_a_better_arm_0(arms(3, 12_000, (0.1, 0.14), "seasonal")), (0.3,), [wider, trial(alpha=0.32)]),
    (dp_conse, arms(2, 9000, (0.16, 0.2)), (0.0, 0.5), [wider, trial(epsilon=0.45)]),
    (
        dp_conse,
        with_a_better_arm_0(arms(3, 12_000, (0.15, 0.2), "seasonal", 0.3)),
        (0.8, 0.5),
        [with_noise, trial(epsilon=0.45)],
    ),
    (dp_conse_total, arms(2, 9000, (0.16, 0.2)), (0.2, 8.0), [trial(epsilon=4.0)]),
    (dp_conse_total, RARE, (0.0, 20.0), [trial(epsilon=10.0)]),
    (conse_exp3e, arms(2, 3000, (0.1, 0.3)), (0.3, 12.0), [with_larger_C]),
    (conse_exp3e, with_a_better_arm_0(arms(2, 3000, (0.1, 0.3), "seasonal")), (0.3, 12.0), [with_larger_C]),
]
SEEDS = {conse_se: 1, dp_conse: 3, dp_conse_total: 3, conse_exp3e: 5}


@pytest.mark.parametrize(("policy", "environment", "settings", "wrong"), CASES)
def test_fast_is_plain(policy, environment, settings, wrong):
    settings = len(environment.means), int(environment.ends[-1]), *settings
    params = policy.configure(*settings)
    replicates, seed = 4000 if policy is conse_exp3e else 3000, SEEDS[policy]
    plain = sample(policy, params, environment, replicates, seed, fast=False)
    assert eliminates_at_times(plain)
    assert is_same(policy, params, environment, plain, seed + 1)
    for change in wrong:
        assert not is_same(policy, change(params), environment, plain, seed + 1)
    if policy is dp_conse_total:
        assert not is_same(dp_conse, dp_conse.configure(*settings), environment, plain, seed + 1)


def test_conse_exp3e_as_printed_fast_is_plain():
    environment, params = arms(2, 4000, (0.6, 0.8), lower=0.1), conse_exp3e.configure(2, 4000, 0.5)
    plain = sample(conse_exp3e, params, environment, 4000, 7, fast=False)
    assert is_same(conse_exp3e, params, environment, plain, 8)
    # The arms' probabilities move away from 1/2 as the sums grow. With a larger C they move less.
    assert not is_same(conse_exp3e, params._replace(C=2 * params.C), environment, plain, 8)


def exact_variance(T: int, variance_0: float, variance_1: float) -> float:
    """Return Var of the mean difference after T patients with fair coins, given that both arms have a pull.

    E[1/N] (s0^2 + s1^2) for N ~ Bin(T, 1/2) given 0 < N < T; 2 (s0^2 + s1^2) / T to first order.
    """
    pulls = np.arange(1, T)
    log_weights = gammaln(T + 1) - gammaln(pulls + 1) - gammaln(T - pulls + 1) - T * np.log(2)
    weights = np.exp(log_weights - log_weights.max())
    return float((weights / pulls).sum() / weights.sum() * (variance_0 + variance_1))


def test_the_estimate_has_twice_the_printed_variance_and_the_laplace_noise_on_top():
    n, T, replicates = 20_000, 141, 200_000
    environment = features_bernoulli.configure(1, n)
    variance = exact_variance(T, 0.21, 0.21)
    for policy, params, noise in (
        (conse_se, conse_se.configure(1, n, 0.4622), 0.0),
        # Here Lap+ gives T_j = T_min in nearly all runs. The noise of the estimates is Lap(2 / (epsilon T)).
        (dp_conse, dp_conse.configure(1, n, 0.4622, 30.0, noise=150.0), 8 * (150 / 30 / T) ** 2),
    ):
        records = sample(policy, params, environment, replicates, 9, fast=True)
        assert (records.floor_T_min == T).all()
        assert (records.length == T).mean() > 0.9999
        error = records.estimate[:, 0] - 0.4
        squares = error**2
        assert error.mean() == pytest.approx(0, abs=5 * error.std() / np.sqrt(replicates))
        se = squares.std() / np.sqrt(replicates)
        assert squares.mean() == pytest.approx(variance + noise, abs=5 * se)
        assert abs(squares.mean() - (variance + noise) / 2) > 50 * se
