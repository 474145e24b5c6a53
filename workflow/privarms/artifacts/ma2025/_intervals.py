"""Intervals of sums of independent means: how many replicates they rest on where each mean has its own variance."""

import math
from collections.abc import Sequence
from dataclasses import replace

from privarms.verdict import Measured


def resting_on(errors: Sequence[float], replicates: Sequence[float]) -> float:
    """How many replicates a single mean would have whose standard error is known as well as that of a sum of
    independent ones: Welch and Satterthwaite's degrees of freedom, and one.

    errors: the summands' standard errors; replicates: theirs, each at least 2
    """
    squares = [error**2 for error in errors]
    below = sum(s**2 / (n - 1) for s, n in zip(squares, replicates, strict=True) if n > 1)
    return 1 + sum(squares) ** 2 / below if below > 0 else min(replicates)


def summed(value: float, errors: Sequence[float], replicates: Sequence[float], note: str = "") -> Measured:
    """A value whose error is that of a sum of independent means with these errors; it says the fewest replicates."""
    se = math.hypot(*errors)
    if se > 0 and min(replicates) > 1 and math.isfinite(se):
        low, high = replace(Measured(value, se), replicates=resting_on(errors, replicates)).interval
        return Measured(value, se, int(min(replicates)), note, low, high)
    return Measured(value, se, int(min(replicates)), note)


def part(value: float, errors: Sequence[float], replicates: Sequence[float]) -> Measured:
    """The same as a part of an extreme, which makes its interval wider."""
    return Measured(value, math.hypot(*errors), resting_on(errors, replicates))


def told(found: Measured, replicates: float, note: str) -> Measured:
    """An extreme of parts, with its ends, the replicates of a cell and a sentence."""
    low, high = found.interval
    return replace(found, replicates=int(replicates), note=note, low=low, high=high)
