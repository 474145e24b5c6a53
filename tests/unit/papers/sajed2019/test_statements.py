"""Check the tables of Sajed & Sheffet 2019 that only statements use, and that additions change no case."""

import functools
import math

import numpy as np
import pandas as pd
import pytest

from privarms.inference.proportions import clopper_pearson
from privarms.ledger import cases
from privarms.papers.sajed2019 import inference
from privarms.papers.sajed2019 import inference_formulas as formulas
from privarms.papers.sajed2019 import inference_statements as tables
from privarms.planning import cells, configuration, statements
from privarms.planning.studies import Axes, Entry, listed
from privarms.registry import artifacts
from privarms.registry.modules import EnvironmentModule, PolicyModule
from tests import PAPERS

from .tables_by_hand import results, rows
from .test_inference import audited, growth
from .test_inference import cells as summaries

PAPER = PAPERS / "sajed2019"


def ratios(*dp_ucb, settings=()):
    """Return study `figure1` with DP-UCB's cells, and DP-SE's regret of 4 +- .5 wherever one is needed."""
    ends = [(c.get("K", 5), c.get("epsilon", 1.0), c.get("spacing")) for c in (*dp_ucb, *settings)]
    regret = summaries(*({"K": K, "epsilon": e, "spacing": s} for K, e, s in dict.fromkeys(ends)))
    regret = [c | {"cell": f"se{i}", "regret_mean": 4.0, "regret_se": 0.5} for i, c in enumerate(regret)]
    shared = {"policy": "dp_ucb", "width": "log3", "K": 5, "epsilon": 1.0, "counter": None}
    frames = {"regret": regret, "figure1": summaries(*(shared | one for one in dp_ucb))}
    frames["settings"] = [c | {"cell": f"s{i}"} for i, c in enumerate(summaries(*(shared | one for one in settings)))]
    frames["settings"] = frames["settings"] or summaries({"epsilon": None})
    frames["instances"] = summaries({"epsilon": None})
    return results(cells=frames)


def test_the_settings_of_each_assumption():
    found = tables.five_times(
        ratios({}, {"counter": "path"}, settings=[{"K": 20}, {"spacing": "one_best"}, {"K": 20, "spacing": "convex"}])
    )
    chosen = {name: list(some["cells"].str.split().str[0]) for name, some in found.groupby("settings", sort=False)}
    assert chosen == {
        "Figure 1 only": ["c0", "c1"],
        "linear means for K from 3 to 20": ["c0", "s0"],
        "mu1 to mu4 of Azize and Basu": ["c0", "s1"],
        "shapes of mu1 to mu4 for other K": ["c0", "s0", "s2"],
    }
    # 10 +- 1 over 4 +- .5.
    assert found["ratio"].to_numpy() == pytest.approx(2.5)
    assert found["ratio_se"].to_numpy() == pytest.approx(2.5 * np.hypot(0.1, 0.125))
    assert list(found["counter"])[:2] == ["dyadic", "path"]


def test_the_effect_of_epsilon_as_a_factor_and_as_a_difference():
    two = ratios({"epsilon": 0.1}, {"epsilon": 1.0}, {"epsilon": 0.5})
    frames = {name: two.cells(name) for name in ("regret", "figure1", "settings", "instances")}
    # DP-UCB falls from 60 +- 6 to 10 +- 1, DP-SE from 8 +- .5 to 4 +- .5: factors 6 and 2, differences 50 and 4.
    for name, mean, se in (("figure1", 60.0, 6.0), ("regret", 8.0, 0.5)):
        frames[name].loc[frames[name]["epsilon"] == 0.1, ["regret_mean", "regret_se"]] = mean, se
    found = tables.epsilon_effect(results(cells=frames)).set_index("effect")
    assert found["ratio"].to_dict() == pytest.approx({"factor": 3.0, "difference": 12.5})
    relative = np.hypot(np.hypot(0.1, 0.5 / 8), np.hypot(0.1, 0.125))
    assert found.loc["factor", "ratio_se"] == pytest.approx(3 * relative)
    relative = np.hypot(np.hypot(6, 1) / 50, np.hypot(0.5, 0.5) / 4)
    assert found.loc["difference", "ratio_se"] == pytest.approx(12.5 * relative)
    assert set(found["cells"]) == {"c0 se0 c1 se1"}


def test_regrets_without_privacy():
    some = summaries({"policy": "ucb1"}, {"policy": "epoch_se"}, {"policy": "successive_elimination"})
    some = [c | {"epsilon": None, "regret_mean": m} for c, m in zip(some, (10.0, 40.0, 20.0), strict=True)]
    found = tables.without_privacy(results(cells={"regret": some})).set_index(["policy", "over"])
    assert found["ratio"].to_dict() == {
        ("ucb1", "epoch_se"): 0.25,
        ("ucb1", "successive_elimination"): 0.5,
        ("successive_elimination", "ucb1"): 2.0,
        ("epoch_se", "successive_elimination"): 2.0,
    }
    assert found.loc[("ucb1", "epoch_se"), "ratio_se"] == pytest.approx(0.25 * np.hypot(1 / 10, 1 / 40))


def test_the_added_regret_over_its_order():
    some = summaries({}, {"policy": "epoch_se", "epsilon": None}, {"K": 4})
    some[1] |= {"regret_mean": 3.0, "regret_se": 0.5}
    (found,) = tables.added_regret(results(cells={"scaling": some})).to_dict("records")
    order = 3 * math.log(100) / 0.5
    assert (found["added"], found["added_se"]) == pytest.approx((7 / order, np.hypot(1, 0.5) / order))
    assert found["cells"] == "c0 c1"


def test_the_added_regret_of_shrinking_gaps():
    # DP-UCB's regret grows like ln(T)^3, UCB1's is 0: over ln(T) it grows like ln(T)^2.
    logs = np.log([10**2, 10**3, 10**4])
    some = growth(*logs**3) + growth(1.0, 1.0, 1.0, policy="ucb1", width=None)
    some = [c | {"cell": f"c{i}", "bottom": 0.75 - c["horizon"] ** -0.1} for i, c in enumerate(some)]
    for c in some[3:]:
        c |= {"regret_mean": 0.0, "epsilon": None}
    found = tables.shrinking_gaps(results(cells={"shrinking_gaps": some})).set_index(["first", "last"])
    assert found.loc[(100, 10_000), "exponent"] == pytest.approx(2)
    assert found.loc[(100, 10_000), "cells"] == "c0 c3 c2 c5"
    assert set(found["width"]) == {"chan"}


def test_ucb1_at_the_gap_of_the_minimax_bound():
    (found,) = tables.minimax_gap(results(cells={"minimax_gap": summaries({"policy": "ucb1"})})).to_dict("records")
    order = math.sqrt(3 * 100 * math.log(100))
    assert (found["ratio"], found["ratio_se"]) == pytest.approx((10 / order, 1 / order))


STOPPING = {"variant": None, "data": "simulated", "environment": "two_point", "alpha": 0.25, "R": 1.0, "mu": 0.5}
STOPPING |= {"epsilon": 1.0, "beta": 0.05, "replicates": 4, "stopping_time_mean": 100.0, "stopping_time_se": 10.0}
STOPPING |= {"failure_mean": 0.25}
RULES = rows(STOPPING, {"cell": "a", "policy": "dp_nas"}, {"cell": "b", "policy": "dp_exponential_nas"})


def test_algorithm_2_takes_this_many_times_the_samples_of_algorithm_1():
    cells_ = [RULES[0], RULES[1] | {"stopping_time_mean": 150.0}]
    (found,) = tables.doubling(results(cells={"stopping": cells_})).to_dict("records")
    assert (found["ratio"], found["ratio_se"]) == pytest.approx((1.5, 1.5 * np.hypot(0.1, 1 / 15)))
    assert found["cells"] == "b a"


def test_the_theorems_on_stopping_rules():
    # n = ln 20 / (12 .25 .5) = 1.997; t_U is above 10^5.
    runs = [{"cell": c, "stopping_time": t} for c in "ab" for t in (1.0, 10.0, 10.0, 1e7)]
    empty = {"cells": [RULES[0] | {"cell": "z", "beta": 0.5}], "runs": [{"cell": "z", "stopping_time": 3.0}] * 2}
    others = ("noise_alone", "other_range", "large_mean")
    found = tables.stopping_theorems(
        results(
            cells={"stopping": RULES} | dict.fromkeys(others, empty["cells"]),
            replicates={"stopping": runs} | dict.fromkeys(others, empty["runs"]),
        )
    )
    assert list(found["study"]) == ["stopping", "stopping", *others]
    found = found.set_index("cells")
    low, high = clopper_pearson(1, 4, 1 - 0.001 / 100)
    columns = ["failure", "failure_low", "failure_high"]
    assert found.loc["a", columns].tolist() == pytest.approx([0.25 / 0.05, low / 0.05, high / 0.05])
    # One run of four is beyond t_U, which is about Algorithm 2 only, and three of four see more than n samples.
    assert found.loc["b", "late"] == pytest.approx(0.25 / 0.05)
    assert math.isnan(found.loc["a", "late"])
    assert found.loc["a", ["beyond", "beyond_events", "beyond_trials"]].tolist() == [0.75, 3, 4]
    order = math.log(20) / (0.25 * 0.5)
    assert found.loc["a", ["private", "private_se"]].tolist() == pytest.approx([100 / order, 10 / order])
    order = math.log(20) * (1 / 0.125**2 + 1 / 0.125)
    assert found.loc["a", ["order", "order_se"]].tolist() == pytest.approx([100 / order, 10 / order])


def test_privacy_losses_by_formula_and_in_counts(monkeypatch):
    none = pd.DataFrame(columns=["subject", "claimed", "exact", "loss", "loss_low", "loss_high", "trials"], dtype=float)
    for name in ("audit", "audit_dp_nas", "audit_dp_exponential_nas"):
        monkeypatch.setattr(inference, name, lambda results: none)
    found = tables.privacy(results(replicates={"audit_dp_ucb": audited((47, 63, 6, 10), trials=10_000)}))
    found = found.set_index(["noise", "evidence"]).sort_index()
    counted = found.loc[(1.0, "simulation")]
    assert counted["loss"] == pytest.approx(math.log(63 / 47) / 0.5)
    assert counted["loss_low"] < counted["loss"] < counted["loss_high"]
    assert (counted["runs"], counted["cells"]) == (10_000, "full c")
    exact = found.loc[(1.0, "formula")]
    assert exact["loss"] == exact["loss_low"] == exact["loss_high"] < 1
    assert math.isnan(exact["runs"])


def test_the_noise_of_a_round_of_the_printed_counter():
    found = formulas.noise_per_step(results()).set_index("horizon")
    # A path from below the root has 14 nodes of scale 14, of variance 2 14^2; at 10^10 there are 34.
    assert found.loc[10**4, "variance_ratio"] == pytest.approx(14 * 2 * 14**2 / np.log2(10**4) ** 3)
    assert found.loc[10**4, "deviation_ratio"] == pytest.approx(np.sqrt(14 * 2) * 14 / np.log(10**4))
    assert found.loc[10**10, "exponent"] == pytest.approx(1.5 * math.log(34 / 14) / math.log(2.5))
    assert math.isnan(found.loc[10**4, "exponent"])


def test_randomised_response_refutes_lemma_3_5():
    found = formulas.lemma_3_5(results()).set_index(["epsilon", "distance"])["ratio"]
    # (1 + .01 (e^5 - 1)) e^-.3
    assert found[5.0, 0.01] == pytest.approx(2.474131591 * math.exp(-0.3))
    assert (found[found.index.get_level_values("epsilon") <= 2] < 1).all()


def test_lemma_4_2_is_negative_for_the_largest_gaps_only():
    found = formulas.lemma_4_2(results())
    negative = found["expression"] < 0
    assert (negative == (found["gap"] > np.exp(-found["beta"] / found["K"]))).all()
    assert negative.any()
    assert (found["small_gap"] == (found["gap"] < 0.36)).all()
    one = found[(found["gap"] == 0.3) & (found["K"] == 2) & (found["epsilon"] == 10) & (found["beta"] == 0.25)]
    # R_1 = 128 ln 64 + 1 and R_2 = 512 ln 256 + 1 over (ln 8 + ln ln(10/3)) (1/.09 + 1/3)
    order = (math.log(8) + math.log(math.log(10 / 3))) * (1 / 0.09 + 1 / 3)
    assert one["constant"].item() == pytest.approx((534 + 2841) / order)


def test_where_theorem_3_3_matches_the_lower_bound():
    found = formulas.corollary_3_6(results())
    one = found[(found["alpha"] == 0.5) & (found["mu"] == 0.5) & (found["epsilon"] == 1) & (found["beta"] == 0.08)]
    # (ln(ln 4 / .08) (16 + 2) + 4 ln 12.5) over ln 12.5 (16 + 4)
    ratio = (math.log(math.log(4) / 0.08) * 18 + 4 * math.log(12.5)) / (20 * math.log(12.5))
    assert one["factor"].item() == pytest.approx(ratio)
    assert (found["factor"].dropna() >= 1).all()
    # alpha = mu = .99, epsilon = 100: ln(ln(1/.9801)/.08) = -1.3821, times 1.0410 + .0101, and .0258.
    least = found[
        (found["alpha"] == 0.99) & (found["mu"] == 0.99) & (found["epsilon"] == 100) & (found["beta"] == 0.08)
    ]
    assert least["upper"].item() == pytest.approx(-1.427, abs=0.001)


def test_the_loss_of_the_sparse_vector_technique():
    found = formulas.sparse_vector(results())
    one = found[(found["queries"] == 1) & (found["epsilon"] == 1) & (found["last"] == -10) & (found["before"] == 0)]
    # One query far below the threshold: P(A - B > 3 x) of two Laplace variables of scale 3 is (2 + x) e^-x / 4, and 3 x
    # grows from 30 to 31.
    expected = 1 / 3 - math.log((2 + 31 / 3) / (2 + 30 / 3))
    assert one["loss"].item() == pytest.approx(expected, abs=1e-4)
    assert found["loss"].max() <= 1


def test_every_printed_identity_holds():
    found = formulas.arithmetic(results())
    false = found[~found["holds"]]
    # The non-private part of K rules grows like K, not K^2.
    assert false[["sentence", "part"]].to_numpy().tolist() == [["rules", "both parts"]]


TOGETHER = ("figure1", "settings", "instances", "regret", "growth", "pulls")


def plan(edit=lambda studies: None):
    """Return the cells of some studies at full scale, after a change of the studies."""
    paper = configuration.load_paper(PAPER / "studies.yaml", "paper")
    edit(paper.studies)
    return [cell for name in TOGETHER for cell in cells.expand("f", "sajed2019", name, paper.studies[name])]


@functools.cache
def loaded():
    paper = configuration.load_paper(PAPER / "studies.yaml", "paper")
    grids = [axes.parameters for study in paper.studies.values() for axes in study.all_axes]
    tags = {grid["tag"] for grid in grids if "tag" in grid}
    known = {"artifacts": artifacts.of_paper("sajed2019"), "tables": artifacts.inference_of_paper("sajed2019")}
    known |= {"tags": tags, "printed": []}
    return {one.name: one for one in statements.load(PAPER / "statements.yaml", "sajed2019", **known)}


def columns(cell):
    """Return a cell's values in its study's columns; None for a parameter that does not apply."""
    takes = EnvironmentModule(cell.environment).arguments | PolicyModule(cell.policy).arguments
    about = {key: getattr(cell, key) for key in ("study", "policy", "environment")}
    return about | dict.fromkeys(takes) | cell.parameters | {"horizon": cell.horizon, "variant": cell.variant or None}


def made_up(planned):
    """Return results with a row per cell, whose mean regret depends on the policy and epsilon only."""
    means = {"dp_ucb": 60.0, "dp_se": 8.0}
    frames = {name: [] for name in TOGETHER}
    # Measured columns come after all parameters.
    parameters = dict.fromkeys(key for cell in planned for key in columns(cell))
    for cell in planned:
        mean = means.get(cell.policy, 3.0) / cell.parameters.get("epsilon", 1.0) + math.log(cell.horizon)
        about = (
            parameters | columns(cell) | {"cell": cell.name, "data": "simulated", "t": cell.horizon, "replicates": 30}
        )
        measured = {"regret_mean": mean, "regret_se": mean / 100, "regret_largest_share": 0.04}
        frames[cell.study].append(about | measured)
    return results(cells=frames)


USED = {"five_times": "at_least_5_times", "epsilon_effect": "epsilon_effect", "without_privacy": "only_the_approach"}


def judged(planned):
    """Return the cases of some statements on made-up results."""
    ours, tags = made_up(planned), {cell.name: cell.tags for cell in planned}
    found = {name: getattr(tables, table)(ours) for table, name in USED.items()}
    found |= {"tree_regret": inference.growth(ours), "dp_se_growth": inference.growth(ours)}
    return {name: cases.judged(loaded()[name], table, tags=tags, shrunk=()) for name, table in found.items()}


def a_policy(studies):
    studies["figure1"].policies.append(Entry.model_validate({"policy": "dp_imed"}))
    studies["regret"].policies.append(Entry.model_validate({"policy": "uniform"}))


def a_parameter(studies):
    for study in ("figure1", "settings", "growth"):
        studies[study].policies.append(Entry.model_validate({"policy": "dp_ucb", "width": "log3", "noise": 0.5}))
    studies["growth"].policies.append(Entry.model_validate({"policy": "dp_se", "beta": 0.05}))


def a_value(studies):
    studies["figure1"].grid.append(Axes(K=5, epsilon=[0.05, 2]))
    studies["regret"].policies.append(Entry.model_validate({"policy": "dp_se", "grid": {"K": 5, "epsilon": [0.05, 2]}}))
    studies["growth"].grid.append(Axes(K=5, epsilon=0.25, horizon=[1_000_000, 10_000_000_000]))
    studies["settings"].grid.append(Axes(K=7, epsilon=1))


@pytest.mark.parametrize("addition", [a_policy, a_parameter, a_value])
def test_an_addition_changes_no_case(addition):
    before, after = plan(), plan(addition)
    own = {cell.name: cell.tags for cell in before}
    assert len(after) > len(before)
    assert all(cell.tags == own.get(cell.name, ()) for cell in after)
    found = judged(before)
    assert judged(after) == found
    assert len(found["at_least_5_times"]) == 29
    assert len(found["epsilon_effect"]) == 16
    assert [len(found[name]) for name in ("only_the_approach", "tree_regret", "dp_se_growth")] == [2, 5, 1]


def test_a_tagged_addition_would_change_cases():
    def tagged(studies):
        studies["settings"].policies.append(
            Entry.model_validate({"policy": "dp_ucb", "tag": "settings", "width": "log3", "noise": 0.5})
        )

    assert judged(plan(tagged))["at_least_5_times"] != judged(plan())["at_least_5_times"]


def test_every_statement_without_studies_has_one_case_per_assumption():
    used = [one for one in loaded().values() if hasattr(formulas, one.table)]
    computed = {name: getattr(formulas, name)(results()) for name in {one.table for one in used}}
    assert len(computed) == 9
    for one in used:
        judged = cases.judged(one, computed[one.table], tags={}, shrunk=())
        assert len(judged) == (2 if one.assumes else 1), one.name
        assert {case["verdict"] for case in judged} <= {"true", "false", "refuted", "not refuted", "measured"}, one.name


def test_horizons_whose_logarithm_is_not_rounded():
    # The depth of a tree rounds log2(T) up, which changes an exponent.
    for scale in ("paper", "quick"):
        studies = configuration.load_paper(PAPER / "studies.yaml", scale).studies
        grids = [*studies["growth"].grid, *studies["shrinking_gaps"].grid]
        horizons = [T for axes in grids for T in listed(axes.parameters["horizon"])]
        assert all(T.bit_count() == 1 for T in horizons)


def test_the_gaps_of_section_1_and_2():
    studies = configuration.load_paper(PAPER / "studies.yaml", "paper").studies
    for one in (axes.parameters for axes in studies["shrinking_gaps"].grid):
        assert 0.75 - one["bottom"] == pytest.approx(one["horizon"] ** -0.1, abs=1e-6)
    for one in (axes.parameters for axes in studies["minimax_gap"].grid):
        T = one["horizon"]
        assert 0.75 - one["bottom"] == pytest.approx(math.sqrt(one["K"] * math.log(T) / T), abs=1e-6)
