"""The atoms of a discrete law, from a sample."""

import numpy as np
import pandas as pd


def atoms(values, tolerance: float = 1e-9) -> pd.DataFrame:
    """The distinct values of a sample: columns `value`, `probability`, `count`, a row per atom, sorted by value.

    The regret of DP-SE is a sum of gaps over whole epochs: one number for each way in which the arms can go. Runs
    that end the same way have the same regret except for rounding, about 1e-16 times the number of additions, and
    runs that end differently are a whole epoch of one gap apart, so that neighbours in sorted order that agree to
    `tolerance`, relative to the larger, are one atom; its value is the smallest of them.
    Raises ValueError for an empty sample or a value that is not finite.
    """
    values = np.sort(np.asarray(values, float).ravel())
    if not len(values) or not np.isfinite(values).all():
        raise ValueError("expected at least one value, all of them finite")
    larger = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values) > tolerance * larger]))
    count = np.diff(np.append(starts, len(values)))
    return pd.DataFrame({"value": values[starts], "probability": count / len(values), "count": count})
