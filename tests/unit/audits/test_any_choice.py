"""Check the audit that fits any bandit: it detects leaks of several kinds, and half of the noise."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms import policies
from privarms.audits.events import any_choice
from privarms.audits.events.any_choice import AUDIT
from privarms.audits.reduction import epsilon_lower_bound
from privarms.mechanisms.laplace import laplace

PULLS = 5
TRIALS = 20_000


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


class Policy(policies.Policy):
    """The functions of a bandit."""

    FAMILY = "bandit"


COMMITS = Policy(init, choose, learn)
LEAKS = Policy(init, leaks, adds)


def counted(policy, params, rounds, trials=TRIALS, K=2):
    """Return the events with both neighbours; policy: an object with the functions and a FAMILY."""
    events = []
    for neighbour in (0, 1):
        rng = np.random.default_rng(3 + neighbour)
        events.append(AUDIT.count(policy, params, any_choice.configure(K, neighbour, rounds, 1.0), 1024, trials, rng))
    return events


def bound(*arguments, **options):
    events = counted(*arguments, **options)
    trials = options.get("trials", TRIALS)
    return epsilon_lower_bound(events[0], trials, events[1], trials, 0.9999)


def found(policy, K, rounds, trials, family="bandit", dimensions=0):
    inputs = any_choice.configure(K, 0, rounds, 1.0, dimensions)
    return any_choice.look(policy, 1.0, family, inputs, rounds, trials)


def test_a_choice_that_gives_a_reward_away_is_found():
    assert counted(LEAKS, 1.0, 16, 100) == [0, 100]
    leak = found(LEAKS, 2, 16, 50)
    assert leak.event.scores.shape[1:] == (2, 2)
    assert any_choice.in_words(leak.inputs).startswith("reward number 1 of arm 1 was ")


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
    assert bound(policy, 1.0, 128) > 1.0


def test_half_the_noise_is_caught_and_all_of_it_is_not():
    assert bound(COMMITS, 1.0, 16) < 1.0 < bound(COMMITS, 2.0, 16)


def test_the_event_is_the_same_every_time():
    first, second = (found(COMMITS, 2, 16, 500) for _ in range(2))
    assert any_choice.in_words(first.inputs) == any_choice.in_words(second.inputs)
    assert (first.event.scores == second.event.scores).all()
    assert first.event.threshold == second.event.threshold


@njit
def takes_turns(params, state, context, t, rng):
    return (t - 1) % len(state.sums) if state.best < 0 else state.best


@njit
def three_arms(params):
    return State(np.zeros(3), -1)


@njit
def third_arm_in_the_open(params, state, context, arm, reward, t, rng):
    """Release all sums after six pulls of three arms, with noise for the first two only: a loss of up to 2 epsilon."""
    state.sums[arm] += reward
    if t != 18:
        return state
    noisy = state.sums + np.array([laplace(1 / params, rng), laplace(1 / params, rng), 0.0])
    return State(state.sums, int(np.argmax(noisy)))


@njit
def chooses_of_three(params, state, context, t, rng):
    return (t - 1) % 3 if state.best < 0 else state.best


@njit
def fewer(params):
    return State(np.zeros(2), -1)


@njit
def eighth_reward_in_the_open(params, state, context, arm, reward, t, rng):
    """Use the eighth reward of arm 0 alone, without noise."""
    state.sums[1] += arm == 0
    return State(state.sums, int(reward)) if arm == 0 and state.sums[1] == 8 else state


@njit
def silent_unless_mixed(params, state, context, arm, reward, t, rng):
    """Release the sums after five pulls, with noise only if they are all or nothing."""
    state.sums[arm] += reward
    if t != 10:
        return state
    plain = 0 < state.sums[0] < 5 and 0 < state.sums[1] < 5
    noise = 0.0 if plain else laplace(1 / params, rng) - laplace(1 / params, rng)
    return State(state.sums, int(state.sums[1] + noise > state.sums[0]))


@pytest.mark.parametrize(
    ("policy", "K"),
    [
        (Policy(three_arms, chooses_of_three, third_arm_in_the_open), 3),
        (Policy(fewer, takes_turns, eighth_reward_in_the_open), 2),
        (Policy(fewer, takes_turns, silent_unless_mixed), 2),
    ],
    ids=["a third arm", "a later reward", "mixed rewards"],
)
def test_a_leak_elsewhere_than_in_the_first_reward_of_equal_ones_is_found(policy, K):
    assert bound(policy, 1.0, 32, trials=4_000, K=K) > 1.0


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
    leak = found(policy, 2, 16, 1_000, family, dimensions=3)
    rng = np.random.default_rng(1)
    choices = np.zeros(len(leak.event.scores), np.int64)
    assert [any_choice.happens(policy, 1.0, table, leak.event, choices, rng) for table in leak.inputs] == [False, True]


@njit
def echoes(params, state, context, arm, reward, t, rng):
    """Repeat the reward of round 1 by randomised response, whose loss is exactly params."""
    if t > 1:
        return state
    lies = rng.random() < 1 / (1 + np.exp(params))
    return State(state.sums, int((reward > 0.5) != lies))


@njit
def unclipped(params, state, contexts, t, rng):
    return state.best


@njit
def noisy_sum(params, state, context, arm, reward, t, rng):
    """Add noise for rewards in [0, 1], but do not clip."""
    return State(state.sums, int(reward + laplace(1 / params, rng) > 0.5)) if t == 1 else state


def test_rewards_outside_of_an_assumed_range_are_tried_where_rewards_are_any_numbers():
    leak = found(Policy(init, unclipped, noisy_sum), 2, 16, 200, "linear", dimensions=2)
    assert any_choice.in_words(leak.inputs).endswith(("100 instead of -100", "-100 instead of 100"))
    assert leak.margin > 1.5


def test_the_largest_loss_that_a_claim_allows_is_not_exceeded():
    assert 0.8 < bound(Policy(init, follows, echoes), 1.0, 16) < 1.0


def test_before_anything_is_released_nothing_is_seen():
    events = counted(COMMITS, 1.0, 2 * PULLS)
    assert events[0] in (0, TRIALS)
    assert events[0] == events[1]
