"""Results on handmade tables."""

from functools import partial

import pandas as pd

from .. import chosen

# The panels of Figure 1 in the paper.
FIGURE_1 = [("fig1a", 0.1), ("fig1a", 0.25), ("fig1b", 0.5), ("fig1b", 1.0)]
TABLES = {"figure1": pd.DataFrame(FIGURE_1, columns=["figure", "epsilon"])}
results = partial(chosen.results, published={"at_least_times": 5}, tables=TABLES)


def rows(shared: dict, *own: dict) -> list[dict]:
    """Return rows that share some values."""
    return [shared | one for one in own]
