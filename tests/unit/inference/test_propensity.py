"""Check inverse propensity weighting and doubly robust designs against closed forms and enumeration."""

import itertools

import numpy as np
import pytest

from privarms.inference import propensity

VECTORS = np.array([[1.0, 0.001], [1.0, 0.0]])
BASIS = np.eye(2)


def data(replicates=6, m=12, seed=8):
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, 2, (replicates, m))
    return arms, rng.normal(1 + 2 * (arms == 0), 1.0)


def penalised(arms, rewards, penalty):
    """Return ridge regression as least squares with an extra row per coordinate: root of the penalty, and 0."""
    rows = np.concatenate([VECTORS[arms], np.sqrt(penalty) * BASIS])
    return np.linalg.lstsq(rows, np.concatenate([rewards, np.zeros(2)]))[0]


def test_by_hand():
    arms, rewards = [1, 0, 1, 0], [4.0, 1.0, 2.0, 3.0]
    assert propensity.mean_difference(arms, rewards) == pytest.approx(3 - 2)
    assert propensity.inverse_propensity(arms, rewards) == pytest.approx((6 - 4) / 0.5 / 4)
    assert propensity.inverse_propensity(arms, rewards, 0.8) == pytest.approx((6 / 0.8 - 4 / 0.2) / 4)
    # First half: means 1 (arm 0) and 4 (arm 1). Scores of the second: 3 + (2 - 4) / .5 = -1 and 3 - (3 - 1) / .5 = -1.
    assert propensity.half_sample(arms, rewards) == pytest.approx(-1)
    # Second half: means 3 and 2. Scores of the first: -1 + (4 - 2) / .5 = 3 and -1 - (1 - 3) / .5 = 3.
    assert propensity.cross_fitted(arms, rewards) == pytest.approx((3 + 3 - 1 - 1) / 4)
    # Each arm has a separate coordinate: theta = (4 / (2 + 1), 6 / (2 + 1)).
    assert propensity.plug_in_ridge(arms, rewards, BASIS, penalty=1.0) == pytest.approx(6 / 3 - 4 / 3)


def test_an_arm_without_a_reward():
    assert np.isnan(propensity.mean_difference([1, 1], [1.0, 2.0]))
    # Nuisance mean 0 for arm 0: score of the second round 1 - 0 + (2 - 1) / .5.
    assert propensity.half_sample([1, 1], [1.0, 2.0]) == pytest.approx(3)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
def test_the_plug_in_is_penalised_least_squares(penalty):
    arms, rewards = data()
    actual = propensity.plug_in_ridge(arms, rewards, VECTORS, penalty)
    for i in range(len(arms)):
        theta = penalised(arms[i], rewards[i], penalty)
        assert propensity.ridge(arms[i], rewards[i], VECTORS, penalty) == pytest.approx(theta, rel=1e-9)
        assert actual[i] == pytest.approx((VECTORS[1] - VECTORS[0]) @ theta, rel=1e-6)


def assignments(m, p):
    """Return every assignment of m rounds with its probability."""
    arms = np.array(list(itertools.product((0, 1), repeat=m)))
    return arms, np.prod(np.where(arms == 1, p, 1 - p), axis=1)


@pytest.mark.parametrize("p", [0.5, 0.2])
def test_with_the_right_propensity_the_mean_over_all_assignments_is_the_effect(p):
    outcomes = np.array([[1.0, 4.0, 0.0, 2.5, 3.0, 1.0, 0.5], [2.0, -1.0, 5.0, 0.5, 2.0, 7.0, 3.0]])
    effects = outcomes[1] - outcomes[0]
    arms, chances = assignments(7, p)
    rewards = np.where(arms == 1, outcomes[1], outcomes[0])
    assert chances @ propensity.inverse_propensity(arms, rewards, p) == pytest.approx(effects.mean(), rel=1e-10)
    assert chances @ propensity.half_sample(arms, rewards, p) == pytest.approx(effects[3:].mean(), rel=1e-10)
    assert chances @ propensity.cross_fitted(arms, rewards, p) == pytest.approx(effects.mean(), rel=1e-10)
    assert chances @ propensity.cross_fitted(arms, rewards, p + 0.1) != pytest.approx(effects.mean(), rel=1e-3)


def test_leading_axes_are_replicates():
    arms, rewards = data(replicates=6, m=12)
    for estimate in (
        propensity.mean_difference,
        propensity.inverse_propensity,
        propensity.half_sample,
        propensity.cross_fitted,
        lambda a, r: propensity.plug_in_ridge(a, r, VECTORS),
    ):
        together = estimate(arms.reshape(2, 3, 12), rewards.reshape(2, 3, 12))
        assert together.shape == (2, 3)
        assert together.ravel() == pytest.approx(
            [estimate(a, r) for a, r in zip(arms, rewards, strict=True)], rel=1e-12
        )


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("estimate", "variance"),
    [
        # Unit noise, both means 1, m rounds: 4/m where the arms' means are taken out, 4 E[R^2]/m = 8/m without, 8/m
        # if half of the rounds is used. The noise of the nuisance means adds a term of order 1/m^2: 4/(m/2) per half.
        (propensity.mean_difference, lambda m: 4 / m),
        (propensity.inverse_propensity, lambda m: 8 / m),
        (propensity.half_sample, lambda m: 8 / m * (1 + 2 / m)),
        (propensity.cross_fitted, lambda m: 4 / m * (1 + 2 / m)),
    ],
)
def test_the_variances_that_tables_2_and_3_compare(estimate, variance):
    m, replicates = 400, 20_000
    rng = np.random.default_rng(11)
    arms = rng.integers(0, 2, (replicates, m), dtype=np.int8)
    squares = estimate(arms, rng.normal(1.0, 1.0, (replicates, m))) ** 2
    # Five standard errors and 1% for terms of higher order.
    tolerance = 5 * squares.std() / np.sqrt(replicates) + 0.01 * variance(m)
    assert squares.mean() == pytest.approx(variance(m), abs=tolerance)
    assert squares.mean() != pytest.approx(1.5 * variance(m), abs=tolerance)
