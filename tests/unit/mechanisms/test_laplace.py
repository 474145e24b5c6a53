"""Check the distribution of Laplace noise against scipy, bit by bit."""

import numpy as np
import pytest
import scipy.stats

from privarms.mechanisms import laplace

POINTS = [0.0, -0.0, 1e-300, -40.0, 60.0, *np.random.default_rng(1).normal(scale=20, size=300)]


@pytest.mark.parametrize(("ours", "theirs"), [("density", "pdf"), ("at_most", "cdf"), ("above", "sf")])
def test_the_law_is_that_of_scipy(ours, theirs):
    expected = getattr(scipy.stats.laplace, theirs)(POINTS)
    assert [getattr(laplace, ours)(x) for x in POINTS] == expected.tolist()


def test_the_scale_is_the_sensitivity_over_epsilon():
    assert laplace.configure(0.5).scale == 2
    assert laplace.configure(0.5, 3.0).scale == 6
