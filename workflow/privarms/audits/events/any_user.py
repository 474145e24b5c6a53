"""Audit any locally private bandit on two runs that differ in the first user.

A user's message must hide the user's context and reward. The format of messages is unknown here, so the audit uses the
arms of all later users, which depend on the messages. The first user's own arm, which no other user knows, is left out.

The first user's context is all 0 or all 1, and the reward is 0 or 1. All other rewards are equal, and all other
contexts are drawn once. The two first users differ in the reward, or in reward and context. Pilot runs, which are not
counted, select users and event as in `any_choice`. `promised` is the claimed epsilon (Ma et al. 2025, definition 2.1).
"""

import itertools
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.audits.events.any_choice import CONTEXTS, PILOT, PILOT_SEED, Event, Inputs, best_event, once, score
from privarms.kernels.checks import admit
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions

SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-7


class Users(NamedTuple):
    """n_arms: K; reward: of the first user; others: the reward of every other user.

    contexts: float64[n, d]; row 0 is the first user's, later users have the other rows in turn
    """

    n_arms: int
    reward: float
    others: float
    contexts: np.ndarray


def configure(K: int, neighbour: Literal[0, 1], rounds: int, promised: float, dimensions: int = 0) -> Inputs:
    """Return the inputs for K >= 2 arms, `rounds` users and a policy that claims `promised` > 0."""
    return Inputs(K, rounds, neighbour, dimensions)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`: the users and the event, selected in pilot runs on their own stream."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    own = functions(Policy, policy)
    users, event = once(look, own, params, inputs._replace(neighbour=0), rounds, min(PILOT, trials))
    return own, params, users[inputs.neighbour], event, np.zeros(len(event.scores), np.int64)


def look(policy, params, inputs: Inputs, rounds: int, runs: int) -> tuple[tuple[Users, Users], Event]:
    """Return the users of neighbours 0 and 1 and the event that distinguishes them best in `runs` runs each."""
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
    return best_event(pairs, partial(loop(_play_runs), policy, params, rng), rounds, runs)


@njit(inline="always")
def play(policy, params, users, rng, choices):
    """Play one run, and overwrite `choices`, int64[rounds], with the arms of all users, and with 0 for the first."""
    state = policy.init(params, rng)
    for user in range(len(choices)):
        context = users.contexts[1 + (user - 1) % (len(users.contexts) - 1) if user else 0]
        arm = policy.choose(params, state, context, rng)
        admit(policy, arm, users.n_arms, user + 1)
        choices[user] = arm if user else 0
        policy.learn(params, state, 0, user, context, arm, users.others if user else users.reward, rng)


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


# The event is chosen so that it is likelier with neighbour 1; its probability is unknown.
AUDIT = Audit(
    families=("locally_private",),
    inputs=configure,
    event=happens,
    arguments=arguments,
    changed="Only the first user was changed, in the reward or in reward and context, with {K} arms, over {rounds} "
    "users whose rewards are alike.",
)
