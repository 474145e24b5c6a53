"""Search for the pair of neighbouring inputs, and for the event, that tell a policy's choices apart best.

The output of a bandit is its sequence of choices. Runs on many pairs of inputs are compared: a few runs of every pair,
or of a random part of the pairs if the search would take longer than the count, then more runs of the pairs that differ
most (successive halving). The runs of the search are not counted, so the bound from fresh runs of the selected pair and
event is valid however many were tried. StatDP (Ding et al. 2018) and DP-Sniper (Bichsel et al. 2021) split the runs in
the same way, and DP-Sniper also learns its event.

Every event is that a score of the choices reaches a threshold. The score is a sum over rounds of a number that depends
on the choice and the one before it. Four kinds of scores are tried, the second and the last one for the last few pairs:

- one choice: whether the choice of one round is, or is not, a given arm;
- pulls: how often an arm was chosen up to a round;
- sequence: the log ratio of the choices' probabilities, if each choice depended on the one before it only. This one
  also reveals a budget that is spent again in every batch;
- discriminant: Fisher's linear discriminant of pulls and changes of the arm in windows of rounds.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privarms.policies import Policy, functions

# The runs of each step with each input, as a share of the trials that are counted, and the pairs that go on.
STEPS = ((1 / 64, 24), (1 / 16, 4), (1 / 4, 1))
# Longer runs are fewer: a step has at most about this number of rounds per counted trial, but no pair has less than
# `fewest` runs. If this made more runs than are counted with both inputs, some pairs, drawn at random, are left out.
ROUNDS_PER_TRIAL = 150
SEED = 20140502
# The number of rounds after which pulls are counted, and of windows of the discriminant, and its ridge.
WINDOWS, RIDGE = 24, 0.1
# The digits of a score that count.
DIGITS = 7


class Event(NamedTuple):
    """The sum of scores[t, arm of round t, arm of round t + 1] is at least `threshold`.

    scores: float64[rounds, K, K]; arm 0 counts as the arm of round 0
    """

    scores: np.ndarray
    threshold: float


class Found(NamedTuple):
    """The result of a search: the inputs, the less likely one first, the event, and its margin in the search's runs.

    tried, pairs: the number of pairs of inputs that were tried, and of all
    """

    inputs: tuple[Any, Any]
    event: Event
    margin: float
    tried: int = 1
    pairs: int = 1


@njit
def score(event, choices):
    """Return the sum of the scores of one run's choices, int64[rounds]."""
    total, before = 0.0, 0
    for t in range(len(event.scores)):
        total += event.scores[t, before, choices[t]]
        before = choices[t]
    return total


def search(
    groups: Sequence[Sequence], play_runs: Callable, rounds: int, K: int, trials: int, delta: float = 0.0
) -> Found:
    """Return the pair of inputs and the event with the largest margin.

    groups: in each group every input after the first is a neighbour of the first one
    play_runs(inputs, choices): overwrites choices, int64[runs, rounds], with one run per row
    trials: the number of fresh runs with each input that will be counted
    delta: of (epsilon, delta)-privacy, by which the larger probability may exceed its share
    """
    pairs = [(i, j) for i, group in enumerate(groups) for j in range(1, len(group))]
    every, most, ranked = len(pairs), max(1, 2 * trials // fewest(trials)), []
    if every > most:
        drawn = np.random.default_rng(SEED).choice(every, most, replace=False)
        pairs = [pairs[i] for i in np.sort(drawn)]
    for step, (share, keep) in enumerate(STEPS):
        runs = max(fewest(trials), min(int(share * trials), ROUNDS_PER_TRIAL * trials // (rounds * len(pairs))))
        ranked = []
        for i, others in groupby(pairs, key=lambda pair: pair[0]):
            base = _played(groups[i][0], play_runs, runs, rounds)
            for _, j in others:
                played = base, _played(groups[i][j], play_runs, runs, rounds)
                for less in (0, 1):
                    last = step == len(STEPS) - 1
                    for event, margin in candidates(played[less], played[1 - less], K, delta, everything=last):
                        ranked.append((margin, i, j, less, event))
        ranked.sort(key=lambda one: -one[0])
        pairs = sorted(list(dict.fromkeys(one[1:3] for one in ranked))[:keep])
    margin, i, j, less, event = ranked[0]
    pair = groups[i][0], groups[i][j]
    return Found((pair[less], pair[1 - less]), event, margin, min(every, most), every)


def selected(policy, params, found: Found, neighbour: int) -> tuple:
    """Return the arguments of the kernel of one trial: policy, parameters, input, event, and room for the choices."""
    own = functions(Policy, policy)
    return own, params, found.inputs[neighbour], found.event, np.zeros(len(found.event.scores), np.int64)


def fewest(trials: int) -> int:
    """Return the smallest number of runs with one input that a search for `trials` counted trials makes."""
    return max(8, min(48, trials // 400))


def rounds_per_trial(rounds: int) -> int:
    """Return about how many rounds a search takes per counted trial, for a policy that is played over `rounds`."""
    # The first step and the two shorter ones; many pairs have a first input of their own.
    return max(2 * rounds, ROUNDS_PER_TRIAL) + 4 * ROUNDS_PER_TRIAL


def _played(inputs, play_runs: Callable, runs: int, rounds: int) -> np.ndarray:
    choices = np.zeros((runs, rounds), np.int64)
    play_runs(inputs, choices)
    return choices


def candidates(
    unlikely: np.ndarray, likely: np.ndarray, K: int, delta: float = 0.0, everything: bool = True
) -> Iterator[tuple[Event, float]]:
    """Yield events that are likelier with the second input, and the margin of each: the log ratio of its two counts.

    unlikely, likely: the choices with each of two inputs, int64[runs, rounds]
    everything: whether the slower kinds, pulls and discriminant, are tried too

    Two standard errors are subtracted from a log ratio. Scores are learned from the first half of the runs.
    """
    yield _one_choice(unlikely, likely, K, delta)
    half = len(likely) // 2
    seen, fresh = ((unlikely[:half], likely[:half]), (unlikely[half:], likely[half:]))
    scores = [_log_ratios(*seen, K)]
    if everything:
        scores += _pulls(likely.shape[1], K)
        scores += _discriminant(*seen, K)
    for one in scores:
        yield _with_threshold(one, *fresh, delta)


def _one_choice(unlikely: np.ndarray, likely: np.ndarray, K: int, delta: float) -> tuple[Event, float]:
    runs = len(likely)
    counts = [np.stack([(played == arm).sum(axis=0) for arm in range(K)], axis=1) for played in (unlikely, likely)]
    # [chosen or not, round, arm]
    few, many = counts
    margins = np.stack([_margin(few, many, runs, delta), _margin(runs - few, runs - many, runs, delta)])
    opposite, t, arm = np.unravel_index(margins.argmax(), margins.shape)
    scores = np.zeros((t + 1, K, K))
    scores[t, :, arm] = 1
    if opposite:
        scores[t] = 1 - scores[t]
    return Event(scores, 0.5), float(margins.max())


def _log_ratios(unlikely: np.ndarray, likely: np.ndarray, K: int) -> np.ndarray:
    rounds = likely.shape[1]
    logs = []
    for played in (unlikely, likely):
        counts = np.bincount(_places(played, K).ravel(), minlength=rounds * K * K).reshape(rounds, K, K) + 0.5
        logs.append(np.log(counts / counts.sum(axis=2, keepdims=True)))
    return logs[1] - logs[0]


def _pulls(rounds: int, K: int) -> Iterator[np.ndarray]:
    for end in _ends(rounds):
        for arm in range(K):
            for sign in (1.0, -1.0):
                scores = np.zeros((end, K, K))
                scores[:, :, arm] = sign
                yield scores


def _discriminant(unlikely: np.ndarray, likely: np.ndarray, K: int) -> Iterator[np.ndarray]:
    rounds = likely.shape[1]
    starts = np.array([0, *_ends(rounds)[:-1]])
    features = []
    for played in (unlikely, likely):
        counted = [played == arm for arm in range(K)] + [played != _before(played)]
        features.append(np.hstack([np.add.reduceat(one.astype(float), starts, axis=1) for one in counted]))
    spread = np.cov(features[0], rowvar=False) + np.cov(features[1], rowvar=False)
    # A feature may be constant, and the pulls of a window add up to its length.
    difference = features[1].mean(axis=0) - features[0].mean(axis=0)
    weights = np.linalg.solve(spread + RIDGE * np.eye(len(spread)), difference).reshape(K + 1, len(starts))
    window = np.searchsorted(starts, np.arange(rounds), side="right") - 1
    changes = weights[K, window][:, None, None] * (1 - np.eye(K))
    yield weights[:K, window].T[:, None, :] + changes


def _with_threshold(scores: np.ndarray, unlikely: np.ndarray, likely: np.ndarray, delta: float) -> tuple[Event, float]:
    K = scores.shape[1]
    sums = (scores.ravel()[_places(played[:, : len(scores)], K)].sum(axis=1) for played in (unlikely, likely))
    values = [np.sort(np.round(some, DIGITS)) for some in sums]
    thresholds = np.unique(np.concatenate(values))
    few, many = (len(some) - np.searchsorted(some, thresholds) for some in values)
    margins = _margin(few, many, len(likely), delta)
    # A sum in another order may be rounded otherwise.
    return Event(scores, float(thresholds[margins.argmax()]) - 10.0**-DIGITS), float(margins.max())


def _margin(unlikely: np.ndarray, likely: np.ndarray, runs: int, delta: float) -> np.ndarray:
    """Return the log ratio of two counts of `runs` each minus two of its standard errors."""
    errors = np.sqrt(1 / (likely + 1) + 1 / (unlikely + 1))
    return np.log(np.maximum(likely - delta * runs, 0) + 1) - np.log(unlikely + 1) - 2 * errors


def _before(played: np.ndarray) -> np.ndarray:
    before = np.zeros_like(played)
    before[:, 1:] = played[:, :-1]
    return before


def _places(played: np.ndarray, K: int) -> np.ndarray:
    """Return the flat index of each choice in scores, float64[rounds, K, K]."""
    return (np.arange(played.shape[1])[None] * K + _before(played)) * K + played


def _ends(rounds: int) -> list[int]:
    """Return numbers of rounds, evenly spaced on a logarithmic axis, the last one `rounds`."""
    return np.unique(np.rint(np.geomspace(1, rounds, min(WINDOWS, rounds))).astype(int)).tolist()


def described(event: Event) -> str:
    """Return an event in words, with arms and rounds from 1."""
    scores = event.scores
    t = len(scores)
    last = scores[-1, 0]
    if not scores[:-1].any() and (scores[-1] == last).all() and set(last.tolist()) <= {0.0, 1.0}:
        (arm,) = np.flatnonzero(last == (1.0 if last.sum() == 1 else 0.0))[:1] + 1
        return f"the choice of round {t} is {'' if last.sum() == 1 else 'not '}arm {arm}"
    if (scores == scores[:1, :1]).all() and np.count_nonzero(scores[0, 0]) == 1:
        arm = int(np.flatnonzero(scores[0, 0])[0])
        most = round(-event.threshold) if scores[0, 0, arm] < 0 else None
        many = f"at most {most}" if most is not None else f"at least {round(event.threshold)}"
        return f"arm {arm + 1} is chosen {many} times in {t} rounds"
    weights = np.ptp(scores, axis=(1, 2))
    most = sorted(weights.argsort(kind="stable")[::-1][:3] + 1)
    rounds = " and ".join(map(str, most[-2:])) if len(most) < 3 else f"{most[0]}, {most[1]} and {most[2]}"
    return (
        f"a score of {t} choices, whose largest weights are in the rounds {rounds}, is at least {event.threshold:.4g}"
    )
