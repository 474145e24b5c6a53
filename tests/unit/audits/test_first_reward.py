"""Check the audit of DP-UCB's choices: the event, and the exact loss."""

import numpy as np
import pytest

from privarms.audits.events import first_reward
from privarms.policies.bandit import dp_ucb


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
