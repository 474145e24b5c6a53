"""Check environments with covariate shift: rewards, distributions of contexts and behaviour, bad input."""

import itertools
import math

import numpy as np
import pytest
from numba import njit

from privarms.environments import exponential, symmetric


def test_rewards_of_the_exponential_environment_by_hand():
    released, printed = (exponential.configure(3, variant) for variant in ("as_released", "as_printed"))
    assert (released.spacing, printed.spacing) == (1 / 4, 1 / 3)
    x = np.array([0.5, 0.9])
    # Distances 1/4, 0, 1/4 from the centres 1/4, 1/2, 3/4: e = exp(-18 / 16).
    e = math.exp(-18 / 16)
    means = [released.mean(released, 0, 0, x, k) for k in range(3)]
    assert means == pytest.approx([2 * e / (1 + e), 1, 2 * e / (1 + e)])
    e = math.exp(-18 / 36)
    assert [printed.mean(printed, 0, 0, x, k) for k in range(2)] == pytest.approx([2 * e / (1 + e)] * 2)
    for environment in (released, printed):
        for x1 in np.linspace(0, 1, 998):
            x = np.array([x1, 0.5])
            means = [environment.mean(environment, 0, 0, x, k) for k in range(3)]
            assert environment.best(environment, 0, 0, x) == np.argmax(means)


def test_rewards_of_the_symmetric_environment_by_hand():
    environment = symmetric.configure("as_released")

    def means(*x):
        return [environment.mean(environment, 0, 0, np.array(x), k) for k in range(2)]

    assert means(0.25, 0.75) == [1, 0]
    assert means(0.75, 0.75) == [0, 1]
    # (2 x mod 1) / 2 - 1/4 = 0.1 and 0: 1 - 0.4 = 0.6, half of it.
    assert means(0.35, 0.25) == pytest.approx([0.2, 0.8])
    assert means(0.5, 0.2) == [0.5, 0.5]
    for x in np.random.default_rng(5).random((200, 2)):
        assert environment.best(environment, 0, 0, x) == np.argmax(means(*x))


@njit
def sample(environment, source, contexts, arms, rng):
    for i in range(len(contexts)):
        environment.arrive(environment, source, i, contexts[i], rng)
        arms[i] = environment.behave(environment, source, i, rng)


def draw(environment, source, n, seed=6):
    contexts, arms = np.zeros((n, environment.dimensions)), np.zeros(n, np.int64)
    sample(environment, source, contexts, arms, np.random.default_rng(seed))
    assert (contexts >= 0).all()
    assert (contexts <= 1).all()
    return contexts, arms


@pytest.mark.parametrize(
    ("variant", "gamma", "d"), list(itertools.product(["as_printed", "as_released"], [0, 0.2, 2], [2, 3]))
)
def test_the_sources_contexts_have_their_radial_law(variant, gamma, d):
    n = 40_000
    environment = exponential.configure(3, variant, dimensions=d, gamma=gamma)
    exponent = d + gamma if variant == "as_printed" else d * (gamma + 1)
    contexts, _ = draw(environment, 1, n)
    radius = abs(2 * contexts - 1).max(axis=1)
    for r in (0.3, 0.6, 0.9):
        p = r**exponent
        # 5 standard deviations of a binomial.
        assert (radius < r).sum() == pytest.approx(n * p, abs=5 * math.sqrt(n * p * (1 - p)))
    # The direction is uniform on the surface of the cube: all faces are equally likely, and it is uniform on each.
    face = abs(2 * contexts - 1).argmax(axis=1)
    assert np.bincount(face) == pytest.approx(n / d, abs=5 * math.sqrt(n / d))
    along = ((2 * contexts - 1) / radius[:, None])[face == 0][:, 1]
    assert (along < 0.2).mean() == pytest.approx(0.6, abs=5 * math.sqrt(0.24 / len(along)))
    # The target's contexts are always uniform.
    contexts, _ = draw(environment, 0, n)
    assert (abs(2 * contexts - 1).max(axis=1) < 0.6).sum() == pytest.approx(n * 0.6**d, abs=5 * math.sqrt(n / 4))


@pytest.mark.parametrize("kappa", [0.0, 0.4, 1.0])
def test_behaviour_policies_have_their_probabilities(kappa):
    n = 40_000
    environment = exponential.configure(3, "as_released", kappa=kappa)
    _, arms = draw(environment, 1, n)
    # Linear from kappa / K to (2 - kappa) / K.
    expected = np.linspace(kappa / 3, (2 - kappa) / 3, 3)
    assert np.bincount(arms, minlength=3) / n == pytest.approx(expected, abs=5 * math.sqrt(0.25 / n))
    assert kappa > 0 or (arms != 0).all()
