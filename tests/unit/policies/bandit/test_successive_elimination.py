"""Check Successive Elimination (Even-Dar, Mannor & Mansour 2006, Algorithm 3)."""

import numpy as np
import pytest

from privarms.environments.bernoulli import Environment, pull
from privarms.policies.bandit import successive_elimination as se

from .both import run


def test_the_width_follows_the_radius_of_the_source():
    # 2 sqrt(10 ln(5 * 3 * 100 / 0.5)), by hand.
    assert se.elimination_width(se.configure(K=3, horizon=10, beta=0.5), 10) == pytest.approx(17.895661561004)


def test_an_arm_goes_in_the_first_sweep_in_which_its_sum_lags_by_the_width():
    # The gap of the sums grows by 1 per sweep. The first s >= 2 sqrt(s ln(5 * 2 s^2 / 0.5)) is 42.
    params = se.configure(K=2, horizon=10, beta=0.5)
    assert 2 * np.sqrt(41 * np.log(20 * 41**2)) > 41
    assert 2 * np.sqrt(42 * np.log(20 * 42**2)) < 42
    for fast in (False, True):
        environment = Environment(pull, np.array([1.0, 0.0]))
        assert run(se, params, environment, [1000], fast).pulls.tolist() == [958, 42]


def test_equality_eliminates():
    params = se.configure(K=2, horizon=10, beta=0.5)
    for shift, left in ((0.0, 1), (1e-9, 2)):
        viable = np.ones(2, np.bool_)
        sums = np.array([0.0, se.elimination_width(params, 50) - shift])
        assert se.eliminate(params, 2, 50, viable, sums) == left
        assert viable.tolist() == [left == 2, True]
