"""Check the five rules: from the interval of a measured value and what the paper prints to a verdict."""

import math

import pandas as pd
import pytest
import scipy.stats

from privarms.errors import PrivarmsError
from privarms.ledger import intervals, rules
from privarms.ledger.intervals import Measured
from privarms.planning.statements import HEADLINE, in_headline


def measured(low, high, runs=1_000):
    return Measured((low + high) / 2, (high - low) / 6.6, low, high, runs)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((5.1, 5.5), "holds"), ((5.0, 5.5), "holds"), ((4.2, 4.9), "fails"), ((4.9, 5.2), "undecided")],
)
def test_a_comparison_has_the_printed_factor_as_its_only_boundary(interval, verdict):
    assert rules.judge("comparison", measured(*interval), rules.side({"at_least": 5}))[0] == verdict


@pytest.mark.parametrize(
    ("published", "interval", "verdict"),
    [
        ({"ratio": "below"}, (0.990, 0.993), "holds"),
        ({"ratio": "below"}, (0.990, 1.001), "undecided"),
        ({"difference": "below"}, (0.001, 0.2), "fails"),
        ({"exponent": "at_most"}, (0.2, 0.9), "holds"),
    ],
)
def test_without_a_printed_factor_the_boundary_is_no_effect(published, interval, verdict):
    assert rules.judge("comparison", measured(*interval), rules.side(published))[0] == verdict


def test_a_tie_is_not_a_strict_difference():
    tie = Measured(1.0, 0.0, 1.0, 1.0, None)
    assert rules.judge("comparison", tie, rules.side({"ratio": "below"}))[0] == "fails"
    assert rules.judge("comparison", tie, rules.side({"ratio": "at_most"}))[0] == "holds"


@pytest.mark.parametrize(
    ("interval", "verdict"), [((0.2, 0.9), "not refuted"), ((0.9, 1.1), "not refuted"), ((1.01, 1.1), "refuted")]
)
def test_a_universal_statement_is_refuted_or_not_and_never_holds(interval, verdict):
    assert rules.judge("universal", measured(*interval), rules.side({"ratio": "at_most"}))[0] == verdict


def test_an_order_without_constants_and_words_are_only_measured():
    for kind in ("universal", "words", "comparison"):
        assert rules.judge(kind, measured(2, 3), None)[0] == "measured"


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((7.4, 7.6), "agrees"), ((5.5, 5.7), "agrees"), ((3.7, 4.4), "differs"), ((4, 6), "undecided")],
)
def test_a_number_allows_its_rounding_and_the_error_of_the_paper_s_own_mean(interval, verdict):
    # 7.5 with rounding .05 and a standard error of .7 allows 5.15 to 9.85.
    assert rules.judge("number", measured(*interval), rules.printed(7.5, 0.05, 0.7))[0] == verdict


def test_a_number_of_unknown_error_stays_undecided():
    assert rules.judge("number", measured(1, 2), rules.printed(7.5, 0.05, math.nan))[0] == "undecided"
    assert (
        rules.judge("number", Measured(math.nan, 0, math.nan, math.nan, 3), rules.printed(1, 0, 1))[0] == "unverifiable"
    )


def test_what_is_computed_is_true_or_false():
    assert rules.judge("exact", Measured(39.66, 0, 39.66, 39.66, None), rules.side({"at_least": 40}))[0] == "false"
    assert rules.judge("exact", Measured(39.9, 0, 39.5, 40.3, None), rules.side({"at_least": 40}))[0] == "undecided"


def test_a_mean_whose_error_has_another_name_is_not_exact():
    row = pd.Series({"regret_mean": 10.0, "regret_se": 1.0, "runs": 9, "beta_mean": 2.0})
    with pytest.raises(PrivarmsError, match="regret_mean needs its error in regret_mean_se; found it in regret_se"):
        intervals.of_row(row, "regret_mean")
    assert intervals.of_row(row, "beta_mean").is_exact


def test_the_interval_of_a_mean_is_student_s_and_simultaneous_for_an_extreme():
    rows = pd.DataFrame({"ratio": [2.0, 3.0], "ratio_se": [0.1, 0.2], "runs": [10, 20]})
    one = intervals.of_row(rows.iloc[0], "ratio")
    assert one.low == pytest.approx(2 - 0.1 * scipy.stats.t.ppf(0.9995, 9))
    least, places = intervals.extreme(rows, "ratio", largest=False)
    assert (least.value, places, least.runs) == (2.0, (0, 0, 0), 10)
    assert least.low == pytest.approx(2 - 0.1 * scipy.stats.t.ppf(1 - 0.00025, 9))


def test_the_ends_of_an_extreme_s_interval_may_be_of_other_rows():
    rows = pd.DataFrame({"x": [3.0, 2.0, 1.0], "x_low": [2.0, 1.9, 0.5], "x_high": [3.1, 2.5, 4.0], "runs": [9, 9, 9]})
    largest, places = intervals.extreme(rows, "x", largest=True)
    assert (largest.value, largest.low, largest.high, places) == (3.0, 2.0, 4.0, (0, 0, 2))
    # The row with the value comes first among rows with the same end.
    rows["x_high"] = 4.0
    assert intervals.extreme(rows.iloc[::-1], "x", largest=True)[1] == (2, 2, 2)


def test_identical_runs_do_not_make_a_mean_exact():
    row = pd.Series({"regret": 4.0, "regret_se": 0.0, "runs": 100})
    assert math.isinf(intervals.of_row(row, "regret").high)


def test_a_row_without_a_number_is_unverifiable():
    row = pd.Series({"regret": math.nan, "regret_se": math.nan, "runs": math.nan})
    verdict, why = rules.judge("exact", intervals.of_row(row, "regret"), rules.printed(100.0, 0.5, 0.0))
    assert (verdict, why) == ("unverifiable", "No number could be measured.")


def test_a_share_has_clopper_and_pearson_s_interval():
    row = pd.Series({"share": 0.0, "share_events": 0, "share_trials": 50})
    found = intervals.of_row(row, "share")
    assert (found.low, found.high) == pytest.approx((0, 1 - 0.0005 ** (1 / 50)))
    assert found.runs == 50


def test_the_error_of_a_printed_quotient_uses_the_printed_denominator():
    row = pd.Series(
        {"times": 4.0, "times_se": 0.1, "runs": 9, "times_top_sd": 0.3, "times_bottom_sd": 0.1, "times_bottom": 2.0}
    )
    error = math.hypot(0.3, 7.5 * 0.1) / math.sqrt(100) / 1.5
    assert intervals.scatter(row, "times", 100, 7.5, 1.5) == pytest.approx(error)
    assert intervals.scatter(pd.Series({"x": 1.0, "x_se": 0.1, "runs": 400}), "x", 100, 1.0) == pytest.approx(0.2)
    assert intervals.scatter(pd.Series({"x": 1.0, "x_se": 0.1, "x_sd": 5.0, "runs": 400}), "x", 100, 1.0) == 0.5


def test_an_infinite_number_of_a_headline_is_unbounded():
    case = dict.fromkeys(HEADLINE, "") | {"measured": "inf", "low": "0.25"}
    assert in_headline("The loss is {measured:.2f} (from {low:.2f}).", case) == "The loss is unbounded (from 0.25)."
