"""Check the audit of private UCB's choices: the events, and the exact loss of the released counter."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.audits.events import any_choice, changed_reward
from privarms.jit.cache import compiled
from privarms.policies import Policy, functions
from privarms.policies.bandit import private_ucb, private_ucb_gamma_only

PLAY = compiled(any_choice.play)


class Params(NamedTuple):
    period: int
    node_scale: float = 1.0


@njit
def init(params):
    return np.zeros(1, np.int64)


@njit
def remember(params, state, context, arm, reward, t, rng):
    if reward > 0:
        state[0] = t
    return state


def events(choose, params, neighbour, event, horizon, trials=7):
    policy = Policy(init, choose, remember)
    inputs = changed_reward.configure(2, neighbour, event)
    return changed_reward.AUDIT.count(policy, params, inputs, horizon, trials, np.random.default_rng(1))


def loss(params, event="last", noise=1.0):
    pair = [changed_reward.configure(2, n, event, noise) for n in (0, 1)]
    return changed_reward.AUDIT.loss(params, pair)


def test_the_last_choice_is_counted_and_the_first_reward_of_arm_0_changed():
    @njit
    def last(params, state, context, t, rng):
        # Play arm 0 in rounds 3 and 4, and at the end arm 1 if the only reward was in round 3.
        if t < 5:
            return 0 if t >= 3 else 1
        return 1 if state[0] == 3 else 0

    assert [events(last, Params(1), neighbour, "last", 5) for neighbour in (0, 1)] == [0, 7]


def test_the_doublings_are_the_rounds_of_the_event():
    @njit
    def choose(params, state, context, t, rng):
        # Play arm 1 only in rounds 3, 5, 9, 17 and 33, except in the round that the parameters name.
        return 1 if (t == 3 or t == 5 or t == 9 or t == 17 or t == 33) and t != params.period else 0

    assert [events(choose, Params(t), 0, "doublings", 101) for t in (1, 3, 9, 33)] == [7, 0, 0, 0]
    assert [events(choose, Params(t), 0, "first_doublings", 101) for t in (1, 9, 17)] == [7, 0, 7]


def test_half_of_the_rounds_is_25_or_26_of_51():
    @njit
    def choose(params, state, context, t, rng):
        return 1 if t <= params.period else 0

    assert [events(choose, Params(pulls), 0, "half", 51) for pulls in (24, 25, 26, 27)] == [0, 7, 7, 0]


def test_the_exact_loss_of_the_released_counter():
    # Simulate the two noises, at an epsilon and horizon with a large loss.
    params = private_ucb.configure(2, 101, 1.0, "as_released")
    rng, scale = np.random.default_rng(4), params.node_scale / 51
    wins = (rng.laplace(scale=scale, size=400_000) > 1 + rng.laplace(scale=scale, size=400_000)).mean()
    exact = changed_reward.probability(params, changed_reward.configure(2, 1))
    assert abs(wins - exact) < 4.5 * math.sqrt(exact / 400_000)
    assert loss(params) == pytest.approx(math.log(0.5 / exact))
    # This is more than claimed.
    params = private_ucb.configure(2, 501, 0.05, "as_released")
    assert loss(params) > 0.05
    assert loss(params, noise=2.0) == loss(params._replace(node_scale=2 * params.node_scale))


def test_the_loss_of_other_counters_and_events_is_unknown():
    assert math.isnan(loss(private_ucb.configure(2, 101, 1.0, "as_printed")))
    assert math.isnan(loss(private_ucb.configure(2, 501, 0.05, "as_released"), "doublings"))
    assert math.isnan(loss(private_ucb_gamma_only.configure(2, 51, 1.0), "half"))


def test_the_loss_is_unknown_where_the_arms_stop_taking_turns():
    # A smaller bonus exceeds the lead of one pull and one reward, 250, but not the noise, of scale 18.
    params = private_ucb.configure(2, 501, 1.0, "as_released")
    assert loss(params) == pytest.approx(11.91, abs=0.01)
    smaller = params._replace(gamma_scale=0.2 * params.gamma_scale)
    assert smaller.gamma_scale * (smaller.gamma_log + smaller.log_inverse_delta[501]) > 280
    trials, rng = 20_000, np.random.default_rng(6)
    seen = changed_reward.AUDIT.count(private_ucb, smaller, changed_reward.configure(2, 1), 501, trials, rng)
    # If the arms took turns, e^-11.91 / 2 of the trials would be events.
    assert seen > 0.04 * trials
    assert math.isnan(loss(smaller))
    # Without a changed option, a large budget does the same. Three rounds have no turn to break.
    assert math.isnan(loss(private_ucb.configure(2, 501, 5.6, "as_released")))
    assert loss(private_ucb.configure(2, 3, 5.6, "as_released")) > 2


@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 1.0), (1.0, 0.25), (1.0, 0.3), (2.0, 0.2)])
def test_the_bound_on_broken_turns_holds(epsilon, share):
    """The arms take turns if arm 1 has half of the pulls after every even number of rounds."""
    params = private_ucb.configure(2, 101, epsilon, "as_released")
    params = params._replace(gamma_scale=share * params.gamma_scale)
    broken, rng, choices = 0, np.random.default_rng(7), np.zeros(100, np.int64)
    table = changed_reward.arguments(private_ucb, params, changed_reward.configure(2, 1), 101, 1, rng)[2]
    trials = 2_000
    for _ in range(trials):
        PLAY(functions(Policy, private_ucb), params, table, True, rng, choices)
        broken += (choices[::2] == choices[1::2]).any()
    bound = changed_reward.turns_break(params, 1)
    assert broken / trials <= bound + 4.5 * math.sqrt(min(bound, 1) / trials)


def test_the_doublings_detect_a_tree_that_does_not_share_its_budget():
    # One node of scale b on either side: ln 1/2 - ln(exp(-x) (2 + x) / 4), x = 1/b, in each of five rounds.
    params, losses = private_ucb.configure(2, 501, 1.0, "as_printed"), []
    for noise in (1.0, 1 / math.log2(501)):
        seen = [
            changed_reward.AUDIT.count(private_ucb, params, inputs, 501, 20_000, np.random.default_rng([5, n]))
            for n, inputs in enumerate(changed_reward.configure(2, n, "doublings", noise) for n in (0, 1))
        ]
        losses.append(math.log(seen[0] / seen[1]))
        x = 1 / (math.log2(501) * noise)
        # The standard deviation of ln(events) is 1/sqrt(events). The arms do not always take turns.
        allowed = 4.5 * math.sqrt(1 / seen[0] + 1 / seen[1]) + 0.1
        assert abs(losses[-1] - 5 * (x - math.log(1 + x / 2))) < allowed
    assert losses[0] < 1 < losses[1]


def test_a_horizon_before_the_event_is_refused():
    inputs, params = changed_reward.configure(2, 0, "doublings"), private_ucb.configure(2, 31, 1.0, "as_printed")
    with pytest.raises(ValueError, match="horizon: expected at least the event's 33 rounds; found 31"):
        changed_reward.AUDIT.count(private_ucb, params, inputs, 31, 1, None)
