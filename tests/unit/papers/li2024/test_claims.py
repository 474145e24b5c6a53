"""Every measure on small tables: its value, worked by hand, and the verdict."""

import math
from pathlib import Path

import pandas as pd
import pytest
from scipy.special import stdtrit

from privarms.claims import ledger
from privarms.inference.proportions import clopper_pearson
from privarms.papers.li2024.claims import MEASURES
from privarms.studies import claims, configuration

from .tables import COVERAGE, ELIMINATION, PARETO, Tables, table

PAPER = configuration.load_paper(Path("config/papers/li2024/studies.yaml"), "paper")
CLAIMS = {c["claim"]: c for c in claims.load(Path("config/papers/li2024"), "paper", PAPER["artifacts"])}


def pareto(**columns):
    return Tables(pareto=table(PARETO, **columns))


def private(**columns):
    return pareto(policy="dp_conse", epsilon=0.5, **columns)


def elimination(**columns):
    return Tables(elimination=table(ELIMINATION, **columns))


def coverage(**columns):
    return Tables(coverage=table(COVERAGE, **columns))


def cost(**columns):
    usual = {"policy": "dp_conse", "epsilon": 0.1, "horizon": 20_000, "M": 2, "alpha": 0.5, "arrivals": "stationary"}
    ratios = {"expected_mse_ratio": 1.05, "mse_ratio": 1.3, "mse_ratio_se": 0.01}
    ratios |= {"regret_ratio": 1.02, "regret_ratio_se": 0.01, "replicates": 100}
    noise = {"noise_ratio": 1.0, "noise_ratio_se": 0.01, "eps2_T": 100.0}
    return Tables(privacy_cost=table({**usual, **ratios, **noise}, **columns))


def audited(**columns):
    usual = {"release": "lengths", "M": 2, "epsilon": 0.5, "claimed": 0.25, "exact": 0.5, "trials": 100_000}
    return Tables(audit=table({**usual, "events_0": 20_000, "events_1": 30_000}, **columns))


def formulas(*rows):
    names = ["formula", "reading", "n", "value"]
    return Tables(formulas=pd.DataFrame(rows, columns=names).assign(epsilon=1.0))


def trial_formulas(formula, **columns):
    usual = {"formula": formula, "reading": "printed", "n": 20_000, "epsilon": 1.0, "alpha": 1.0, "T_min": 9.9}
    return Tables(formulas=table(usual, **columns))


def sums(printed):
    return Tables(lap_plus=table({"epsilon": 1.0, "m": [1, 10], "printed_sum": printed, "corrected_sum": 1.0}))


def entries(mse, **columns):
    usual = {"reading": "literal", "reg": 200, "m": 200, "se": 0.001, "replicates": 5000, "published": 0.31}
    estimators = ["mean_difference", "half_sample"]
    return Tables(table2=table(usual, estimator=estimators, mse=mse, **columns))


def rounds(early, late, table2=None):
    """Errors of one estimator after 400 and 800 rounds in Experiment 2, and in Experiment 1."""
    usual = {"reading": "literal", "estimator": "mean_difference", "se": 1e-4, "replicates": 5000}
    usual["m"] = [400, 800]
    second = table(usual, mse=[early, late])
    return Tables(table3=second, table2=second if table2 is None else table(usual, mse=table2))


def pairs(**columns):
    usual = {"study": "table2", "estimator": "cross_fitted", "m": 400, "ratio": 1.0, "se": 0.001, "replicates": 5000}
    return Tables(estimators=table(usual, **columns))


def errors(**columns):
    usual = {"policy": "conse_se", "horizon": 20_000, "alpha": 0.5, "phi": 0.01, "bound": 0.4, "replicates": 10_000}
    return Tables(lower_bound=table(usual, **columns))


# At n = 20,000 1/n is a chance of 5e-5.
MANY = {"M": 1, "replicates": 400_000, "horizon": 20_000}

# claim, tables, the value by hand, the verdict
CASES = [
    # 3/512 of gaps that add up to .8 is .0046875 for two features, .00234375 each.
    ("theorem_2_1_consistent", pareto(product=[0.5, 0.0046875, math.nan]), 2.0, "reproduced"),
    ("theorem_2_1_lemma", errors(events=[8000, 6000]), 1.5, "reproduced"),
    ("theorem_2_3", pareto(product=[3.0, 12.0, math.nan]), 4.0, "reproduced"),
    (
        "theorem_2_arxiv_product",
        pareto(policy="conse_exp3e", product=9e9, expected_product=[2.0, 6.0]),
        3.0,
        "reproduced",
    ),
    ("theorem_3_5_product", private(product=[1.0, 90.0], expected_product=[2.0, 6.0]), 3.0, "reproduced"),
    ("theorem_4_2", private(expected_product=[2.0, 10.0]), 5.0, "reproduced"),
    ("theorem_2_3_error", pareto(mse=[0.1, 0.02], T_min=[15.0, 20.0]), 1.5, "reproduced"),
    ("theorem_3_3", private(mse=9.0, expected_mse=[0.1, 0.05], T_min=20.0), 2.0, "reproduced"),
    # 40 / (2 * 20) = 1 and 300 / (2 * 30) = 5
    ("theorem_2_3_regret", pareto(regret=[40.0, 300.0], T_min=[20.0, 30.0]), 5.0, "reproduced"),
    ("theorem_3_5_regret", private(regret=[40.0, 160.0], T_min=20.0), 4.0, "reproduced"),
    # 200 events in 400,000 runs
    ("lemma_2_1_over_bound", elimination(**MANY, over_bound=200), 5e-4, "differs"),
    ("lemma_2_1_over_sure", elimination(**MANY, over_sure=200), 5e-4, "differs"),
    ("lemma_3_1_wrong", elimination(**MANY, policy="dp_conse", epsilon=[0.1, 1.0], wrong=[0, 200]), 5e-4, "differs"),
    # n = e^2 and 1/gaps add up to 5: 1000 / (2 * 5); where not everything is eliminated nothing counts
    (
        "corollary_2_2",
        elimination(first_half_regret=[1000.0, 9e9], horizon=math.exp(2), eliminated_fraction=[1, 0.9]),
        100.0,
        "reproduced",
    ),
    ("corollary_2_2_sharp", elimination(first_half_regret=15.0, sure_regret=[20.0, 30.0]), 0.75, "reproduced"),
    # 2 * (5 + 10 / .5)
    (
        "corollary_3_2",
        elimination(policy="dp_conse", epsilon=0.5, first_half_regret=5000.0, horizon=math.exp(2)),
        100.0,
        "reproduced",
    ),
    # (50 - 34) / (20 * .8) and (114 - 34) / (20 * .8)
    ("lemma_3_4", private(regret=50.0, first_half_regret=34.0, T_min=20.0, gap_sum=0.8), 1.0, "reproduced"),
    ("estimates_are_output", pareto(missing_fraction=[0.0, 0.005], replicates=10_000), 0.005, "reproduced"),
    ("dp_estimates_are_output", private(missing_fraction=[0.0, 0.005], replicates=10_000), 0.005, "reproduced"),
    (
        "conse_eliminates_se",
        elimination(horizon=[20_000, 50_000], eliminated_fraction=[1.0, 0.0], replicates=4000),
        1.0,
        "reproduced",
    ),
    (
        "conse_eliminates_exp3e",
        elimination(policy="conse_exp3e", horizon=1_000_000, M=1, eliminated_fraction=0.2, constant=1e5),
        0.2,
        "differs",
    ),
    # The longest trial is the second one.
    ("proposition_2_6_variance", coverage(T=[10.0, 900.0], variance_ratio=[2.0, 1.01]), 1.01, "reproduced"),
    ("proposition_2_6_coverage", coverage(T=[10.0, 900.0], coverage=[0.5, 0.951]), 0.951, "reproduced"),
    (
        "proposition_2_6_corrected",
        coverage(interval=["printed", "corrected"], coverage=[0.8, 0.95]),
        0.95,
        "reproduced",
    ),
    # .002 / .4, and up to 3.5 standard errors of .00025 more
    ("proposition_2_6_unbiased", coverage(bias=[-0.002, 0.001], bias_se=0.0001), 0.005, "reproduced"),
    (
        "proposition_2_6_exact_bias_at_1",
        trial_formulas("relative_bias", epsilon=math.nan, value=[-2e-3, 0]),
        -2e-3,
        "differs",
    ),
    (
        "proposition_3_6_exact_bias_1_0",
        trial_formulas("relative_bias", epsilon=[0.1, 1], value=[-0.5, -0.01]),
        -0.01,
        "differs",
    ),
    # sqrt(ln(2 / .001) / 200,000) = .0062 to either side
    ("proposition_2_6_normality_0_5", coverage(interval="corrected_laplace", ks=0.003), 0.003, "reproduced"),
    (
        "proposition_3_6_same_variance_0_5_epsilon_1_0",
        coverage(policy=["conse_se", "dp_conse"], epsilon=[math.nan, 1.0], variance_ratio=[2.0, 2.04]),
        1.02,
        "reproduced",
    ),
    ("privacy_is_free_error_epsilon_0_1", cost(expected_mse_ratio=[1.0, 1.08]), 1.08, "reproduced"),
    ("privacy_is_free_regret_epsilon_1_0", cost(epsilon=[0.1, 1.0], regret_ratio=[9.0, 1.02]), 1.02, "reproduced"),
    # As printed and in total are apart.
    (
        "privacy_is_free_total_error_epsilon_0_1",
        cost(budget=["total", math.nan], mse_ratio=[1.01, 9.0]),
        1.01,
        "reproduced",
    ),
    # ln(30,000.5 / 20,000.5) / .25 and ln(22,000.5 / 20,000.5) / .25
    ("theorem_3_5_lengths_m2", audited(), 1.62183, "differs"),
    ("theorem_3_5_lengths_m1", audited(M=1, exact=[0.25, 0.3]), 1.2, "differs"),
    ("theorem_3_5_total", audited(M=10), 0.81091, "reproduced"),
    (
        "budget_total_m2",
        audited(release="experiment", budget=["total", math.nan], events_1=[22_000, 90_000]),
        0.19061,
        "reproduced",
    ),
    ("theorem_3_3_event", trial_formulas("trial_event", value=[1 - 1e-12, 1 - 1e-9]), 0.4, "reproduced"),
    ("lap_plus_small", sums([1.0, 5.0]), 1.0, "reproduced"),
    ("lap_plus_large", sums([1.0, -0.02]), -0.02, "differs"),
    (
        "lemma_3_1_batches",
        formulas(("R_1", "printed", 1, 7), ("batch_event", "printed", 1, 0.4), ("batch_event", "half", 1, 1)),
        0.4,
        "differs",
    ),
    (
        "lemma_3_1_batches_repaired",
        formulas(("R_1", "printed", 1, 7), ("batch_event", "printed", 1, 0.4), ("batch_event", "half", 1, 1)),
        1.0,
        "reproduced",
    ),
    ("lemma_3_1_width", formulas(("c_1", "printed", 1, 0.4), ("c_1", "proof", 1, 0.2)), 2.0, "differs"),
    ("confidence_h_e", formulas(("h_1", "printed", 1, 0.2), ("h_1", "per_arm", 1, 0.3)), 1.5, "differs"),
    # (1 + e^2) / (1 + e^sqrt 2)
    ("exp3e_probabilities", Tables(), 1.64065, "differs"),
    ("exp3e_constant", formulas(("C", "printed", 10**4, 10.0), ("C", "printed", 10**8, 40.0)), 2.0, "differs"),
    # The published .31 of 50 runs has an error of .001 sqrt(5000 / 50) = .01, and a rounding of .005.
    ("table2_md_200_literal", entries([0.29, 0.4]), 0.29, "reproduced"),
    # What was inferred from the number can support it alone.
    ("table2_md_200_implied", entries([0.31, 0.4], reading="implied"), 0.31, "unverifiable"),
    ("dml_does_not_help_cross_fitted", pairs(ratio=[0.9, 1.2]), 0.9, "differs"),
    ("tradeoff_table3", rounds(0.04, 0.02), 0.5, "reproduced"),
    ("md_is_robust", rounds(0.04, 0.04, table2=[0.04, 0.02]), 2.0, "differs"),
]


def found(name, tables):
    claim = CLAIMS[name]
    return ledger.measure(MEASURES[claim["measure"]], tables, claim)


@pytest.mark.parametrize(("name", "tables", "value", "verdict"), CASES)
def test_a_measure_by_hand(name, tables, value, verdict):
    measured = found(name, tables)
    assert measured.value == pytest.approx(value, rel=1e-4)
    row = ledger.judge(CLAIMS[name], measured, paper="li2024", scale="paper", data="simulated")
    assert row["verdict"] == verdict


def test_the_intervals_by_hand():
    # Student's quantile with 99 degrees of freedom at .05%: 3.3915.
    low, high = found("theorem_2_3_error", pareto(mse=0.1, mse_se=0.01, T_min=15.0)).interval
    assert (low, high) == pytest.approx((1.5 - 3.3915 * 0.15, 1.5 + 3.3915 * 0.15), abs=1e-4)
    # 1 and 4 with 1% errors each (regret exact), both wrong with half of .001: t = 3.6 at 99 degrees.
    two = pareto(product=[1.0, 4.0], mse=[0.1, 0.1], mse_se=0.001, regret_se=0.0)
    t = -stdtrit(99, 0.001 / 8)
    assert found("theorem_2_3", two).interval == pytest.approx(
        (4 * (1 - 0.01 * t) / (1 + 0.01 * t), 4 * (1 + 0.01 * t) / (1 - 0.01 * t))
    )
    # A spread is at least 1, whatever its errors.
    assert found("theorem_2_3", pareto(product=[1.0, 1.01], mse_se=0.01)).interval[0] == 1
    # sqrt(ln(4 / .001) / 200,000): two cells together
    low, high = found("proposition_2_6_normality_0_5", coverage(interval="corrected_laplace", ks=[0.01, 0.02])).interval
    assert (low, high) == pytest.approx((0.02 - 0.0064397, 0.02 + 0.0064397), abs=1e-6)
    # Clopper and Pearson's, both at .05% for the one epsilon.
    measured = found("theorem_3_5_lengths_m2", audited())
    (a, b), (c, d) = (clopper_pearson(events, 100_000, 0.9995) for events in (20_000, 30_000))
    assert measured.interval == pytest.approx((math.log(c / b) / 0.25, math.log(d / a) / 0.25))
    # Two cells together: .05% each.
    measured = found("estimates_are_output", pareto(missing_fraction=[0.5, 0.1], replicates=1000))
    assert measured.interval == pytest.approx(clopper_pearson(500, 1000, 0.9995))
    measured = found("theorem_3_5_lengths_m2", audited())
    # Three epsilon have wider ones.
    three = found("theorem_3_5_lengths_m2", audited(epsilon=[0.5, 1.0, 2.0], claimed=0.25))
    assert three.low < measured.low
    assert three.high > measured.high
    # Of an epsilon without an event nothing is known, and so of the largest no more than what the others show.
    bare = found("theorem_3_5_lengths_m2", audited(epsilon=[0.5, 1.0], events_0=[20_000, 0], events_1=[22_000, 0]))
    assert bare.value == pytest.approx(0.38123, abs=1e-5)
    assert 0 < bare.low < bare.value
    assert bare.high == math.inf


def test_a_formula_has_no_replicates():
    for name, tables in (
        ("theorem_3_3", private(expected_mse=[0.1, 0.05], T_min=20.0)),
        ("privacy_is_free_error_epsilon_0_1", cost(expected_mse_ratio=[1.0, 3.0])),
    ):
        assert (found(name, tables).se, found(name, tables).replicates) == (0, None)


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("theorem_2_1_consistent", pareto(product=math.nan)),
        ("theorem_2_3", pareto(product=math.nan)),
        ("theorem_2_3_error", pareto(mse=math.nan)),
        ("proposition_2_6_unbiased", coverage(bias=math.nan)),
        ("proposition_2_6_normality_0_5", coverage(interval="corrected_laplace", ks=math.nan)),
        ("dml_does_not_help_cross_fitted", pairs(study="table3")),
        ("privacy_is_free_error_epsilon_0_1", cost(expected_mse_ratio=math.nan)),
    ],
)
def test_what_has_no_value_is_missing_and_does_not_fail(name, tables):
    assert math.isnan(found(name, tables).value)
