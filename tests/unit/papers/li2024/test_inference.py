"""Check inference tables of small studies against values worked by hand."""

import math

import pandas as pd
import pytest

from privarms.environments import features_bernoulli
from privarms.inference.proportions import clopper_pearson
from privarms.papers.li2024 import inference
from privarms.papers.li2024 import inference_formulas as by_formula
from privarms.planning import paths
from privarms.planning.results import Results
from tests.unit.conftest import write

NAN = math.nan
CELL = {"cell": "a", "policy": "conse_se", "environment": "features_bernoulli", "arrivals": "stationary"}
SIZE = {"horizon": 20_000, "M": 2, "alpha": 1.0, "epsilon": NAN}
TOTALS = {
    "feature": [0, 1, 2],
    "trials": 4,
    "regret": [40.0, 10.0, 30.0],
    "regret_squares": [412.0, 30.0, 240.0],
    "first_half_regret": [20.0, 5.0, 15.0],
    "second_half_squares": [103.0, 30.0, 60.0],
    "squared_error": [0.0, 0.3, 0.8],
    "squared_error_squares": [0.0, 0.05, 0.2],
    "eliminated": [1, 3, 1],
    "wrong": 0,
    "missing": [1, 1, 0],
}
FEATURE = {"estimate": [0.3, 0.5, NAN], "effect": 0.3, "floor_T_min": 100, "variance_0": 0.21, "variance_1": 0.24}


def rows(*parts, **columns):
    values = {k: v for part in parts for k, v in part.items()} | columns
    length = max(len(v) if isinstance(v, list) else 1 for v in values.values())
    return pd.DataFrame({k: v if isinstance(v, list) else [v] * length for k, v in values.items()})


def results(folder, **studies):
    runs, cells = [], []
    for name, parts in studies.items():
        frame = pd.concat(parts, ignore_index=True)
        runs.append(write(folder / f"{name}.parquet", frame))
        cells.append(write(folder / f"{name}_cells.parquet", frame.drop_duplicates("cell")))
    published = paths.published("config/papers/li2024")
    return Results("li2024", "quick", studies=runs, cells=cells, published=published)


def test_the_length_of_the_trial():
    environment = features_bernoulli.configure(2, 20_000)
    assert by_formula.expected_T_min(environment, 20_000, 0.0, NAN) == pytest.approx(5000)
    assert by_formula.expected_T_min(environment, 20_000, 1.0, NAN) == pytest.approx(math.log(20_000))
    assert by_formula.expected_T_min(environment, 20_000, 1.0, 0.5) == pytest.approx(2 * math.log(20_000))
    assert math.isnan(by_formula.expected_T_min(environment, 20_000, NAN, NAN))


def test_the_error_by_formula():
    # Means .3 and .7: 2 (.21 + .21) / 100, floor(T_min) patients.
    assert by_formula.expected_error(features_bernoulli.configure(1, 3), 100.7, NAN) == pytest.approx(0.0084)


def test_regret_and_error_of_a_cell(tmp_path):
    actual = inference.pareto(results(tmp_path, pareto=[rows(CELL, SIZE, TOTALS)])).iloc[0]
    # Errors .3 / 3 and .8 / 4. The second is the largest, with variance (.2 / 4 - .04) / 3.
    assert (actual["regret"], actual["first_half_regret"]) == (10.0, 5.0)
    # The squares sum to 412: 103 - 100 = 3 over 4 runs, unbiased 4, with error sqrt(4 / 4).
    assert actual["regret_se"] == pytest.approx(1.0)
    assert actual["mse"] == pytest.approx(0.2)
    assert actual["mse_se"] == pytest.approx(math.sqrt(0.01 / 3))
    assert (actual["eliminated_fraction"], actual["missing_fraction"]) == (0.5, 0.25)
    assert actual["product"] == pytest.approx(0.2 * 10 / 2)
    # The two factors have relative errors of .1 and .289.
    assert actual["product_se"] == pytest.approx(math.hypot(0.1, math.sqrt(0.01 / 3) / 0.2))
    assert actual["gap_sum"] == pytest.approx(0.8)


def private_cells():
    plain = rows(CELL, SIZE, TOTALS)
    private = rows(CELL | {"cell": "c", "policy": "dp_conse"}, SIZE, TOTALS, regret=[80.0, 20.0, 60.0], epsilon=0.5)
    noisy = private.assign(cell="d", noise=2.0)
    alone = private.assign(cell="e", horizon=70_000)
    return [plain, private, noisy, alone]


def test_the_cost_of_privacy_is_over_conse_as_printed(tmp_path):
    actual = inference.privacy_cost(results(tmp_path, pareto=private_cells()))
    assert actual["regret_ratio"].tolist() == pytest.approx([2.0, 2.0, NAN], nan_ok=True)
    assert actual["noise"].tolist() == pytest.approx([NAN, 2.0, NAN], nan_ok=True)
    # The formula assumes the printed noise.
    assert actual["expected_mse_ratio"].isna().tolist() == [False, True, True]


def test_elimination_by_hand(tmp_path):
    runs = {"eliminated": [1, 0, 1, 1], "wrong": [0, 0, 1, 0], "first_half_regret": [40.0, 80.0, 60.0, 20.0]}
    cells = [
        rows(CELL, SIZE, runs, M=1),
        rows(CELL | {"cell": "b", "policy": "dp_conse"}, SIZE, runs, M=1, epsilon=0.5),
        rows(CELL | {"cell": "c", "policy": "ucb1"}, SIZE, runs, M=1),
    ]
    actual = inference.elimination(results(tmp_path, elimination=cells))
    assert actual["eliminated_fraction"].tolist() == [0.75] * 3
    assert actual["wrong"].tolist() == [1] * 3
    assert actual["over_bound"].tolist() == [0, 0, 0]
    assert actual["inverse_gap_sum"].tolist() == pytest.approx([2.5] * 3)


def test_runs_beyond_the_bound_are_counted(tmp_path):
    n, gap = 20_000, 0.4
    bound = by_formula.pulls_bound(n, gap, NAN)
    assert bound == pytest.approx(math.log(2 * math.log(5) * n) * 6400)
    runs = {"eliminated": [1, 1, 0], "wrong": [1, 0, 0], "first_half_regret": [gap * (bound + 1), 0.0, 0.0]}
    actual = inference.elimination(results(tmp_path, elimination=[rows(CELL, SIZE, runs, M=1)])).iloc[0]
    assert actual["over_bound"] == 1
    # The bound, 80,000 pulls, is more than half of 20,000.
    assert actual["patients"] == "fewer"
    # One run in three, times n; one has not decided and one has decided wrongly.
    assert actual["over_bound_times_n"] == pytest.approx(20_000 / 3)
    assert actual["undecided_times_n"] == pytest.approx(40_000 / 3)
    low, high = clopper_pearson(1, 3, 1 - 2 * 0.0005 / 100)
    assert (actual["wrong_times_n_low"], actual["wrong_times_n_high"]) == pytest.approx((n * low, n * high))


def test_pulls_of_exp3e_over_its_bound(tmp_path):
    # 16 C / gap^2 + 3 with C = 1 and a gap of .4 is 103; 206 and 0 pulls have a mean of 103.
    runs = {"eliminated": 1, "wrong": 0, "first_half_regret": [82.4, 0.0]}
    cell = rows(CELL | {"policy": "conse_exp3e"}, SIZE, runs, M=1, C=1.0)
    actual = inference.elimination(results(tmp_path, elimination=[cell])).iloc[0]
    assert actual["pulls_over_bound"] == pytest.approx(1.0)
    assert actual["pulls_over_bound_se"] == pytest.approx(1.0)


def test_coverage_by_hand(tmp_path):
    actual = inference.coverage(results(tmp_path, coverage=[rows(CELL, SIZE, FEATURE)])).set_index("interval")
    # Half-widths 1.96 sqrt(.45 / 100) = .131 and, corrected, .186: an error of .2 is outside both. The printed interval
    # uses log(20,000) = 9.9 for alpha = 1, although the trial had 100 patients.
    assert actual["coverage"].tolist() == [1.0, 0.5, 0.5, 0.5]
    assert actual["replicates"].tolist() == [2] * 4
    assert actual["bias"].tolist() == pytest.approx([0.1] * 4)
    # Standard deviation .2 / sqrt 2 over sqrt 2.
    assert actual["bias_se"].tolist() == pytest.approx([0.1] * 4)
    # .02 over .45 / 9.9, .45 / 100 and twice that.
    ratios = [math.log(20_000) * 0.02 / 0.45, 2 / 0.45, 1 / 0.45, 1 / 0.45]
    assert actual["variance_ratio"].tolist() == pytest.approx(ratios)
    assert actual["relative_bias"].tolist() == pytest.approx([1 / 3] * 4)
    assert actual["relative_bias_low"].tolist() == [0.0] * 4
    # Both squares are equal.
    assert actual["variance_ratio_se"].tolist() == pytest.approx([0.0] * 4)
    assert actual["effect"].tolist() == [0.3] * 4


def test_an_inverse_propensity_estimate_has_a_variance_of_its_own(tmp_path):
    errors = FEATURE | {"estimate": [0.3, 0.53, NAN]}
    actual = inference.coverage(results(tmp_path, coverage=[rows(CELL | {"policy": "conse_exp3e"}, SIZE, errors)]))
    # Means .3 and .6: (2 (.3 + .6) - .09) / 100 = .0171, a half-width of .256; that of the mean difference is .186.
    assert actual.set_index("interval")["coverage"].to_dict() == {
        "printed": 1.0,
        "trial": 0.5,
        "corrected": 1.0,
        "corrected_laplace": 1.0,
    }


def test_estimators_are_compared_in_pairs(tmp_path):
    parts = []
    for study in ("table2", "table3"):
        setting = {"cell": study, "policy": "uniform", "environment": "arm_vectors", "experiment": "linear", "K": 2}
        for name, errors in (("mean_difference", [1.0, 3.0]), ("cross_fitted", [1.5, 3.5])):
            parts.append(rows(setting, estimator=name, horizon=400, replicate=[0, 1], squared_error=errors))
    actual = inference.estimators(results(tmp_path, table2=parts[:2], table3=parts[2:]))
    assert actual["study"].tolist() == ["table2", "table3"]
    # 2.5 / 2; the differences 1.5 - 1.25 and 3.5 - 3.75 have a standard deviation of .3536, by 2 and the root of 2.
    assert actual["ratio"].tolist() == pytest.approx([1.25] * 2)
    assert actual["se"].tolist() == pytest.approx([0.125] * 2)
