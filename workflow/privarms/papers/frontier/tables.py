"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.frontier.inference import BOUNDS
from privarms.planning.results import Results
from privarms.registry.artifacts import table

COLUMNS = ["instance", "K", "epsilon", "T", "policy", "ratio", "regret", "se", "median", "q90", "q99", "replicates"]
COLUMNS += BOUNDS


@table(
    "Regret at the horizon, and the lower bounds",
    inference=["regret", "bounds"],
    card="Regret at the horizon, and the lower bounds",
    tab="Table",
)
def regret(results: Results) -> pd.DataFrame:
    """Mean, standard error and quantiles of the pseudo-regret over `replicates` runs. The bounds are multiplied by ln
    T; they are also rows of their own."""
    measured = results.inference("regret").drop(columns="policy").rename(columns={"entry": "policy", "horizon": "T"})
    bounds = results.inference("bounds").rename(columns={"bound": "policy", "value": "regret", "horizon": "T"})
    rows = pd.concat([measured, bounds.drop_duplicates(["instance", "epsilon", "T", "policy"])], ignore_index=True)
    rows["replicates"] = rows["replicates"].astype("Int64")
    return rows.reindex(columns=COLUMNS).sort_values(["instance", "T", "epsilon"], kind="stable", ignore_index=True)


@table("Privacy audits", inference=["audit"])
def audit(results: Results) -> pd.DataFrame:
    """Privacy loss: the exact log ratio and the 95% Clopper-Pearson lower bound from counts; `noise` multiplies the
    Laplace scale."""
    output = results.inference("audit").rename(columns={"subject": "policy"})
    return output[["policy", "K", "epsilon", "noise", "claimed", "exact", "lower_bound", "confidence", "trials"]]
