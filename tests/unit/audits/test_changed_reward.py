"""The audit of the last choice: what is counted, and the exact loss of the released counter."""

import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.audits import changed_reward
from privarms.errors import PrivarmsError
from privarms.policies import Policy
from privarms.policies.bandit import private_ucb, private_ucb_gamma_only
from privarms.protocols import audit


class Params(NamedTuple):
    period: int


@njit
def init(params):
    return np.zeros(1, np.int64)


def test_the_last_choice_is_counted_and_the_first_reward_of_arm_0_changed():
    @njit
    def remember(params, state, context, arm, reward, t, rng):
        if reward > 0:
            state[0] = t
        return state

    @njit
    def last(params, state, context, t, rng):
        # Arm 0 in rounds 3 and 4; at the end arm 1 if the only reward came in round 3.
        if t < 5:
            return 0 if t >= 3 else 1
        return 1 if state[0] == 3 else 0

    policy = SimpleNamespace(POLICY=Policy(init, last, remember))
    cell = SimpleNamespace(environment="changed_reward", horizon=5)
    for neighbour, events in ((0, 0), (1, 7)):
        inputs = changed_reward.configure(2, neighbour)
        rows = audit.run_block(policy, Params(1), inputs, cell, 7, None, np.random.default_rng(1))
        assert {k: list(v) for k, v in rows.items()} == {"replicate": [0], "trials": [7], "events": [events]}


def test_the_exact_loss_of_the_released_counter():
    # By simulation of the two noises, at an epsilon and horizon with a large loss.
    horizon, epsilon = 101, 1.0
    scale = private_ucb.configure(2, horizon, epsilon, "as_released").node_scale / 51
    rng = np.random.default_rng(4)
    wins = (rng.laplace(scale=scale, size=400_000) > 1 + rng.laplace(scale=scale, size=400_000)).mean()
    params = private_ucb.configure(2, horizon, epsilon, "as_released")
    exact = changed_reward.event_probability(params, changed_reward.configure(2, 1))
    assert abs(wins - exact) < 4.5 * math.sqrt(exact / 400_000)
    for neighbour in (0, 1):
        loss = changed_reward.log_ratio(params, changed_reward.configure(2, neighbour))
        assert loss == pytest.approx(math.log(0.5 / exact))
    params = private_ucb.configure(2, 501, 0.05, "as_released")
    assert changed_reward.log_ratio(params, changed_reward.configure(2, 0)) > 0.05


def test_the_loss_of_the_tree_is_not_known():
    params = private_ucb.configure(2, 101, 1.0, "as_printed")
    assert math.isnan(changed_reward.log_ratio(params, changed_reward.configure(2, 0)))


def counted(event, neighbour, noise=1.0, trials=20_000, variant="as_printed"):
    params = private_ucb.configure(2, 501, 1.0, variant)
    inputs = changed_reward.configure(2, neighbour, event, noise)
    return changed_reward.count_events(private_ucb, params, inputs, 501, trials, np.random.default_rng([5, neighbour]))


def test_the_doublings_are_the_rounds_of_the_event():
    @njit
    def choose(params, state, context, t, rng):
        # Arm 1 in rounds 3, 5, 9, 17 and 33 alone, but for the round that the parameters name.
        return 1 if (t == 3 or t == 5 or t == 9 or t == 17 or t == 33) and t != params.period else 0

    @njit
    def learn(params, state, context, arm, reward, t, rng):
        return state

    policy = SimpleNamespace(POLICY=Policy(init, choose, learn))
    inputs = changed_reward.configure(2, 0, "doublings")
    for missing, events in ((1, 6), (3, 0), (9, 0), (33, 0)):
        assert changed_reward.count_events(policy, Params(missing), inputs, 101, 6, np.random.default_rng(1)) == events


def test_the_doublings_tell_a_tree_that_does_not_share_its_budget_from_one_that_does():
    # One node of scale b on either side: ln 1/2 - ln(exp(-x) (2 + x) / 4), x = 1/b, in each of five rounds.
    losses = {}
    for noise in (1.0, 1 / math.log2(501)):
        events = [counted("doublings", neighbour, noise) for neighbour in (0, 1)]
        losses[noise] = math.log(events[0] / events[1])
        x = 1 / (math.log2(501) * noise)
        expected = 5 * (x - math.log(1 + x / 2))
        # Deviations of ln(events), 1/sqrt(events) each; the arms do not always take turns.
        assert abs(losses[noise] - expected) < 4.5 * math.sqrt(1 / events[0] + 1 / events[1]) + 0.1
    assert losses[1.0] < 1 < losses[1 / math.log2(501)]


def test_noise_multiplies_the_stated_scale_in_the_exact_loss_too():
    params = private_ucb.configure(2, 501, 0.05, "as_released")
    twice = params._replace(node_scale=2 * params.node_scale)
    loss = changed_reward.log_ratio(params, changed_reward.configure(2, 0, noise=2.0))
    assert loss == changed_reward.log_ratio(twice, changed_reward.configure(2, 0))
    assert math.isnan(changed_reward.log_ratio(params, changed_reward.configure(2, 0, "doublings")))


def test_a_horizon_before_the_event_is_refused():
    params = private_ucb.configure(2, 31, 1.0, "as_printed")
    inputs = changed_reward.configure(2, 0, "doublings")
    with pytest.raises(ValueError, match="horizon: expected at least the event's 33 rounds; found 31"):
        changed_reward.count_events(private_ucb, params, inputs, 31, 1, np.random.default_rng(1))


def test_an_even_horizon_is_refused():
    cell = SimpleNamespace(horizon=6, paper="some2020", study="audit", environment="changed_reward")
    with pytest.raises(PrivarmsError, match=r"some2020.yaml: studies.audit: changed_reward: horizon: expected an odd"):
        audit.run_block(None, Params(1), changed_reward.configure(2, 0), cell, 1, None, None)


@pytest.mark.parametrize(
    ("K", "neighbour", "said"), [(3, 0, "K: expected 2"), (2, 2, "neighbour: expected 0 or 1; found 2")]
)
def test_bad_streams(K, neighbour, said):
    with pytest.raises(ValueError, match=said):
        changed_reward.configure(K, neighbour)


def test_bad_events():
    with pytest.raises(ValueError, match="event: expected last, doublings, first_doublings, half; found 'first'"):
        changed_reward.configure(2, 0, "first")
    with pytest.raises(ValueError, match="noise: expected a number > 0; found 0"):
        changed_reward.configure(2, 0, noise=0)


def test_the_first_doublings_are_three_and_half_of_the_rounds_is_rounded_either_way():
    assert changed_reward.configure(2, 0, "first_doublings").rounds.tolist() == [3, 5, 9]
    inputs = changed_reward.configure(2, 0, "half")
    # Without noise and rewards arms take turns, arm 0 first.
    params = private_ucb_gamma_only.configure(2, 51, 1.0)
    assert changed_reward.count_events(private_ucb, params, inputs, 51, 3, np.random.default_rng(1)) == 3
    assert math.isnan(changed_reward.event_probability(params, inputs))


def test_half_of_the_rounds_is_25_or_26_of_51():
    @njit
    def choose(params, state, context, t, rng):
        return 1 if t <= params.period else 0

    @njit
    def learn(params, state, context, arm, reward, t, rng):
        return state

    policy, inputs = SimpleNamespace(POLICY=Policy(init, choose, learn)), changed_reward.configure(2, 0, "half")
    for pulls, events in ((24, 0), (25, 2), (26, 2), (27, 0)):
        assert changed_reward.count_events(policy, Params(pulls), inputs, 51, 2, np.random.default_rng(1)) == events
