"""Audit the choices of any bandit, with or without contexts, on tables that differ in the first reward of one arm.

The policy is unknown, so pilot runs select the tables and the event. They use a random stream of their own and are not
counted. They select the pair of tables and the event that distinguish the neighbours best; then both are fixed. All
rewards of a table are 0, or all are 1. The changed reward is the exception and, in some tables, so are the next `LEAD`
rewards of every other arm. Contexts, if the family has any, are drawn once and are the same in both tables.

Two kinds of event are tried. Either the choice of one round is, or is not, a given arm; or the sequence of choices has
a large score. The score is a sum over rounds of log ratios of the neighbours' probabilities of a choice, given the
choice before it. The first half of the pilot runs estimates these ratios, the second half fixes the threshold. Only the
sequence reveals a budget that is spent again in every batch. Neighbour 1 is chosen to be the likelier one.

`promised` is the claimed epsilon. The policy itself gets this epsilon or, as a weakened control, twice this epsilon.
"""

import itertools
import math
import pickle
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.kernels.checks import admit
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions

SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-8

LEAD = 2
# Pilot runs per table and neighbour, and the seed of their own stream.
PILOT, PILOT_SEED = 4_000, 20140501
_searched: dict[tuple, tuple] = {}
# The number of different contexts; later rounds repeat them.
CONTEXTS = 64
NO_CONTEXT = np.empty((1, 0))


class Inputs(NamedTuple):
    """n_arms: K; rounds: the last round an event can use; neighbour: 0 or 1; dimensions: of a context, 0 for none."""

    n_arms: int
    rounds: int
    neighbour: int
    dimensions: int


class Table(NamedTuple):
    """One table of rewards, each `base` or, if altered, 1 - `base`.

    n_arms: K; base: 0 or 1; arm: its first reward is altered if `changed`; lead: of every other arm this number of
        rewards after the first is altered
    contexts: of the rounds in turn, float64[n, d] or, if every arm has its own, float64[n, K, d]
    """

    n_arms: int
    base: float
    arm: int
    changed: bool
    lead: int
    contexts: np.ndarray = NO_CONTEXT


class Event(NamedTuple):
    """The sum of scores[t, arm of round t, arm of round t + 1] is at least `threshold`.

    scores: float64[rounds, K, K]; arm 0 counts as the arm of round 0
    """

    scores: np.ndarray
    threshold: float


def configure(K: int, neighbour: Literal[0, 1], rounds: int, promised: float, dimensions: int = 0) -> Inputs:
    """Return the inputs for K >= 2 arms, `rounds` > K rounds and a policy that claims `promised` > 0."""
    return Inputs(K, rounds, neighbour, dimensions)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`: a table and the event, selected in pilot runs on their own stream."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    contexts = NO_CONTEXT
    if inputs.dimensions:
        contexts = _contexts(Path(policy.__file__).parent.name, inputs.n_arms, inputs.dimensions)
    own = functions(Policy, policy)
    tables, event = once(look, own, params, inputs.n_arms, rounds, min(PILOT, trials), contexts)
    return own, params, tables[inputs.neighbour], event, np.zeros(len(event.scores), np.int64)


def once(search: Callable, policy: Policy, params, *others):
    """Return the result of a search of pilot runs. Both neighbours of an audit share it, so it is cached."""
    # The functions themselves, not their names: an edited policy has new functions of the same names.
    key = search, policy, pickle.dumps((params, others))
    if key not in _searched:
        _searched[key] = search(policy, params, *others)
    return _searched[key]


def _contexts(family: str, K: int, dimensions: int) -> np.ndarray:
    rng = np.random.default_rng(PILOT_SEED)
    if family == "linear":
        directions = rng.standard_normal((CONTEXTS, K, dimensions))
        return directions / np.linalg.norm(directions, axis=2, keepdims=True)
    return rng.random((CONTEXTS, dimensions))


def look(
    policy, params, K: int, rounds: int, runs: int, contexts: np.ndarray = NO_CONTEXT
) -> tuple[tuple[Table, Table], Event]:
    """Return the tables of neighbours 0 and 1 and the event that distinguishes them best in `runs` runs each."""
    rng = np.random.default_rng(PILOT_SEED)
    settings = itertools.product((0.0, 1.0), (0, K - 1), (0, LEAD))
    pairs = [
        [Table(K, base, arm, changed, lead, contexts) for changed in (False, True)] for base, arm, lead in settings
    ]
    return best_event(pairs, partial(loop(_play_runs), policy, params, rng), rounds, runs)


def best_event(pairs: Iterable, play_runs: Callable, rounds: int, runs: int) -> tuple[tuple, Event]:
    """Return the pair of inputs, the less likely one first, and the event that distinguishes them best.

    play_runs(inputs, choices): overwrites choices, int64[runs, rounds], with one run per row
    """
    best, inputs, event = -math.inf, None, None
    for pair in pairs:
        choices = [np.zeros((runs, rounds), np.int64) for _ in pair]
        for one, played in zip(pair, choices, strict=True):
            play_runs(one, played)
        for likelier in (0, 1):
            for search in (event_of_one_choice, event_of_sequence):
                margin, candidate = search(choices[1 - likelier], choices[likelier], pair[0].n_arms)
                if margin > best:
                    best, inputs, event = margin, (pair[1 - likelier], pair[likelier]), candidate
    return inputs, event


def event_of_one_choice(unlikely: np.ndarray, likely: np.ndarray, K: int) -> tuple[float, Event]:
    """Return the margin and the best event on the choice of one round, from int64[runs, rounds] with each neighbour."""
    runs = len(likely)
    counts = [np.stack([(played == arm).sum(axis=0) for arm in range(K)], axis=1) for played in (unlikely, likely)]
    # [chosen or not, round, arm]
    margins = np.stack([_apart(*counts), _apart(*(runs - count for count in counts))])
    opposite, t, arm = np.unravel_index(margins.argmax(), margins.shape)
    scores = np.zeros((t + 1, K, K))
    scores[t, :, arm] = 1
    if opposite:
        scores[t] = 1 - scores[t]
    return float(margins.max()), Event(scores, 0.5)


def event_of_sequence(unlikely: np.ndarray, likely: np.ndarray, K: int) -> tuple[float, Event]:
    """Return the margin and the best event on all choices together, from int64[runs, rounds] with each neighbour."""
    runs, rounds = likely.shape
    half, shape = runs // 2, (rounds, K, K)
    # The flat index of each choice in `scores`.
    places = [
        np.ravel_multi_index((np.arange(rounds)[None], np.pad(played, ((0, 0), (1, 0)))[:, :-1], played), shape)
        for played in (unlikely, likely)
    ]
    logs = []
    for place in places:
        counts = np.bincount(place[:half].ravel(), minlength=rounds * K * K).reshape(shape) + 0.5
        logs.append(np.log(counts / counts.sum(axis=2, keepdims=True)))
    scores = logs[1] - logs[0]
    values = [np.sort(scores.ravel()[place[half:]].sum(axis=1)) for place in places]
    thresholds = np.unique(np.concatenate(values))
    margins = _apart(*(len(some) - np.searchsorted(some, thresholds) for some in values))
    return float(margins.max()), Event(scores, float(thresholds[margins.argmax()]))


def _apart(unlikely: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """Return the log ratio of two counts minus two of its standard errors."""
    return np.log((likely + 1) / (unlikely + 1)) - 2 * np.sqrt(1 / (likely + 1) + 1 / (unlikely + 1))


@njit
def _reward(table, arm, pulls):
    """Return the arm's reward at its pull number `pulls`, from 0."""
    other = table.changed and pulls == 0 if arm == table.arm else 0 < pulls <= table.lead
    return 1.0 - table.base if other else table.base


@njit
def _of_arm(context, arm):
    return context[arm] if context.ndim == 2 else context


@njit(inline="always")
def play(policy, params, table, learns_last, rng, choices):
    """Play one run, and overwrite `choices`, int64[rounds].

    learns_last: whether the policy also learns the reward of the last round
    """
    contexts = table.contexts
    pulls = np.zeros(table.n_arms, np.int64)
    state = policy.init(params)
    for t in range(1, len(choices) + 1):
        context = contexts[(t - 1) % len(contexts)]
        arm = policy.choose(params, state, context, t, rng)
        admit(policy, arm, table.n_arms, t)
        choices[t - 1] = arm
        if t < len(choices) or learns_last:
            reward = _reward(table, arm, pulls[arm])
            pulls[arm] += 1
            state = policy.learn(params, state, _of_arm(context, arm), arm, reward, t, rng)


@njit(inline="always")
def _play_runs(policy, params, rng, table, choices):
    """Play one run per row of `choices`, int64[runs, rounds], and overwrite it."""
    for i in range(len(choices)):
        play(policy, params, table, True, rng, choices[i])


@njit
def score(event, choices):
    """Return the sum of the scores of one run's choices, int64[rounds]."""
    total, before = 0.0, 0
    for t in range(len(choices)):
        total += event.scores[t, before, choices[t]]
        before = choices[t]
    return total


@njit
def happens(policy, params, table, event, choices, rng):
    """Play until the event's last round; return whether the event happens."""
    play(policy, params, table, False, rng, choices)
    return score(event, choices) >= event.threshold


# The event is chosen so that it is likelier with neighbour 1; its probability is unknown.
AUDIT = Audit(
    families=("bandit", "linear", "contextual"),
    inputs=configure,
    event=happens,
    arguments=arguments,
    changed="Only the first reward of one arm was changed, with {K} arms, over {rounds} rounds of rewards that are "
    "alike (except at most two per other arm).",
)
