"""Check binomial draws of counts of any size: certain cases, and large counts against the exact distribution."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom, chisquare, kstest

from privarms.jit import binomial as module
from privarms.jit.binomial import DIRECT, binomial

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-5


@pytest.mark.parametrize("n", [0, 1, 1000, DIRECT, DIRECT + 1, 10**12, 2**62])
def test_certain_and_impossible_events(n):
    rng = np.random.default_rng(1)
    assert binomial(n, 0.0, rng) == 0
    assert binomial(n, 1.0, rng) == n
    assert 0 <= binomial(n, 0.3, rng) <= n


def test_small_counts_are_plain_draws():
    assert binomial(1000, 0.3, np.random.default_rng(7)) == np.random.default_rng(7).binomial(1000, 0.3)


@njit
def draw(n, p, rng, draws):
    for i in range(len(draws)):
        draws[i] = binomial(n, p, rng)


def follows(draws, n, p):
    """Test with Kolmogorov-Smirnov that a uniform draw inside the step of the CDF at X is uniform on (0, 1)."""
    steps = binom.pmf(draws, n, p) * np.random.default_rng(8).random(len(draws))
    return kstest(binom.cdf(draws - 1, n, p) + steps, "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("n", "p"), [(DIRECT, 0.3), (DIRECT + 1, 0.3), (3 * DIRECT, 1e-7), (10**12, 0.75), (10**12, 0.5), (2**40, 0.999999)]
)
def test_large_counts_follow_the_binomial_law(n, p):
    draws = np.zeros(20_000)
    draw(n, p, np.random.default_rng(3), draws)
    assert follows(draws, n, p)


def test_a_wrong_law_is_told_apart():
    draws = np.zeros(20_000)
    draw(10**12, 0.75, np.random.default_rng(3), draws)
    sd = np.sqrt(10**12 * 0.75 * 0.25)
    assert not follows(np.rint(draws + 0.1 * sd), 10**12, 0.75)
    assert not follows(np.rint(draws.mean() + 0.9 * (draws - draws.mean())), 10**12, 0.75)


@pytest.mark.parametrize("p", [0.07, 0.6])
def test_halving_is_exact_to_the_last_count(monkeypatch, p):
    # In plain Python the limit can be so low that every draw is halved down to one trial.
    monkeypatch.setattr(module, "DIRECT", 1)
    rng = np.random.default_rng(4)
    draws = np.array([binomial.py_func(6, p, rng) for _ in range(30_000)])

    def agrees(q):
        expected = len(draws) * np.array([*binom.pmf(range(3), 6, q), binom.sf(2, 6, q)])
        return chisquare(np.bincount(np.minimum(draws, 3), minlength=4), expected).pvalue > FALSE_ALARM

    assert agrees(p)
    assert not agrees(p + 0.02)
