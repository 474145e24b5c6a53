"""The atoms of a discrete distribution, estimated from a sample."""

import numpy as np
import pandas as pd

from privarms.ranges import at_least, finite


def atoms(values, tolerance: float = 1e-9) -> pd.DataFrame:
    """Return the distinct values of a sample, sorted: columns `value`, `probability`, `count`, one row per atom.

    The regret of DP-SE is a sum of gaps over whole epochs, so it has one value per order of eliminations. Runs that end
    in the same way differ only by rounding, about 1e-16 times the number of additions. Other runs differ by a whole
    epoch of one gap. Sorted neighbours that agree to `tolerance`, relative to the larger one, are therefore one atom.
    Its value is the smallest of them. Raises ValueError for an empty sample, a value that is not finite, or a tolerance
    below 0.
    """
    finite(values=values)
    at_least(0, tolerance=tolerance)
    values = np.sort(np.asarray(values, float).ravel())
    if not len(values):
        raise ValueError("values: expected at least one number; found none")
    larger = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values) > tolerance * larger]))
    count = np.diff(np.append(starts, len(values)))
    return pd.DataFrame({"value": values[starts], "probability": count / len(values), "count": count})
