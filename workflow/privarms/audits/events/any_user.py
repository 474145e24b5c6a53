"""Audit any locally private bandit on two runs that differ in one user.

A user's message must hide the user's context and reward. The format of messages is unknown here, so the audit uses the
arms of all later users, which depend on the messages. The user's own arm, which no other user knows, is left out.

The user is number 1, 2, 4, 8 or 32. Its context is all 0, all 1 or all 0.3, and its reward 0 or 1. The two runs differ
in the reward, or in reward and context. The others' rewards are all 0, all 1, in turn 0 and 1, or coin flips; their
contexts are drawn once, or all 0.3. `search` selects users and event. `promised` is the claimed epsilon (Ma et al.
2025, definition 2.1).
"""

from collections.abc import Iterator
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.audits.events.any_choice import COIN_FLIPS, CONTEXTS, SEARCH_SEED, Inputs, once
from privarms.audits.search import Found, score, search, selected
from privarms.kernels.checks import admit
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions

SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-7

# The changed user, from 0, and the contexts and rewards of the two runs.
CHANGED = (0, 1, 3, 7, 31)
PLACE = 0.3
MESSAGES = (
    ((0.0, 0.0), (0.0, 1.0)),
    ((1.0, 0.0), (1.0, 1.0)),
    ((PLACE, 0.0), (PLACE, 1.0)),
    ((0.0, 0.0), (1.0, 1.0)),
    ((0.0, 1.0), (1.0, 0.0)),
    ((PLACE, 0.0), (1.0, 1.0)),
)


class Users(NamedTuple):
    """n_arms: K; changed: a user, from 0; rewards: of all users, float64[n]; contexts: float64[n, d], in turn.

    context, reward: of the changed user; all coordinates of its context are the same
    """

    n_arms: int
    changed: int
    context: float
    reward: float
    rewards: np.ndarray
    contexts: np.ndarray


def configure(
    K: int,
    neighbour: Literal[0, 1],
    rounds: int,
    promised: float,
    dimensions: int = 0,
    promised_delta: float = 0.0,
) -> Inputs:
    """Return the inputs for K >= 2 arms, `rounds` > K users and a policy that claims `promised` > 0."""
    if not 2 <= K < rounds:
        raise ValueError(f"rounds: expected more than K = {K}, and K at least 2; found {rounds}")
    return Inputs(K, rounds, neighbour, dimensions, promised_delta)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`: the users and the event, selected in runs on their own stream."""
    return selected(policy, params, find(policy, params, inputs, horizon, trials), inputs.neighbour)


def find(policy, params, inputs, horizon, trials) -> Found:
    """Return the users of neighbours 0 and 1 and the event that distinguishes them best."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    return once(look, functions(Policy, policy), params, inputs._replace(neighbour=0), rounds, trials)


def look(policy, params, inputs: Inputs, rounds: int, trials: int) -> Found:
    """Return what `search` finds among all users for `trials` counted runs."""
    play_runs = partial(loop(_play_runs), policy, params, np.random.default_rng(SEARCH_SEED))
    groups = list(_groups(inputs.n_arms, inputs.dimensions, rounds))
    return search(groups, play_runs, rounds, inputs.n_arms, trials, inputs.promised_delta)


def _groups(K: int, dimensions: int, n: int) -> Iterator[list[Users]]:
    """Yield pairs of neighbours."""
    rng = np.random.default_rng(SEARCH_SEED)
    users = np.arange(n)
    rewards = [np.zeros(n), np.ones(n), users % 2.0, *((rng.random(n) < mean).astype(float) for mean in COIN_FLIPS[:2])]
    for contexts in (rng.random((CONTEXTS, dimensions)), np.full((1, dimensions), PLACE)):
        for others in rewards:
            for user in CHANGED:
                if user < n - 1:
                    for pair in MESSAGES:
                        yield [Users(K, user, *one, others, contexts) for one in pair]


def arms(users: Users) -> int:
    """Return K."""
    return users.n_arms


def in_words(pair: tuple[Users, Users]) -> str:
    """Return in what two runs differ, with users from 1."""
    less, more = (f"the context {one.context:g} and the reward {one.reward:g}" for one in pair)
    return f"user number {pair[0].changed + 1} had {more} instead of {less}"


@njit(inline="always")
def play(policy, params, users, rng, choices):
    """Play one run, and overwrite `choices`, int64[rounds], with the arms of all users, and with 0 for the changed."""
    state = policy.init(params, rng)
    own = np.full(users.contexts.shape[1], users.context)
    for user in range(len(choices)):
        changed = user == users.changed
        context = own if changed else users.contexts[user % len(users.contexts)]
        arm = policy.choose(params, state, context, rng)
        admit(policy, arm, users.n_arms, user + 1)
        choices[user] = 0 if changed else arm
        reward = users.reward if changed else users.rewards[user]
        policy.learn(params, state, 0, user, context, arm, reward, rng)


@njit(inline="always")
def _play_runs(policy, params, rng, users, choices):
    """Play one run per row of `choices`, int64[runs, rounds], and overwrite it."""
    for i in range(len(choices)):
        play(policy, params, users, rng, choices[i])


@njit
def happens(policy, params, users, event, choices, rng):
    """Play until the event's last user; return whether the event happens."""
    play(policy, params, users, rng, choices)
    return score(event, choices) >= event.threshold


# The type of an input, for files.
INPUT = Users
# The event is chosen so that it is likelier with neighbour 1; its probability is unknown.
AUDIT = Audit(
    families=("locally_private",),
    inputs=configure,
    event=happens,
    arguments=arguments,
    changed="One user was changed, number 1, 2, 4, 8 or 32, in the reward (0 or 1) or in reward and context (in the "
    "unit cube), with {K} arms, over {rounds} users whose rewards are alike, in turn 0 and 1, or coin flips.",
)
