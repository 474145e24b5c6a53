"""Check a trial of one population: assignment of arms, and all named estimators."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from privarms.environments import arm_vectors
from privarms.protocols import randomised_trial

from .toy import Params, policy


@njit
def choose(params, state, context, t, rng):
    return t % 2


def run(experiment, rounds, replicates):
    rngs = np.random.default_rng(1), np.random.default_rng(2)
    environment, cell = arm_vectors.configure(experiment), SimpleNamespace(horizon=rounds)
    return randomised_trial.run_block(policy(choose), Params(2), environment, cell, replicates, *rngs)


def of(rows, estimator, column="estimate"):
    return rows[column][rows["estimator"] == estimator]


def test_the_estimates_are_those_of_the_rewards():
    # Arms 1, 0, 1, 0, ...; the environment's stream is used only for the noise of rewards, round by round.
    rows = run("ill_conditioned", 8, 3)
    noise = np.random.default_rng(1).standard_normal((3, 8))
    first, second = 1 + noise[:, ::2], 3 + noise[:, 1::2]
    assert of(rows, "mean_difference") == pytest.approx(first.mean(axis=1) - second.mean(axis=1))
    assert of(rows, "inverse_propensity") == pytest.approx(2 * (first.sum(axis=1) - second.sum(axis=1)) / 8)
    # The arms differ by 0.001 in a coordinate that the penalty shrinks to about 0, so no difference is predicted.
    assert np.abs(of(rows, "plug_in_ridge")).max() < 0.01
    assert list(of(rows, "mean_difference", "effect")) == [-2.0] * 3
    for name in randomised_trial.ESTIMATORS:
        assert of(rows, name, "squared_error") == pytest.approx((of(rows, name) + 2) ** 2)
    assert list(rows["replicate"]) == sorted(list(range(3)) * len(randomised_trial.ESTIMATORS))


def test_cross_fitted_is_both_halves():
    rows = run("linear", 12, 50)
    assert list(of(rows, "mean_difference", "effect")) == [0.0] * 50
    # In balanced halves the mean score of a half is its difference of means, for any predictions of the other half.
    assert of(rows, "cross_fitted") == pytest.approx(of(rows, "mean_difference"))
    assert not np.allclose(of(rows, "half_sample"), of(rows, "mean_difference"))
