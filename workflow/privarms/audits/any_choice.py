"""Two tables of rewards that differ in the first reward of one arm: the audit of the choices of any bandit.

Nothing is known of the policy, so that tables and event are chosen by looking: of some tables and of all choices up to
the last round, in runs with a stream of their own that are not counted, the event that tells the neighbours apart best.
Then both are fixed. All rewards are 0, or all are 1, but for the changed one and, in some tables, `LEAD` later ones of
all other arms. Events: the choice of a round is an arm, or is not. Neighbour 1 is the one with which it is likelier.

`promised` is the epsilon that is claimed. The policy is told it or, for a broken twin with half the noise, twice as
much.
"""

import itertools
import math
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.errors import ArmError
from privarms.policies import Policy, functions
from privarms.protocols._loops import compiled

SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-8

LEAD = 2
# Of one table and neighbour; and the stream that they have, which is no other's.
PILOT, PILOT_SEED = 2_000, 20140501


class Inputs(NamedTuple):
    """n_arms: K; rounds: the last one that is looked at; neighbour: 0 or 1."""

    n_arms: int
    rounds: int
    neighbour: int


class Table(NamedTuple):
    """n_arms: K; base: the rewards, 0 or 1; arm: whose first one is the other of the two if `changed`; lead: of all
    other arms so many rewards after the first are the other of the two."""

    n_arms: int
    base: float
    arm: int
    changed: bool
    lead: int


class Event(NamedTuple):
    """The choice of `round` is `arm`, or is not."""

    round: int
    arm: int
    chosen: bool


def configure(K: int, neighbour: Literal[0, 1], rounds: int, promised: float) -> Inputs:
    """One of two tables, for K >= 2 arms and a policy that claims `promised` > 0; looked at for `rounds` > K rounds."""
    return Inputs(K, rounds, neighbour)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return those of `happens`: one of the tables and the event, chosen in runs on a stream of their own."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    tables, event = look(functions(Policy, policy), params, inputs.n_arms, rounds, min(PILOT, trials))
    return functions(Policy, policy), params, tables[inputs.neighbour], event, np.zeros(event.round, np.int64)


def look(policy, params, K: int, rounds: int, runs: int) -> tuple[tuple[Table, Table], Event]:
    """Return the tables of neighbours 0 and 1 and the event that tells them apart best in so many runs with each."""
    rng = np.random.default_rng(PILOT_SEED)
    best, tables, event = -math.inf, None, None
    for base, arm, lead in itertools.product((0.0, 1.0), (0, K - 1), (0, LEAD)):
        pair = [Table(K, base, arm, changed, lead) for changed in (False, True)]
        counts = np.zeros((2, rounds, K))
        for one, count in zip(pair, counts, strict=True):
            compiled(_count_choices)(policy, params, one, runs, rng, count)
        for chosen, likelier in itertools.product((True, False), (0, 1)):
            seen = counts if chosen else runs - counts
            margins = _apart(seen[1 - likelier], seen[likelier])
            if margins.max() > best:
                best, tables = margins.max(), (pair[1 - likelier], pair[likelier])
                t, a = np.unravel_index(margins.argmax(), margins.shape)
                event = Event(int(t) + 1, int(a), chosen)
    return tables, event


def _apart(unlikely: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """The log ratio of two counts less two of its standard errors."""
    return np.log((likely + 1) / (unlikely + 1)) - 2 * np.sqrt(1 / (likely + 1) + 1 / (unlikely + 1))


@njit
def _reward(table, arm, pulls):
    """Of the arm's pull number `pulls`, from 0."""
    other = table.changed and pulls == 0 if arm == table.arm else 0 < pulls <= table.lead
    return 1.0 - table.base if other else table.base


@njit
def play(policy, params, table, learns_last, rng, choices):
    """Play one run, and overwrite `choices`, int64[rounds].

    learns_last: whether the policy is told of the last round too
    """
    no_context = np.empty(0)
    pulls = np.zeros(table.n_arms, np.int64)
    state = policy.init(params)
    for t in range(1, len(choices) + 1):
        arm = policy.choose(params, state, no_context, t, rng)
        if not 0 <= arm < table.n_arms:
            raise ArmError(arm, table.n_arms, t)
        choices[t - 1] = arm
        if t < len(choices) or learns_last:
            reward = _reward(table, arm, pulls[arm])
            pulls[arm] += 1
            state = policy.learn(params, state, no_context, arm, reward, t, rng)


@njit
def _count_choices(policy, params, table, runs, rng, counts):
    """Play many runs, and add their choices by round and arm to float64[rounds, K]."""
    choices = np.zeros(len(counts), np.int64)
    for _ in range(runs):
        play(policy, params, table, True, rng, choices)
        for t in range(len(choices)):
            counts[t, choices[t]] += 1


@njit
def happens(policy, params, table, event, choices, rng):
    """Play until the event's round; return whether the event happens."""
    play(policy, params, table, False, rng, choices)
    return (choices[-1] == event.arm) == event.chosen


# Neighbour 1 is the likelier one by the choice of the event; its probability is unknown.
AUDIT = Audit(families=("bandit",), inputs=configure, event=happens, arguments=arguments)
