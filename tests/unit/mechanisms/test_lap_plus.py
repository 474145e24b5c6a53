"""Check Lap+ noise: the distribution with the right constant, the sum with the printed constant, the sampler."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from privarms.mechanisms import lap_plus

# Worked by hand with epsilon = 2 ln 2, so a = 2: P([m] + k) = 2^-|k| / (3 - 2^-[m]).
LN4 = 2 * np.log(2)


@pytest.mark.parametrize(
    ("m", "chances"),
    [(0, [1 / 2, 1 / 4, 1 / 8]), (1, [1 / 5, 2 / 5, 1 / 5]), (2.7, [1 / 11, 2 / 11, 4 / 11, 2 / 11, 1 / 11])],
)
def test_the_probabilities_by_hand(m, chances):
    assert lap_plus.pmf(np.arange(len(chances)), m, LN4) == pytest.approx(chances, rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("m", [0, 1, 7, 400])
def test_the_probabilities_add_up_to_one_and_to_the_survival(m, epsilon):
    values = np.arange(m + int(80 / epsilon))
    chances = lap_plus.pmf(values, m, epsilon)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert chances[m + 1] / chances[m] == pytest.approx(np.exp(-epsilon / 2), rel=1e-13)
    for value in (0, 1, m - 3, m, m + 1, m + 5):
        assert lap_plus.survival(value, m, epsilon) == pytest.approx(chances[values >= value].sum(), abs=1e-12)


def test_nothing_outside_the_whole_numbers_from_zero():
    assert lap_plus.pmf(np.array([-1, -5]), 3, 1.0).tolist() == [0, 0]
    assert lap_plus.pmf(2.5, 3, 1.0) == 0


# (a + 1 - a^-m) / (a + 1 - a^m): 2/2 ... (3 - 1)/(3 - 1), (3 - 1/2)/(3 - 2), (3 - 1/4)/(3 - 4), (3 - 1/8)/(3 - 8).
@pytest.mark.parametrize(("m", "printed"), [(0, 1.0), (1, 2.5), (2, -2.75), (3, -0.575)])
def test_the_printed_constant_does_not_make_a_law(m, printed):
    assert lap_plus.sums(LN4, m) == pytest.approx((printed, 1.0), rel=1e-12)


@pytest.mark.parametrize(("m", "epsilon"), [(1000, 2.0), (1000, 0.01), (10**9, 0.1)])
def test_the_sums_do_not_overflow(m, epsilon):
    printed, corrected = lap_plus.sums(epsilon, m)
    assert corrected == pytest.approx(1, abs=1e-12)
    expected = -(np.exp(epsilon / 2) + 1) * np.exp(-epsilon * m / 2)
    assert printed == pytest.approx(expected, rel=0.05, abs=1e-300)


@njit
def sample(m, epsilon, count, rng):
    return np.array([lap_plus.lap_plus(m, epsilon, rng) for _ in range(count)])


def p_value(draws, m, epsilon):
    """Return the chi-square p-value of draws; values with fewer than 10 expected draws form one class."""
    expected = lap_plus.pmf(np.arange(draws.max() + 1), m, epsilon) * len(draws)
    counts = np.bincount(draws)
    rare = expected < 10
    rest = len(draws) - expected[~rare].sum()
    return chisquare([*counts[~rare], counts[rare].sum()], [*expected[~rare], rest]).pvalue


@pytest.mark.statistical
@pytest.mark.parametrize(("m", "epsilon"), [(0, 1.0), (3.9, 0.5), (3, 2.0), (200.5, 0.1)])
def test_the_sampler_has_the_law(m, epsilon):
    draws = sample(m, epsilon, 200_000, np.random.default_rng(4))
    assert p_value(draws, m, epsilon) > 1e-6
    # The test detects 10% more epsilon, one more patient, and a missing cut-off.
    assert p_value(draws, m, 1.1 * epsilon) < 1e-6
    assert p_value(draws, m + 1, epsilon) < 1e-6


def test_lengths_are_never_negative_and_never_overflow():
    rng = np.random.default_rng(1)
    assert sample(0, 0.01, 1000, rng).min() == 0
    for m, epsilon in ((1e300, 1.0), (3.0, 1e-30), (1e300, 1e-300)):
        draws = sample(m, epsilon, 100, rng)
        assert (draws >= 0).all()
    assert (sample(1e6, 1e12, 100, rng) == 10**6).all()


@pytest.mark.parametrize(("m", "epsilon"), [(-1, 1), (np.inf, 1), (np.nan, 1), (1, 0), (1, -1), (1, np.inf)])
def test_bad_parameters_are_refused(m, epsilon):
    for function in (lambda: lap_plus.pmf(1, m, epsilon), lambda: lap_plus.sums(epsilon, m)):
        with pytest.raises(ValueError, match="expected"):
            function()


@njit
def two_sided_sample(epsilon, count, rng):
    return np.array([lap_plus.two_sided(epsilon, rng) for _ in range(count)])


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_two_sided_noise_is_not_cut_off(epsilon):
    draws, reach = two_sided_sample(epsilon, 100_000, np.random.default_rng(8)), int(8 / epsilon)

    def p_of(weights_epsilon):
        value = np.arange(-reach, reach + 1)
        expected = np.tanh(weights_epsilon / 4) * np.exp(-weights_epsilon / 2 * np.abs(value)) * len(draws)
        counts = np.array([(draws == v).sum() for v in value])
        tail = len(draws) - counts.sum(), len(draws) - expected.sum()
        return chisquare(np.append(counts, tail[0]), np.append(expected, tail[1])).pvalue

    assert p_of(epsilon) > 1e-5
    assert p_of(1.05 * epsilon) < 1e-5


@pytest.mark.parametrize("epsilon", [1e-9, 1e9])
def test_sums_that_cannot_be_added_up_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        lap_plus.sums(epsilon, 5.0)
