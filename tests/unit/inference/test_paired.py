"""Check paired comparisons: signed-rank tests, Holm's adjustment, bootstrap intervals, rank sums."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.stats.multitest import multipletests

from privarms.inference.paired import holm, ratio_of_means, wilcoxon_p_value


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # Subsets of {1, 2, 3, 4} with sum >= 1 + 3 + 4: those whose rest is {}, {1} or {2}.
        ([1, -2, 3, 4], 3 / 16),
        # A difference below 1 counts as a loss like any other: ranks 2 + 3 of {1, 2, 3}.
        ([-0.5, 1, 2], 2 / 8),
        ([-1, -2, -3], 1),
        # Ranks 1.5, 1.5, 3: of the 8 sums 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6 five are at least 3.
        ([1, 1, -2], 5 / 8),
        ([], 1),
        (np.arange(1, 41), 2.0**-40),
    ],
)
def test_signed_rank_tests_by_hand_with_and_without_zeros(differences, p):
    for zeros in (1, 60):
        sample = np.append(differences, np.zeros(zeros))
        assert wilcoxon_p_value(100 + sample, np.full(len(sample), 100)) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("pairs", [14, 400])
def test_many_ties_are_exact_as_well(pairs):
    # All differences are 1 or -1: the rank sum is a binomial count times the mean rank.
    positive = int(0.6 * pairs)
    differences = np.where(np.arange(pairs) < positive, 1, -1)
    assert wilcoxon_p_value(differences, np.zeros(pairs)) == pytest.approx(binom.sf(positive - 1, pairs, 0.5))


def test_more_pairs_than_can_be_counted_have_the_normal_approximation():
    # The rank sum is 300.5 times a binomial count, of variance 600 / 4.
    differences = np.where(np.arange(600) < 330, 1, -1)
    assert wilcoxon_p_value(differences, np.zeros(600)) == pytest.approx(norm.sf(30 / np.sqrt(150)))


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # Sorted: .005 * 4, .01 * 3, .03 * 2, .04 * 1. The last may not be below its predecessor.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.3, 0.7], [1, 0.9, 1]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm_by_hand_and_against_statsmodels(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], rel=1e-12)


@pytest.mark.parametrize(
    ("ours", "others", "by_hand"),
    [
        # A resample has both replicates, or one replicate twice, with probability 1/4 each.
        ([1, 3], [2, 2], (1, 0.5, 1.5)),
        # The ratio of the means, not the mean of the ratios 3 and 1/3.
        ([3, 1], [1, 3], (1, 1 / 3, 3)),
        # Resamples keep pairs together.
        ([1.5, 10.5, 6], [1, 7, 4], (1.5, 1.5, 1.5)),
    ],
)
def test_bootstrap_intervals_by_hand(ours, others, by_hand):
    actual = ratio_of_means(ours, others, np.random.default_rng(1), resamples=400)
    assert actual == pytest.approx(by_hand, rel=1e-12)


def test_the_level_of_a_bootstrap_interval():
    # The middle 50% of (0, 1, 2) with probabilities (1, 2, 1) / 4 is one point, but not the middle 60%.
    for level, ends in ((0.4, (1, 1)), (0.6, (0, 2))):
        assert ratio_of_means([0, 2], [1, 1], np.random.default_rng(2), 4000, level)[1:] == pytest.approx(ends)
