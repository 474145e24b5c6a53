"""Check tests and intervals for fixed pulls against scipy, statsmodels, rational sums and published examples."""

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import confint_proportions_2indep

from privarms.inference.divergences import kl
from privarms.inference.fixed_pulls import (
    chernoff_interval,
    difference_interval,
    exact_interval,
    kl_interval,
    log_p_value,
    newcombe_interval,
    wilson_interval,
)


@pytest.mark.parametrize(("n", "mean"), [(1, 0.5), (20, 0.3), (400, 0.95)])
def test_the_p_value_is_the_binomial_tail(n, mean):
    s = np.arange(n + 1)
    assert log_p_value(s, n, mean) == pytest.approx(binom.logsf(s - 1, n, mean), rel=1e-9, abs=1e-12)


def test_a_tail_below_every_float():
    n, s, mean = 4_000, 3_900, Fraction(1, 4)
    tail = sum(comb(n, k) * mean**k * (1 - mean) ** (n - k) for k in range(s, n + 1))
    exact = log(tail.numerator) - log(tail.denominator)
    assert exact < -4_000
    assert log_p_value(s, n, 0.25) == pytest.approx(exact, rel=1e-10)
    assert log_p_value([0, 5, 5], [0, 5, 5], [0.5, 0.0, 1.0]) == pytest.approx([0, -np.inf, 0])


@pytest.mark.parametrize(("s", "n"), [(0, 5), (3, 5), (5, 5), (70, 100)])
def test_intervals_of_a_mean_against_scipy(s, n):
    for ours, method in ((exact_interval, "exact"), (wilson_interval, "wilson")):
        theirs = binomtest(s, n).proportion_ci(0.9, method)
        assert ours(s, n, 0.1) == pytest.approx((theirs.low, theirs.high), abs=1e-10)


def test_no_pull_no_knowledge():
    for interval in (exact_interval, wilson_interval):
        assert interval(0, 0, 0.05) == (0, 1)
    assert chernoff_interval(0, 0, log(0.05)) == (0, 1)
    assert chernoff_interval(3, 4, -np.inf) == pytest.approx((0, 1))
    assert newcombe_interval(0, 0, 3, 4)[0] < -0.7


def test_a_chernoff_interval_is_wider_than_the_exact_one_and_ends_where_kl_reaches_the_level():
    s, n = np.array([0, 3, 30, 80, 100]), 100
    low, high = chernoff_interval(s, n, log(0.05))
    exact = exact_interval(s, n, 0.05)
    assert (low <= exact[0] + 1e-12).all()
    assert (high >= exact[1] - 1e-12).all()
    for x, end in zip(s[1:-1] / n, high[1:-1], strict=True):
        assert kl(x, end) == pytest.approx(log(2 / 0.05) / n, rel=1e-9)
    assert low == pytest.approx(1 - chernoff_interval(n - s, n, log(0.05))[1], abs=1e-12)
    assert kl_interval(0.4, 0.0) == pytest.approx((0.4, 0.4))


def test_newcombe_s_own_example():
    # 56 of 70 and 48 of 80, 95%, method 10: Newcombe 1998, Table II (a).
    assert newcombe_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (0, 10, 9, 9), (3, 1000, 1, 20)])
def test_intervals_of_a_difference_against_statsmodels(counts):
    theirs = confint_proportions_2indep(*counts, method="newcomb", compare="diff", alpha=0.1)
    assert newcombe_interval(*counts, 0.1) == pytest.approx(theirs, rel=1e-10)


def test_the_interval_of_a_difference_holds_where_both_do():
    assert difference_interval((0.4, 0.6), (0.1, 0.3)) == pytest.approx((0.1, 0.5))
