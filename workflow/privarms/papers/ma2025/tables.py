"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.ma2025 import _panels
from privarms.planning.results import Results
from privarms.registry.artifacts import table


@table("The released program against the authors' logs", studies=["regret", "regret_printed"])
def reference_agreement(results: Results) -> pd.DataFrame:
    """Every cell of the authors' logs (`mean_regret`, `se_regret`) with our regret and z, the difference in standard
    errors. The last rows have the mean and the standard deviation of z."""
    # Whole numbers that may be missing, as in the last rows.
    counts = ("n", "n_aux", "M", "replicates", "ours_replicates")
    table = _panels.agreement(results).astype(dict.fromkeys(counts, "Int64"))
    totals = {"mean of z": table["z"].mean(), "standard deviation of z": table["z"].std()}
    return pd.concat([table, pd.DataFrame({"figure": [*totals], "z": [*totals.values()]})], ignore_index=True)


@table(
    "Privacy audit of the two mechanisms", inference=["privacy"], card="Is the mechanism locally private?", tab="Audits"
)
def privacy_audit(results: Results) -> pd.DataFrame:
    """Privacy loss for two users, the last of a batch, who differ in context or arm. `exact` is the log ratio of an
    event's probabilities, infinite if one of them is 0 and empty if both are; `lower_bound` is the 99.9%
    Clopper-Pearson bound from simulated messages."""
    return results.inference("privacy")


@table(
    "Leakage of contexts by the messages of Adult's users",
    studies=["messages"],
    card="Is the mechanism locally private?",
    tab="Adult's users",
    dataset="adult",
)
def messages(results: Results) -> pd.DataFrame:
    """Messages as released; as printed all columns are 0. `in_parts`: share of the target's users whose message names a
    bin that is not the whole cube; `halvings`: mean number of halvings of that bin over all users; `empty`: share of
    bins whose sums show, batch by batch, that none of 100 users was there; `alone`: share of users who were the only
    ones to change a bin's sums. A bin with one arm left is not followed."""
    cells = results.cells("messages")
    cells = cells.assign(auxiliary=cells["auxiliary"].fillna("with") if "auxiliary" in cells else "with")
    both = [f"{m}{end}" for m in ("in_parts", "halvings", "empty", "alone") for end in ("", "_se")]
    columns = ["dataset", "variant", "epsilon", "epsilon_aux", "auxiliary", "replicates", *both]
    return cells.rename(columns=lambda c: c.removesuffix("_mean"))[columns]


@table("Regret over all panels of Figures 7 to 9", studies=["regret", "regret_printed", "regret_symmetric"])
def regret(results: Results) -> pd.DataFrame:
    """Regret of all cells. In Figure 7(a), as_released is the older version of the program, which drew it, and
    as_released_current the released one. `n_aux` is per source; without auxiliary data `epsilon_aux` is 1024, gamma 0
    and kappa 1."""
    names = [(figure, environment) for environment in _panels.STUDIES for figure in _panels.FIGURES]
    return _panels.written(pd.concat([_panels.panel(results, *name, logs=True) for name in names], ignore_index=True))
