"""The prepared form of a dataset: one Parquet file of contexts, labels and sources, with its facts inside."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from privarms.errors import PrivarmsError
from privarms.files import parquet


class Prepared(NamedTuple):
    """What a prepared Parquet file holds, row by row.

    contexts: float64[n, d] in [0, 1]; labels: int64[n] in [0, K); sources: int64[n], 0 for the target's rows and
    1 to M for the auxiliary sources'; facts: what was read, dropped and why (see `preparation.prepare`)
    """

    contexts: np.ndarray
    labels: np.ndarray
    sources: np.ndarray
    facts: dict


def load(path: Path | str) -> Prepared:
    """Read a prepared dataset; PrivarmsError where the file is damaged or not a prepared dataset."""
    table = parquet.read(path)
    try:
        facts = parquet.metadata(path)["facts"]
        coordinates = [f"x{j}" for j in range(1, facts["dimensions"] + 1)]
        contexts = np.column_stack([table[name].to_numpy() for name in coordinates])
        return Prepared(
            np.ascontiguousarray(contexts), *(table[name].to_numpy() for name in ("label", "source")), facts
        )
    except KeyError as error:
        raise PrivarmsError(f"{path}: not a prepared dataset: no {error}; delete it and run again") from error
