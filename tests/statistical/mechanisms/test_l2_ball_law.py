"""Check the private release of a vector in a ball: its norm against closed forms, its distribution by counts."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import binomtest

from privarms.mechanisms import l2_ball


def test_the_norm_by_hand():
    coth = (np.e**2 + 1) / (np.e**2 - 1)
    # D = 1: randomised response between +-r coth(epsilon / 2).
    assert l2_ball.configure(1, 3.0, 2.0).norm == pytest.approx(3 * coth)
    # D = 2: the mean of the first coordinate over half a circle is 2 / pi; D = 3: over half a sphere 1 / 2.
    assert l2_ball.configure(2, 1.0, 2.0).norm == pytest.approx(coth * np.pi / 2)
    assert l2_ball.configure(3, 1.0, 2.0).norm == pytest.approx(coth * 2)
    assert l2_ball.configure(3, 1.0, 2.0).truth == pytest.approx(np.e**2 / (1 + np.e**2))


@njit
def released(mechanism, vector, trials, rng):
    samples = np.zeros((trials, mechanism.dimensions))
    for i in range(trials):
        l2_ball.release(mechanism, vector, rng, samples[i])
    return samples


@pytest.mark.parametrize(
    ("dimensions", "epsilon", "length"), [(1, 0.5, 2.0), (3, 1.0, 0.6), (8, 4.0, 1.7), (40, 2.0, 0.0)]
)
def test_it_is_unbiased_and_on_a_sphere(dimensions, epsilon, length):
    rng = np.random.default_rng(5)
    direction = rng.standard_normal(dimensions)
    vector = length * direction / np.linalg.norm(direction)
    samples = released(l2_ball.configure(dimensions, 2.0, epsilon), vector, 100_000, rng)
    norm = l2_ball.configure(dimensions, 2.0, epsilon).norm
    assert np.linalg.norm(samples, axis=1) == pytest.approx(np.full(len(samples), norm))
    z = (samples.mean(axis=0) - vector) / (samples.std(axis=0) / np.sqrt(len(samples)))
    # 52 coordinates, each within 5.2 standard errors: a false alarm has probability 1e-5.
    assert np.abs(z).max() < 5.2


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_right_half_has_e_to_the_epsilon_times_the_other_s_probability(epsilon):
    # The density is constant on each half, so the ratio of probabilities equals the ratio of densities.
    mechanism = l2_ball.configure(4, 1.0, epsilon)
    rng = np.random.default_rng(6)
    trials = 200_000
    for sign in (1, -1):
        samples = released(mechanism, np.array([0.0, sign, 0.0, 0.0]), trials, rng)
        right = int((sign * samples[:, 1] > 0).sum())
        assert binomtest(right, trials, 1 / (1 + np.exp(-epsilon))).pvalue > 1e-6


def test_a_vector_outside_the_ball_is_brought_in():
    mechanism = l2_ball.configure(2, 1.0, 1.0)
    one, other = (released(mechanism, np.array([x, 0.0]), 500, np.random.default_rng(7)) for x in (1.0, 9.0))
    assert np.array_equal(one, other)
