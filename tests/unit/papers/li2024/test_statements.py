"""Check the tables of cases of li2024 against values worked by hand, and that additions change no case."""

import math

import pandas as pd
import pytest

from privarms.inference.proportions import clopper_pearson
from privarms.ledger import cases
from privarms.papers.li2024 import inference, inference_cases, inference_steps
from privarms.planning import cells, configuration, statements
from privarms.planning.studies import Entry
from privarms.registry import artifacts
from tests import PAPERS
from tests.unit.papers.li2024.test_inference import CELL, SIZE, TOTALS, results, rows

FOLDER = PAPERS / "li2024"
FILE = FOLDER / "studies.yaml"
PAPER = configuration.load_paper(FILE, "paper")
STUDIES = {name: cells.expand(str(FILE), "li2024", name, study) for name, study in PAPER.studies.items()}
TAGS = {cell.name: cell.tags for some in STUDIES.values() for cell in some if cell.tags}


def load():
    names = {"artifacts": artifacts.of_paper("li2024"), "tables": artifacts.inference_of_paper("li2024")}
    printed = [file.stem for file in FOLDER.glob("published/*.csv")]
    tags = {tag for some in TAGS.values() for tag in some}
    return {
        s.name: s for s in statements.load(FOLDER / "statements.yaml", "li2024", tags=tags, printed=printed, **names)
    }


STATEMENTS = load()


def judged(name, table):
    return cases.judged(STATEMENTS[name], table, tags={"a": ("pareto",), "b": ("pareto",)}, shrunk=())


def of(table, formula):
    return table[table["formula"] == formula]


FORMULAS = inference_steps.formulas(None)


def two_sizes(policy="conse_se", **second):
    """Return cells a and b: n = 20,000 with regret 10, and n = 1,000,000 with regret 20 and the same errors."""
    larger = {k: [2 * x for x in TOTALS[k]] for k in ("regret", "first_half_regret")}
    larger |= {k: [4 * x for x in TOTALS[k]] for k in ("regret_squares", "second_half_squares")}
    small = rows(CELL | {"policy": policy}, SIZE, TOTALS, **second)
    return [small, rows(CELL | {"policy": policy, "cell": "b"}, SIZE, TOTALS, horizon=1_000_000, **larger, **second)]


def test_orders_grow_as_by_hand(tmp_path):
    actual = inference_cases.orders(results(tmp_path, pareto=two_sizes()))
    actual = actual.set_index("quantity")
    assert set(actual["growth"]) == {"n from 20,000 to 1,000,000"}
    # ln 2 / ln 50, less the growth of log n, the order at alpha = 1. The second half grows alike.
    width, logs = math.log(50), math.log(math.log(1e6) / math.log(2e4))
    assert actual.loc["product", "exponent"] == pytest.approx(math.log(2) / width)
    for quantity in ("regret", "second_half"):
        assert actual.loc[quantity, "exponent"] == pytest.approx((math.log(2) - logs) / width)
    assert actual.loc["error", "exponent"] == pytest.approx(logs / width)
    # Relative errors of .1 in both cells: of a mean of 10 with sd 2, and of a mean of 5 with sd 1.
    for quantity in ("regret", "second_half"):
        assert actual.loc[quantity, "exponent_se"] == pytest.approx(0.1 * math.sqrt(2) / width)
    assert actual.loc["regret", "runs"] == 4
    assert actual.loc["regret", "cells"] == "b a"


def test_an_error_by_formula_is_exact(tmp_path):
    actual = inference_cases.orders(results(tmp_path, pareto=two_sizes("dp_conse", epsilon=0.5)))
    row = actual.set_index("quantity").loc["error"]
    assert row["exponent_low"] == row["exponent"] == row["exponent_high"]


def test_steps_of_alpha_and_lengths_of_the_curve(tmp_path):
    ends = [rows(CELL | {"cell": c}, SIZE, TOTALS, alpha=a) for c, a in (("a", 0.0), ("b", 1.0))]
    actual = inference_cases.steps_of_alpha(results(tmp_path, pareto=ends))
    assert actual["ratio"].tolist() == pytest.approx([1.0, 1.0])
    assert actual["before"].tolist() == ["0", "0"]
    # Regret 40 at alpha = 0 and epsilon = .5; 10 in the three other cells.
    most = {"regret": [160.0, 40.0, 120.0], "regret_squares": [6500.0, 500.0, 4000.0]}
    curve = [
        rows(CELL | {"cell": f"{a}{e}", "policy": "dp_conse"}, SIZE, TOTALS, alpha=a, epsilon=e)
        for a, e in ((1.0, 0.5), (0.0, 2.0), (1.0, 2.0))
    ]
    curve.append(rows(CELL | {"cell": "most", "policy": "dp_conse"}, SIZE, TOTALS, alpha=0.0, epsilon=0.5, **most))
    row = inference_cases.spans(results(tmp_path, pareto=curve)).iloc[0]
    assert (row["ratio"], row["larger_epsilon"]) == (pytest.approx(4.0), "2")
    assert set(row["cells"].split()) == {"most", "1.00.5", "0.02.0", "1.02.0"}


def test_the_price_has_a_row_per_baseline(tmp_path):
    private = rows(CELL | {"cell": "b", "policy": "dp_conse"}, SIZE, TOTALS, regret=[80.0, 20.0, 60.0], epsilon=0.5)
    actual = inference_cases.price(results(tmp_path, pareto=[rows(CELL, SIZE, TOTALS), private]))
    regret = actual[actual["quantity"] == "regret"].iloc[0]
    assert regret["ratio"] == pytest.approx(2.0)
    assert regret["cells"] == "b a"
    errors = actual[actual["quantity"] == "error"].set_index("baseline")["ratio"]
    # ConSE has floor(log n) = 9 patients, DP-ConSE's own trial 19 without noise.
    assert errors["DP-ConSE's trial without noise"] / errors["ConSE"] == pytest.approx(19 / 9)


def test_what_somebody_adds_changes_no_case(tmp_path):
    first = two_sizes("dp_conse", epsilon=0.5)
    added = [
        rows(CELL | {"cell": "c", "policy": "dp_conse"}, SIZE, TOTALS, epsilon=0.5, noise=2.0),
        rows(CELL | {"cell": "d", "policy": "dp_conse"}, SIZE, TOTALS, epsilon=0.5, horizon=70_000_000),
        rows(CELL | {"cell": "e", "policy": "dp_conse_total"}, SIZE, TOTALS, epsilon=0.5, budget="total"),
    ]
    (tmp_path / "added").mkdir()
    for made, names in (
        (inference_cases.orders, ("theorem_3_3", "theorem_3_5_product", "lemma_3_4")),
        (inference.pareto, ("theorem_2_1", "estimates_are_output")),
    ):
        plain = made(results(tmp_path, pareto=first))
        more = made(results(tmp_path / "added", pareto=[*first, *added]))
        assert len(more) > len(plain)
        for name in names:
            assert [row["measured"] for row in judged(name, more)] == [row["measured"] for row in judged(name, plain)]
            assert judged(name, plain)[0]["verdict"] != "unverifiable"


@pytest.mark.parametrize("study", ["pareto", "elimination", "coverage", "table2", "audit"])
def test_what_somebody_adds_to_the_configuration_has_no_tag(study):
    changed = PAPER.studies[study].model_copy(deep=True)
    policy = {"table2": {"policy": "uniform"}}.get(study, {"policy": "dp_conse", "epsilon": 7.0, "noise": 2.0})
    (axes,) = (axes.parameters for axes in changed.grid)
    grid = {key: value for key, value in axes.items() if key != "tag"} | {"horizon": 77_000}
    changed.policies += [Entry.model_validate(policy | {"grid": grid}), Entry.model_validate(policy)]
    after = cells.expand(str(FILE), "li2024", study, changed)
    before = {cell.name: cell.tags for cell in STUDIES[study]}
    assert len(after) > len(before)
    assert {c.name: c.tags for c in after if c.tags} == {k: v for k, v in before.items() if v}


def test_errors_are_matched_to_printed_entries():
    part = {
        "reading": ["literal", "literal", "implied", "implied"],
        "estimator": ["mean_difference", "half_sample", "half_sample", "mean_difference"],
    }
    part |= {"reg": 400, "m": [400, 400, 133, 133], "mse": [0.01, 0.02, 0.06, 0.03], "se": 0.1, "published": 0.03}
    table = pd.DataFrame(part).assign(mse_se=0.001, runs=500, cells="a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "table2", lambda _: table)
        patch.setattr(inference, "table3", lambda _: table)
        actual = inference_cases.entries(None)
    # A row "implied" of MD would be judged by the number that it comes from.
    assert actual["estimator"].tolist() == ["MD", "DML", "DML"] * 2
    assert actual["mse"].tolist() == [0.01, 0.02, 0.06] * 2
    assert actual["rounds"].tolist() == ["the budget", "the budget", "as MD's errors imply"] * 2
    assert actual["table"].tolist() == ["table2"] * 3 + ["table3"] * 3


def test_conclusions_on_printed_numbers():
    printed = {"table2": [("MD", 200, "0.30"), ("MD", 800, "0.075"), ("DML", 200, "0.6"), ("DML", 800, "0.3")]}
    printed["table3"] = [("MD", 400, "0.2"), ("MD", 800, "0.1"), ("DML", 400, "4.0"), ("DML", 800, "2.0")]

    class Printed:
        def published_table(self, name, dtype):
            return pd.DataFrame(printed[name], columns=["estimator", "reg", "error"])

    found = {(r["quantity"], r["study"], r["estimator"], r["m"]): r for r in inference_cases._printed(Printed())}
    assert found["over_MD", "table2", "DML", 800]["value"] == pytest.approx(4)
    assert found["over_experiment_1", "table3", "MD", 800]["value"] == pytest.approx(4 / 3)
    # ln(.075 / .3) / ln 4 and ln(2 / 4) / ln 2
    assert found["growth", "table2", "MD", 800]["value"] == pytest.approx(-1)
    assert found["growth", "table3", "DML", 800]["value"] == pytest.approx(-1)
    # .2 of either mean, and half a unit of 2.0 over 0.1.
    row = found["over_MD", "table3", "DML", 800]
    assert row["value_low"] == pytest.approx(1.95 / 0.15 * math.exp(-3.2905 * 0.2 * math.sqrt(2)), rel=1e-4)


def test_losses_of_an_audit():
    counts = pd.DataFrame({"events_0": [20_000, 0], "events_1": [30_000, 0], "trials": 100_000, "delta": 0.1})
    actual = pd.DataFrame(inference._losses(counts, "x", pd.Series([0.25, 0.25]), 0.0))
    # ln(30,000.5 / 20,000.5) / .25, and Clopper-Pearson ends of which 200 hold together.
    assert actual["x"][0] == pytest.approx(1.62183, rel=1e-4)
    (a, b), (c, d) = (clopper_pearson(events, 100_000, 1 - 0.0005 / 100) for events in (20_000, 30_000))
    assert (actual["x_low"][0], actual["x_high"][0]) == pytest.approx((math.log(c / b) / 0.25, math.log(d / a) / 0.25))
    assert (actual["x_low"][1], actual["x_high"][1]) == (-math.inf, math.inf)
    # (.3 - .1) / .2
    assert inference._losses(counts, "x", 1.0, counts["delta"])["x"][0] == pytest.approx(0, abs=1e-4)


def test_the_counter_example_to_lemma_1_1():
    # (1 - .009)^200 over (1 - sqrt(16/3 * .0001 * 200)) / 2
    expected = 0.991**200 / (0.5 * (1 - math.sqrt(0.32 / 3)))
    assert inference_steps._lemma_1_1(200, 0.01, 10**8) == pytest.approx(expected, rel=1e-9)
    # With few patients the other errors are not negligible.
    assert inference_steps._lemma_1_1(200, 0.01, 10**5) > 1


def test_one_action_given_the_earlier_ones():
    few, many = (inference_steps._definition_1(20_000, 2.0, after) for after in (10, 20))
    assert many - few == pytest.approx(10, abs=0.01)
    # The epoch lasts 20 more patients with probability e^-20 / (1 + 1/e). In run 1 arm 1 has probability 1/2.
    assert many == pytest.approx(math.log((0.5 - 1 / 20_000) * (1 + math.exp(-1))) + 20, abs=1e-3)


def test_means_of_shared_coin_flips():
    # Three flips, radius .4: with counts 1 and 2 the single one errs by 1/2; with 2 both must differ.
    assert inference_steps._outside(3, 0.4) == 1.0
    # Radius .5 or more is never exceeded; counts 0 and 3, where an arm has no flip, count as failures.
    assert inference_steps._outside(3, 0.6) == pytest.approx(0.25)


def test_steps_of_the_proofs_by_formula():
    values = FORMULAS.set_index(["formula", "reading"])["value"]
    # phi = 1/4: the arms have 1/2 and 3/4 or 1/4, and the printed form is 1/3.
    divergence = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert values["kl_form", "phi = 0.25"] == pytest.approx(3 * divergence)
    # ceil(128 log(320,000) + 1) patients and the first one.
    assert values["first_half_regret", "Reg = 800"] == pytest.approx(1625 / 800)
    # (1 + e^2) / (1 + e^sqrt 2)
    assert values["exp3e_probabilities", "R(1) = 2"] == pytest.approx(1.64065, rel=1e-5)
    assert of(FORMULAS, "c_1")["value"].to_numpy() == pytest.approx(2)
    assert of(FORMULAS, "proof_3_1")["value"].max() > 0.5 * 1_000_000
    assert of(FORMULAS, "propensity")["value"].to_numpy() == pytest.approx(1)
    # C = 4 (e^2 + 2)^2 log(4 n^2)^2
    logs = math.log(math.log(4e12) / math.log(1.6e9)) / math.log(math.log(1e6) / math.log(2e4))
    assert values["exp3e_constant", "exponent of log n"] == pytest.approx(2 * logs)


@pytest.mark.parametrize(
    ("arrivals", "share"), [("stationary", 2), ("seasonal", 10_000 / (20_000 / 3 * 0.1 + 10_000 / 3 * 0.9))]
)
def test_the_propositions_count_all_patients_and_the_trial_those_of_the_first_half(arrivals, share):
    # Two features with equal totals over the year. In the seasonal first half one has 0.1 for two thirds of the time.
    own = FORMULAS[(FORMULAS["reading"] == arrivals) & (FORMULAS["alpha"] == 0.1)].set_index("formula")["value"]
    assert own["normaliser"] == pytest.approx(share**0.9, rel=1e-3)
    assert own["variance_conse_se"] == pytest.approx(2 * share**0.9, rel=1e-3)
    # Means .3 and .6: 2 (.3 + .6) - .09 over .21 + .24.
    assert own["variance_conse_exp3e_of_T_min"] == pytest.approx(3.8)


def test_only_what_a_paper_prints_has_a_boundary():
    orders = [s for s in STATEMENTS.values() if "O(" in s.quote and "= O(log" not in s.quote]
    assert {s.name for s in orders if s.published} == set()
