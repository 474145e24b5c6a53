"""Inverse propensity weighting and doubly robust designs: closed forms, enumeration, least squares, statsmodels."""

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
    """Ridge regression as plain least squares: each coordinate has one more row, of the penalty's root and a zero."""
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
    # Each arm has its own coordinate: theta = (4 / (2 + 1), 6 / (2 + 1)).
    assert propensity.plug_in_ridge(arms, rewards, BASIS, penalty=1.0) == pytest.approx(6 / 3 - 4 / 3)


def test_an_arm_without_a_reward():
    assert np.isnan(propensity.mean_difference([1, 1], [1.0, 2.0]))
    # Nuisance mean 0 for arm 0: score of the second round 1 - 0 + (2 - 1) / .5.
    assert propensity.half_sample([1, 1], [1.0, 2.0]) == pytest.approx(3)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
def test_the_plug_in_is_penalised_least_squares(penalty):
    arms, rewards = data()
    found = propensity.plug_in_ridge(arms, rewards, VECTORS, penalty)
    for i in range(len(arms)):
        theta = penalised(arms[i], rewards[i], penalty)
        assert propensity.ridge(arms[i], rewards[i], VECTORS, penalty) == pytest.approx(theta, rel=1e-9)
        assert found[i] == pytest.approx((VECTORS[1] - VECTORS[0]) @ theta, rel=1e-6)


@pytest.mark.parametrize("nuisance", ["arm_means", "ridge"])
def test_the_designs_are_their_definitions_round_by_round(nuisance):
    arms, rewards = data(m=11)
    half, p, penalty = 5, 0.3, 2.0

    def fit(own_arms, own_rewards):
        if nuisance == "ridge":
            return VECTORS @ penalised(own_arms, own_rewards, penalty)
        return [own_rewards[own_arms == a].mean() if (own_arms == a).any() else 0.0 for a in (0, 1)]

    def scores(own_arms, own_rewards, means):
        for arm, reward in zip(own_arms, own_rewards, strict=True):
            correction = (reward - means[1]) / p if arm == 1 else -(reward - means[0]) / (1 - p)
            yield means[1] - means[0] + correction

    given = {"nuisance": nuisance, "vectors": VECTORS, "penalty": penalty, "propensity": p}
    for i in range(len(arms)):
        first, second = (arms[i, :half], rewards[i, :half]), (arms[i, half:], rewards[i, half:])
        late = list(scores(*second, fit(*first)))
        early = list(scores(*first, fit(*second)))
        assert propensity.half_sample(arms[i], rewards[i], **given) == pytest.approx(np.mean(late), rel=1e-6)
        assert propensity.cross_fitted(arms[i], rewards[i], **given) == pytest.approx(np.mean(early + late), rel=1e-6)


def assignments(m, p):
    """Every assignment of m rounds and its probability."""
    arms = np.array(list(itertools.product((0, 1), repeat=m)))
    return arms, np.prod(np.where(arms == 1, p, 1 - p), axis=1)


@pytest.mark.parametrize("p", [0.5, 0.2])
@pytest.mark.parametrize("nuisance", ["arm_means", "ridge"])
def test_with_the_right_propensity_the_mean_over_all_assignments_is_the_effect(p, nuisance):
    outcomes = np.array([[1.0, 4.0, 0.0, 2.5, 3.0, 1.0], [2.0, -1.0, 5.0, 0.5, 2.0, 7.0]])
    effects = outcomes[1] - outcomes[0]
    arms, chances = assignments(6, p)
    rewards = np.where(arms == 1, outcomes[1], outcomes[0])
    given = {"nuisance": nuisance, "vectors": VECTORS, "propensity": p}
    assert chances @ propensity.inverse_propensity(arms, rewards, p) == pytest.approx(effects.mean(), rel=1e-10)
    assert chances @ propensity.half_sample(arms, rewards, **given) == pytest.approx(effects[3:].mean(), rel=1e-10)
    assert chances @ propensity.cross_fitted(arms, rewards, **given) == pytest.approx(effects.mean(), rel=1e-10)
    wrong = given | {"propensity": p + 0.1}
    assert chances @ propensity.cross_fitted(arms, rewards, **wrong) != pytest.approx(effects.mean(), rel=1e-3)


def test_leading_axes_are_replicates():
    arms, rewards = data(replicates=6, m=12)
    for estimate in (
        propensity.mean_difference,
        propensity.inverse_propensity,
        propensity.half_sample,
        propensity.cross_fitted,
        lambda a, r: propensity.plug_in_ridge(a, r, VECTORS),
        lambda a, r: propensity.cross_fitted(a, r, "ridge", VECTORS),
    ):
        together = estimate(arms.reshape(2, 3, 12), rewards.reshape(2, 3, 12))
        assert together.shape == (2, 3)
        assert together.ravel() == pytest.approx(
            [estimate(a, r) for a, r in zip(arms, rewards, strict=True)], rel=1e-12
        )


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: propensity.mean_difference([0, 2], [1.0, 1.0]), "arms"),
        (lambda: propensity.mean_difference([0, 1, 1], [1.0, 1.0]), "arms, rewards"),
        (lambda: propensity.half_sample([1], [1.0]), "arms, rewards"),
        (lambda: propensity.mean_difference([0, 1], [1.0, np.nan]), "rewards"),
        (lambda: propensity.inverse_propensity([0, 1], [1.0, 1.0], 1.0), "propensity"),
        (lambda: propensity.cross_fitted([0, 1], [1.0, 1.0], "forest"), "nuisance"),
        (lambda: propensity.cross_fitted([0, 1], [1.0, 1.0], "ridge"), "vectors"),
        (lambda: propensity.plug_in_ridge([0, 1], [1.0, 1.0], [[1.0]]), "vectors"),
        (lambda: propensity.plug_in_ridge([0, 1], [1.0, 1.0], BASIS, 0.0), "penalty"),
    ],
)
def test_bad_arguments_are_refused_by_name(call, named):
    with pytest.raises(ValueError, match=f"^{named}: "):
        call()
