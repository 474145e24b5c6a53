"""Measures of the claims on hand-made tables, each with a case that comes out the other way."""

import math

import pytest

from privarms.papers.frontier.claims import MEASURES

from .tables_by_hand import results

BASE = {"instance": "mu2", "epsilon": 1.0, "horizon": 1000, "width": None, "se": 1.0, "replicates": 1000}
BASE |= {"curve": "a curve"}


def row(policy, regret, **own):
    return BASE | {"policy": policy, "regret": float(regret), "over_bound": regret / 50, "over_bound_se": 0.02} | own


def test_times_lower():
    rows = [row("adap_ucb", 100), row("dp_se", 900), row("dp_ucb", 150, width="chan"), row("dp_ucb", 50, width="exact")]
    found = MEASURES["times_lower"](results(regret=rows), "adap_ucb", "dp_se")
    assert found.value == pytest.approx(9)
    assert found.se == pytest.approx(9 * math.hypot(1 / 900, 1 / 100))
    assert MEASURES["times_lower"](results(regret=rows), "adap_ucb", "dp_ucb", "chan").value == pytest.approx(1.5)
    smallest = MEASURES["smallest_times_lower"](results(regret=rows), "adap_ucb", ["dp_se", "dp_ucb"])
    assert smallest.value == pytest.approx(0.5)
    assert MEASURES["smallest_times_lower"](results(regret=rows[:3]), "adap_ucb", ["dp_se", "dp_ucb"]).value > 1


def test_dependence_on_epsilon():
    flat = [row("adap_klucb", regret, epsilon=e) for e, regret in ((0.1, 300), (0.3, 105), (1, 102), (5, 100))]
    above = results(regimes=flat[1:])
    assert MEASURES["spread_over_epsilon"](above, "adap_klucb").value == pytest.approx(1.05)
    steep = [row("adap_klucb", 400, epsilon=0.5), *flat[1:]]
    assert MEASURES["spread_over_epsilon"](results(regimes=steep), "adap_klucb").value == pytest.approx(4)
    below = MEASURES["times_of_epsilon"](results(regimes=flat), "adap_klucb", 0.1, 0.3)
    assert below.value == pytest.approx(300 / 105)


def test_theorem_7():
    # Gaps .125 to .5, epsilon 1: 16 * 3.1 ln(1000) (8 + 4 + 8/3 + 2) + 4 * 31
    bound = 49.6 * math.log(1000) * (8 + 4 + 8 / 3 + 2) + 124
    assert MEASURES["regret_over_theorem_7"](results(regret=[row("adap_ucb", 100)])).value == pytest.approx(100 / bound)
    assert MEASURES["regret_over_theorem_7"](results(regret=[row("adap_ucb", 2 * bound)])).value == pytest.approx(2)


def test_settings_won():
    won = [row("dp_imed", 10), row("dp_se", 90), row("adap_klucb", 50)]
    lost = [row("dp_imed", 99, epsilon=0.1), row("dp_se", 90, epsilon=0.1), row("adap_klucb", 200, epsilon=0.1)]
    open_ = [row("dp_imed", 49, epsilon=0.5), row("dp_se", 90, epsilon=0.5), row("adap_klucb", 50, epsilon=0.5)]
    measure = MEASURES["settings_won"]
    both = measure(results(regret=won + lost), "dp_imed", ["dp_se", "adap_klucb"])
    assert (both.value, both.low, both.high) == (0.5, 0.5, 0.5)
    unsure = measure(results(regret=won + open_), "dp_imed", ["dp_se", "adap_klucb"])
    assert (unsure.value, unsure.low, unsure.high) == (1, 0.5, 1)


def test_over_the_bound():
    rows = [row("dp_klucb", 60), row("dp_klucb", 140, epsilon=0.1)]
    found = MEASURES["largest_over_bound"](results(regret=rows), "dp_klucb")
    assert found.value == pytest.approx(2.8)


def bounds(*values):
    names = ("bound_lai_robbins", "bound_azize_basu", "bound_d_epsilon")
    return [
        {"instance": "mu2", "epsilon": e, "horizon": 1000, "bound": name, "value": value}
        for e, of_point in values
        for name, value in zip(names, of_point, strict=True)
    ]


def test_the_bounds_against_each_other():
    tables = results(bounds=bounds((0.1, (10, 12, 24)), (5, (10, 10, 10))))
    assert MEASURES["smallest_bound_ratio"](tables).value == 1
    assert MEASURES["bound_is_larger"](tables).value == 0.5
    tables = results(bounds=bounds((0.1, (10, 12, 11))))
    assert MEASURES["smallest_bound_ratio"](tables).value == pytest.approx(11 / 12)


def test_audits():
    rows = [
        {"subject": s, "noise": n, "epsilon": 1.0, "claimed": 1.0, "exact": e, "lower_bound": low, "trials": 100}
        for s, n, e, low in (("dp_imed", 1.0, 0.99, 0.9), ("dp_imed", 0.5, 1.9, 1.5), ("adap_ucb", 1.0, 1.2, -math.inf))
    ]
    tables = results(audit=rows)
    assert MEASURES["audit_exact"](tables, "dp_imed").value == pytest.approx(0.99)
    assert MEASURES["audit_exact"](tables, "adap_ucb").value == pytest.approx(1.2)
    assert MEASURES["audit_lower_bound"](tables, "dp_imed", 1.0).value == pytest.approx(0.9)
    assert MEASURES["audit_lower_bound"](tables, "dp_imed", 0.5).value == pytest.approx(1.5)
    assert math.isnan(MEASURES["audit_lower_bound"](tables, "adap_ucb", 1.0).value)
