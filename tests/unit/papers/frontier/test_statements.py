"""Check the inference tables that frontier's statements use, and that what somebody adds changes no case."""

import math

import numpy as np
import pandas as pd
import pytest

from privarms.files import settings
from privarms.inference.divergences import kl
from privarms.jit.cache import compiled
from privarms.ledger import cases
from privarms.papers.frontier import inference
from privarms.planning import statements
from privarms.planning.start import make_plan
from tests import ROOT

from .tables_by_hand import INSTANCES, results, runs, summaries

FOLDER = ROOT / "config/papers/frontier"
GAPS = (0.125, 0.25, 0.375, 0.5)


@pytest.fixture(scope="module")
def plan():
    return planned()


def planned(**own):
    return make_plan(settings.read(ROOT / "config/config.yaml") | {"scale": "paper"} | own, main=False)


def loaded(plan):
    paper = plan.simulation.papers["frontier"]
    known = {"tables": paper.inference, "tags": plan.simulation.tags["frontier"], "printed": ()}
    found = statements.load(FOLDER / "statements.yaml", "frontier", artifacts=paper.artifacts, **known)
    return {one.name: one for one in found}


def ends(study, cells, *regrets):
    """Return the results of a study with these cells and regrets at the horizon."""
    return results(cells={study: summaries(*cells)}, replicates={study: runs(*regrets)})


def test_ratios_to_the_baselines_at_the_same_point():
    cells = [
        {"policy": "dp_imed", "ratio": 2.0},
        {"policy": "adap_klucb"},
        {"policy": "dp_ucb", "width": "log3"},
        {"policy": "adap_klucb", "epsilon": 1.0},
        {"policy": "imed", "epsilon": math.nan},
    ]
    frame = inference.ratios(ends("regret", cells, [1, 3], [3, 5], [8, 8.8], [1, 1.5], [1, 2]))
    found = frame.set_index("policy")
    assert set(zip(frame["policy"], frame["to"], strict=True)) == {("dp_imed", "adap_klucb"), ("dp_ucb", "adap_klucb")}
    # 2 over 4; standard errors 1 and 1.
    assert found.loc["dp_imed", "quotient"] == pytest.approx(0.5)
    assert found.loc["dp_imed", "quotient_se"] == pytest.approx(math.hypot(1, 0.5) / 4)
    assert found.loc["dp_ucb", ["width", "cells"]].tolist() == ["log3", "c2 c1"]
    assert found.loc["dp_ucb", "quotient"] == pytest.approx(2.1)


def test_ratios_of_one_policy_at_two_budgets():
    cells = [{"policy": "adap_klucb", "epsilon": epsilon} for epsilon in (0.1, 0.3, 5.0)]
    frame = inference.regime_ratios(ends("regimes", cells, [5, 7], [1, 3], [2, 2])).set_index(["epsilon", "to"])
    assert frame.loc[(0.1, 0.3), "quotient"] == pytest.approx(3)
    assert frame.loc[(0.1, 0.3), "quotient_se"] == pytest.approx(math.hypot(1, 3) / 2)
    # Two equal runs do not make a mean exact: another run may have up to 100 (.75 - .25).
    assert frame.loc[(0.1, 5.0), "quotient_se"] > 3


def test_regret_over_the_bounds():
    frame = inference.over_bounds(ends("regret", [{"policy": "adap_ucb"}], [100, 300])).set_index("bound")
    # Gaps .125 to .5 at epsilon = .5: 16 * 3.1 ln(100) (8 + 4 + 8/3 + 2) + 4 * 31
    seventh = 49.6 * math.log(100) * (8 + 4 + 8 / 3 + 2) + 124
    divergences = [compiled(kl)(0.75 - gap, 0.75) for gap in GAPS]
    eighth = sum(gap / min(one, gap / 2) for gap, one in zip(GAPS, divergences, strict=True)) * math.log(100)
    assert frame["quotient"][["theorem_7", "theorem_8"]].tolist() == pytest.approx([200 / seventh, 200 / eighth])
    assert frame.loc["theorem_7", "quotient_se"] == pytest.approx(100 / seventh)


def test_the_newest_bound_equals_the_oldest_if_epsilon_is_large():
    instances = pd.concat([INSTANCES.assign(instance=f"mu{i}") for i in (1, 2, 3, 4)])
    # logit(.75) - logit(.7) = .251
    instances.loc[instances["instance"] == "mu1", ["mean2", "mean3", "mean4", "mean5"]] = 0.7
    rows = inference.older_bounds(results(tables={"instances": instances}))
    ratio = rows.set_index(["instance", "epsilon"])["ratio"]
    assert (ratio["mu1"][[0.5, 1.0]] == 1).all()
    assert (ratio["mu1"][[0.01, 0.1]] > 1).all()
    assert (ratio["mu2"] > 1).all()


def test_the_terms_of_the_minimax_bound_are_equal_at_27_over_131():
    rows = inference.minimax(None)
    equal = 27 / 131 * math.sqrt(99) / 1000
    assert (rows["ratio"] * rows["epsilon"]).to_numpy() == pytest.approx(np.full(len(rows), equal))
    assert rows.query("regime == 'high'")["epsilon"].max() < 131 / 27 * math.sqrt(99) / 1000


def test_the_file_loads_and_uses_only_tags_that_exist(plan):
    found = loaded(plan)
    assert {one.kind for one in found.values()} == {"number", "comparison", "universal", "exact"}
    assert [one.name for one in found.values() if one.ours] == ["half_the_noise_is_caught"]


def test_what_somebody_adds_changes_no_case(plan):
    added = [
        {"policy": "ucb1"},
        {"policy": "adap_klucb", "alpha": 4},
        {"policy": "dp_se", "grid": {"K": 5, "top": 0.75, "bottom": 0.25, "spacing": "linear", "epsilon": 2}},
    ]
    own = [entry | ({"horizon": 1_000_000} if "grid" in entry else {}) for entry in added]
    more = planned(add={"frontier": {"regret": own, "regimes": own[:2]}})
    assert len(more.simulation.cells["frontier", "regret"]) > len(plan.simulation.cells["frontier", "regret"])
    tags = plan.simulation.tagged("frontier")
    assert more.simulation.tagged("frontier") == tags

    statement = loaded(plan)["adap_klucb_is_lowest"]
    own, other = (
        next(cell for cell, of in tags.items() if cell.startswith(f"{policy}-") and "middle" in of)
        for policy in ("adap_klucb", "adap_ucb")
    )
    base = [
        {"policy": "adap_klucb", "cell": own, "epsilon": 1.0},
        {"policy": "adap_ucb", "cell": other, "epsilon": 1.0},
    ]
    new = [{"policy": policy, "alpha": 4.0, "epsilon": 1.0} for policy in ("adap_ucb", "adap_klucb")]
    new = [cell | {"cell": f"new{i}"} for i, cell in enumerate(new)]

    def judged(cells, *regrets):
        replicates = [row | {"cell": cells[int(row["cell"][1:])]["cell"]} for row in runs(*regrets)]
        table = inference.ratios(results(cells={"regret": summaries(*cells)}, replicates={"regret": replicates}))
        return cases.judged(statement, table, tags=tags, shrunk=())

    (case,) = judged(base, [1, 2], [20, 21])
    assert (case["measured"], case["published"]) == (pytest.approx(20.5 / 1.5), "ratio above 1")
    assert judged([*base, *new], [1, 2], [20, 21], [0, 1], [0, 1]) == [case]
