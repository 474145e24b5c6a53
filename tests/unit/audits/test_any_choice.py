"""Check the generic audit of bandits: the event that it selects, and that it detects half of the noise."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.audits.events import any_choice
from privarms.audits.events.any_choice import AUDIT
from privarms.audits.reduction import epsilon_lower_bound
from privarms.mechanisms.laplace import laplace
from privarms.policies import Policy

PULLS = 5
TRIALS = 40_000


class State(NamedTuple):
    sums: np.ndarray
    best: int


@njit
def init(params):
    return State(np.zeros(2), 0)


@njit
def choose(params, state, context, t, rng):
    """Write a policy that explores, then commits."""
    return (t - 1) % 2 if t <= 2 * PULLS else state.best


@njit
def learn(params, state, context, arm, reward, t, rng):
    if t <= 2 * PULLS:
        state.sums[arm] += reward
    if t != 2 * PULLS:
        return state
    for a in range(2):
        state.sums[a] += laplace(1 / params, rng)
    return State(state.sums, np.argmax(state.sums))


@njit
def leaks(params, state, context, t, rng):
    """Arm 1 in round 4 if arm 0's first reward was 1."""
    return 1 if t == 4 and state.sums[0] == 1 else 0


@njit
def adds(params, state, context, arm, reward, t, rng):
    if t == 1:
        state.sums[arm] += reward
    return state


COMMITS = Policy(init, choose, learn)
LEAKS = Policy(init, leaks, adds)


def counted(policy, params, rounds, trials=TRIALS):
    inputs = [any_choice.configure(2, n, rounds, 1.0) for n in (0, 1)]
    rngs = [np.random.default_rng(3 + n) for n in (0, 1)]
    return [AUDIT.count(policy, params, i, 1024, trials, rng) for i, rng in zip(inputs, rngs, strict=True)]


def test_a_choice_that_gives_a_reward_away_is_found():
    assert counted(LEAKS, 1.0, 16, 100) == [0, 100]
    (less, more), event = any_choice.look(LEAKS, 1.0, 2, 16, 50)
    assert event.scores.shape == (4, 2, 2)
    assert (less.base, less.arm) == (more.base, more.arm)
    assert {less.changed, more.changed} == {False, True}


@njit
def releases_again(params, state, context, arm, reward, t, rng):
    """Release both sums at every doubling, each time with the whole budget: log2(T) times epsilon."""
    state.sums[arm] += reward
    if t & (t - 1) or t == 1:
        return state
    return State(state.sums, int(state.sums[1] + laplace(1 / params, rng) > state.sums[0] + laplace(1 / params, rng)))


@njit
def follows(params, state, context, t, rng):
    return state.best


@njit
def draws_anew(params, state, context, t, rng):
    """Compare the sums in every round, with fresh noise of the whole budget."""
    return int(state.sums[1] + laplace(1 / params, rng) > state.sums[0] + laplace(1 / params, rng))


@njit
def adds_all(params, state, context, arm, reward, t, rng):
    state.sums[arm] += reward
    return state


@pytest.mark.parametrize("policy", [Policy(init, follows, releases_again), Policy(init, draws_anew, adds_all)])
def test_a_budget_that_is_spent_again_and_again_is_seen_in_the_sequence_of_choices(policy):
    events = counted(policy, 1.0, 256)
    assert epsilon_lower_bound(events[0], TRIALS, events[1], TRIALS, 0.9999) > 1.0


def test_half_the_noise_is_caught_and_all_of_it_is_not():
    for epsilon, caught in ((1.0, False), (2.0, True)):
        events = counted(COMMITS, epsilon, 16)
        assert (epsilon_lower_bound(events[0], TRIALS, events[1], TRIALS, 0.9999) > 1.0) == caught


def test_the_event_is_the_same_with_both_neighbours_and_every_time():
    first, second = (any_choice.look(COMMITS, 1.0, 2, 16, 500) for _ in range(2))
    assert first[0] == second[0]
    assert (first[1].scores == second[1].scores).all()
    assert first[1].threshold == second[1].threshold


@njit
def leaks_by_contexts(params, state, contexts, t, rng):
    return leaks(params, state, contexts[0], t, rng)


@njit
def adds_by_context(params, state, context, arm, reward, t, rng):
    return adds(params, state, context, arm, reward + 0 * context[0], t, rng)


@pytest.mark.parametrize(
    ("family", "policy"),
    [
        ("linear", Policy(init, leaks_by_contexts, adds_by_context)),
        ("contextual", Policy(init, leaks, adds_by_context)),
    ],
)
def test_policies_with_contexts_are_audited_as_well(family, policy):
    contexts = any_choice._contexts(family, 2, 3)
    tables, event = any_choice.look(policy, 1.0, 2, 16, 50, contexts)
    choices, rng = np.zeros(4, np.int64), np.random.default_rng(1)
    happens = [any_choice.happens(policy, 1.0, table, event, choices, rng) for table in tables]
    assert happens == [False, True]


def test_before_anything_is_released_nothing_is_seen():
    events = counted(COMMITS, 1.0, 2 * PULLS)
    assert events[0] in (0, TRIALS)
    assert events[0] == events[1]
