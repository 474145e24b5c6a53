"""Check declared measures on tables of a few rows, against values worked by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from privarms.claims.measures import declared
from privarms.claims.verdict import Measured
from privarms.errors import NoCellsError, PrivarmsError
from privarms.inference.proportions import clopper_pearson
from tests import PAPERS

REGRET = pd.DataFrame(
    {
        "policy": ["dp_se", "dp_se", "dp_ucb", "dp_ucb"],
        "epsilon": [0.1, 1.0, 0.1, np.nan],
        "regret_mean": [100.0, 40.0, 300.0, 200.0],
        "regret_se": [1.0, 2.0, 3.0, 4.0],
        "replicates": [50, 50, 30, 30],
        "failures": [5, 0, 2, 3],
        "bound": [200.0, 20.0, 300.0, 100.0],
    }
)


def results(**tables):
    """Return results with inference tables of these rows, and one study."""
    tables = {"regret": REGRET} | {name: pd.DataFrame(rows) for name, rows in tables.items()}
    ends = REGRET.assign(t=[5, 10, 10, 10], horizon=10)
    return SimpleNamespace(inference=tables.__getitem__, cells={"study": ends}.__getitem__)


def measured(**measure) -> Measured:
    return declared(results(), {"table": "regret"} | measure)


def half(se: float, replicates: int, together: int = 1) -> float:
    return -t.ppf(0.0005 / together, replicates - 1) * se


def test_an_extreme_holds_for_all_rows_together():
    number = measured(extreme="max", of="regret_mean", where={"policy": "dp_se"})
    assert (number.value, number.se, number.replicates) == (100.0, 1.0, 50)
    assert number.interval == pytest.approx((100 - half(1, 50, 2), 100 + half(1, 50, 2)))
    assert number.note == "Largest of 2 rows, at epsilon = 0.1."


def test_a_number_may_be_a_formula_over_another():
    number = measured(extreme="min", of="regret_mean - 10", se="2 * regret_se", over="bound")
    assert (number.value, number.se) == (90 / 200, 2 / 200)
    assert measured(extreme="max", of="regret_mean", over=10, floor=32).interval[0] == 32
    assert measured(extreme="max", of="regret_mean", sd="7 * regret_se", over=10).sd == pytest.approx(2.1)


def test_rows_are_chosen_by_values_and_a_condition():
    assert measured(of="regret_mean", where={"policy": "dp_ucb", "epsilon": ""}).value == 200
    assert measured(of="regret_mean", where={"epsilon": [1.0, 5]}).value == 40
    assert measured(of="regret_mean", condition="bound < 50").value == 40
    at_the_end = declared(
        results(), {"cells": "study", "extreme": "min", "of": "regret_mean", "where": {"epsilon": 0.1}}
    )
    assert at_the_end.value == 300


def test_no_claim_takes_its_standard_error_for_0():
    files = list(PAPERS.glob("*/claims.yaml"))
    assert len(files) == 5
    assert not [file for file in files if "se: 0\n" in file.read_text(encoding="utf-8")]


def test_an_exact_number_has_no_error():
    number = measured(extreme="max", of="bound", exact=True)
    assert (number.interval, number.replicates) == ((300.0, 300.0), None)


def test_a_number_may_state_its_ends():
    number = measured(extreme="min", of="bound", interval=["bound - 1", "bound + 4"], over=2)
    assert (number.value, number.interval) == (10.0, (9.5, 12.0))
    assert math.isnan(number.se)


def test_nothing_is_known_of_an_extreme_with_a_row_that_has_no_number():
    assert math.isnan(measured(extreme="max", of="epsilon", se="regret_se").value)
    assert math.isnan(measured(extreme="max", of="1 / failures", se="regret_se").value)


def test_the_largest_fraction():
    number = measured(extreme="max", fraction="failures", where={"policy": "dp_ucb"})
    assert (number.value, number.replicates) == (0.1, 30)
    assert number.interval == pytest.approx(clopper_pearson(3, 30, 0.9995))
    assert number.note == "Largest of 2 rows: 3 of 30."


def test_pooled_fractions():
    number = measured(extreme="pooled", fraction="0.1 * replicates", trials="replicates")
    assert (number.value, number.replicates) == (16 / 160, 160)


def test_the_ratio_of_two_rows():
    number = measured(
        ratio="regret_mean", where={"policy": "dp_ucb", "epsilon": 0.1}, to={"where": {"policy": "dp_se"}}
    )
    assert (number.value, number.replicates) == (3.0, 30)
    assert number.se == pytest.approx(3 * math.hypot(0.01, 0.01))
    assert number.note == "300 over 100."


def test_ratios_of_rows_with_the_same_settings():
    rows = {
        "arms": [2, 5, 5, 2],
        "side": ["a", "a", "b", "b"],
        "mse": [8.0, 9.0, 3.0, 4.0],
        "mse_se": 0.1,
        "replicates": 9,
    }
    measure = {"table": "pairs", "extreme": "max", "ratio": "mse", "where": {"side": "a"}}
    measure |= {"to": {"where": {"side": "b"}}, "by": ["arms"]}
    number = declared(results(pairs=rows), measure)
    assert (number.value, number.replicates) == (3.0, 9)
    one_less = pd.DataFrame(rows).iloc[:3]
    with pytest.raises(NoCellsError, match="partner"):
        declared(results(pairs=one_less), measure)


def test_the_spread_of_exact_and_of_measured_numbers():
    assert measured(spread="bound", exact=True).interval == (15.0, 15.0)
    number = measured(spread="regret_mean", where={"policy": "dp_se"})
    assert (number.value, number.replicates) == (2.5, 50)
    top, bottom = half(1, 50, 4), half(2, 50, 4)
    assert number.interval == pytest.approx(((100 - top) / (40 + bottom), (100 + top) / (40 - bottom)))
    assert measured(spread="regret_mean", se="10 * regret_se").interval[0] >= 1


def test_a_distance_of_distributions():
    number = declared(
        results(ks={"ks": [0.02, 0.01], "replicates": [10_000] * 2}),
        {"table": "ks", "distance": "ks", "extreme": "max"},
    )
    reach = math.sqrt(math.log(2 * 2 / 0.001) / 2 / 10_000)
    assert number.interval == pytest.approx((max(0, 0.02 - reach), 0.02 + reach))


def test_what_is_wrong_is_an_error():
    with pytest.raises(PrivarmsError, match="no column 'regrets'"):
        measured(extreme="max", of="regrets")
    with pytest.raises(PrivarmsError, match="expected one row, found 4"):
        measured(of="regret_mean")
    with pytest.raises(PrivarmsError, match="expected one row in `to`, found 2"):
        measured(ratio="bound", exact=True, extreme="max", to={"where": {"policy": "dp_se"}})
    with pytest.raises(NoCellsError, match="policy dp_xy"):
        measured(of="regret_mean", where={"policy": "dp_xy"})


def test_a_name_that_no_table_has_is_named_with_its_key():
    with pytest.raises(PrivarmsError, match=r"measure\.se: regret has no column 'bound_se'"):
        measured(extreme="max", of="bound")
    with pytest.raises(PrivarmsError, match=r"measure\.by: regret has no column 'arms'"):
        measured(ratio="bound", exact=True, extreme="max", to={"where": {"policy": "dp_se"}}, by=["arms"])
    with pytest.raises(PrivarmsError, match=r"measure\.along: regret has no column 'horizons'"):
        measured(growth="regret_mean", along="horizons")


@pytest.mark.parametrize(("events", "found"), [("failures / replicates", "0.1 of"), ("replicates + 1", "51 of")])
def test_a_fraction_counts_events(events, found):
    # Rounded, the shares would be 0 events of 50.
    with pytest.raises(PrivarmsError, match=rf"measure\.fraction.*{found}"):
        measured(extreme="pooled", fraction=events)


def test_a_number_of_runs_may_be_the_same_for_all_rows():
    assert measured(extreme="max", of="regret_mean", replicates="9_000").replicates == 9000


def test_a_distance_may_be_a_formula():
    assert measured(distance="abs(-regret_mean) / 1000", extreme="max").value == 0.3


def test_a_negative_divisor_leaves_the_error_positive():
    number = measured(extreme="max", of="regret_mean", over=-10, where={"epsilon": 1})
    assert (number.value, number.se) == (-4, 0.2)
    ends = measured(of="bound", interval=["bound - 1", "bound + 4"], over=-2, where={"epsilon": 1}).interval
    assert ends == (-12, -9.5)


CURVES = {
    "panels": ["fig1 fig2", "fig1", "fig2", "fig1_logs", "fig1"],
    "horizon": [100, 1000, 1000, 10_000, 10_000],
    "epsilon": [1, 1, 2, 1, 1],
    "regret": [10.0, 50.0, 20.0, 9e9, 1000.0],
    "regret_se": [0.1, 1.0, 0.2, 1.0, 10.0],
    "replicates": [30, 40, 30, 30, 30],
}


def test_the_growth_between_the_first_and_the_last():
    growth = {"table": "curves", "extreme": "max", "growth": "regret", "along": "horizon", "where": {"panels": "fig1"}}
    number = declared(results(curves=CURVES), growth | {"by": ["epsilon"]})
    # 100 times the regret at 100 times the horizon, each with an error of 1%.
    assert number.value == pytest.approx(1.0)
    assert number.se == pytest.approx(math.hypot(0.01, 0.01) / math.log(100))
    # The degrees of freedom of two equal errors add up.
    assert number.high == pytest.approx(1 + half(number.se, 59))
    assert number.replicates == 30


def test_the_geometric_mean_of_ratios():
    measure = {"table": "regret", "geometric": "bound", "se": 1, "where": {"policy": "dp_se"}, "by": ["replicates"]}
    rows = pd.DataFrame(
        {"policy": ["dp_se"] * 2 + ["ucb"] * 2, "bound": [8.0, 9.0, 2.0, 1.0], "replicates": [50, 40] * 2}
    )
    number = declared(results(regret=rows), measure | {"to": {"where": {"policy": "ucb"}}})
    assert number.value == pytest.approx(6.0)
    assert number.se == pytest.approx(3 * math.sqrt(1 / 64 + 1 / 81 + 1 / 4 + 1))


def test_the_mean_difference_of_rows():
    rows = pd.DataFrame({"side": ["a", "a", "b", "b"], "epsilon": [1, 2, 1, 2], "replicates": 50})
    rows = rows.assign(late=[0.9, 0.7, 0.5, 0.1], late_se=[0.1, 0.2, 0.3, 0.4])
    measure = {"table": "late", "difference": "late", "condition": "side == 'a'", "by": ["epsilon"]}
    measure |= {"to": {"condition": "side == 'b'"}}
    number = declared(results(late=rows), measure)
    assert (number.value, number.se) == (pytest.approx(0.5), pytest.approx(math.sqrt(0.01 + 0.04 + 0.09 + 0.16) / 2))
    assert number.note == "0.8 minus 0.3."
    # If all runs agree, an unknown share of other runs may lie anywhere in the range.
    constant = results(late=rows[rows["epsilon"] == 1].assign(late_se=0.0))
    assert declared(constant, measure).interval == (-math.inf, math.inf)
    others = clopper_pearson(0, 50, 1 - 0.001 / 2)[1]
    ends = (0.4 - others * (0.9 + 0.5), 0.4 + others * (0.1 + 0.5))
    assert declared(constant, measure | {"range": [0, 1]}).interval == pytest.approx(ends)


def test_a_parameter_that_a_table_lacks_has_no_value():
    assert measured(of="regret_mean", where={"deviation": "", "epsilon": 1}).value == 40
    with pytest.raises(PrivarmsError, match="no column 'deviatoin'"):
        measured(of="regret_mean", where={"deviatoin": ""})


def test_a_mean_that_one_run_carries_is_named():
    rows = REGRET.assign(cell=["a", "b", "c", "d"], regret_largest_share=[0.95, 0.02, 0.06, 0.09])
    number = declared(results(regret=rows), {"table": "regret", "extreme": "max", "of": "regret_mean"})
    assert number.note.endswith("In a one run makes up to 95% of the mean.")
    # With few runs each run has a large share.
    few = results(regret=rows.assign(replicates=2, regret_largest_share=0.6))
    assert "one run" not in declared(few, {"table": "regret", "extreme": "max", "of": "regret_mean"}).note
