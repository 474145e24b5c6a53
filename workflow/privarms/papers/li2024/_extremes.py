"""Extremes of a column with its errors, with intervals that hold for all rows together."""

import math

import pandas as pd

from privarms.claims.verdict import Measured, quantile

NOTHING = Measured(math.nan, 0.0, None, "No cell has such a value.")


def measured(values: pd.Series, errors, replicates: pd.Series | None) -> list[Measured]:
    """A number a row, with its standard error; rows without a number are left out. replicates: None by formula."""
    rows = pd.DataFrame({"value": values, "se": errors}).dropna(subset="value")
    runs = [None] * len(rows) if replicates is None else replicates[rows.index].astype(int)
    return [Measured(r.value, r.se, n if n is None else int(n)) for r, n in zip(rows.itertuples(), runs, strict=True)]


def largest(values: pd.Series, errors, replicates: pd.Series | None, note) -> Measured:
    """The largest of a column with its errors, replicates None by formula; note: of the row with the largest."""
    if values.dropna().empty:
        return NOTHING
    return Measured.largest(measured(values, errors, replicates), note(values.idxmax()))


def spread(values: pd.Series, errors: pd.Series, replicates: pd.Series, note) -> Measured:
    """The largest over the smallest of a column with its errors; note: of the two rows."""
    values = values.dropna()
    if values.empty:
        return NOTHING
    errors, replicates = errors[values.index], replicates[values.index].astype(int)
    # Both the largest and the smallest are wrong with half the probability.
    half = errors * [quantile(r, 2 * len(values)) if e > 0 else 0.0 for r, e in zip(replicates, errors, strict=True)]
    low, high = values - half, values + half
    # The smallest is not above the largest.
    ends = max(1.0, low.max() / high.min()), high.max() / low.min() if low.min() > 0 else math.inf
    notes = note(values.idxmax(), values.idxmin())
    return Measured(values.max() / values.min(), math.nan, int(replicates.min()), notes, *ends)
