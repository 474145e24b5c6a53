"""Check ratios, differences and growth of means with values and errors worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from privarms.ledger import contrasts


def means(policy, regrets, errors, runs, **columns):
    frame = {"policy": policy, "K": [2, 5], "regret_mean": regrets, "regret_se": errors, "replicates": runs}
    return pd.DataFrame(frame | {"cell": [f"{policy}-2", f"{policy}-5"]} | columns)


TOPS = means("dp_ucb", [60.0, 90.0], [3.0, 4.0], [100, 100])
BOTTOMS = means("dp_se", [20.0, 30.0], [1.0, 3.0], [400, 25])


def test_a_ratio_has_the_first_order_error_of_two_independent_means():
    rows = contrasts.ratios(TOPS, BOTTOMS, "regret", ["K"])
    assert rows["ratio"].tolist() == [3.0, 3.0]
    # d(a / b) = (da - 3 db) / b.
    assert rows["ratio_se"].tolist() == pytest.approx([math.hypot(3, 3 * 1) / 20, math.hypot(4, 3 * 3) / 30])
    assert rows["runs"].tolist() == [100, 25]
    assert rows["cells"].tolist() == ["dp_ucb-2 dp_se-2", "dp_ucb-5 dp_se-5"]
    assert rows["ratio_top_sd"].tolist() == pytest.approx([30, 40])
    assert rows["ratio_bottom_sd"].tolist() == pytest.approx([20, 15])


def test_a_difference_and_rows_without_a_partner():
    rows = contrasts.differences(TOPS, BOTTOMS[BOTTOMS["K"] == 5], "regret", ["K"])
    assert rows[["K", "difference"]].to_numpy().tolist() == [[5, 60.0]]
    assert rows["difference_se"].tolist() == pytest.approx([5.0])
    with pytest.raises(pd.errors.MergeError):
        contrasts.differences(TOPS, pd.concat([BOTTOMS, BOTTOMS]), "regret", ["K"])


def test_growth_is_the_exponent_between_the_ends():
    rows = means("a", [10.0, 80.0], [1.0, 4.0], [9, 16], n=[10, 40])
    (found,) = contrasts.growth(rows, "regret", "n", ["policy"]).to_dict("records")
    assert found["exponent"] == pytest.approx(math.log(8) / math.log(4))
    assert found["exponent_se"] == pytest.approx(math.hypot(0.1, 0.05) / math.log(4))
    assert (found["first"], found["last"], found["runs"], found["cells"]) == (10, 40, 9, "a-2 a-5")


def test_runs_that_all_agree_bound_the_share_of_other_runs():
    usual, agreed = contrasts.error([4.0, 4.0], [0.5, 0.0], [50, 50], 0.0, 10.0)
    assert usual == 0.5
    # A share of 1 - (.0005 / 100)^(1/50) of the runs may be different, and each may be 6 away.
    moved = 6 * (1 - (0.0005 / 100) ** (1 / 50))
    assert agreed * scipy.stats.t.ppf(0.9995, 49) == pytest.approx(moved)
    assert np.isnan(contrasts.error([4.0], [np.nan], [50], 0.0, 10.0)).all()
