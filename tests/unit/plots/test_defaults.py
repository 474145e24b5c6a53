"""Check the numbers in the default figures of a study."""

import pandas as pd
import pytest
from scipy.stats import t

from privarms.planning.results import Results
from privarms.plots import defaults
from tests.unit.conftest import write

# Two policies at two rounds, in the order of the study; "dp_se" has twice the regret of "ucb1", then four times.
CELLS = pd.DataFrame(
    {
        "cell": ["u", "u", "d", "d"],
        "policy": ["ucb1", "ucb1", "dp_se", "dp_se"],
        "environment": "bernoulli",
        "K": 5,
        "horizon": 100,
        "replicates": 10,
        "t": [10, 100, 10, 100],
        "regret_mean": [5.0, 10, 10, 40],
        "regret_se": [0.1, 0.2, 0.4, 0.8],
        "regret_p05": [4.0, 8, 6, 30],
        "regret_p50": [5.0, 9, 9, 38],
        "regret_p95": [6.0, 13, 17, 55],
    }
)


def results_of(folder, cells):
    return Results("mine", "quick", cells=[write(folder / "s_cells.parquet", cells)])


@pytest.fixture
def results(tmp_path):
    return results_of(tmp_path, CELLS)


def test_quantiles_are_those_of_the_runs(results):
    _, numbers = defaults.quantiles(results)
    assert numbers["median"].tolist() == [5, 9, 9, 38]
    assert numbers["low"].tolist() == [4, 8, 6, 30]
    assert numbers["high"].tolist() == [6, 13, 17, 55]


def test_ratios_are_to_the_first_policy_in_the_same_round(results):
    _, numbers = defaults.ratios(results)
    assert numbers["ratio"].tolist() == [1, 1, 2, 4]
    assert numbers["low"].isna().tolist() == [True, True, False, False]
    # Fieller's interval ends at the ratios r with |40 - 10 r| = reach sqrt(.8^2 + .2^2 r^2).
    reach = t.ppf(0.975, 9)
    assert numbers["low"].iloc[3] < 4 < numbers["high"].iloc[3]
    for r in numbers[["low", "high"]].iloc[3]:
        assert abs(40 - 10 * r) == pytest.approx(reach * (0.8**2 + (0.2 * r) ** 2) ** 0.5)


def test_there_is_no_ratio_to_a_missing_round_or_to_no_regret(tmp_path):
    without = CELLS.drop(index=0)
    _, numbers = defaults.ratios(results_of(tmp_path, without))
    assert numbers["ratio"].fillna(-1).tolist() == [1, -1, 4]
    nothing = CELLS.assign(regret_mean=[0.0, 10, 10, 40])
    _, numbers = defaults.ratios(results_of(tmp_path, nothing))
    assert numbers["ratio"].fillna(-1).tolist() == [1, 1, -1, 4]
    figure, numbers = defaults.ratios(results_of(tmp_path, CELLS.assign(regret_mean=0.0)))
    assert numbers["ratio"].tolist() == [1] * 4
    figure.savefig(tmp_path / "nothing.png")


def test_ratios_are_between_policies_in_one_environment(tmp_path):
    other = CELLS.assign(cell=["v", "v", "e", "e"], spacing="one_best", regret_mean=3 * CELLS["regret_mean"])
    both = pd.concat([CELLS.assign(spacing=None), other], ignore_index=True)
    _, numbers = defaults.ratios(results_of(tmp_path, both))
    assert numbers["ratio"].tolist() == [1, 1, 2, 4] * 2
