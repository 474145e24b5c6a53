"""Check the radius of a ratio of noisy sums, a bound over all evaluations."""

import math

import numpy as np
import pytest

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
