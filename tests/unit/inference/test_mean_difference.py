"""Check the mean difference: intervals, coverage, distribution and exact variance."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from privarms.inference import mean_difference as md
from privarms.mechanisms import lap_plus

# Exactly normal estimates: the quantiles of N(0, 1) at 20,000 equally spaced levels.
NORMAL = ndtri((np.arange(20_000) + 0.5) / 20_000)


# By hand: s0^2 + s1^2 = 0.4, T = 100, epsilon = 0.2: 8 / 20^2 = 0.02.
@pytest.mark.parametrize(
    ("interval", "expected"), [("printed", 0.004), ("trial", 0.004), ("corrected", 0.008), ("corrected_laplace", 0.028)]
)
def test_the_variances_by_hand(interval, expected):
    assert md.variance(100, 0.15, 0.25, interval, epsilon=0.2) == pytest.approx(expected, rel=1e-14)
    # Without privacy the Laplace term is zero.
    assert md.variance(100, 0.15, 0.25, "corrected_laplace", epsilon=np.inf) == pytest.approx(0.008)


def test_half_of_the_variance_covers_83_per_cent():
    T, s0, s1, effect = 400, 0.21, 0.21, 0.4
    truth = md.variance(T, s0, s1, "corrected")
    estimate = np.append(effect + np.sqrt(truth) * NORMAL, np.nan)
    share, se, runs = md.coverage(estimate, effect, md.variance(T, s0, s1, "trial"))
    assert share == pytest.approx(2 * norm.cdf(1.959964 / np.sqrt(2)) - 1, abs=1e-3)
    assert share == pytest.approx(0.834, abs=1e-3)
    assert runs == 20_000
    assert se == pytest.approx(np.sqrt(share * (1 - share) / 20_000))
    assert md.coverage(estimate, effect, truth)[0] == pytest.approx(0.95, abs=1e-3)
    assert md.variance_ratio(estimate, effect, truth / 2)[0] == pytest.approx(2, rel=1e-3)


def test_no_estimate_no_coverage():
    share, se, runs = md.coverage(np.full(3, np.nan), 0.4, 1.0)
    assert np.isnan([share, se]).all()
    assert runs == 0


def test_normality_sees_a_wrong_variance_and_not_the_right_one():
    estimate = np.append(0.3 + 0.1 * NORMAL, [np.nan, np.nan])
    distance, p = md.normality(estimate, 0.3, 0.01)
    assert distance < 1e-4
    assert p == pytest.approx(1, abs=1e-6)
    distance, p = md.normality(estimate, 0.3, 0.005)
    # Phi(x / sqrt 2) and Phi(x) differ most where x^2 = 2 ln 2.
    x = np.sqrt(2 * np.log(2))
    assert distance == pytest.approx(norm.cdf(x) - norm.cdf(x / np.sqrt(2)), abs=1e-4)
    assert p < 1e-100


def test_a_budget_that_needs_more_lengths_than_memory_holds_is_refused():
    with pytest.raises(ValueError, match="epsilon, T: 1e-07 and 50"):
        md.private_variance(50, 0.25, 0.25, 1e-7)


def test_the_private_variance_is_a_sum_over_the_lengths():
    # Draws of the exact distribution: T = 40, epsilon = 0.5, where short trials are rare.
    T, epsilon, both = 40.0, 0.5, 0.45
    rng = np.random.default_rng(5)
    lengths = np.array([lap_plus.lap_plus(T, epsilon, rng) for _ in range(100_000)])
    lengths = lengths[lengths >= 1]
    errors = 2 * both / lengths + 8 / (epsilon * lengths) ** 2
    actual = md.private_variance(T, 0.21, 0.24, epsilon)
    # 4.5 standard errors: a false alarm of 7e-6.
    assert abs(errors.mean() - actual) < 4.5 * errors.std() / np.sqrt(len(errors))
    # Without privacy, or with a large epsilon, only the trial with a whole number of patients remains.
    assert md.private_variance(9.9, 0.21, 0.24, np.inf) == pytest.approx(0.9 / 9)
    assert md.private_variance(9.9, 0.21, 0.24, 1e4) == pytest.approx(0.9 / 9, rel=1e-6)


def test_the_inverse_propensity_variance_over_all_assignments_and_rewards():
    T, p = 4, (0.3, 0.7)
    mean, square = 0.0, 0.0
    for arms in itertools.product((0, 1), repeat=T):
        for rewards in itertools.product((0, 1), repeat=T):
            weight = 0.5**T * np.prod([p[a] if r else 1 - p[a] for a, r in zip(arms, rewards, strict=True)])
            a, r = np.array(arms), np.array(rewards)
            estimate = 2 * (r[a == 1].sum() - r[a == 0].sum()) / T
            mean, square = mean + weight * estimate, square + weight * estimate**2
    assert mean == pytest.approx(0.4)
    actual = md.inverse_propensity_variance(T, p, [0.21, 0.21])
    assert actual == pytest.approx(square - mean**2, rel=1e-12)


def test_the_relative_bias_over_all_assignments():
    # An arm without a patient has mean 0, so the difference is the other mean or 0.
    T, means = 5, (0.3, 0.7)
    expected = 0.0
    for arms in itertools.product((0, 1), repeat=T):
        expected += 0.5**T * (means[1] * (1 in arms) - means[0] * (0 in arms))
    assert md.relative_bias(5.9, np.inf) == pytest.approx(expected / 0.4 - 1, rel=1e-12)
    # Sum over the noisy lengths, none of which is 0, with their exact probabilities.
    lengths = np.arange(1, 200)
    chances = lap_plus.pmf(lengths, 5, 1.0)
    assert md.relative_bias(5.9, 1.0) == pytest.approx(-(chances @ 0.5**lengths) / chances.sum(), rel=1e-10)


def test_the_error_of_the_variance_ratio():
    rng = np.random.default_rng(6)
    # A normal sample's variance has a standard error of sqrt(2 / n); Laplace's, of kurtosis 6, sqrt(5 / n).
    for draws, spread in ((rng.standard_normal(200_000), 2), (rng.laplace(size=200_000) / np.sqrt(2), 5)):
        _, actual = md.variance_ratio(np.append(draws, np.nan), 0.0, 1.0)
        assert actual == pytest.approx(np.sqrt(spread / 200_000), rel=0.1)
    assert np.isnan(md.variance_ratio([0.1, np.nan], 0.0, 1.0)).all()
