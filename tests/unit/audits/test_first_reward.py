"""The audit of DP-UCB's choices: the event, and the exact loss."""

import numpy as np
import pytest
from numba import njit

from privarms.audits import first_reward
from privarms.policies import Policy
from privarms.policies.bandit import dp_ucb


@njit
def init(params):
    return np.zeros(3)


@njit
def choose(params, state, context, t, rng):
    # Every arm once; then arm 0 while it has earned as much as the parameters say.
    if t <= 5:
        return t - 1
    return 0 if state[0] >= params[t - 6] else 1


@njit
def learn(params, state, context, arm, reward, t, rng):
    state[0] += reward
    return state


@pytest.mark.parametrize(
    ("wanted", "events"),
    [((0.0, 1.0), (4, 4)), ((1.0, 2.0), (0, 4)), ((1.0, 3.0), (0, 0)), ((0.0, 2.0), (0, 4))],
)
def test_two_choices_of_arm_0_are_counted_and_its_first_reward_differs(wanted, events):
    policy = Policy(init, choose, learn)
    for neighbour, expected in enumerate(events):
        inputs = first_reward.configure(5, neighbour)
        assert first_reward.AUDIT.count(policy, wanted, inputs, 7, 4, np.random.default_rng(1)) == expected


@pytest.mark.parametrize("neighbour", [0, 1])
def test_the_probability_by_drawing_the_nodes(neighbour):
    params = dp_ucb.configure(6, 8, 4.0, "exact")
    rng, n = np.random.default_rng(5), 400_000
    node = rng.laplace(scale=3 / 4, size=(n, 7))
    highest = node[:, :5].max(axis=1)
    width, log = params.width[1], 2 * np.log(8)
    first = neighbour + node[:, 5] > highest
    second = (neighbour + 1 + node[:, 6] + width) / 2 + np.sqrt(log / 2) > highest + width + np.sqrt(log)
    exact = first_reward.probability(params, first_reward.configure(6, neighbour))
    assert abs((first & second).mean() - exact) < 4.5 * np.sqrt(exact / n)
