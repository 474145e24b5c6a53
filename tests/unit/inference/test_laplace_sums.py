"""The radius of a ratio of noisy sums: one look by hand, a bound over all looks, and what is enough."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from privarms.inference.laplace_sums import log_miss_at_one_look, log_miss_bound


def test_one_look_is_a_normal_tail_by_hand():
    # Variance 32 t (1 + f^2) / epsilon^2 against c ln(n) t / epsilon^2: at f = 1 and c = 64, the root of ln(n).
    n = 40_000
    assert math.exp(log_miss_at_one_look(64, n)) == pytest.approx(2 * norm.sf(math.sqrt(math.log(n))))
    assert math.exp(log_miss_at_one_look(64, n, f=0.0)) == pytest.approx(2 * norm.sf(math.sqrt(2 * math.log(n))))
    # n^-2 needs 128 (1 + f^2), in the first order.
    for f in (0.0, 0.5, 1.0):
        needed = 128 * (1 + f**2)
        assert (
            log_miss_at_one_look(needed, 10**9, f) < -2 * math.log(10**9) < log_miss_at_one_look(0.9 * needed, 10**9, f)
        )


def test_the_bound_is_above_one_look_and_falls_with_the_constant():
    n = 40_000
    for c in (64, 256, 640):
        assert log_miss_bound(c, n, 1, 1) > log_miss_at_one_look(c, n)
    bounds = [log_miss_bound(c, n, 3) for c in (2, 16, 64, 256, 640)]
    assert bounds == sorted(bounds, reverse=True)
    # Arms and bins count as often as they are there.
    assert log_miss_bound(256, n, 6, 5) == pytest.approx(log_miss_bound(256, n, 3, 1) + math.log(10))
    assert log_miss_bound(256, n, 3) == pytest.approx(log_miss_bound(256, n, 3, n))


def test_the_bound_is_one():
    """Sums of simulated noise, at one look and rewards without any: a share below what Chernoff's bound allows."""
    n, t, c, epsilon, rng = 1_000, 60, 40.0, 1.0, np.random.default_rng(1)
    runs = 20_000
    noise = 4 / epsilon * (rng.laplace(size=(runs, t)).sum(axis=1) - rng.laplace(size=(runs, t)).sum(axis=1))
    outside = (abs(noise) > math.sqrt(c * math.log(n) * t) / epsilon).mean()
    assert 0 < outside < math.exp(log_miss_bound(c, n, 1, 1))
    # The normal limit has the share itself, up to the tails of 60 draws: 7 standard deviations and a tenth.
    expected = math.exp(log_miss_at_one_look(c, n))
    assert outside == pytest.approx(expected, abs=0.1 * expected + 7 * math.sqrt(expected / runs))
