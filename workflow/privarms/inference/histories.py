"""Histories of pulled arms and rewards (section 2.1 of Neel & Roth 2018), from a simulation or from a file."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from privarms.errors import PrivarmsError
from privarms.files.whole import read_csv
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

    K: the number of arms (default: highest arm in the file + 1, so a highest arm without pulls is missed). Other
    columns are ignored. Raises PrivarmsError, with file, line and column, for the first malformed entry, and ValueError
    for a K that is not a whole number >= 1.
    """
    if K is not None:
        dimensions(0, K=K)
        whole(1, K=K)
        K = int(K)
    header, rows = read_csv(Path(path))
    header[0] = header[0].removeprefix("\ufeff")  # the byte order mark that Excel writes first
    for name in ("arm", "reward"):
        if header.count(name) != 1:
            raise PrivarmsError(
                f"{path}: line 1: expected one column named {name}; found the columns {', '.join(header)}. Name the "
                "columns arm and reward."
            )
    if not rows:
        raise PrivarmsError(f"{path}: line 2: expected one line per round; found none. Add the rounds.")
    at_arm, at_reward = header.index("arm"), header.index("reward")
    arms, rewards = np.empty(len(rows)), np.empty(len(rows))
    expected = "a whole number from 0 to 2^53 - 1" if K is None else f"a whole number from 0 to {K - 1}"
    for t, row in enumerate(rows):
        arms[t], rewards[t] = _number(row[at_arm]), _number(row[at_reward])
        if not (arms[t].is_integer() and 0 <= arms[t] < (2**53 if K is None else K)):
            raise _wrong(path, t, "arm", expected, row[at_arm])
        if not 0 <= rewards[t] <= 1:
            raise _wrong(path, t, "reward", "a number in [0, 1]", row[at_reward])
    history = History(arms.astype(np.int64), rewards, int(arms.max()) + 1 if K is None else K)
    pulled = np.unique(history.arms)
    if len(pulled) < history.K:
        never = int(np.append(pulled != np.arange(len(pulled)), True).argmax())
        raise PrivarmsError(
            f"{path}: column arm: expected every arm to be pulled at least once; arm {never} is never pulled. Number "
            "the arms 0, 1, ... without gaps and leave out those without data."
        )
    return history


def _wrong(path, t: int, column: str, expected: str, text: str) -> PrivarmsError:
    return PrivarmsError(f"{path}: line {t + 2}, column {column}: expected {expected}; found {text!r}. Edit this line.")


def _number(text: str) -> float:
    try:
        return float("nan" if "_" in text else text)  # only Python reads 1_0 as 10
    except ValueError:
        return float("nan")
