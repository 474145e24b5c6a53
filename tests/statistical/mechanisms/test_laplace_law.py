"""Check single draws and sums of Laplace noise against the exact distribution."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import kstest
from scipy.stats import laplace as law

from privarms.mechanisms.laplace import laplace, laplace_sum

DRAWS = 40_000


@njit
def draws(scale, count, number, rng):
    samples = np.zeros(number)
    for i in range(number):
        samples[i] = laplace_sum(scale, count, rng) if count > 0 else laplace(scale, rng)
    return samples


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [0.2, 1.0, 30.0])
def test_a_draw_has_its_density(scale):
    # False alarms have probability 1e-5 for each of three samples.
    assert kstest(draws(scale, 0, DRAWS, np.random.default_rng(1)), law(scale=scale).cdf).pvalue > 1e-5
    # A sum of one draw is a draw.
    assert kstest(draws(scale, 1, DRAWS, np.random.default_rng(2)), law(scale=scale).cdf).pvalue > 1e-5
    # Power: the test detects a scale that is wrong by 10%.
    assert kstest(draws(1.1 * scale, 0, DRAWS, np.random.default_rng(1)), law(scale=scale).cdf).pvalue < 1e-5


@pytest.mark.statistical
@pytest.mark.parametrize("count", [2, 5, 400])
def test_a_sum_has_the_characteristic_function_of_as_many_draws(count):
    # The characteristic function of Lap(b) is 1 / (1 + b^2 u^2). That of a sum of n draws is its n-th power.
    scale = 3.0
    samples = draws(scale, count, DRAWS, np.random.default_rng(3))
    for u in np.array([0.5, 1.0, 2.0]) / (scale * np.sqrt(2 * count)):
        expected = (1 + (scale * u) ** 2) ** -count
        for part, mean in ((np.cos(u * samples), expected), (np.sin(u * samples), 0.0)):
            # 18 means, each within 5 standard errors: a false alarm has probability 1e-5.
            assert abs(part.mean() - mean) < 5 * part.std() / np.sqrt(DRAWS)
    # Sums of twice the number of draws must fail the first comparison.
    u = 0.5 / (scale * np.sqrt(2 * count))
    part = np.cos(u * draws(scale, 2 * count, DRAWS, np.random.default_rng(4)))
    assert abs(part.mean() - (1 + (scale * u) ** 2) ** -count) > 5 * part.std() / np.sqrt(DRAWS)
