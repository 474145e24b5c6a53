"""Check the rule of the recommendation table: recommended policy, equally good policies, and further columns."""

import numpy as np
import pandas as pd
import pytest

from privarms.papers.synthesis import _advice
from tests.unit.papers.synthesis import tables_by_hand as by_hand


def made(**regrets):
    runs = by_hand.runs(**regrets)
    return _advice.advise(runs, by_hand.tests(runs), by_hand.privacy())


def test_the_least_regret_is_taken_of_policies_that_keep_their_promise():
    # Private UCB as released has the smallest regret, but its audit shows eight times its epsilon.
    (row,) = made().to_dict("records")
    assert row["take"] == "DP-IMED"
    assert row["as_good"] == ""
    assert (row["K"], row["T"], row["epsilon"]) == (5, 1_000, 1.0)
    assert row["regret_least"] == row["regret_most"] == 100
    assert row["of_uniform_most"] == pytest.approx(100 / 250)
    assert row["of_bound_most"] == pytest.approx(2)
    assert row["times_not_private_most"] == pytest.approx(100 / 60)


def test_a_policy_that_is_not_significantly_worse_is_as_good():
    # 1.1 times 100 is 110, and 3.3 standard errors of the ratio are 4.9.
    assert made(dp_se=113).loc[0, "as_good"] == "DP-SE"
    assert made(dp_se=118).loc[0, "as_good"] == ""


def test_a_stranger_s_policy_that_is_better_is_taken_if_its_audit_shows_no_violation():
    runs = by_hand.runs(mine=70)
    for shown, taken in (
        ({"mine": 0.9}, "mine"),
        ({"mine": 1.2}, "DP-IMED"),
        ({"mine": np.nan}, "DP-IMED"),
        ({}, "DP-IMED"),
    ):
        (row,) = _advice.advise(runs, by_hand.tests(runs), by_hand.privacy(**shown)).to_dict("records")
        assert row["take"] == taken


def test_an_exact_loss_is_not_shown_if_counts_show_more():
    """If one setting has no exact loss, that of the others may be smaller than the loss that its counts show."""
    row, columns = pd.Series({"policy": "dp_se", "variant": ""}), {"policy": "dp_se", "variant": "", "audited": 2}
    for exact, bound, shown in ((1.0, 0.9, 1.0), (1.0, 2.2, np.nan), (np.nan, 2.2, np.nan)):
        privacy = pd.DataFrame([columns | {"exact": exact, "lower_bound": bound}])
        loss = _advice.shown_loss(row, privacy)
        np.testing.assert_equal([loss["loss_exact"], loss["loss_shown"]], [shown, bound])


def test_the_smallest_worst_factor_decides():
    two = [by_hand.runs(dp_se=110, dp_imed=100), by_hand.runs(dp_se=100, dp_imed=300).assign(instance="mu1")]
    runs = pd.concat([two[0], two[1][two[1]["bound"] > 0]], ignore_index=True)
    assert _advice.advise(runs, by_hand.tests(runs), by_hand.privacy()).loc[0, "take"] == "DP-SE"


def test_the_test_is_the_most_powerful_that_holds_its_level_and_needs_no_more_users():
    (row,) = made().to_dict("records")
    assert row["test"] == "e-value"
    assert row["test_power"] == 0.6
    assert row["test_error_most"] == 0.002
    assert row["power_twice_the_users"] == 0.85
    assert row["naive_error_most"] == 0.2
    assert (row["interval"], row["mean_width"], row["gap_width"]) == ("confidence sequence", 0.1, 0.2)
