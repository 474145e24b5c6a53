"""Check divergences of Bernoulli distributions: closed forms against brute-force minimisation, and inverses."""

import math

import numpy as np
import pytest

from privarms.inference.divergences import d_epsilon, d_epsilon_upper, kl, kl_upper


def points(count, seed):
    """Return pairs x <= y and budgets, including the ends of the interval."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x, y = np.sort(rng.random(2))
        yield (0.0 if rng.random() < 0.1 else x), (1.0 if rng.random() < 0.1 else y), 10 ** rng.uniform(-3, 1.5)


def test_a_budget_so_large_that_its_exponential_is_0():
    # d_epsilon(0, y) = -ln(1 - y (1 - e^-epsilon)), here kl(0, y).
    assert d_epsilon_upper(0.0, 0.1, 1000.0) == pytest.approx(1 - math.exp(-0.1), rel=1e-12)
    # For y = 1, kl(z, 1) is infinite below z = 1, so the infimum is at z = 1.
    assert d_epsilon(0.25, 1.0, 1e9) == 0.75e9


def test_kl_worked_by_hand():
    assert kl(0.5, 0.75) == pytest.approx(0.5 * math.log(4 / 3), rel=1e-12)
    assert kl(0.0, 0.5) == pytest.approx(math.log(2))
    assert kl(1.0, 0.5) == pytest.approx(math.log(2))
    assert kl(0.3, 0.3) == 0
    assert kl(0.3, 1.0) == kl(0.3, 0.0) == math.inf
    assert kl(1.0, 1.0) == kl(0.0, 0.0) == 0


def test_d_epsilon_is_the_infimum():
    closed_forms = 0
    for x, y, epsilon in points(300, 1):

        def at(z, x=x, y=y, epsilon=epsilon):
            return epsilon * (z - x) + kl(z, y)

        # Brute force: the best point of a grid, then of finer grids around this point.
        low, high = x, y
        for _ in range(8):
            grid = np.linspace(low, high, 21)
            place = int(np.argmin([at(z) for z in grid]))
            low, high = grid[max(place - 1, 0)], grid[min(place + 1, 20)]
        smallest = min(at(grid[place]), at(x), at(y))
        actual = d_epsilon(x, y, epsilon)
        assert actual == pytest.approx(smallest, rel=1e-6, abs=1e-9)
        assert actual <= min(kl(x, y), epsilon * (y - x)) + 1e-9
        closed_forms += actual < kl(x, y) * (1 - 1e-9)
    assert 60 < closed_forms < 270, "both branches were met"


def test_d_epsilon_worked_by_hand():
    # logit(y) - 1 is below logit(x) = logit(y) - ln(1.5): kl. With epsilon = 0.1: -ln(1 - 0.5 (1 - e^-0.1)) - 0.04.
    assert d_epsilon(0.4, 0.5, 1.0) == pytest.approx(kl(0.4, 0.5), rel=1e-12)
    assert d_epsilon(0.4, 0.5, 0.1) == pytest.approx(-math.log(1 - 0.5 * (1 - math.exp(-0.1))) - 0.04, rel=1e-12)
    assert d_epsilon(0.2, 1.0, 0.5) == pytest.approx(0.4, rel=1e-12)
    assert d_epsilon(0.7, 0.6, 0.5) == 0


def test_the_largest_mean_at_a_level():
    rng = np.random.default_rng(2)
    for x, _, epsilon in points(2000, 3):
        level = 10 ** rng.uniform(-6, 1.5)
        for upper, divergence in (
            (kl_upper(x, level), kl),
            (d_epsilon_upper(x, level, epsilon), lambda x, y, e=epsilon: d_epsilon(x, y, e)),
        ):
            assert x <= upper <= 1
            assert divergence(x, max(upper - 1e-9, x)) <= level * (1 + 1e-9)
            assert upper > 1 - 1e-9 or divergence(x, upper + 1e-9) >= level * (1 - 1e-9)
