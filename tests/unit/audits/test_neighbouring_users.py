"""The audit of the locally private bandit: the two users, the exact event probabilities, the counts."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from privarms.audits import neighbouring_users
from privarms.fast_paths.locally_private import ldp_mab as fast_path
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
    """The batch: (bin, arm, reward) of each user, in their order."""
    last = {("context", 1): (1, 0, 1.0), ("arm", 1): (0, 1, 1.0)}.get((differ, user), (0, 0, 1.0))
    return [(0, 0, 0.0)] * (batch - 1) + [last]


def message_sums(batch):
    """U and V without noise, float64[2, 2, 2]: by bin and arm, U first."""
    sums = np.zeros((2, 2, 2))
    for i, arm, reward in batch:
        sums[i, arm] += 1, reward
    return sums


def survival_by_inversion(x, draws, scale):
    """P(S >= x) for x > 0 by Gil-Pelaez; the characteristic function of a standard Laplace draw is 1 / (1 + t^2)."""
    integral, _ = quad(lambda t: (1 + t * t) ** -draws * np.sinc(t * x / scale / np.pi), 0, np.inf, limit=500)
    return 0.5 - x / scale * integral / np.pi


@pytest.mark.parametrize("draws", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("x", [0.3, 1.0, 4.0])
def test_the_tail_of_a_sum_of_laplace_draws_is_that_of_the_inverted_characteristic_function(draws, x):
    expected = survival_by_inversion(x, draws, 1.5)
    assert neighbouring_users.survival(x, draws, 1.5) == pytest.approx(expected, rel=1e-6)
    assert neighbouring_users.survival(-x, draws, 1.5) == pytest.approx(1 - expected, rel=1e-6)


def test_the_tail_by_hand():
    # One draw: e^-x / 2. Two: (2 + x) e^-x / 4.
    assert neighbouring_users.survival(2.0, 1, 4.0) == pytest.approx(math.exp(-0.5) / 2)
    assert neighbouring_users.survival(2.0, 2, 4.0) == pytest.approx(2.5 * math.exp(-0.5) / 4)
    assert neighbouring_users.survival(0.0, 100, 4.0) == pytest.approx(0.5)
    # Without noise, the sum is 0.
    assert [neighbouring_users.survival(x, 0, 4.0) for x in (-1, 0, 1)] == [1, 1, 0]


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
        # How far the sum's noise must lead upwards where user 1 has the entry, and downwards where user 0 has it.
        towards = 1 if with_1[place] > with_0[place] else -1
        distance = towards * (with_1[place] - here[place])
        draws = batch if variant == "as_printed" else in_bin[place[0]]
        if draws == 0:
            probability *= distance <= 0
        else:
            probability *= 0.5 if distance == 0 else survival_by_inversion(distance, draws, 4 / epsilon)
    found = chance(variant, differ, "quadrant", user, epsilon, batch)
    assert found == pytest.approx(probability, rel=1e-6)


def test_the_second_bin_is_untouched_as_released_if_nobody_is_in_it_and_never_as_printed():
    for batch, epsilon in itertools.product((1, 100), (0.5, 8.0)):
        chances = {
            (variant, differ, user): chance(variant, differ, "untouched", user, epsilon, batch)
            for variant in VARIANTS
            for differ in ("context", "arm")
            for user in (0, 1)
        }
        assert {key for key, chance in chances.items() if chance == 1} == {
            ("as_released", "context", 0),
            ("as_released", "arm", 0),
            ("as_released", "arm", 1),
        }
        assert set(chances.values()) == {0, 1}


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


@pytest.mark.parametrize("differ", ["context", "arm"])
@pytest.mark.parametrize("user", [0, 1])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_batch_is_sent_as_described(differ, user, batch):
    inputs = neighbouring_users.configure(3, differ, "quadrant", user, batch)
    params = neighbouring_users.one_batch(configured("as_printed", batch, K=3))
    rng, same = np.random.default_rng(2), np.random.default_rng(2)
    state, sums = neighbouring_users.start(params, rng), message_sums(users(differ, user, batch))
    neighbouring_users.start(params, same)
    neighbouring_users.send_batch(inputs, state, rng)
    for place, arm in itertools.product((0, 1), (0, 1)):
        sent = state.arms[1 + place, arm]
        assert (sent["pulled"], sent["rewarded"]) == tuple(sums[place, arm])
    assert state.bins["here"][1:].tolist() == sums[:, :, 0].sum(axis=1).tolist()
    # One draw for each reward.
    same.random(batch)
    assert rng.random() == same.random()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_batch_meets_a_fresh_server_with_two_bins(variant):
    params = neighbouring_users.one_batch(configured(variant, 5, K=3))
    fresh, used = (neighbouring_users.start(params, np.random.default_rng(2)) for _ in range(2))
    assert fresh.tree.nodes["refined"].tolist() == [True, False, False]
    assert fresh.arms["active"][1:].all()
    assert fresh.live.tolist() == [1, 2]
    for name in ("bins", "arms", "truths", "live", "counts"):
        array = getattr(used, name)
        array[...] = np.ones(1, array.dtype)[0]
    neighbouring_users.restart(fresh, used)
    for name in ("bins", "arms", "truths", "live", "counts"):
        assert getattr(used, name).tolist() == getattr(fresh, name).tolist(), name


def test_thresholds_belong_to_the_event():
    arms = np.zeros((3, 2), fast_path.ARM)
    context = neighbouring_users.configure(2, "context", "quadrant", 0, 4)
    # Bin 2 is user 1's, with 1 and 1; bin 1 is user 0's, with 3 counts and no reward.
    arms["U"], arms["V"] = [[0, 0], [3, 9], [1, -9]], [[0, 0], [0, 9], [1, -9]]
    assert neighbouring_users.event_in(context, arms)
    for name, place, step in (("U", (1, 0), 0.1), ("V", (1, 0), 0.1), ("U", (2, 0), -0.1), ("V", (2, 0), -0.1)):
        arms[name][place] += step
        assert not neighbouring_users.event_in(context, arms)
        arms[name][place] -= step
    untouched = neighbouring_users.configure(2, "context", "untouched", 0, 4)
    for name, k in itertools.product("UV", range(2)):
        arms["U"][2], arms["V"][2] = 0, 0
        assert neighbouring_users.event_in(untouched, arms)
        arms[name][2, k] = 1e-9
        assert not neighbouring_users.event_in(untouched, arms)
