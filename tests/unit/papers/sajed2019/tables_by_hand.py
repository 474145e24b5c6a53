"""Results on handmade tables."""

from types import SimpleNamespace

import pandas as pd

from ..chosen import by_cell, chosen

# The panels of Figure 1 in the paper.
FIGURE_1 = [("fig1a", 0.1), ("fig1a", 0.25), ("fig1b", 0.5), ("fig1b", 1.0)]


def results(*, cells=None, replicates=None, published=None, **inference) -> SimpleNamespace:
    """Return the inputs of a job: study -> rows for `cells` and `replicates`, table -> rows, number -> value."""
    cells, replicates, inference = (
        {name: pd.DataFrame(rows) for name, rows in (frames or {}).items()} for frames in (cells, replicates, inference)
    )
    return SimpleNamespace(
        cells=cells.__getitem__,
        replicates=lambda study, columns=None, filters=None: chosen(replicates[study], columns, filters),
        by_cell=lambda study, columns: by_cell(replicates[study], columns),
        inference=inference.__getitem__,
        published=(published or {"at_least_times": 5}).__getitem__,
        published_table={"figure1": pd.DataFrame(FIGURE_1, columns=["figure", "epsilon"])}.__getitem__,
    )


def rows(shared: dict, *own: dict) -> list[dict]:
    """Return rows that share some values."""
    return [shared | one for one in own]
