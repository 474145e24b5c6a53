"""Check patients with features: arrivals one by one and counted, and mean rewards."""

import numpy as np
import pytest

from privarms.environments import features_bernoulli


def test_stationary_features_come_equally_often():
    environment = features_bernoulli.configure(M=4, horizon=101)
    assert environment.ends.tolist() == [50, 101]
    assert environment.probabilities == pytest.approx(np.full((2, 4), 0.25))


def test_the_seasons_swap_the_frequent_features():
    environment = features_bernoulli.configure(M=3, horizon=601, arrivals="seasonal", amplitude=0.5)
    assert environment.ends.tolist() == [200, 300, 500, 601]
    summer, winter = [1 / 2, 1 / 6, 1 / 3], [1 / 6, 1 / 2, 1 / 3]
    assert environment.probabilities == pytest.approx(np.array([summer, winter, winter, summer]))


def expected_counts(environment):
    """Return f_j(n / 2) and f_j(n), from the probabilities of the rounds."""
    lengths = np.diff(np.concatenate([[0], environment.ends]))
    whole = lengths[:, None] * environment.probabilities
    return whole[environment.ends <= environment.ends[-1] // 2].sum(axis=0), whole.sum(axis=0)


@pytest.mark.parametrize("M", [2, 5, 10])
def test_the_seasons_meet_assumption_1_1_and_are_no_stationary_experiment(M):
    half, whole = expected_counts(features_bernoulli.configure(M, 60_000, arrivals="seasonal"))
    expected = np.array([2 / (1 + 0.8 / 3), 2 / (1 - 0.8 / 3)] * M)[:M]
    if M % 2 == 1:
        expected[-1] = 2
    assert whole / half == pytest.approx(expected, rel=1e-3)
    assert half.min() == pytest.approx((whole - half).min(), rel=1e-3)


def test_patients_come_as_their_season_says():
    # Except 1 in 20,000, patients have feature 0 in summer and feature 1 in winter.
    environment = features_bernoulli.configure(M=2, horizon=6000, arrivals="seasonal", amplitude=0.9999)
    came = np.array([features_bernoulli.arrive(environment, t, np.random.default_rng(t)) for t in range(1, 6001)])
    assert np.bincount(came[:2000])[0] >= 1995
    assert came[2000:5000].sum() >= 2990
    assert came[5000:].sum() <= 5


def test_gaps_are_equally_spaced_and_one_feature_has_the_middle():
    environment = features_bernoulli.configure(M=3, horizon=10)
    assert environment.means == pytest.approx(np.array([[0.3, 0.6], [0.3, 0.7], [0.3, 0.8]]))
    assert environment.deviations**2 == pytest.approx(np.array([[0.21, 0.24], [0.21, 0.21], [0.21, 0.16]]))
    assert features_bernoulli.configure(M=1, horizon=10).means == pytest.approx(np.array([[0.3, 0.7]]))
