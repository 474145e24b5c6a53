"""Paired comparisons: signed-rank tests, Holm's adjustment, bootstrap intervals, rank sums."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from privarms.inference.paired import compare, holm, rank_sums, ratio_of_means, wilcoxon_p_value


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # Subsets of {1, 2, 3, 4} with sum >= 1 + 3 + 4: those whose rest is {}, {1} or {2}.
        ([1, -2, 3, 4], 3 / 16),
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


def test_many_ties_have_the_normal_approximation_with_its_correction():
    # All 14 differences are 1 or -1: W+ is 7.5 times a binomial count, of variance 14 / 4.
    differences = np.where(np.arange(14) < 11, 1, -1)
    assert wilcoxon_p_value(differences, np.zeros(14)) == pytest.approx(norm.sf(4 / np.sqrt(3.5)))


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # In order .005 4, .01 3, .03 2, .04 1, where the last may not fall below the one before.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.3, 0.7], [1, 0.9, 1]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm_by_hand(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


@pytest.mark.parametrize("p_values", [[0.1, 1.1], [-0.1], [np.nan]])
def test_holm_refuses_what_is_no_p_value(p_values):
    with pytest.raises(ValueError, match=r"^p_values: expected"):
        holm(p_values)


@pytest.mark.parametrize(
    ("ours", "others", "by_hand"),
    [
        # Both replicates, or one of them twice with probability 1/4 each.
        ([1, 3], [2, 2], (1, 0.5, 1.5)),
        # Of the means, not the mean of the ratios 3 and 1/3.
        ([3, 1], [1, 3], (1, 1 / 3, 3)),
        # Pairs stay together.
        ([1.5, 10.5, 6], [1, 7, 4], (1.5, 1.5, 1.5)),
    ],
)
def test_bootstrap_intervals_by_hand(ours, others, by_hand):
    found = ratio_of_means(ours, others, np.random.default_rng(1), resamples=400)
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_the_level_of_a_bootstrap_interval():
    # The middle half of the law (0, 1, 2) with probabilities (1, 2, 1) / 4 is one point; its middle 60 % is not.
    for level, ends in ((0.4, (1, 1)), (0.6, (0, 2))):
        assert ratio_of_means([0, 2], [1, 1], np.random.default_rng(2), 4000, level)[1:] == pytest.approx(ends)


def test_a_ratio_to_rewards_that_may_be_zero_has_an_interval():
    found = ratio_of_means([4, 5, 6, 5], [0, 1, 2, 1], np.random.default_rng(1))
    assert found.estimate == 5
    # Resamples of zeros alone have no bound above.
    assert 0 < found.low < 5 <= found.high


# Best by mean is c: against a 5 of 5 larger (p 1/32); against b the differences 1, 2, 3, 4, -5 have W+ = 10 of 15.
A = [0.0, 1, 2, 3, 4]
VALUES = {"b": [10, 11, 12, 13, 30], "a": A, "c": [11, 13, 15, 17, 25]}


def table(values, **columns):
    rows = [(name, run, value) for name, runs in values.items() for run, value in enumerate(runs)]
    return pd.DataFrame(rows, columns=["policy", "replicate", "reward"]).assign(**columns)


def compared(frame, **options):
    return compare(frame, "reward", "policy", "replicate", **options).set_index("policy")


def test_a_comparison_by_hand():
    found = compared(table(VALUES))
    assert list(found) == ["mean", "se", "best", "p", "p_holm", "significant", "significant_holm"]
    assert list(found.index) == ["b", "a", "c"]
    assert list(found["mean"]) == pytest.approx([15.2, 2, 16.2])
    assert found.loc["a", "se"] == pytest.approx(np.sqrt(0.5))
    assert list(found["best"]) == [False, False, True]
    # Subsets of {1, ..., 5} with sum >= 10, so rest <= 5: 10 of them.
    assert list(found["p"]) == pytest.approx([10 / 32, 1 / 32, np.nan], nan_ok=True)
    assert list(found["p_holm"]) == pytest.approx([10 / 32, 2 / 32, np.nan], nan_ok=True)
    assert not compared(table(VALUES), alpha=0.1)[["significant", "significant_holm"]].any(axis=None), "c beats a alone"


def test_the_best_is_marked_where_it_beats_every_other_one():
    found = compared(table({"a": A, "c": np.add(A, [5, 6, 7, 8, 9]), "b": np.add(A, [1, 1, 1, 1, 2])}))
    assert list(found["significant"]) == [False, True, False]
    # Two tests of p = 1/32 are 2/32 each for Holm.
    assert not found["significant_holm"].any()
    assert list(found["p_holm"]) == pytest.approx([1 / 16, np.nan, 1 / 16], nan_ok=True)
    for alpha, marked in ((1 / 32, 1), (0.03, 0)):
        pair = compared(table({"a": A, "c": np.add(A, [5, 6, 7, 8, 9])}), alpha=alpha)
        assert (pair["significant"].sum(), pair["significant_holm"].sum()) == (marked, marked)


def test_equal_methods_have_one_best_and_none_is_significant():
    found = compared(table({"b": A, "a": A}))
    assert list(found["best"]) == [True, False]
    assert found.loc["a", "p"] == 1
    assert not found["significant"].any()


def test_the_rows_order_and_their_kind_do_not_matter():
    frame = table(VALUES)
    expected = compared(frame)
    shuffled = compared(frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(shuffled.loc[expected.index], expected)
    kinds = frame.astype({"policy": pd.CategoricalDtype(["unused", "c", "b", "a"]), "reward": "float32"})
    pd.testing.assert_frame_equal(compared(kinds), expected)
    # Runs that two columns name together, as blocks of replicates are.
    split = frame.assign(block=frame["replicate"] // 2, replicate=frame["replicate"] % 2)
    found = compare(split, "reward", "policy", ["block", "replicate"]).set_index("policy")
    pd.testing.assert_frame_equal(found, expected)


def missing(frame):
    return frame[~((frame["policy"] == "a") & (frame["replicate"] == 3))]


def twice(frame):
    return pd.concat([frame, frame.iloc[[7]]])


def no_value(frame):
    return frame.assign(reward=frame["reward"].where(frame.index != 6))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (missing, r"expected a finite number for every policy in every replicate; .* policy a, replicate 3$"),
        (twice, "duplicate"),
        (no_value, r"^reward: expected a finite number .* policy a, replicate 1$"),
    ],
)
def test_incomplete_tables_are_refused_by_what_is_wrong(change, message):
    for function in (compare, rank_sums):
        with pytest.raises(ValueError, match=message):
            function(change(table(VALUES)), "reward", "policy", "replicate")


def test_a_comparison_needs_two_methods_and_a_level():
    with pytest.raises(ValueError, match=r"^policy: expected at least 2 to compare; found \['a'\]"):
        compared(table({"a": A}))
    for alpha in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match=r"^alpha"):
            compared(table(VALUES), alpha=alpha)


def sums(frame):
    return rank_sums(frame, "reward", "policy", "replicate").set_index("policy")["rank_sum"].to_dict()


def test_rank_sums_by_hand():
    # Ranks by block, with the best rank of equals: (1, 3, 2), (2, 2, 1), (1, 1, 1).
    frame = table({"b": [3, 1, 7], "a": [1, 1, 7], "c": [2, 5, 7]})
    assert sums(frame) == {"b": 4, "a": 6, "c": 4}
    assert sums(frame.sample(frac=1, random_state=2)) == sums(frame)
