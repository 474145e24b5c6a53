"""Check the audit of the locally private bandit: the two users, exact event probabilities, counts."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from privarms.audits.events import neighbouring_users
from privarms.policies.locally_private import ldp_mab

VARIANTS = ("as_printed", "as_released")


def configured(variant, batch, epsilon=1.0, K=2):
    return ldp_mab.configure(K, 10_000, epsilon, variant, M=0, batch=batch)


def chance(variant, differ, event, user, epsilon, batch=1):
    inputs = neighbouring_users.configure(2, differ, event, user, batch)
    return neighbouring_users.probability(configured(variant, batch, epsilon), inputs)


def loss(variant, differ, event, epsilon, batch=1):
    pair = [neighbouring_users.configure(2, differ, event, user, batch) for user in (0, 1)]
    return neighbouring_users.AUDIT.loss(configured(variant, batch, epsilon), pair)


def users(differ, user, batch):
    """Return the batch: (bin, arm, reward) of each user, in order."""
    last = {("context", 1): (1, 0, 1.0), ("arm", 1): (0, 1, 1.0)}.get((differ, user), (0, 0, 1.0))
    return [(0, 0, 0.0)] * (batch - 1) + [last]


def message_sums(batch):
    """Return U and V without noise, float64[2, 2, 2]: by bin and arm, U first."""
    sums = np.zeros((2, 2, 2))
    for i, arm, reward in batch:
        sums[i, arm] += 1, reward
    return sums


def survival_by_inversion(x, draws, scale):
    """Return P(S >= x) for x > 0 by Gil-Pelaez; a Laplace draw has the characteristic function 1 / (1 + t^2)."""
    integral, _ = quad(lambda t: (1 + t * t) ** -draws * np.sinc(t * x / scale / np.pi), 0, np.inf, limit=500)
    return 0.5 - x / scale * integral / np.pi


@pytest.mark.parametrize("draws", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("x", [0.3, 1.0, 4.0])
def test_the_tail_of_a_sum_of_laplace_draws_is_that_of_the_inverted_characteristic_function(draws, x):
    expected = survival_by_inversion(x, draws, 1.5)
    assert neighbouring_users.survival(x, draws, 1.5) == pytest.approx(expected, rel=1e-6)
    assert neighbouring_users.survival(-x, draws, 1.5) == pytest.approx(1 - expected, rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("differ", ["context", "arm"])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("user", [0, 1])
def test_the_quadrant_is_the_product_of_four_tails_at_the_sums_of_the_batch(variant, differ, batch, user):
    epsilon = 1.7
    here, with_0, with_1 = (message_sums(users(differ, u, batch)) for u in (user, 0, 1))
    in_bin = [sum(i == j for i, *_ in users(differ, user, batch)) for j in (0, 1)]
    changed = np.argwhere(with_0 != with_1)
    assert len(changed) == 4
    probability = 1.0
    for place in map(tuple, changed):
        # The noise of the sum that is needed: upwards if user 1 has the entry, downwards if user 0 has it.
        towards = 1 if with_1[place] > with_0[place] else -1
        distance = towards * (with_1[place] - here[place])
        draws = batch if variant == "as_printed" else in_bin[place[0]]
        if draws == 0:
            probability *= distance <= 0
        else:
            probability *= 0.5 if distance == 0 else survival_by_inversion(distance, draws, 4 / epsilon)
    actual = chance(variant, differ, "quadrant", user, epsilon, batch)
    assert actual == pytest.approx(probability, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 8.0])
def test_one_user_costs_epsilon_but_the_context_as_released_has_no_bound(epsilon):
    for variant, differ in (("as_printed", "context"), ("as_printed", "arm"), ("as_released", "arm")):
        assert loss(variant, differ, "quadrant", epsilon) == pytest.approx(epsilon, rel=1e-12)
        assert 0 < loss(variant, differ, "quadrant", epsilon, batch=100) < epsilon
    for event, batch in itertools.product(("quadrant", "untouched"), (1, 100)):
        assert loss("as_released", "context", event, epsilon, batch) == math.inf
    assert loss("as_released", "arm", "untouched", epsilon) == 0
    assert math.isnan(loss("as_printed", "context", "untouched", epsilon))


def test_no_two_messages_are_further_apart_than_the_noise_allows():
    messages = [message_sums([one]) for one in itertools.product((0, 1), (0, 1), (0.0, 0.5, 1.0))]
    farthest = max(np.abs(a - b).sum() for a, b in itertools.combinations(messages, 2))
    assert farthest == 4
    assert farthest / neighbouring_users.noise_scale(0.7) == pytest.approx(0.7)
