"""Columns of the rows that protocols record."""

import numpy as np


def rows(key: str, values, **measured: np.ndarray) -> dict[str, np.ndarray]:
    """Return one row per replicate and value of a key; measured: arrays of shape [replicates, values]."""
    replicates = len(next(iter(measured.values())))
    return {
        "replicate": np.repeat(np.arange(replicates), len(values)),
        key: np.tile(values, replicates),
        **{name: numbers.ravel() for name, numbers in measured.items()},
    }
