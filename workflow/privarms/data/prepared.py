"""The prepared form of a dataset: one Parquet file with contexts, labels, sources and facts."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from privarms.files import parquet


class Prepared(NamedTuple):
    """The content of a prepared Parquet file, row by row.

    contexts: float64[n, d] in [0, 1]; labels: int64[n] in [0, K); sources: int64[n], 0 for the target's rows and 1 to M
    for the auxiliary sources; facts: numbers and reasons of read and dropped rows (see `preparation.prepare`)
    """

    contexts: np.ndarray
    labels: np.ndarray
    sources: np.ndarray
    facts: dict


def load(path: Path | str) -> Prepared:
    """Read a prepared dataset; raise DamagedError if the file is not complete."""
    table = parquet.read(path)
    facts = parquet.metadata(path)["facts"]
    coordinates = [table[f"x{j}"].to_numpy() for j in range(1, facts["dimensions"] + 1)]
    contexts = np.ascontiguousarray(np.column_stack(coordinates))
    return Prepared(contexts, table["label"].to_numpy(), table["source"].to_numpy(), facts)
