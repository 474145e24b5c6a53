"""Check the regret of bandits whose means depend on the round."""

import numpy as np
import pytest

from privarms.environments import bernoulli, changing_bernoulli
from privarms.policies.bandit import ucb1
from privarms.protocols import bandit
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
    regret, total = np.zeros(4), np.zeros(1)
    checkpoints = np.array([5, 7, 10, 13])
    rewards = play.py_func(Stubborn, None, environment, checkpoints, np.random.default_rng(1), regret, total)
    assert regret.tolist() == [0, 2, 5, 5]
    assert total[0] == 8
    assert rewards == [1.0] * 5 + [0.0] * 5 + [1.0] * 3


def test_the_means_move_to_the_next_arm():
    environment = changing_bernoulli.configure(3, 1.0, 0.0, period=2)
    means = [[environment.mean(environment, arm, t) for arm in range(3)] for t in (2, 3, 5, 7)]
    assert means == [[1, 0.5, 0], [0, 1, 0.5], [0.5, 0, 1], [1, 0.5, 0]]
    with pytest.raises(ValueError, match="period"):
        changing_bernoulli.configure(3, 1.0, 0.0, period=0)


def test_without_a_change_play_is_that_of_a_bandit():
    checkpoints, params = np.array([20, 500]), ucb1.configure(K=3)
    record = bandit.new_record(2, 3)
    bandit.play.py_func(ucb1, params, bernoulli.configure(3, 0.8, 0.2), checkpoints, np.random.default_rng(1), record)
    regret, total = np.zeros(2), np.zeros(1)
    environment = changing_bernoulli.configure(3, 0.8, 0.2, period=500)
    play.py_func(ucb1, params, environment, checkpoints, np.random.default_rng(1), regret, total)
    assert regret.tolist() == record.regret.tolist()
    assert total[0] == record.reward_sums.sum()


def test_a_mean_that_is_not_a_number_reaches_the_regret_even_of_an_arm_that_is_not_pulled():
    regret = np.zeros(1)
    environment = changing_bernoulli.Environment(
        lambda environment, arm, t, rng: 1.0, lambda environment, arm, t: (0.5, np.nan)[arm], 2, 1, np.zeros(2)
    )
    play.py_func(Stubborn, None, environment, np.array([3]), np.random.default_rng(1), regret, np.zeros(1))
    assert np.isnan(regret[0])
