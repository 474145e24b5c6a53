"""The measures of Sajed & Sheffet 2019 that are functions, on tables of a few rows, worked by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from privarms.inference.proportions import clopper_pearson
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.papers.sajed2019 import measures as claims
from privarms.studies import artifacts, configuration
from privarms.studies import claims as of_claims

from .tables_by_hand import results, rows, verdict

PAPER = Path(__file__).parents[4] / "config/papers/sajed2019"


def test_the_probability_that_a_curve_grows():
    cells = rows(
        {"policy": "dp_ucb", "replicates": 4000},
        {"half": 10.0, "end": 12.0, "growing": 4000},
        {"half": 20.0, "end": 30.0, "growing": 1000},
    )
    found = claims.growing_curves(results(second_half=cells), "dp_ucb", 30)
    assert found.value == pytest.approx(1 - (1 - 1000 / 4000) ** 30)
    low, high = clopper_pearson(1000, 4000, 0.9995)
    assert found.interval == pytest.approx((1 - (1 - low) ** 30, 1 - (1 - high) ** 30))


def test_an_exponent_of_runs_that_all_agree_is_not_certain():
    row = {"policy": "dp_se", "replicates": 1000, "first": 1e2, "last": 1e4, "least": 0.8, "exponent_se": 0.0}
    found = claims.dp_se_growth(results(growth=rows(row, {"exponent": 0.95})))
    half = 5 * (1 - 0.0005 ** (1 / 1000)) / np.log(2)
    assert found.interval == pytest.approx((0.95 - half, 0.95 + half))
    assert verdict(found, at_most=1) == "inconclusive"


def test_the_spread_of_mean_regrets():
    row = {"policy": "dp_se", "replicates": 1000, "order_ratio_se": 0.01}
    found = claims.mean_spread(
        results(scaling=rows(row, {"order_ratio": 2.0}, {"order_ratio": 8.0})), "scaling", "order_ratio"
    )
    half = -t.ppf(0.0005 / 4, 999) * 0.01
    assert found.value == 4
    assert found.interval == pytest.approx(((8 - half) / (2 + half), (8 + half) / (2 - half)))


@pytest.mark.parametrize("scale", ["paper", "quick"])
def test_what_an_assumption_decides_names_it_and_no_horizon_is_rounded(scale):
    own = of_claims.load(PAPER, scale, artifacts.of_paper("sajed2019"))
    deciding = [c for c in own if c["about"] in ("at_least_5_times", "dp_ucb_never_comparable", "epsilon_effect")]
    assert all(c["measure"]["where"]["width"] in c.get("assumes", "") for c in deciding)
    # log2(T) is rounded up in the depth of a tree, which moves an exponent.
    horizons = configuration.load_paper(PAPER / "studies.yaml", scale)["studies"]["growth"]["grid"]["horizon"]
    assert all(horizon.bit_count() == 1 for horizon in horizons)


STOPPING = {"policy": "dp_exponential_nas", "replicates": 1000, "stopping_time_se": 1.0, "alpha": 0.5, "mu": 0.5}
STOPPING |= {"epsilon": 1.0, "beta": 0.05}


def test_the_spread_around_the_order():
    stopping = rows(
        STOPPING | {"order": 10.0},
        {"stopping_time_mean": 100.0},
        {"stopping_time_mean": 800.0},
        {"policy": "dp_nas", "stopping_time_mean": 1.0},
    )
    found = claims.optimality_spread(results(stopping=stopping))
    assert found.value == pytest.approx(800.0 / 100)
    assert found.se == pytest.approx(800.0 / 100 * np.hypot(1 / 100, 1 / 800.0))
    # Four numbers together, an error of 1 each.
    half = -t.ppf(0.0005 / 4, 999)
    assert found.interval == pytest.approx(((800.0 - half) / (100 + half), (800.0 + half) / (100 - half)))


def test_the_regret_over_its_ceiling():
    scaling = rows(
        {"policy": "dp_se", "ratio_se": 0.01, "replicates": 50, "epsilon": 0.25, "horizon": 10**6, "bottom": 0.25},
        {"K": 5, "ratio": 0.5, "order_ratio": 2.0},
        {"K": 2, "ratio": 0.9, "order_ratio": 3.0},
        {"K": 2, "ratio": np.nan, "order_ratio": 9.0},
        {"policy": "epoch_se", "K": 9, "ratio": 7.0, "order_ratio": 9.0},
    )
    found = claims.largest_mean(results(scaling=scaling), "scaling", "ratio")
    assert (found.value, found.se, found.replicates) == (0.9, 0.01, 50)


def test_how_rarely_another_regret_than_the_first_epochs_comes_up():
    # Summing leaves of runs that all agree a standard error that is not quite 0.
    one = {
        "policy": "dp_se",
        "K": 5,
        "epsilon": 0.1,
        "horizon": 10**6,
        "bottom": 0.25,
        "gap": 0.5,
        "ceiling_ratio_se": 1e-18,
        "replicates": 5000,
    }
    one |= {"ceiling_ratio": 0.9995, "regret_mean": 2000.0, "first_epoch": 2000.0, "otherwise": 1e-6}
    found = claims.largest_mean(results(minimax=[one]), "minimax", "ceiling_ratio")
    assert found.high == pytest.approx(0.9995 * (1 + 1e-6 * 0.5 * 10**6 / 2000))
    # It says nothing about runs of another regret.
    found = claims.largest_mean(results(minimax=[one | {"regret_mean": 2001.0}]), "minimax", "ceiling_ratio")
    assert verdict(found, at_most=1) == "inconclusive"


def test_no_epoch_is_more_than_five_times_as_long_as_the_one_before():
    growth = [
        bounds.epoch_growth(K, K, epoch, epsilon, beta)
        for K in (2, 20)
        for epoch in range(1, 20)
        for epsilon in (1e-3, 0.25, 10)
        for beta in (1e-4, 2e-8)
    ]
    assert max(growth) < claims.ANOTHER_EPOCH
