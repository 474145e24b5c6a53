"""Intervals of sums of independent means, each with its own variance.

Identical runs do not make a mean exact: they only bound how often another run may differ.
"""

import math
from collections.abc import Sequence

from privarms.claims.verdict import CONFIDENCE, ROUNDING, Measured, quantile
from privarms.inference.proportions import clopper_pearson


def resting_on(errors: Sequence[float], replicates: Sequence[float]) -> float:
    """Return the effective number of replicates of a sum of independent means.

    It is Welch and Satterthwaite's degrees of freedom plus one.
    errors, replicates: of the summands; each has at least 2 replicates
    """
    squares = [error**2 for error in errors]
    below = sum(s**2 / (n - 1) for s, n in zip(squares, replicates, strict=True) if n > 1)
    return 1 + sum(squares) ** 2 / below if below > 0 else min(replicates)


def agree(error: float, value: float, summands: int) -> bool:
    """Return whether all runs of a summand agree up to rounding."""
    return error <= ROUNDING * abs(value) / summands


def summed(
    value: float,
    errors: Sequence[float],
    replicates: Sequence[float],
    note: str = "",
    reach: Sequence[tuple[float, float]] | None = None,
) -> Measured:
    """Return a value with the error of a sum of independent means, and the fewest replicates of a summand.

    reach: per summand, how far the value could fall and rise if every run of that summand were different. If all runs
    of a summand agree, Clopper and Pearson's bound for 0 events limits the share of different runs. Without `reach`,
    the interval is then infinite
    """
    se = math.hypot(*errors)
    constant = [i for i, e in enumerate(errors) if agree(e, value, len(errors)) and (reach is None or any(reach[i]))]
    low = high = None
    if constant:
        ends = (math.inf, math.inf) if reach is None else _with_constant(value, errors, replicates, reach, constant)
        low, high = value - ends[0], value + ends[1]
    elif se > 0 and min(replicates) > 1 and math.isfinite(se):
        low, high = Measured(value, se, resting_on(errors, replicates)).interval
    return Measured(value, se, int(min(replicates)), note, low, high)


def _with_constant(value: float, errors, replicates, reach, constant: list[int]) -> tuple[float, float]:
    """Return the reach of the interval below and above the value if some summands have identical runs (Bonferroni)."""
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
    """Return `value` as a part of an extreme; its standard error is nan if all runs agree."""
    se = math.hypot(*errors)
    return Measured(value, math.nan if agree(se, value, len(errors)) else se, resting_on(errors, replicates))
