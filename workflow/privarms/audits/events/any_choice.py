"""Audit the choices of any bandit, with or without contexts, on tables of rewards that differ in one reward.

The policy is unknown, so `search` selects the tables and the event, with few runs on a random stream of its own. A
table has the rewards of every arm in the order of its pulls. The changed reward is one of the first arm, of the last
one or of one between, at its pull number 1, 2, 4, 8, ... up to half of the rounds. The other rewards are all 0, all 1,
in turn 0 and 1, coin flips, different for one arm, a draw of Bernoulli arms, or uniform. In some tables one arm has
ones (or zeros) for just so many pulls that the policy's choices begin to depend on it; this number is searched by
bisection.

Contexts, if the family has any, are the same in both tables: drawn once, or one context in all rounds and, in `linear`,
of all arms. In the family `linear` rewards are any real numbers, so there the changed reward is also -OUTSIDE in one
table and OUTSIDE in the other.

`promised` is the claimed epsilon, and `promised_delta` the claimed delta. The policy itself gets this epsilon or, as a
weakened control, twice this epsilon.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.audits.search import Found, fewest, score, search, selected
from privarms.kernels.checks import admit
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions

SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-8

# The pulls of an arm whose reward is changed, from 0; those in the first half of the rounds.
CHANGED = (0, 1, 3, 7, 15, 31, 63, 127, 255)
# Rewards of every other arm that differ from the rest, after its first one.
LEADS = (2, 8)
COIN_FLIPS = (0.5, 0.5, 0.5, 0.25, 0.75)
# Rewards outside of every range that a policy assumes.
OUTSIDE = 100.0
# One table in this number is tried with such rewards too.
SOME = 4
# The seed of the stream of searches.
SEARCH_SEED = 20140501
_searched: dict[tuple, Found] = {}
# The number of different contexts; later rounds repeat them.
CONTEXTS = 64
NO_CONTEXT = np.empty((1, 0))


class Inputs(NamedTuple):
    """n_arms: K; rounds: the last round an event can use; neighbour: 0 or 1; dimensions: of a context, 0 for none.

    promised_delta: the claimed delta
    """

    n_arms: int
    rounds: int
    neighbour: int
    dimensions: int
    promised_delta: float


class Table(NamedTuple):
    """One table of rewards.

    rewards: of each arm in the order of its pulls, float64[K, n]; later pulls repeat them
    arm, pull, value: the changed reward: of this arm at this pull, from 0; no reward if arm is -1
    contexts: of the rounds in turn, float64[n, d] or, if every arm has its own, float64[n, K, d]
    """

    rewards: np.ndarray
    arm: int = -1
    pull: int = 0
    value: float = 0.0
    contexts: np.ndarray = NO_CONTEXT


def configure(
    K: int,
    neighbour: Literal[0, 1],
    rounds: int,
    promised: float,
    dimensions: int = 0,
    promised_delta: float = 0.0,
) -> Inputs:
    """Return the inputs for K >= 2 arms, `rounds` > K rounds and a policy that claims `promised` > 0."""
    if not 2 <= K < rounds:
        raise ValueError(f"rounds: expected more than K = {K}, and K at least 2; found {rounds}")
    return Inputs(K, rounds, neighbour, dimensions, promised_delta)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`: a table and the event, selected in runs on their own stream."""
    return selected(policy, params, find(policy, params, inputs, horizon, trials), inputs.neighbour)


def find(policy, params, inputs, horizon, trials) -> Found:
    """Return the tables of neighbours 0 and 1 and the event that distinguishes them best."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    # The family of a module is its folder; an object of a notebook names its own, by default this one.
    folder = Path(policy.__file__).parent.name if hasattr(policy, "__file__") else "bandit"
    family = getattr(policy, "FAMILY", folder)
    own = functions(Policy, policy)
    return once(look, own, params, family, inputs._replace(neighbour=0), rounds, trials)


def once(search: Callable, policy, params, *others):
    """Return the result of a search. Both neighbours of an audit share it, so it is cached."""
    # The functions themselves, not their names: an edited policy has new functions of the same names.
    key = search, policy, _hashable((params, others))
    if key not in _searched:
        _searched[key] = search(policy, params, *others)
    return _searched[key]


def _hashable(value):
    """Return parameters, numbers and arrays in nested tuples, as nested tuples that can be compared."""
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def look(policy, params, family: str, inputs: Inputs, rounds: int, trials: int) -> Found:
    """Return what `search` finds among all tables of a family for `trials` counted runs."""
    rng = np.random.default_rng(SEARCH_SEED)
    K = inputs.n_arms
    play_runs = partial(loop(_play_runs), policy, params, rng)
    groups = []
    for contexts in _contexts(family, K, inputs.dimensions):

        def shares(rewards: np.ndarray, contexts=contexts) -> np.ndarray:
            choices = np.zeros((fewest(trials), rounds), np.int64)
            play_runs(Table(rewards, contexts=contexts), choices)
            return np.bincount(choices.ravel(), minlength=K) / choices.size

        for number, rewards in enumerate([*_rewards(K, rounds), *_tipping(K, rounds, shares)]):
            outside = family == "linear" and number % SOME == 0
            groups += _neighbours(Table(rewards, contexts=contexts), outside)
    return search(groups, play_runs, rounds, K, trials, inputs.promised_delta)


def _contexts(family: str, K: int, dimensions: int) -> list[np.ndarray]:
    rng = np.random.default_rng(SEARCH_SEED)
    if family == "linear":
        directions = rng.standard_normal((CONTEXTS, K, dimensions))
        drawn = directions / np.linalg.norm(directions, axis=2, keepdims=True)
        # Arms with the same context differ in their rewards only.
        return [drawn, np.full((1, K, dimensions), dimensions**-0.5)]
    return [rng.random((CONTEXTS, dimensions)), np.full((1, dimensions), 0.5)] if dimensions else [NO_CONTEXT]


def _rewards(K: int, n: int) -> list[np.ndarray]:
    """Return arrays of rewards in [0, 1], float64[K, n]."""
    rng = np.random.default_rng(SEARCH_SEED)
    arms, pulls, flat = np.arange(K)[:, None], np.arange(n)[None], np.zeros((K, n))
    first, last = arms == 0, arms == K - 1
    found = [flat, flat + 1, flat + pulls % 2, flat + (arms + pulls) % 2]
    found += [flat + first, flat + last, flat + ~first]
    found += [(rng.random((K, n)) < mean).astype(float) for mean in COIN_FLIPS]
    found += [(rng.random((K, n)) < means).astype(float) for means in (0.5 + 0.25 * last, 0.75 - 0.5 * arms / (K - 1))]
    found += [rng.random((K, n))]
    for base in (0.0, 1.0):
        led = ((pulls > 0) & (pulls <= lead) & ~one for one in (first, last) for lead in LEADS)
        found += [np.where(where, 1 - base, base) for where in led]
    return found


def _tipping(K: int, n: int, shares: Callable) -> list[np.ndarray]:
    """Return rewards that are equal except the first ones of one arm, just enough of them to change the choices.

    shares(rewards): the share of rounds in which each arm is chosen
    """
    pulls, found = np.arange(n), []
    for arm in (0, K - 1):
        for base in (0.0, 1.0):

            def rewards(number: int, arm=arm, base=base) -> np.ndarray:
                table = np.full((K, n), base)
                table[arm, pulls < number] = 1 - base
                return table

            low, high = 0, n
            ends = [shares(rewards(number))[arm] for number in (low, high)]
            while high - low > 1:
                middle = (low + high) // 2
                near_high = abs(shares(rewards(middle))[arm] - ends[1]) < abs(ends[1] - ends[0]) / 2
                low, high = (low, middle) if near_high else (middle, high)
            found += [rewards(low), rewards(high)]
    return found


def _neighbours(table: Table, outside: bool) -> Iterator[list[Table]]:
    """Yield groups of tables; every table after the first of a group is a neighbour of the first one."""
    K, n = table.rewards.shape
    changes = [(arm, pull) for arm in sorted({0, K // 2, K - 1}) for pull in CHANGED if pull < n // 2]
    if outside:
        for arm, pull in changes:
            yield [table._replace(arm=arm, pull=pull, value=sign * OUTSIDE) for sign in (-1, 1)]
    other = 1.0 - np.rint(table.rewards)
    yield [table, *(table._replace(arm=arm, pull=pull, value=other[arm, pull]) for arm, pull in changes)]


def arms(table: Table) -> int:
    """Return K."""
    return len(table.rewards)


def in_words(pair: tuple[Table, Table]) -> str:
    """Return in what two tables differ, with arms and pulls from 1."""
    less, more = pair
    arm, pull = max((less.arm, less.pull), (more.arm, more.pull))
    values = [one.value if one.arm == arm else one.rewards[arm, pull] for one in (more, less)]
    return f"reward number {pull + 1} of arm {arm + 1} was {values[0]:g} instead of {values[1]:g}"


@njit
def _reward(table, arm, pulls):
    """Return the arm's reward at its pull number `pulls`, from 0."""
    if arm == table.arm and pulls == table.pull:
        return table.value
    return table.rewards[arm, pulls % table.rewards.shape[1]]


@njit
def _of_arm(context, arm):
    return context[arm] if context.ndim == 2 else context


@njit(inline="always")
def play(policy, params, table, learns_last, rng, choices):
    """Play one run, and overwrite `choices`, int64[rounds].

    learns_last: whether the policy also learns the reward of the last round
    """
    contexts = table.contexts
    n_arms = len(table.rewards)
    pulls = np.zeros(n_arms, np.int64)
    state = policy.init(params)
    for t in range(1, len(choices) + 1):
        context = contexts[(t - 1) % len(contexts)]
        arm = policy.choose(params, state, context, t, rng)
        admit(policy, arm, n_arms, t)
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
def happens(policy, params, table, event, choices, rng):
    """Play until the event's last round; return whether the event happens."""
    play(policy, params, table, False, rng, choices)
    return score(event, choices) >= event.threshold


# The type of an input, for files.
INPUT = Table
# The event is chosen so that it is likelier with neighbour 1; its probability is unknown.
AUDIT = Audit(
    families=("bandit", "linear", "contextual"),
    inputs=configure,
    event=happens,
    arguments=arguments,
    changed="One reward was changed, at pull number 1, 2, 4, 8, ... up to half of the rounds, of one of up to three "
    "arms, with {K} arms, over {rounds} rounds, in about 30 tables of rewards: alike, in turn, coin flips, one arm "
    "better, draws of an instance; in the family linear also from -100 to 100.",
)
