"""A dataset before its reduction: features (numbers, and levels of categories that become one-hot), labels, sources."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

CHUNK = 2**15


class Features(NamedTuple):
    """One row per user. One-hot columns are built for CHUNK rows at a time: 600,000 rows of 93 columns are large.

    numbers: float64[n, q]; number_names: q names
    codes: int16[n, c], an index into the levels of the column, or -1 for none of them
    columns: c names; levels: the levels of each column
    """

    numbers: np.ndarray
    number_names: list[str]
    codes: np.ndarray
    columns: list[str]
    levels: list[list[str]]

    @property
    def names(self) -> list[str]:
        """Return the p = q + (number of levels) names, in the order of `dense`."""
        one_hot = [f"{c}={level}" for c, levels in zip(self.columns, self.levels, strict=True) for level in levels]
        return [*self.number_names, *one_hot]

    def dense(self, rows) -> np.ndarray:
        """Return float64[m, p] for a slice or an array of row numbers: the numbers, then 0 or 1 for each level."""
        numbers, codes = self.numbers[rows], self.codes[rows]
        start = numbers.shape[1]
        full = np.zeros((len(numbers), start + sum(map(len, self.levels))))
        full[:, :start] = numbers
        for j, levels in enumerate(self.levels):
            has = np.flatnonzero(codes[:, j] >= 0)
            full[has, start + codes[has, j]] = 1.0
            start += len(levels)
        return full

    def chunks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        for first in range(0, len(rows), CHUNK):
            yield self.dense(rows[first : first + CHUNK])

    def take(self, rows: np.ndarray) -> "Features":
        return self._replace(numbers=self.numbers[rows], codes=self.codes[rows])


def of_numbers(numbers: np.ndarray, names: list[str]) -> Features:
    """Return features float64[n, q] without categories."""
    return Features(numbers, names, np.zeros((len(numbers), 0), np.int16), [], [])


class Table(NamedTuple):
    """A dataset before its reduction: complete rows in the order of the files.

    features: n rows; labels: int64[n], an index into label_names;
    sources: int64[n], 0 for the target and m for source_names[m - 1]
    files: file -> {rows, dropped, dropped_because}, the numbers of read and dropped rows and the reasons
    remarks: what the user should know about the content, one line each
    """

    features: Features
    labels: np.ndarray
    label_names: list[str]
    sources: np.ndarray
    source_names: list[str]
    files: dict[str, dict]
    remarks: tuple[str, ...] = ()
