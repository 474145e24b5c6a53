"""The inference tables: each function takes the results and returns a frame."""

import numpy as np
import pandas as pd

from privarms.audits import neighbouring_users
from privarms.audits.reduction import ENDS, reduce
from privarms.papers.ma2025 import _runs, _table2_entries
from privarms.papers.ma2025._adult import alternatives
from privarms.papers.ma2025._table2_entries import entries, gains, pairs
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

# Of each bound; forty bounds hold together with more than 95%.
CONFIDENCE = 0.999
SETTING = ["variant", "differ", "event", "batch", "epsilon"]


def audit(results: Results) -> pd.DataFrame:
    """What a batch's sums give away of its last user; a row per variant, difference, event, batch size and epsilon.

    exact: the log ratio of the event's probabilities, inf where one is 0, nan where both are; lower_bound: on any
    epsilon that the mechanism has, from counts, -inf where the event was not seen; trials: with each of the users;
    likelier, other: after how many of them the event happened, with the user with whom it is the likelier and with the
    other one
    """
    counts = results.replicates("privacy")
    found = reduce(counts, neighbouring_users, SETTING, CONFIDENCE)
    events = counts.groupby([*SETTING, "neighbour"], observed=True)["events"].sum().unstack("neighbour")
    of_rows = events.loc[list(found[SETTING].itertuples(index=False, name=None))].to_numpy()
    # As `neighbouring_users.likelier` has it.
    first = (found["event"] == "quadrant").to_numpy(int)
    rows = np.arange(len(found))
    found = found.assign(likelier=of_rows[rows, first], other=of_rows[rows, 1 - first])
    return found.drop(columns=["audit", "subject", "claimed", *ENDS])


INFERENCE = functions_of(_table2_entries, _runs) | {
    "privacy": audit,
    "table2": entries,
    "table2_pairs": pairs,
    "table2_gains": gains,
    "adult_alternatives": alternatives,
}
