"""Check the regret of bandits whose means depend on the round, by hand."""

import numpy as np
import pytest

from privarms.environments import changing_bernoulli
from privarms.policies.bandit import ucb1
from privarms.protocols import changing_arms
from privarms.protocols.changing_arms import play


class Stubborn:
    """Pull arm 0 in every round, and keep the rewards."""

    @staticmethod
    def init(params):
        return []

    @staticmethod
    def choose(params, state, context, t, rng):
        return 0

    @staticmethod
    def learn(params, state, context, arm, reward, t, rng):
        return [*state, reward]


def test_regret_is_against_the_best_arm_of_each_round():
    # Arm 0 is the best in rounds 1 to 5 and 11 to 15, with mean 1, and arm 1 in rounds 6 to 10.
    environment = changing_bernoulli.configure(2, 1.0, 0.0, period=5)
    regret = np.zeros(4)
    checkpoints = np.array([5, 7, 10, 13])
    rewards = play.py_func(Stubborn, None, environment, checkpoints, np.random.default_rng(1), regret)
    assert regret.tolist() == [0, 2, 5, 5]
    assert rewards == [1.0] * 5 + [0.0] * 5 + [1.0] * 3


def test_the_means_move_to_the_next_arm():
    environment = changing_bernoulli.configure(3, 1.0, 0.0, period=2)
    means = [[environment.mean(environment, arm, t) for arm in range(3)] for t in (2, 3, 5, 7)]
    assert means == [[1, 0.5, 0], [0, 1, 0.5], [0.5, 0, 1], [1, 0.5, 0]]
    with pytest.raises(ValueError, match="period"):
        changing_bernoulli.configure(3, 1.0, 0.0, period=0)


def test_without_a_change_play_is_that_of_a_bandit():
    params = ucb1.configure(K=2)
    environment = changing_bernoulli.configure(2, 1.0, 0.0, period=50)
    state = changing_arms.state_after(ucb1, params, environment, 50, np.random.default_rng(1))
    assert sum(state.pulls) == 50
    assert state.pulls[0] > 40
