"""Intervals of sums of independent means: how many replicates they rest on where each mean has its own variance.

Runs that all agree do not make a mean exact: they bound how often a run does not.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from privarms.claims.verdict import CONFIDENCE, ROUNDING, Measured, quantile
from privarms.inference.proportions import clopper_pearson


def resting_on(errors: Sequence[float], replicates: Sequence[float]) -> float:
    """How many replicates a single mean would have whose standard error is known as well as that of a sum of
    independent ones: Welch and Satterthwaite's degrees of freedom, and one.

    errors: the summands' standard errors; replicates: theirs, each at least 2
    """
    squares = [error**2 for error in errors]
    below = sum(s**2 / (n - 1) for s, n in zip(squares, replicates, strict=True) if n > 1)
    return 1 + sum(squares) ** 2 / below if below > 0 else min(replicates)


def agree(error: float, value: float, summands: int) -> bool:
    """Whether the runs behind one of so many summands do not differ, but for rounding."""
    return error <= ROUNDING * abs(value) / summands


def summed(
    value: float,
    errors: Sequence[float],
    replicates: Sequence[float],
    note: str = "",
    reach: Sequence[tuple[float, float]] | None = None,
) -> Measured:
    """A value whose error is that of a sum of independent means with these errors; it says the fewest replicates.

    reach: how far at most the value falls and rises if all runs behind a summand were others than those seen. Where
    they agree, the share of other ones is at most Clopper and Pearson's end for none in as many; without a reach
    nothing is known of such a summand
    """
    se = math.hypot(*errors)
    constant = [i for i, e in enumerate(errors) if agree(e, value, len(errors)) and (reach is None or any(reach[i]))]
    if constant:
        ends = (math.inf, math.inf) if reach is None else _with_constant(value, errors, replicates, reach, constant)
        return Measured(value, se, int(min(replicates)), note, value - ends[0], value + ends[1])
    if se > 0 and min(replicates) > 1 and math.isfinite(se):
        low, high = replace(Measured(value, se), replicates=resting_on(errors, replicates)).interval
        return Measured(value, se, int(min(replicates)), note, low, high)
    return Measured(value, se, int(min(replicates)), note)


def _with_constant(value: float, errors, replicates, reach, constant: list[int]) -> tuple[float, float]:
    """How far the interval reaches to either side where the runs behind some summands agree (Bonferroni)."""
    varying = [i for i, e in enumerate(errors) if i not in constant and not agree(e, value, len(errors))]
    together = len(constant) + bool(varying)
    below = above = 0.0
    if varying:
        own, runs = [errors[i] for i in varying], [replicates[i] for i in varying]
        below = above = quantile(resting_on(own, runs), together) * math.hypot(*own) if min(runs) > 1 else math.inf
    for i in constant:
        others = float(clopper_pearson(0, int(replicates[i]), 1 - (1 - CONFIDENCE) / together)[1])
        below, above = below + others * reach[i][0], above + others * reach[i][1]
    return below, above


def part(value: float, errors: Sequence[float], replicates: Sequence[float]) -> Measured:
    """The same as a part of an extreme, which makes its interval wider; nothing is known where all runs agree."""
    se = math.hypot(*errors)
    return Measured(value, math.nan if agree(se, value, len(errors)) else se, resting_on(errors, replicates))


def told(found: Measured, replicates: float, note: str) -> Measured:
    """An extreme of parts, with its ends, the replicates of a cell and a sentence."""
    low, high = found.interval
    return replace(found, replicates=int(replicates), note=note, low=low, high=high)
