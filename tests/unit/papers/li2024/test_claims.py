"""The measures of li2024 that are functions, on tables of a few rows, worked by hand."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from scipy.special import stdtrit

from privarms.claims.verdict import Measured
from privarms.inference.proportions import clopper_pearson
from privarms.papers.li2024 import measures as claims


def results(**tables: pd.DataFrame) -> SimpleNamespace:
    return SimpleNamespace(inference=tables.__getitem__)


def audited(release="lengths", M=2, **columns) -> Measured:
    usual = {"release": release, "M": M, "epsilon": 0.5, "claimed": 0.25, "trials": 100_000}
    usual |= {"events_0": 20_000, "events_1": 30_000}
    rows = max((len(values) for values in columns.values()), default=1)
    table = pd.DataFrame({key: columns.get(key, [value] * rows) for key, value in usual.items()})
    return claims.audit(results(audit=table), release, M)


def test_the_loss_of_an_audit():
    measured = audited()
    # ln(30,000.5 / 20,000.5) / .25
    assert measured.value == pytest.approx(1.62183, rel=1e-4)
    # Clopper and Pearson's, both at .05% for the one epsilon.
    (a, b), (c, d) = (clopper_pearson(events, 100_000, 0.9995) for events in (20_000, 30_000))
    assert measured.interval == pytest.approx((math.log(c / b) / 0.25, math.log(d / a) / 0.25))
    three = audited(epsilon=[0.5, 1.0, 2.0])
    assert three.low < measured.low
    assert three.high > measured.high


def test_a_loss_without_events_has_no_upper_end():
    bare = audited(epsilon=[0.5, 1.0], claimed=[0.25, 0.5], events_0=[20_000, 0], events_1=[22_000, 0])
    assert bare.value == pytest.approx(0.38123, abs=1e-5)
    assert 0 < bare.low < bare.value
    assert bare.high == math.inf
    assert math.isnan(audited(events_0=[0], events_1=[0]).value)


def test_a_budget_in_total_is_apart():
    usual = {"release": "experiment", "M": 2, "epsilon": 0.5, "claimed": 0.5, "trials": 100_000, "events_0": 20_000}
    table = pd.DataFrame([usual | {"budget": "total", "events_1": 22_000}, usual | {"events_1": 90_000}])
    measured = claims.audit(results(audit=table), "experiment", 2, "theorem", "total")
    assert measured.value == pytest.approx(0.19061, rel=1e-4)


def test_errors_over_the_lower_bound():
    usual = {"policy": "conse_se", "horizon": 20_000, "alpha": 0.5, "phi": 0.01, "bound": 0.4, "replicates": 10_000}
    table = pd.DataFrame([usual | {"events": 8000}, usual | {"events": 6000}])
    measured = claims.estimation_lower_bound(results(lower_bound=table))
    assert measured.value == pytest.approx(1.5)
    assert measured.interval == pytest.approx([end / 0.4 for end in clopper_pearson(6000, 10_000, 0.9995)])


def test_the_spread_of_exp3e():
    usual = {"policy": "conse_exp3e", "M": 2, "T_min": 20.0, "regret": 40.0, "regret_se": 1.0, "judged_product": 2.0}
    usual |= {"judged_product_se": 0.0, "replicates": 10}
    table = pd.DataFrame([usual, usual | {"judged_product": 6.0, "regret": 80.0}, usual | {"regret_se": math.nan}])
    assert claims.exp3e_spread(results(pareto=table), "product").interval == (3.0, 3.0)
    measured, half = claims.exp3e_spread(results(pareto=table), "regret"), -stdtrit(9, 0.0005 / 6) / 40
    assert measured.value == 2.0
    assert measured.interval == pytest.approx(((2 - half) / (1 + half), (2 + half) / (1 - half)))
