"""Sentences that the numbers make: what a finding is, and how it is decided.

A statement is decided as a claim is (`verdict`): its 99.9% interval, of several cells together (Bonferroni), is inside
of what the statement allows, outside of it, or neither. Which sentence is said follows from that; nothing else is.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from privarms.claims.verdict import Measured, Region, quantile

VERDICTS = {"reproduced": "holds", "differs": "does not hold", "inconclusive": "not decided"}
HALF = 0.5


class Finding(NamedTuple):
    """A row of the table.

    holds_in, fails_in, open_in: in how many cells or settings the statement surely holds, surely does not, and is not
    decided; value, low, high: of the number in the sentence, with its interval, where it has one
    """

    about: str
    verdict: str
    sentence: str
    statement: str
    holds_in: int
    fails_in: int
    open_in: int
    value: float
    low: float
    high: float


def decided(
    about: str,
    statement: str,
    parts: Sequence[Measured],
    region: Region,
    shown: Measured,
    head: str,
    *,
    reproduced: str = "",
    differs: str = "",
    inconclusive: str = "",
) -> Finding:
    """Return the finding about several numbers, which hold together.

    Its sentence is the head and what follows it at this verdict, in which {holds}, {fails}, {open} and {n} stand for
    the counts and {value} for the number that is shown.
    """
    decisions = [region.decide(part) for part in parts]
    holds, fails, n = decisions.count("reproduced"), decisions.count("differs"), len(parts)
    verdict = "differs" if fails else "reproduced" if holds == n else "inconclusive"
    tail = {"reproduced": reproduced, "differs": differs, "inconclusive": inconclusive}[verdict]
    sentence = (head + tail).format(holds=holds, fails=fails, open=n - holds - fails, n=n, value=in_words(shown))
    counts = holds, fails, n - holds - fails
    return Finding(about, VERDICTS[verdict], sentence, statement, *counts, shown.value, *shown.interval)


def in_words(measured: Measured) -> str:
    """Return a number and, where it has one, its interval."""
    low, high = measured.interval
    if not np.isfinite(high - low) or low == high:
        return f"{measured.value:.3g}"
    return f"{measured.value:.3g} ({low:.3g} to {high:.3g})"


def of_several(value: float, se: float, replicates: int, together: int) -> Measured:
    """Return a number whose interval holds together with so many others."""
    half = quantile(int(replicates), together) * se if se == se else np.inf
    return Measured(float(value), float(se), int(replicates), "", float(value - half), float(value + half))


def of_rows(rows: pd.DataFrame, column: str, together: int, se: str = "") -> list[Measured]:
    """Return a column's numbers, whose intervals hold together with so many; se: the column of their errors."""
    columns = zip(rows[column], rows[se or f"{column}_se"], rows["replicates"], strict=True)
    return [of_several(*one, together) for one in columns]


def surest(parts: Sequence[Measured]) -> int:
    """Return the index of the number that is most surely large."""
    return max(range(len(parts)), key=lambda i: (parts[i].low, parts[i].value))


def largest(parts: Iterable[Measured]) -> Measured:
    """Return the first of the largest numbers."""
    return max(parts, key=lambda part: part.value)


def by_curve(rows: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame, list[Measured]]]:
    """Yield each curve with its rows that have a number in the column, and these numbers."""
    for curve, part in rows[rows[column].notna()].groupby("curve", sort=False):
        yield curve, part, of_rows(part, column, len(rows))


def table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return a row per finding; counts are empty where nothing was counted."""
    return pd.DataFrame(list(findings), columns=Finding._fields)
