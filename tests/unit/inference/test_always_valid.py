"""Check e-values and confidence sequences: mixture by quadrature, mean by enumeration, intervals by the test."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from privarms.inference.always_valid import confidence_sequence, log_e_value

CASES = [(3, 5, 0.4), (0, 3, 0.2), (7, 7, 0.5), (40, 50, 0.7), (1, 1, 0.3), (20, 50, 0.7)]


def prior(q):
    return (q * (1 - q)) ** -0.5


@pytest.mark.parametrize(("s", "n", "m"), CASES)
def test_the_e_value_is_the_mixture_of_likelihood_ratios_above_the_null(s, n, m):
    mixed = quad(lambda q: prior(q) * (q / m) ** s * ((1 - q) / (1 - m)) ** (n - s), m, 1, limit=200)[0]
    assert np.exp(log_e_value(s, n, m)) == pytest.approx(mixed / quad(prior, m, 1)[0], rel=1e-6)


@pytest.mark.parametrize("n", [1, 5, 40])
@pytest.mark.parametrize("null", [0.1, 0.5, 0.9])
def test_its_expectation_is_1_at_the_null_and_less_below(n, null):
    s = np.arange(n + 1)
    e_values = np.exp(log_e_value(s, n, null))
    assert binom.pmf(s, n, null) @ e_values == pytest.approx(1, rel=1e-10)
    assert binom.pmf(s, n, 0.8 * null) @ e_values < 1


def test_one_more_reward_multiplies_it_by_1_in_the_mean():
    # Check the martingale property from every count of 10, because optional stopping needs it.
    n, null = 10, 0.3
    s = np.arange(n + 1)
    more = null * np.exp(log_e_value(s + 1, n + 1, null)) + (1 - null) * np.exp(log_e_value(s, n + 1, null))
    assert more == pytest.approx(np.exp(log_e_value(s, n, null)), rel=1e-10)


def test_what_shows_nothing_or_everything():
    assert log_e_value(0, 0, 0.4) == pytest.approx(0, abs=1e-12)
    assert log_e_value(5, 9, 1.0) == 0
    assert log_e_value(1, 9, 0.0) == np.inf
    assert log_e_value(0, 10**7, 0.9) == -np.inf


@pytest.mark.parametrize(("s", "n"), [(3, 5), (0, 4), (6, 6), (70, 100), (750_000, 1_000_000)])
def test_the_ends_of_a_confidence_sequence_are_where_the_two_sided_mixture_reaches_1_over_alpha(s, n):
    low, high = confidence_sequence(s, n, 0.05)
    assert 0 <= low < s / n or s == low == 0
    assert s / n < high <= 1 or (s == n and high == 1)
    if n > 1_000:
        return
    for end in (low, high):
        if 0 < end < 1:
            mixed = quad(lambda q, m=end: prior(q) * (q / m) ** s * ((1 - q) / (1 - m)) ** (n - s), 0, 1, limit=400)[0]
            assert mixed / np.pi == pytest.approx(20, rel=1e-4)


def test_an_arm_without_a_pull_may_have_any_mean():
    low, high = confidence_sequence([0, 2], [0, 4])
    assert (low[0], high[0]) == (0, 1)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="expected"):
        log_e_value(1, 2, 1.5)
