"""Every arm with the same probability."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from privarms.policies.bandit import uniform


@njit
def pulls(params, rounds, rng):
    state = uniform.init(params)
    found = np.zeros(params.n_arms, np.int64)
    for t in range(1, rounds + 1):
        arm = uniform.choose(params, state, np.zeros(1), t, rng)
        found[arm] += 1
        state = uniform.learn(params, state, np.zeros(1), arm, 1.0, t, rng)
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("arms", [2, 3, 10])
def test_arms_are_pulled_equally_often(arms):
    # False alarms: three tests at 1e-5 each.
    assert chisquare(pulls(uniform.configure(arms), 60_000, np.random.default_rng(7))).pvalue > 1e-5
