"""Patients with features: what either arm would give is what its pull gives of the same random number."""

import numpy as np
import pytest

from privarms.environments import features_bernoulli, features_normal


@pytest.mark.parametrize("environment", [features_bernoulli, features_normal])
@pytest.mark.parametrize("arm", [0, 1])
def test_outcomes_are_the_pulls_of_either_arm(environment, arm):
    patients = environment.configure(3, 300, lower=0.2)
    pulled, both = np.random.default_rng(1), np.random.default_rng(1)
    for feature in [0, 1, 2] * 50:
        reward = patients.pull(patients, feature, arm, pulled)
        assert patients.outcomes(patients, feature, both)[arm] == reward
    assert pulled.random() == both.random()
