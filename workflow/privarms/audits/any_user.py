"""Two runs that differ in the first user: the audit of any locally private bandit.

What a user sends must hide context and reward. Of messages nothing is known here, so the arms of all later users are
looked at, which follow from the messages. The first user's own arm is known to that user alone and is left out.

The first user's context is all 0 or all 1, and the reward 0 or 1; all other rewards are equal, and all other contexts
are drawn once. The two first users differ in the reward or in both. Runs and event are chosen in pilot runs, as in
`any_choice`, which are not counted. `promised` is the epsilon that is claimed (Ma et al. 2025, definition 2.1).
"""

import itertools
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.any_choice import (
    CONTEXTS,
    PILOT,
    PILOT_SEED,
    Event,
    Inputs,
    best_event,
    once,
    score,
)
from privarms.audits.audit import Audit
from privarms.errors import ArmError
from privarms.policies import Policy, functions
from privarms.protocols._loops import compiled

SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-7


class Users(NamedTuple):
    """n_arms: K; reward: of the first user; others: the reward of all others; contexts: float64[n, d], the first
    user's first; later users have the others in turn."""

    n_arms: int
    reward: float
    others: float
    contexts: np.ndarray


def configure(K: int, neighbour: Literal[0, 1], rounds: int, promised: float, dimensions: int = 0) -> Inputs:
    """One of two first users, for K >= 2 arms and a policy that claims `promised` > 0; `rounds` users are looked at.

    dimensions: of the contexts
    """
    return Inputs(K, rounds, neighbour, dimensions)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return those of `happens`: the users and the event, chosen in runs on a stream of their own."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    own = functions(Policy, policy)
    users, event = once(look, own, params, inputs._replace(neighbour=0), rounds, min(PILOT, trials))
    return own, params, users[inputs.neighbour], event, np.zeros(len(event.scores), np.int64)


def look(policy, params, inputs: Inputs, rounds: int, runs: int) -> tuple[tuple[Users, Users], Event]:
    """Return the users of neighbours 0 and 1 and the event that tells them apart best in so many runs with each."""
    rng = np.random.default_rng(PILOT_SEED)
    contexts = rng.random((CONTEXTS + 1, inputs.dimensions))
    pairs = []
    for others, first, changed in itertools.product((0.0, 1.0), (0.0, 1.0), (False, True)):
        pair = []
        for reward, corner in ((0.0, first), (1.0, 1 - first if changed else first)):
            own = contexts.copy()
            own[0] = corner
            pair.append(Users(inputs.n_arms, reward, others, own))
        pairs.append(pair)
    return best_event(
        pairs, lambda users, played: compiled(_play_runs)(policy, params, users, rng, played), rounds, runs
    )


@njit
def play(policy, params, users, rng, choices):
    """Play one run, and overwrite `choices`, int64[rounds]: the arms of all users, but 0 for the first one."""
    state = policy.init(params, rng)
    for user in range(len(choices)):
        context = users.contexts[1 + (user - 1) % (len(users.contexts) - 1) if user else 0]
        arm = policy.choose(params, state, context, rng)
        if not 0 <= arm < users.n_arms:
            raise ArmError(arm, users.n_arms, user + 1)
        choices[user] = arm if user else 0
        policy.learn(params, state, 0, user, context, arm, users.others if user else users.reward, rng)


@njit
def _play_runs(policy, params, users, rng, choices):
    """Play a run for each row of `choices`, int64[runs, rounds], and overwrite it."""
    for i in range(len(choices)):
        play(policy, params, users, rng, choices[i])


@njit
def happens(policy, params, users, event, choices, rng):
    """Play until the event's last user; return whether the event happens."""
    play(policy, params, users, rng, choices)
    return score(event, choices) >= event.threshold


# Neighbour 1 is the likelier one by the choice of the event; its probability is unknown.
AUDIT = Audit(families=("locally_private",), inputs=configure, event=happens, arguments=arguments)
