"""Check lower bounds on regret against values worked by hand."""

import math

import pytest

from privarms.inference import lower_bounds
from privarms.inference.divergences import kl

MU2 = (0.75, 0.625, 0.5, 0.375, 0.25)


def test_two_arms_by_hand():
    divergence = 0.5 * math.log(4 / 3)
    assert lower_bounds.lai_robbins([0.75, 0.5]) == pytest.approx(0.25 / divergence, rel=1e-12)
    # 6 epsilon gap = 0.15 is above kl = 0.1438, 0.03 is below.
    assert lower_bounds.azize_basu([0.5, 0.75], 0.1) == pytest.approx(0.25 / divergence, rel=1e-12)
    assert lower_bounds.azize_basu([0.5, 0.75], 0.02) == pytest.approx(0.25 / 0.03, rel=1e-12)
    d = -math.log(1 - 0.75 * (1 - math.exp(-0.1))) - 0.05
    assert lower_bounds.azize([0.5, 0.75, 0.75], 0.1) == pytest.approx(0.25 / d, rel=1e-12)


def test_a_large_budget_costs_nothing():
    for bound in (lower_bounds.azize_basu, lower_bounds.azize):
        assert bound(MU2, 10) == pytest.approx(lower_bounds.lai_robbins(MU2), rel=1e-12)
        assert bound(MU2, 0.01) > 4 * lower_bounds.lai_robbins(MU2)


def test_equal_arms_cost_nothing():
    assert lower_bounds.lai_robbins([0.5, 0.5]) == lower_bounds.azize([0.5, 0.5], 1) == 0
    assert lower_bounds.lai_robbins([0.5, 1.0]) == 0, "one failure distinguishes an arm from an arm without failures"
    assert kl(0.5, 1.0) == math.inf


def test_means_that_rounding_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match=r"^means: expected gaps that floats can tell apart"):
        lower_bounds.lai_robbins([0.5, 0.5 + 1e-16, 0.5 + 2e-16])
