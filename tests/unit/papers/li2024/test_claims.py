"""Check the measures of li2024 that are functions, and properties of its claims."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from privarms.claims.verdict import Measured
from privarms.inference.proportions import clopper_pearson
from privarms.papers.li2024 import measures as claims
from privarms.studies import artifacts
from privarms.studies import claims as of_claims
from tests import PAPERS


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
    # Clopper-Pearson bounds, both at .05% for the single epsilon.
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


CLAIMS = of_claims.load(PAPERS / "li2024", "paper", artifacts.of_paper("li2024"))
STATED = [claim for claim in CLAIMS if not claim["ours"] and "measure" in claim]


def test_an_upper_bound_in_orders_is_not_refuted_by_a_factor_of_ours():
    spreads = [c["claim"] for c in STATED if "O(" in c["statement"] and "spread" in c["measure"]]
    assert spreads == []


def test_an_error_by_formula_is_compared_with_another_one():
    # The formula was derived from a single number, so a claim about this number cannot fail.
    declared = [c for c in STATED if isinstance(c["measure"], dict)]
    alone = [c["claim"] for c in declared if "expected_" in c["measure"].get("of", "")]
    assert alone == []


def test_theorem_3_5_is_judged_by_what_its_definitions_release():
    about = [c for c in STATED if c["about"] == "theorem_3_5"]
    released = {(c.get("arguments") or c["measure"]["where"])["release"] for c in about}
    assert released == {"estimate", "lengths_from_actions"}
