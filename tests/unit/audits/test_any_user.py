"""Check the audit that fits any locally private bandit: it detects half of the noise and leaks of several kinds."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.audits.events import any_user
from privarms.audits.reduction import epsilon_lower_bound
from privarms.mechanisms.laplace import laplace
from privarms.planning import auditing
from privarms.policies import Policy

TRIALS = 20_000


class State(NamedTuple):
    sums: np.ndarray


@njit
def init(params, rng):
    return State(np.zeros(2))


@njit
def choose(params, state, context, rng):
    return int(state.sums[1] > state.sums[0])


@njit
def adds_noisy_rewards(params, state, source, user, context, arm, reward, rng):
    state.sums[arm] += reward - 0.5 + laplace(1 / params, rng)


@njit
def adds_contexts(params, state, source, user, context, arm, reward, rng):
    state.sums[1] += (context[0] == 1.0) + 0.0 * laplace(1 / params, rng)


@njit
def noise_for_the_first_user_only(params, state, source, user, context, arm, reward, rng):
    state.sums[arm] += reward - 0.5 + (laplace(1 / params, rng) if user == 0 else 0.0)


def lower_bound(learn, params, trials=TRIALS):
    policy, events = Policy(init, choose, learn), []
    for neighbour in (0, 1):
        inputs, rng = any_user.configure(2, neighbour, 16, 1.0, 2), np.random.default_rng(neighbour)
        events.append(any_user.AUDIT.count(policy, params, inputs, 16, trials, rng))
    return epsilon_lower_bound(events[0], trials, events[1], trials, 0.9999)


def test_half_the_noise_is_caught_and_all_of_it_is_not():
    # A message of reward plus Lap(1 / epsilon) is epsilon-locally private.
    assert lower_bound(adds_noisy_rewards, 1.0) < 1.0 < lower_bound(adds_noisy_rewards, 2.0)


@pytest.mark.parametrize("learn", [adds_contexts, noise_for_the_first_user_only])
def test_a_message_that_names_the_context_or_the_reward_of_a_later_user_is_caught(learn):
    assert lower_bound(learn, 1.0, 2_000) > 2.0


def test_a_policy_of_the_family_gets_this_audit():
    assert auditing.fitting("ldp_mab") == "any_user"
