"""Two tables of rewards that differ in the first reward of one arm: the audit of the choices of any bandit.

Nothing is known of the policy, so that tables and event are chosen by looking: of some tables and of all choices up to
the last round, in runs with a stream of their own that are not counted, the event that tells the neighbours apart best.
Then both are fixed. All rewards are 0, or all are 1, but for the changed one and, in some tables, `LEAD` later ones of
all other arms. Events: the choice of a round is an arm, or is not. Neighbour 1 is the one with which it is likelier.

`promised` is the epsilon that is claimed. The policy is told it or, for a broken twin with half the noise, twice as
much.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.audits.audit import Audit
from privarms.errors import ArmError
from privarms.protocols._loops import compiled

FAMILIES = ("bandit",)
SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-8

LEAD = 2
# Of one table and neighbour; and the stream that they have, which is no other's.
PILOT, PILOT_SEED = 2_000, 20140501


class Inputs(NamedTuple):
    """n_arms: K; rounds: the last one that is looked at; neighbour: 0 or 1; promised: the epsilon that is claimed."""

    n_arms: int
    rounds: int
    neighbour: int
    promised: float


class Table(NamedTuple):
    """base: the rewards, 0 or 1; arm: whose first one is the other of the two if `changed`; lead: of all other arms so
    many rewards after the first are the other of the two."""

    base: float
    arm: int
    changed: bool
    lead: int


class Event(NamedTuple):
    """The choice of `round` is `arm`, or is not."""

    round: int
    arm: int
    chosen: bool


def configure(K: int, neighbour: int, rounds: int, promised: float) -> Inputs:
    """One of two tables, for K >= 2 arms and a policy that claims `promised` > 0; looked at for `rounds` > K rounds."""
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if rounds <= K:
        raise ValueError(f"rounds: expected more than K = {K}; found {rounds}")
    if not 0 < promised < math.inf:
        raise ValueError(f"promised: expected a number > 0; found {promised}")
    return Inputs(int(K), int(rounds), int(neighbour), float(promised))


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the event happens; only the policy is random."""
    rounds = min(inputs.rounds, horizon or inputs.rounds)
    tables, event = look(policy.POLICY, params, inputs.n_arms, rounds, min(PILOT, trials))
    counts = np.zeros((event.round, inputs.n_arms))
    compiled(_choices)(policy.POLICY, params, inputs.n_arms, tables[inputs.neighbour], trials, False, rng, counts)
    chosen = int(counts[-1, event.arm])
    return chosen if event.chosen else trials - chosen


def look(policy, params, K: int, rounds: int, runs: int) -> tuple[tuple[Table, Table], Event]:
    """The tables of neighbours 0 and 1 and the event that tells them apart best in so many runs with each."""
    rng = np.random.default_rng(PILOT_SEED)
    best, found = -math.inf, None
    for base in (0.0, 1.0):
        for arm in (0, K - 1):
            for lead in (0, LEAD):
                pair = [Table(base, arm, changed, lead) for changed in (False, True)]
                counts = np.zeros((2, rounds, K))
                for one, count in zip(pair, counts, strict=True):
                    compiled(_choices)(policy, params, K, one, runs, True, rng, count)
                for chosen in (True, False):
                    seen = counts if chosen else runs - counts
                    for likelier in (0, 1):
                        margins = _apart(seen[1 - likelier], seen[likelier])
                        largest = margins.max()
                        if largest > best:
                            t, a = np.unravel_index(np.argmax(margins), margins.shape)
                            best = largest
                            found = (pair[1 - likelier], pair[likelier]), Event(int(t) + 1, int(a), chosen)
    return found


def _apart(unlikely: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """The log ratio of two counts less two of its standard errors."""
    return np.log((likely + 1) / (unlikely + 1)) - 2 * np.sqrt(1 / (likely + 1) + 1 / (unlikely + 1))


@njit
def _reward(table, arm, pulls):
    """Of the arm's pull number `pulls`, from 0."""
    other = table.changed and pulls == 0 if arm == table.arm else 0 < pulls <= table.lead
    return 1.0 - table.base if other else table.base


@njit
def _choices(policy, params, K, table, runs, learns_last, rng, counts):
    """Count the choices, by round and arm: float64[rounds, K], added to in place.

    learns_last: whether the policy is told of the last round too
    """
    no_context = np.empty(0)
    pulls = np.zeros(K, np.int64)
    rounds = counts.shape[0]
    for _ in range(runs):
        state = policy.init(params)
        pulls[:] = 0
        for t in range(1, rounds + 1):
            arm = policy.choose(params, state, no_context, t, rng)
            if not 0 <= arm < K:
                raise ArmError(arm, K, t)
            counts[t - 1, arm] += 1
            if t < rounds or learns_last:
                reward = _reward(table, arm, pulls[arm])
                pulls[arm] += 1
                state = policy.learn(params, state, no_context, arm, reward, t, rng)


# Neighbour 1 is the likelier one by the choice of the event; its probability is unknown.
AUDIT = Audit(count_events)
