"""Paired comparisons: signed-rank tests, Holm's adjustment, bootstrap intervals, rank sums."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, rankdata
from statsmodels.stats.multitest import multipletests

from privarms.inference import paired
from privarms.inference.paired import compare, holm, paired_bootstrap, rank_sums, wilcoxon_p_value

ZEROS = np.zeros(200)


def by_enumeration(differences):
    """P(W+ >= the observed) over all signs of the differences that are not 0; doubled ranks are whole numbers."""
    differences = np.asarray(differences)[np.asarray(differences) != 0]
    ranks = np.rint(2 * rankdata(np.abs(differences))).astype(int)
    sums = [ranks @ np.array(signs) for signs in itertools.product((0, 1), repeat=len(ranks))]
    return np.mean(np.array(sums) >= ranks[differences > 0].sum())


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # Subsets of {1, 2, 3, 4} with sum >= 1 + 3 + 4: those whose rest is {}, {1} or {2}.
        ([1, -2, 3, 4], 3 / 16),
        ([-1, -2, -3], 1),
        ([5], 1 / 2),
        ([1, 2, 3, 4, 5], 1 / 32),
        # Ranks 1.5, 1.5, 3: of the 8 sums 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6 five are at least 3.
        ([1, 1, -2], 5 / 8),
        ([1, 1, 1], 1 / 8),
    ],
)
def test_small_samples_by_hand_with_and_without_zeros(differences, p):
    for zeros in (0, 1, 60):
        sample = np.append(differences, np.zeros(zeros))
        assert wilcoxon_p_value(100 + sample, np.full(len(sample), 100)) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("largest", [3, 1000])
def test_small_samples_are_exact_with_ties_and_without(largest):
    rng = np.random.default_rng(largest)
    for n in (2, 7, 11):
        ours, others = rng.integers(0, largest, (2, n))
        assert wilcoxon_p_value(ours, others) == pytest.approx(by_enumeration(ours - others), rel=1e-12)


def test_without_any_difference_p_is_1():
    assert wilcoxon_p_value([0.3], [0.3]) == 1
    assert wilcoxon_p_value(ZEROS, ZEROS) == 1


def test_exact_up_to_50_differences_and_normal_above():
    assert wilcoxon_p_value(np.arange(1, 51), ZEROS[:50]) == pytest.approx(2.0**-50)
    # Zeros do not count: 40 differences in 100 pairs.
    assert wilcoxon_p_value(np.append(np.arange(1, 41), ZEROS[:60]), ZEROS[:100]) == pytest.approx(2.0**-40)
    # W+ = 51 52 / 2, mean 663, variance 51 52 103 / 24.
    p = wilcoxon_p_value(np.arange(1, 52), ZEROS[:51])
    assert p == pytest.approx(norm.sf(663 / np.sqrt(51 * 52 * 103 / 24)))


def test_the_normal_approximation_corrects_for_ties():
    # All 14 differences are 1 or -1: W+ is 7.5 times a binomial count, of variance 14 / 4.
    differences = np.where(np.arange(14) < 11, 1, -1)
    assert wilcoxon_p_value(differences, ZEROS[:14]) == pytest.approx(norm.sf(4 / np.sqrt(3.5)))


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # In order .005 4, .01 3, .03 2, .04 1, where the last may not fall below the one before.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.3, 0.7], [1, 0.9, 1]),
        ([0.02, 0.02], [0.04, 0.04]),
        ([0.2], [0.2]),
        ([0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_holm_by_hand(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


def test_holm_is_that_of_statsmodels():
    rng = np.random.default_rng(3)
    for m in (1, 2, 5, 40):
        p_values = np.round(rng.random(m) ** 3, 2)
        assert (holm(p_values) == multipletests(p_values, method="holm")[1]).all()


@pytest.mark.parametrize(
    ("p_values", "message"),
    [([], "at least one"), ([[0.1]], "one axis"), ([0.1, 1.1], r"found 1\.1"), ([-0.1], "found -0"), ([np.nan], "nan")],
)
def test_holm_refuses_what_is_no_p_value(p_values, message):
    with pytest.raises(ValueError, match=f"^p_values: expected .*{message}"):
        holm(p_values)


@pytest.mark.parametrize(
    ("ours", "others", "statistic", "by_hand"),
    [
        # Both replicates, or one of them twice with probability 1/4 each.
        ([5, 9], [5, 7], "difference", (1, 0, 2)),
        ([1, 3], [2, 2], "ratio", (1, 0.5, 1.5)),
        # Of the means, not the mean of the ratios 3 and 1/3.
        ([3, 1], [1, 3], "ratio", (1, 1 / 3, 3)),
        # Pairs stay together.
        ([1.5, 7.5, 4.5], [1, 7, 4], "difference", (0.5, 0.5, 0.5)),
        ([2, 14, 8], [1, 7, 4], "ratio", (2, 2, 2)),
    ],
)
def test_bootstrap_intervals_by_hand(ours, others, statistic, by_hand):
    found = paired_bootstrap(ours, others, np.random.default_rng(1), resamples=400, statistic=statistic)
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_the_level_of_a_bootstrap_interval():
    # The middle half of the law (0, 1, 2) with probabilities (1, 2, 1) / 4 is one point; its middle 60 % is not.
    for level, ends in ((0.4, (1, 1)), (0.6, (0, 2))):
        assert paired_bootstrap([0, 2], [0, 0], np.random.default_rng(2), 4000, level)[1:] == pytest.approx(ends)


def test_a_bootstrap_interval_for_many_replicates_is_the_normal_one():
    # The bootstrap's standard deviation is that of the n differences over sqrt(n), with divisor n.
    rng = np.random.default_rng(3)
    ours, others = rng.random(400) + 1, rng.random(400)
    estimate, low, high = paired_bootstrap(ours, others, rng, resamples=20_000, level=0.8)
    half = norm.ppf(0.9) * (ours - others).std() / 20
    assert estimate == pytest.approx((ours - others).mean())
    # A quantile of 20,000 normal draws at level 0.9 has a standard error of 0.012 deviations, 0.0094 half widths.
    assert (low, high) == pytest.approx((estimate - half, estimate + half), abs=0.05 * half)


def test_the_bootstrap_is_the_generator_s_and_not_the_batches(monkeypatch):
    rng = np.random.default_rng(4)
    ours, others = rng.random((2, 37))
    whole = paired_bootstrap(ours, others, np.random.default_rng(5), resamples=300)
    means = (ours - others)[np.random.default_rng(5).integers(0, 37, (300, 37))].mean(axis=1)
    assert whole[1:] == pytest.approx(np.quantile(means, [0.025, 0.975]), rel=1e-12)
    assert whole == paired_bootstrap(ours, others, np.random.default_rng(5), resamples=300)
    assert whole != paired_bootstrap(ours, others, np.random.default_rng(6), resamples=300)
    for numbers in (10, 37 * 7):
        monkeypatch.setattr(paired, "RESAMPLED_NUMBERS", numbers)
        assert whole == paired_bootstrap(ours, others, np.random.default_rng(5), resamples=300)


NAN = np.array([1.0, np.nan])


@pytest.mark.parametrize(
    ("ours", "others", "message"),
    [
        ([1, 2], [1], "ours, others: expected one axis of the same length"),
        ([], [], "ours, others: expected at least"),
        (NAN, [1, 2], "ours: expected finite numbers; found nan"),
    ],
)
def test_what_is_not_paired_is_refused(ours, others, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        wilcoxon_p_value(ours, others)
    with pytest.raises(ValueError, match=f"^{message}"):
        paired_bootstrap(ours, others, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ours": [1], "others": [2]}, "ours, others: expected at least 2 replicates; found 1"),
        ({"statistic": "median"}, "statistic: expected difference or ratio; found 'median'"),
        ({"others": [0, 0], "statistic": "ratio"}, r"others: expected numbers >= 0 of mean > 0 .* found 0\.0"),
        ({"level": 1.0}, "level"),
    ],
)
def test_the_bootstrap_refuses_bad_arguments_by_name(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        paired_bootstrap(**{"ours": [1, 2], "others": [1, 3], "rng": np.random.default_rng(1), **arguments})


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
    larger = compared(table({"a": A, "c": np.add(A, [5, 6, 7, 8, 9]), "b": np.add(A, 1)}), alpha=1 / 16)
    assert list(larger["significant_holm"]) == [False, True, False]
    for alpha, marked in ((1 / 32, 1), (0.03, 0)):
        pair = compared(table({"a": A, "c": np.add(A, [5, 6, 7, 8, 9])}), alpha=alpha)
        assert (pair["significant"].sum(), pair["significant_holm"].sum()) == (marked, marked)


def test_holm_marks_fewer():
    # Six replicates: p = 1/64 <= 0.05 / 3 against each of three methods, but not 0.05 / 4 against four.
    base, ahead = np.zeros(6), np.arange(1.0, 7)
    others = dict.fromkeys("wxyz", base)
    four = compared(table({**others, "best": ahead}))
    assert four["significant"].sum() == 1
    assert not four["significant_holm"].any()
    del others["z"]
    assert compared(table({**others, "best": ahead}))["significant_holm"].sum() == 1


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


def test_one_replicate_has_no_standard_error():
    found = compared(table({"a": [1.0], "b": [2.0]}))
    assert found["se"].isna().all()
    assert found.loc["a", "p"] == 0.5


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


def sums(frame, **options):
    return rank_sums(frame, "reward", "policy", "replicate", **options).set_index("policy")["rank_sum"].to_dict()


def test_rank_sums_by_hand():
    # Ranks by block: (1, 3, 2), (2.5, 2.5, 1), (2, 2, 2); with the best rank of equals (1, 3, 2), (2, 2, 1), (1, 1, 1).
    frame = table({"b": [3, 1, 7], "a": [1, 1, 7], "c": [2, 5, 7]})
    assert sums(frame) == {"b": 5.5, "a": 7.5, "c": 5}
    assert sums(frame, ties="min") == {"b": 4, "a": 6, "c": 4}
    assert sums(frame.sample(frac=1, random_state=2)) == sums(frame)
    with pytest.raises(ValueError, match=r"^ties: expected average or min; found 'max'"):
        sums(frame, ties="max")


# Table 2 of Ma et al. (2025): LDPMAB, Linear and NN, each with and without auxiliary data, at n_P / 4 and at n_P.
TABLE2 = """
1 1 Adult 1.459 0.987 0.954 0.950 0.906 0.935 1.101 0.795 0.724 0.715 0.750 0.784
1 1 Jobs  0.801 0.797 0.786 0.794 0.800 0.795 0.694 0.693 0.684 0.690 0.700 0.695
1 1 Taxi  0.989 0.976 0.987 0.984 0.998 0.989 0.994 0.992 0.996 0.993 0.998 0.995
1 4 Adult 1.602 0.987 0.988 0.986 1.110 0.992 1.210 0.795 0.782 0.771 0.871 0.816
1 4 Jobs  0.846 0.797 0.795 0.804 0.800 0.798 0.742 0.693 0.688 0.704 0.698 0.695
1 4 Taxi  0.997 0.985 0.976 0.969 0.990 0.989 0.996 0.992 0.992 0.991 0.996 0.995
2 1 Adult 1.459 0.986 0.964 0.986 0.895 0.930 1.102 0.919 0.762 0.772 0.745 0.808
2 1 Jobs  0.819 0.808 0.788 0.791 0.800 0.797 0.719 0.720 0.683 0.683 0.705 0.688
2 1 Taxi  0.992 0.974 0.989 0.989 1.000 0.996 0.996 0.992 0.997 0.997 1.000 0.999
2 4 Adult 1.602 0.986 0.964 0.968 0.895 0.929 1.210 0.919 0.762 0.762 0.745 0.791
2 4 Jobs  0.857 0.808 0.788 0.785 0.800 0.792 0.754 0.720 0.683 0.674 0.705 0.696
2 4 Taxi  1.001 0.974 0.989 0.989 1.000 1.000 1.002 0.992 0.997 0.997 1.000 1.000
"""
METHODS = ["LDPMAB w", "LDPMAB wo", "Linear w", "Linear wo", "NN w", "NN wo"]


@pytest.mark.parametrize(
    ("time", "ties", "expected"),
    [
        (0, "min", [15, 45, 55, 52, 37, 43]),  # as published
        (1, "min", [22, 44, 54, 56, 33, 36]),  # as published
        (0, "average", [15.5, 45.5, 56, 53.5, 37.5, 44]),
        (1, "average", [22.5, 44.5, 56.5, 58, 34, 36.5]),
    ],
)
def test_the_published_rank_sums_give_equal_entries_the_best_of_their_ranks(time, ties, expected):
    rows = [line.split() for line in TABLE2.split("\n") if line]
    frame = pd.DataFrame(
        [
            (*row[:3], name, float(ratio))
            for row in rows
            for name, ratio in zip(METHODS, row[3 + 6 * time : 9 + 6 * time], strict=True)
        ],
        columns=["epsilon", "epsilon_aux", "dataset", "method", "ratio"],
    )
    found = rank_sums(frame, "ratio", "method", ["epsilon", "epsilon_aux", "dataset"], ties)
    assert list(found["method"]) == METHODS
    assert list(found["rank_sum"]) == expected
    # Mean ranks always add up to 21 a row.
    assert (found["rank_sum"].sum() == 12 * 21) == (ties == "average")


def test_a_ratio_to_rewards_that_may_be_zero_has_an_interval():
    found = paired_bootstrap([4, 5, 6, 5], [0, 1, 2, 1], np.random.default_rng(1), statistic="ratio")
    assert found.estimate == 5
    # Resamples of zeros alone have no bound above.
    assert 0 < found.low < 5 <= found.high
