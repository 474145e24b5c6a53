"""Histories of pulled arms and rewards (section 2.1 of Neel & Roth 2018), from a simulation or from a file."""

import sys
from array import array
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from privarms.errors import PrivarmsError
from privarms.files.whole import csv_rows
from privarms.ranges import dimensions, finite, same_shape, whole


class History(NamedTuple):
    """The pulled arms and the rewards of one run of T rounds; every arm was pulled at least once.

    arms: int64[T], in [0, K); rewards: float64[T], in [0, 1]; K: the number of arms
    """

    arms: np.ndarray
    rewards: np.ndarray
    K: int

    @property
    def pulls(self) -> np.ndarray:
        """Return int64[K], the number of pulls of each arm; all >= 1."""
        return np.bincount(self.arms, minlength=self.K)

    @property
    def sums(self) -> np.ndarray:
        """Return float64[K], the sum of the rewards of each arm."""
        return np.bincount(self.arms, weights=self.rewards, minlength=self.K)


class Totals(NamedTuple):
    """Totals per arm of one run of T rounds; every arm was pulled at least once.

    pulls: int64[K], the number of pulls; sums: float64[K], the sum of the rewards
    binary: whether every reward is 0 or 1
    """

    pulls: np.ndarray
    sums: np.ndarray
    binary: bool

    @property
    def K(self) -> int:
        """Return the number of arms."""
        return len(self.pulls)

    @property
    def T(self) -> int:
        """Return the number of rounds."""
        return int(self.pulls.sum())


def least_pulled(pulls, ties=None):
    """Return the arm with the fewest pulls; pulls: whole numbers, [K] -> an arm, [R, K] -> int64[R].

    ties: finite numbers of the same shape as `pulls`; among tied arms the one with the largest number wins. With random
    numbers every tied arm has the same chance. Without `ties` the lowest index wins. Raises ValueError for other pulls
    or ties.
    """
    pulls = _checked(pulls, ties)
    return _first(pulls == pulls.min(axis=-1, keepdims=True), ties)


def most_pulled(pulls, ties=None):
    """Return the arm with the most pulls; pulls, ties and errors as in `least_pulled`."""
    pulls = _checked(pulls, ties)
    return _first(pulls == pulls.max(axis=-1, keepdims=True), ties)


def _checked(pulls, ties) -> np.ndarray:
    whole(0, pulls=pulls)
    if ties is not None:
        finite(ties=ties)
        same_shape(pulls=pulls, ties=ties)
    pulls = np.asarray(pulls)
    if not pulls.shape or not pulls.shape[-1]:
        raise ValueError(f"pulls: expected the pulls of at least one arm; found the shape {pulls.shape}")
    return pulls


def _first(tied, ties):
    return np.argmax(tied if ties is None else np.where(tied, ties, -np.inf), axis=-1)


def read_history(path: Path | str, K: int | None = None) -> History:
    """Return the history in a CSV file with the columns arm (0, 1, ...) and reward (in [0, 1]), one line per round.

    path: "-" is the standard input
    K: the number of arms (default: highest arm in the file + 1, so a highest arm without pulls is missed). Other
    columns are ignored. Raises PrivarmsError, with file, line and column, for the first malformed entry, and ValueError
    for a K that is not a whole number >= 1.
    """
    arms, rewards = array("q"), array("d")
    for arm, reward in _rounds(path, K):
        arms.append(arm)
        rewards.append(reward)
    history = History(np.array(arms), np.array(rewards), max(arms) + 1 if K is None else int(K))
    _check_pulled(path, set(arms), history.K)
    return history


def read_totals(path: Path | str, K: int | None = None) -> Totals:
    """Return the totals of the history in a CSV file, whose size does not matter: the rounds are not kept.

    path, K, errors: as for `read_history`
    """
    pulls, sums, others = {}, {}, 0
    for arm, reward in _rounds(path, K):
        pulls[arm] = pulls.get(arm, 0) + 1
        sums[arm] = sums.get(arm, 0.0) + reward
        others += reward not in (0.0, 1.0)
    K = max(pulls) + 1 if K is None else int(K)
    _check_pulled(path, pulls.keys(), K)
    each = range(K)
    return Totals(np.array([pulls[a] for a in each]), np.array([sums[a] for a in each]), not others)


def _rounds(path: Path | str, K: int | None) -> Iterator[tuple[int, float]]:
    """Yield the arm and the reward of each round of a file."""
    if K is not None:
        dimensions(0, K=K)
        whole(1, K=K)
        K = int(K)
    rows = _rows(path)
    path = _named(path)
    _, header = next(rows)
    for name in ("arm", "reward"):
        if header.count(name) != 1:
            raise PrivarmsError(
                f"{path}: line 1: expected one column named {name}; found the columns {', '.join(header)}. Name the "
                "columns arm and reward."
            )
    at_arm, at_reward = header.index("arm"), header.index("reward")
    expected, line = "a whole number from 0 to 2^53 - 1" if K is None else f"a whole number from 0 to {K - 1}", None
    beyond = 2**53 if K is None else K
    for line, row in rows:
        arm, reward = _number(row[at_arm]), _number(row[at_reward])
        if not (0 <= arm < beyond and arm.is_integer()):
            raise _wrong(path, line, "arm", expected, row[at_arm])
        if not 0 <= reward <= 1:
            raise _wrong(path, line, "reward", "a number in [0, 1]", row[at_reward])
        yield int(arm), reward
    if line is None:
        raise PrivarmsError(f"{path}: line 2: expected one line per round; found none. Add the rounds.")


def _rows(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    if str(path) != "-":
        return csv_rows(path)
    if sys.stdin is None:
        raise PrivarmsError(f"{_named(path)}: closed; expected the history as CSV")
    return csv_rows(_named(path), sys.stdin.fileno())


def _named(path: Path | str) -> str:
    return "standard input" if str(path) == "-" else str(path)


def _check_pulled(path: Path | str, pulled: Collection[int], K: int) -> None:
    if len(pulled) < K:
        never = next(arm for arm in range(K) if arm not in pulled)
        raise PrivarmsError(
            f"{_named(path)}: column arm: expected every arm to be pulled at least once; arm {never} is never pulled. "
            "Number the arms 0, 1, ... without gaps and leave out those without data."
        )


def _wrong(path: str, line: int, column: str, expected: str, text: str) -> PrivarmsError:
    return PrivarmsError(f"{path}: line {line}, column {column}: expected {expected}; found {text!r}. Edit this line.")


def _number(text: str) -> float:
    try:
        return float("nan" if "_" in text else text)  # only Python reads 1_0 as 10
    except ValueError:
        return float("nan")
