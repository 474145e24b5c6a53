"""Check the radius of a ratio of noisy sums, a bound over all evaluations."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from privarms.inference.laplace_sums import log_miss_bound


def test_the_bound_falls_with_the_constant():
    n = 40_000
    bounds = [log_miss_bound(c, n, 3) for c in (2, 16, 64, 256, 640)]
    assert bounds == sorted(bounds, reverse=True)
    # Repeated arms and bins count repeatedly.
    assert log_miss_bound(256, n, 6, 5) == pytest.approx(log_miss_bound(256, n, 3, 1) + math.log(10))
    assert log_miss_bound(256, n, 3) == pytest.approx(log_miss_bound(256, n, 3, n))


def test_the_bound_is_one():
    """Check that sums of simulated noise violate the bound less often than Chernoff's bound allows."""
    n, t, c, epsilon, rng = 1_000, 60, 40.0, 1.0, np.random.default_rng(1)
    runs = 20_000
    noise = 4 / epsilon * (rng.laplace(size=(runs, t)).sum(axis=1) - rng.laplace(size=(runs, t)).sum(axis=1))
    outside = (abs(noise) > math.sqrt(c * math.log(n) * t) / epsilon).mean()
    assert 0 < outside < math.exp(log_miss_bound(c, n, 1, 1))


@pytest.mark.parametrize("c", [40.0, 400.0])
def test_the_bound_sums_chernoff_s_over_the_looks(c):
    n, K, bins = 3, 2, 4

    def least(t):
        # The moment generating function of a Laplace variable is 1 / (1 - s^2), twice for xi - zeta. Rewards in [0, 1]
        # are multiplied by epsilon / 4 <= 1/4: exp(s^2 / 128) by Hoeffding.
        def moment(s):
            return (math.exp(s**2 / 128) / (1 - s**2) ** 2) ** t * math.exp(-s * math.sqrt(c * math.log(n) * t) / 4)

        return minimize_scalar(moment, bounds=(0, 0.999), method="bounded", options={"xatol": 1e-9}).fun

    # ln(3)^2 = 1.2, so the looks are those after 2 and 3 users.
    expected = math.log(2 * K * bins * (least(2) + least(3)))
    assert log_miss_bound(c, n, K, bins) == pytest.approx(expected, abs=3e-5)  # the grid of s
