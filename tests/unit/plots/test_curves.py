"""One curve for each policy and each setting of its own."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privarms.plots import curves


def cells(*rows):
    columns = {"environment": "bernoulli", "variant": None, "top": 0.75}
    return pd.DataFrame([columns | {"cell": f"c{i}"} | row for i, row in enumerate(rows)])


def test_a_curve_for_each_policy_and_setting_with_its_label():
    labels = curves.labels(
        cells(
            {"policy": "dp_se", "epsilon": 0.1},
            {"policy": "dp_se", "epsilon": 1.0},
            {"policy": "dp_ucb", "epsilon": 0.1, "width": "log2.5"},
            {"policy": "dp_ucb", "epsilon": 0.1, "width": "chan"},
            {"policy": "ucb1"},
        )
    )
    assert list(labels) == ["DP-SE", "DP-SE", "DP-UCB (log2.5)", "DP-UCB (chan)", "UCB1"]


def test_numbers_are_named_and_a_setting_that_only_some_cells_have_tells_them_apart():
    found = curves.labels(
        cells({"policy": "dp_se", "K": 5}, {"policy": "dp_se", "K": 5, "beta": 0.05}, {"policy": "dp_se", "K": 50_000})
    )
    assert list(found) == ["DP-SE (K = 5)", "DP-SE (K = 5, beta = 0.05)", "DP-SE (K = 50000)"]


def test_variants_environments_and_their_parameters_tell_curves_apart():
    found = curves.labels(
        cells(
            {"policy": "dp_se", "variant": "as_printed"},
            {"policy": "dp_se", "variant": "as_released"},
            {"policy": "ucb1", "top": 0.75},
            {"policy": "ucb1", "top": 0.9},
        )
    )
    assert list(found) == ["DP-SE (as printed)", "DP-SE (as released)", "UCB1 (top = 0.75)", "UCB1 (top = 0.9)"]


def test_what_a_curve_runs_over_does_not_split_it():
    rows = cells({"policy": "dp_se", "K": 5, "epsilon": 0.1}, {"policy": "dp_se", "K": 7, "epsilon": 1.0})
    assert set(curves.labels(rows, ("K", "epsilon"))) == {"DP-SE"}
    assert list(curves.labels(rows, ("K",))) == ["DP-SE (epsilon = 0.1)", "DP-SE (epsilon = 1)"]


def test_interval_is_student_s():
    low, high = curves.interval([1.0, 2.0], [0.5, np.nan], [5, 1])
    assert high[0] - 1 == pytest.approx(0.5 * stats.t.ppf(0.975, 4))
    assert low[1] == high[1] == 2.0
