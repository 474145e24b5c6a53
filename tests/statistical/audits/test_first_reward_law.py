"""The simulated audit of DP-UCB against its exact event probabilities."""

import numpy as np
import pytest
from scipy.stats import binomtest

from privarms.audits import first_reward
from privarms.policies.bandit import dp_ucb

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-5
TRIALS = 2_000_000
CASES = [
    (K, epsilon, noise, neighbour)
    for K, epsilon in ((6, 0.5), (6, 4.0), (14, 1.0))
    for noise in (1.0, 0.5)
    for neighbour in (0, 1)
]


def agrees(case, seed, wrong=None):
    K, epsilon, noise, neighbour = case
    params, inputs = dp_ucb.configure(K, K + 2, epsilon, "exact", noise), first_reward.configure(K, neighbour)
    events = first_reward.count_events(dp_ucb, params, inputs, K + 2, TRIALS, np.random.default_rng(seed))
    probability = first_reward.event_probability(wrong or params, inputs)
    return binomtest(events, TRIALS, probability).pvalue > FALSE_ALARM / len(CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_event_happens_as_often_as_the_quadrature_says(case):
    assert agrees(case, [4, CASES.index(case)])


def test_a_wrong_noise_is_told_apart():
    wrong = dp_ucb.configure(6, 8, 0.5, "exact", 0.9)
    assert not agrees((6, 0.5, 1.0, 0), 99, wrong)
