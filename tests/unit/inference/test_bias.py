"""Check the bias of sample means, its intervals, and its bounds by the theorems of Neel & Roth 2018."""

import math

import numpy as np
import pytest

from privarms.inference import bias as b
from privarms.inference.intervals import normal_interval

PULLS = np.array([[2, 4], [1, 5], [4, 2]])
SUMS = np.array([[1.0, 4.0], [1.0, 2.5], [3.0, 1.0]])


def test_bias_worked_by_hand():
    # Sample means: arm 0: 0.5, 1, 0.75; arm 1: 1, 0.5, 0.5.
    bias, se, replicates = b.sample_mean_bias(PULLS, SUMS, [0.5, 0.75])
    assert replicates.tolist() == [3, 3]
    assert bias == pytest.approx([0.25, 2 / 3 - 0.75])
    assert se == pytest.approx([0.25 / math.sqrt(3), math.sqrt(1 / 12) / math.sqrt(3)])


def test_the_normal_interval():
    low, high = normal_interval(np.array([0.0, 1.0]), np.array([1.0, 0.1]))
    assert low == pytest.approx([-1.959963984540054, 1 - 0.1959963984540054])
    assert high == pytest.approx([1.959963984540054, 1 + 0.1959963984540054])
    assert normal_interval(0.0, 1.0, confidence=0.9)[1] == pytest.approx(1.6448536269514722)


def test_the_controlled_bias_by_hand():
    bias, se, replicates = b.controlled_bias(PULLS, SUMS, [0.5, 0.75])
    assert replicates.tolist() == [3, 3]
    # -Cov(N, sample mean) / E[N]: arm 0: N = 2, 1, 4, covariance -1/12; arm 1: N = 4, 5, 2, covariance 1/18.
    assert bias == pytest.approx([1 / 12 / (7 / 3), -1 / 18 / (11 / 3)])
    # Arm 0: rewards minus mean 0, .5, 1; times 1/N - 3/7.
    assert se[0] == pytest.approx(np.std([0, 0.5 * (1 - 3 / 7), 1 / 4 - 3 / 7], ddof=1) / math.sqrt(3))


def test_the_control_variate_changes_the_noise_and_not_the_bias():
    runs = adaptive_runs(20_000, np.random.default_rng(9))
    plain, controlled = b.sample_mean_bias(*runs), b.controlled_bias(*runs)
    # 4.5 standard errors, for the two arms whose pulls vary: a false alarm of 2e-5.
    assert (np.abs(controlled.bias - plain.bias)[:2] < 4.5 * plain.standard_error[:2]).all()
    assert (controlled.standard_error[:2] < 0.8 * plain.standard_error[:2]).all()
    assert controlled.bias[2] == pytest.approx(plain.bias[2])
    assert controlled.standard_error[2] == pytest.approx(plain.standard_error[2])
    # Replicates without pulls of an arm are left out for it.
    missing = [np.array([[2, 0], [1, 0], [4, 0]]), np.array([[1.0, 0], [1, 0], [3, 0]]), [0.5, 0.2]]
    assert b.controlled_bias(*missing).bias[0] == pytest.approx(1 / 28)
    assert np.isnan(b.controlled_bias(*missing).bias[1])


def adaptive_runs(R, rng):
    """Return runs of two arms with biased, correlated means (pulls depend on rewards) and an unbiased arm."""
    first = rng.random((R, 2)) < 0.5
    more = np.where(first[:, :1] >= first[:, 1:], [20, 5], [5, 20])
    pulls = np.column_stack([1 + more, np.full(R, 10)])
    sums = np.column_stack([first + rng.binomial(more, 0.5), rng.binomial(10, 0.5, R)])
    return pulls, sums.astype(float), np.full(3, 0.5)


def test_the_expected_average_is_that_of_repeated_experiments():
    rng = np.random.default_rng(8)
    runs, experiments = 200, 2_000
    actual = [b.average_absolute_bias(*adaptive_runs(runs, rng))[0] for _ in range(experiments)]
    pulls, sums, means = adaptive_runs(20_000, rng)
    value, se, spread = b.expected_average(pulls, sums, means, runs)
    # 4.5 standard errors of the difference: a false alarm of 7e-6.
    assert abs(value - np.mean(actual)) < 4.5 * math.hypot(se, np.std(actual) / math.sqrt(experiments))
    # The spread may be slightly too large, because correlations are only bounded, but not too small.
    assert 0.95 < spread / np.std(actual) < 1.25
    # Without a control variate it would be a tenth, because there are 100 times as many replicates.
    assert spread / 20 < se < spread / 10
    assert b.expected_average(pulls, sums, means, 10**9) == b.expected_average(pulls, sums, means, 20_000)
    assert value > b.average_absolute_bias(pulls, sums, means)[0]


def test_the_spread_of_arms_that_err_together_is_that_of_one():
    one = np.random.default_rng(10).binomial(25, 0.5, 500)
    alone = b.expected_average(np.full((500, 1), 25), one[:, None], [0.5], 100)
    twice = b.expected_average(np.full((500, 2), 25), np.column_stack([one, 25 - one]), [0.5, 0.5], 100)
    assert twice == pytest.approx(alone)


def test_rewards_without_bounds():
    pulls, sums, means = np.full((2, 2), 2), np.array([[-3.0, 9.0], [1.0, 7.0]]), np.array([-1.0, 3.0])
    assert b.sample_mean_bias(pulls, sums, means).bias.tolist() == [0.5, 1.0]
    assert b.average_absolute_bias(pulls, sums, means)[0] == 0.75
    assert b.expected_average(pulls, sums, means, 2).value == 0.75


def test_theorem_1():
    assert b.bias_bound(0.05, 0.8) == pytest.approx((math.exp(0.05) - 1) * 0.8)
    assert b.bias_bound(1e-12, 1.0) == pytest.approx(1e-12, rel=1e-9, abs=0)
    actual = b.bias_bound(np.array([[0.05], [400.0], [1e4]]), np.array([0.0, 0.5]))
    assert actual[:, 0].tolist() == [0, 0, 0]
    assert actual[:, 1] == pytest.approx([0.5 * math.expm1(0.05), 0.5 * math.expm1(400), math.inf])


def test_a_replicate_that_leaves_an_arm_unpulled_is_left_out_for_that_arm_and_counted():
    pulls, sums = np.array([[2, 4, 0], [1, 0, 0], [4, 2, 0]]), np.array([[1.0, 4.0, 0], [1.0, 0, 0], [3.0, 1.0, 0]])
    bias, se, replicates = b.sample_mean_bias(pulls, sums, [0.5, 0.75, 0.2])
    # Sample means: arm 0: 0.5, 1, 0.75; arm 1: 1, none, 0.5; arm 2: none.
    assert bias[:2] == pytest.approx([0.25, 0.0])
    assert se[:2] == pytest.approx([0.25 / math.sqrt(3), 0.25])
    assert np.isnan([bias[2], se[2]]).all()
    assert replicates.tolist() == [3, 2, 0]
    assert np.isnan(normal_interval(bias, se)[0]).tolist() == [False, False, True]
    # A run lacks an arm, so its average over all arms does not exist.
    assert np.isnan(b.expected_average(pulls, sums, [0.5, 0.75, 0.2], 2)).all()
    assert not np.isnan(b.expected_average(pulls[:, :1], sums[:, :1], [0.5], 2)).any()


def test_the_average_absolute_bias_by_hand():
    # Errors: arm 0: 0, .5, .25; arm 1: .25, -.25, -.25; biases .25 and -.25 / 3.
    average, se = b.average_absolute_bias(PULLS, SUMS, [0.5, 0.75])
    assert average == pytest.approx((0.25 + 0.25 / 3) / 2)
    # Half of (error of arm 0 minus error of arm 1): -.125, .375, .25.
    assert se == pytest.approx(np.std([-0.125, 0.375, 0.25], ddof=1) / math.sqrt(3))


def test_the_average_absolute_bias_leaves_out_what_is_missing():
    pulls, sums = np.array([[2, 4, 0], [1, 0, 0], [4, 2, 0]]), np.array([[1.0, 4.0, 0], [1.0, 0, 0], [3.0, 1.0, 0]])
    average, se = b.average_absolute_bias(pulls, sums, [0.5, 0.7, 0.2])
    # Biases .25 and .05. Deviations: arm 0: -.25, .25, 0; arm 1: .25, none, -.25, each for 3/2 of a replicate.
    assert average == pytest.approx((0.25 + 0.05) / 2)
    assert se == pytest.approx(np.std([(-0.25 + 0.375) / 2, 0.125, -0.1875], ddof=1) / math.sqrt(3))
    assert np.isnan(b.average_absolute_bias(0 * pulls, 0 * sums, [0.5, 0.7, 0.2])).all()
