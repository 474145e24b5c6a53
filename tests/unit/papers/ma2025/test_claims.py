"""Check the measures of ma2025 on made-up regret against values worked by hand, with both outcomes of each claim."""

import math
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from privarms.claims import ledger
from privarms.claims.measures import function
from privarms.claims.verdict import Measured
from privarms.inference.transfer_rates import regret_rate
from privarms.papers.ma2025.inference import formulas
from privarms.studies import artifacts, library
from privarms.studies import claims as of_claims
from privarms.studies.results import Results
from tests import PAPERS
from tests.unit.conftest import write

from .made_up import LOGS, made_up, tagged

MEASURES = library.paper_functions("ma2025", "measures")
FIRST = ("regret", "regret_printed")  # the studies of the first environment


@cache
def claims():
    actual = of_claims.load(PAPERS / "ma2025", "paper", artifacts.of_paper("ma2025"))
    return {(c["claim"], c.get("variant", "")): c for c in actual}


def measured(results, name, variant="as_released"):
    """Return the measured number of a claim, and the verdict."""
    claim = claims()[name, variant]
    actual = ledger.measure(function(claim["measure"], MEASURES), results, claim)
    return actual, ledger.judge(claim, actual, paper="ma2025", scale="paper", data="simulated")["verdict"]


def of(cell, name, default=None):
    return cell.parameters.get(name, default)


def aux(cell):
    """Return the largest budget of the sources."""
    return max(float(e) for e in str(of(cell, "epsilon_aux")).split())


def older(cell):
    return of(cell, "deviation") == "logarithm offset"


def helped(cell):
    return of(cell, "n_aux") > 0


# claim: regret of a cell that supports it, and the value worked by hand; regret that contradicts it, and the value.
REGRETS = {
    "fig7a_sublinear": (
        lambda c: c.horizon**0.5, 0.5, lambda c: c.horizon ** (1.1 if of(c, "epsilon") == 4 else 0.5), 1.1,
    ),
    # Slopes 1 / epsilon except the last: the smallest ratio is 2. It is 1/2 if regret grows faster at 2 than at 1.
    "fig7a_slower_with_epsilon": (
        lambda c: c.horizon / of(c, "epsilon"), 2.0,
        lambda c: c.horizon * (2 if of(c, "epsilon") == 2 else 1 / of(c, "epsilon")), 0.5,
    ),
    # The current program. The older program of 7(a) must not count.
    "fig7b_less_steep": (
        lambda c: c.horizon * (9 if older(c) else 1 if helped(c) else 2), 0.5,
        lambda c: c.horizon * (9 if older(c) else 3 if helped(c) else 2), 1.5,
    ),
    # Regret doubles, or halves, at each of two steps along gamma.
    "fig8_better_with_smaller_gamma": (
        lambda c: 100 * {0: 1, 0.2: 2, 2: 4}.get(of(c, "gamma"), 1), math.log(2),
        lambda c: 100 / {0: 1, 0.2: 2, 2: 4}.get(of(c, "gamma"), 1), -math.log(2),
    ),
    "fig8_auxiliary_data_help": (
        lambda c: 1000 if not helped(c) else 250 if of(c, "epsilon") == 1 else 500, 0.25**0.5 * 0.5**0.5,
        lambda c: 1000 if not helped(c) else 2000, 2.0,
    ),
    "fig9a_falls_with_kappa": (
        lambda c: 100 * (3 - 2 * of(c, "kappa")) if aux(c) == 8 else 100, 1 / 3,
        lambda c: 100 * (3 - 2 * of(c, "kappa")) if aux(c) != 8 else 100, 1.0,
    ),
    "fig9a_flat_at_small_budget": (lambda c: 100, 1.0, lambda c: 100 * (1 + of(c, "kappa")), 2.0),
    "fig9b_rises_with_gamma": (lambda c: 100 * (1 + of(c, "gamma")), 3.0, lambda c: 100 / (1 + of(c, "gamma")), 1 / 3),
    # The factor is 10 at eps_m = 8 and 3 at 2.
    "fig9b_slope_by_budget": (
        lambda c: 100 * (1 + of(c, "gamma") * (4.5 if aux(c) == 8 else 1)), 10 / 3,
        lambda c: 100 * (1 + of(c, "gamma") * (4.5 if aux(c) == 2 else 1)), 3 / 10,
    ),
    "fig9c_high_quality_first": (
        lambda c: 300 if of(c, "epsilon_aux") == "2 8" else 200, 1.5,
        lambda c: 300 if of(c, "epsilon_aux") == "8 2" else 200, 2 / 3,
    ),
    "experiments_follow_the_rate": (
        lambda c: regret_rate(c.horizon, 1, 3, 2) ** 1.0, 1.0,
        lambda c: c.horizon, (160_000 / regret_rate(160_000, 1, 3, 2)) / (10_000 / regret_rate(10_000, 1, 3, 2)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REGRETS)
def test_a_claim_about_regret_is_what_it_says_and_can_come_out_the_other_way(name, tmp_path):
    right, value, wrong, other = REGRETS[name]
    actual, verdict = measured(made_up(tmp_path, right, 1e-6, FIRST), name)
    assert actual.value == pytest.approx(value, rel=1e-6)
    # A rate divided by itself is exactly 1, so the verdict "above 1" stays open.
    if name != "experiments_follow_the_rate":
        assert verdict == "reproduced"
    elsewhere = tmp_path / "wrong"
    elsewhere.mkdir()
    actual, verdict = measured(made_up(elsewhere, wrong, 1e-6, FIRST), name)
    assert (actual.value, verdict) == (pytest.approx(other, rel=1e-6), "differs")


def removals(lost):
    """Return study `eliminations`: two rows without auxiliary data, and both orders of the sources at two budgets."""
    rows = [
        {"epsilon": e, "n_aux": n, "epsilon_aux": "2|8" if n else "1024", "order": order}
        for e in (1.0, 2.0)
        for n, order in ((0, ""), (50_000, "low_first(2,8)"), (50_000, "high_first(8,2)"))
    ]
    base = {"policy": "ldp_mab", "variant": "as_released", "c": np.nan, "deviation": "", "n": 40_000, "K": 3, "M": 2}
    base |= {"replicates": 100, "removed": 4.0, "wrong": 0.1, "wrong_se": 0.001, "lost": 0.0, "lost_se": 0.0}
    base |= {"source_wrong_se": 0.01, "looks": 50_000, "misses": 0, "missed": 0}
    return pd.DataFrame([base | row for row in rows]).assign(source_wrong=lost)


@pytest.mark.parametrize(
    ("lost", "value", "verdict"),
    [
        # With low first 3 and 5 are lost, with high first 1: on average 3 more.
        ([0, 3, 1, 0, 5, 1], 3.0, "reproduced"),
        ([0, 1, 3, 0, 1, 5], -3.0, "differs"),
    ],
)
def test_what_the_order_of_sources_loses(lost, value, verdict, tmp_path):
    made = made_up(tmp_path, studies=(), eliminations=removals(lost))
    actual, decision = measured(made, "fig9c_explanation")
    assert (actual.value, decision) == (pytest.approx(value), verdict)


def descents(regret):
    """Return study `illustration`: one cell per setting; regret() is its average regret and its share of arm 0."""
    settings = {"none": (0, 1024.0, 0.0), "effective": (500, 8.0, 0.0), "weak": (500, 0.5, 5.0)}
    rows = [
        {"cell": name, "policy": "ldp_mab", "variant": "as_released", "c": np.nan, "deviation": "choice", "arm": arm}
        | {"panels": f"fig6_caption_size {name}", "horizon": 1_000, "n_aux": n_aux}
        | {"epsilon_aux": e, "gamma": g, "t": t}
        | {"replicates": 100, "regret_mean": t * regret(name, t), "regret_se": 0.01 * t}
        | {"local_regret_mean": 2 * t * regret(name, t), "local_regret_se": 0.01 * t}
        | {"share_mean": regret(name, t), "share_se": 0.001}
        for name, (n_aux, e, g) in settings.items()
        for t in (20, 98, 110, 1_000)
        for arm in (0, 1)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "name", ["fig6_faster_descent_effective_caption_size", "fig6_faster_local_descent_effective_caption_size"]
)
def test_descent_is_the_average_regret_of_all_users(name, tmp_path):
    # With auxiliary data arms are eliminated after the first tenth, which is not recorded.
    for part, value, verdict in ((0.25, 0.5, "reproduced"), (0.6, 1.2, "differs")):
        table = descents(lambda name, t, part=part: part if name == "effective" and t == 1_000 else 0.5)
        file = write(tmp_path / "illustration_cells.parquet", table)
        results = Results("ma2025", "paper", cells=[file], tagged=tagged())
        actual, decision = measured(results, name)
        assert (actual.value, decision) == (pytest.approx(value), verdict)
        assert measured(results, "fig6_best_arm_effective_caption_size")[1] == (
            "differs" if part < 1 / 3 else "reproduced"
        )


def test_what_hangs_on_a_constant_of_ours_is_no_verdict_on_the_paper():
    """Check that c = 64, which neither text nor program uses, gives no conclusion about the paper's algorithm."""
    at_64 = [c for c in claims().values() if re.search(r"(c = |_c)64\b", c["claim"] + c["test"]) and not c["ours"]]
    assert len(at_64) > 12
    assert all("unverifiable" in claim for claim in at_64)


def test_figure_7_ends_where_its_caption_does():
    of_figure = {cell["horizon"] for cell in tagged()["figure7"]}
    assert max(of_figure) == 160_000
    assert {cell["horizon"] for cell in tagged()["logs"]} - of_figure == {240_000}


def test_table_2_contradicts_itself():
    """Check that 19 of 24 printed entries of Linear and NN without auxiliary data change with their budget.

    One entry of LDPMAB changes too. At epsilon = 2 none of 12 entries with auxiliary data changes."""
    table = Results("ma2025", "quick", published=[LOGS.with_name("table2.csv")])
    values = {"table2_alone_baselines": 19, "table2_alone_ldp_mab": 1, "table2_with_baselines": 0}
    for name, value in values.items():
        claim = claims()[name, ""]
        actual = ledger.measure(function(claim["measure"], MEASURES), table, claim)
        assert actual.value == value
        assert ledger.judge(claim, actual, paper="ma2025", scale="quick", data="")["verdict"] == "differs"
    assert MEASURES["printed_changes"](table, "ldp_linear+ldp_nn", "with", 1).value == 11


def test_the_rates_step_as_by_hand():
    """Check that (5) is a power of epsilon up to 1, and that (22) at a small budget is near the target's."""
    steps = MEASURES["rate_steps"]
    assert steps(None, "epsilon", 10_000, [0.5, 1]).value == pytest.approx(2 ** (-2 * 2 / 6))
    # By hand: .98, .95, .89, .82 at eps_m = 1 and .57, .47, .36, .29 at 8.
    sources = {"n_aux": [10_000, 20_000, 50_000, 100_000], "gamma": 0.2, "kappa": [0, 1]}
    ends = [
        steps(None, "kappa", 40_000, 2, epsilon_aux=e, extreme=x, **sources).value
        for e in (1, 8)
        for x in ("min", "max")
    ]
    assert ends == pytest.approx([0.82, 0.97, 0.29, 0.57], abs=0.006)


@pytest.mark.parametrize(("factor", "verdict"), [(1, "reproduced"), (1.001, "differs"), (math.inf, "differs")])
def test_the_exact_loss_has_no_error(factor, verdict, tmp_path):
    # An event that is impossible with both users shows no loss.
    rows = [
        {"variant": "as_printed", "differ": "context", "event": "quadrant", "batch": 1, "epsilon": e}
        | {"exact": exact, "lower_bound": bound}
        for e in (0.5, 1.0, 2.0)
        for exact, bound in ((factor * e, 0.0), (math.nan, -math.inf))
    ]
    made = made_up(tmp_path, studies=(), privacy=pd.DataFrame(rows))
    actual, decision = measured(made, "ldp_in_context_exactly", "as_printed")
    assert (actual.value, actual.se, decision) == (pytest.approx(factor), 0, verdict)
    # An exact loss that contradicts its counts is missing; the others must not be reported as the largest.
    made = made_up(tmp_path, studies=(), privacy=pd.DataFrame([*rows, rows[0] | {"exact": math.nan}]))
    assert measured(made, "ldp_in_context_exactly", "as_printed")[1] == "unverifiable"


def test_the_constant_of_the_radius(tmp_path):
    made = made_up(tmp_path, studies=FIRST)
    assert measured(made, "proposition_2_7_bound_c640", "as_printed")[1] == "reproduced"
    assert MEASURES["miss_bound"](made, 256).value > 1


def test_the_threshold_of_refining_bounds_a_bins_diameter():
    # Depth 0: sqrt(2) over 2 sqrt(2). Depth 1: edges 1 and 1/2, sqrt(1.25) over 2.
    diameters = formulas(None).query("formula == 'diameter'").set_index("depth")["value"]
    assert diameters[0] == 0.5
    assert diameters.max() == pytest.approx(math.sqrt(1.25) / 2)


def test_rewards_in_a_bin_are_near_their_mean():
    value = formulas(None).query("formula == 'approximation_error'")["value"].max()
    # In small bins: half an edge times the slope, divided by tau. For the long edge this is a quarter of the slope.
    u = np.linspace(0, 1, 100_001)
    slope = abs(np.gradient(2 / (1 + np.exp(18 * u**2)), u)).max()
    assert value == pytest.approx(slope / 4, rel=0.02)


def test_the_printed_constant_does_not_normalise():
    middles = (np.arange(1000) + 0.5) / 1000
    radius = np.maximum.outer(abs(middles - 0.5), abs(middles - 0.5))
    printed = 2**-2 * 2 / (2 + 2)
    value = formulas(None).set_index("formula").loc["density", "value"]
    assert value == pytest.approx(printed * (radius**2).mean(), rel=1e-5)
    claim = claims()["normalising_constant", ""]
    for one, verdict in ((1.0, "reproduced"), (value, "differs")):
        actual = ledger.judge(claim, Measured(one), paper="ma2025", scale="paper", data="")
        assert actual["verdict"] == verdict
