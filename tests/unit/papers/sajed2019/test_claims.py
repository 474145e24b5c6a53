"""Check the measures of Sajed & Sheffet 2019 that are functions, on small tables with values worked by hand."""

import pytest

from privarms.inference.proportions import clopper_pearson
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.papers.sajed2019 import measures as claims
from privarms.studies import artifacts, configuration
from privarms.studies import claims as of_claims
from tests import PAPERS

from .tables_by_hand import results, rows

PAPER = PAPERS / "sajed2019"


def test_the_probability_that_a_curve_grows():
    cells = rows(
        {"policy": "dp_ucb", "replicates": 4000},
        {"half": 10.0, "end": 12.0, "growing": 4000},
        {"half": 20.0, "end": 30.0, "growing": 1000},
    )
    actual = claims.growing_curves(results(second_half=cells), "dp_ucb", 30)
    assert actual.value == pytest.approx(1 - (1 - 1000 / 4000) ** 30)
    low, high = clopper_pearson(1000, 4000, 0.9995)
    assert actual.interval == pytest.approx((1 - (1 - low) ** 30, 1 - (1 - high) ** 30))


@pytest.mark.parametrize("scale", ["paper", "quick"])
def test_what_an_assumption_decides_names_it_and_no_horizon_is_rounded(scale):
    own = of_claims.load(PAPER, scale, artifacts.of_paper("sajed2019"))
    deciding = [c for c in own if c["about"] in ("at_least_5_times", "dp_ucb_never_comparable", "epsilon_effect")]
    assert all(c["measure"]["where"]["width"] in c.get("assumes", "") for c in deciding)
    # The depth of a tree rounds log2(T) up, which changes an exponent.
    horizons = configuration.load_paper(PAPER / "studies.yaml", scale)["studies"]["growth"]["grid"]["horizon"]
    assert all(horizon.bit_count() == 1 for horizon in horizons)


def test_no_epoch_is_more_than_five_times_as_long_as_the_one_before():
    # The claims' `range` for identical runs uses this bound.
    growth = [
        bounds.epoch_growth(K, K, epoch, epsilon, beta)
        for K in (2, 20)
        for epoch in range(1, 20)
        for epsilon in (1e-3, 0.25, 10)
        for beta in (1e-4, 2e-8)
    ]
    assert max(growth) < 5
