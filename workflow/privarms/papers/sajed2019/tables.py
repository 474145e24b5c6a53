"""The tables: each function takes the results and returns the frame that is written."""

import numpy as np
import pandas as pd

from privarms.papers.sajed2019._settings import FIGURE_1, STOPPING, at_horizon
from privarms.planning.labels import entries
from privarms.planning.results import Results
from privarms.registry.artifacts import table


@table("Regret at the horizon", studies=["figure1", "regret"], card=FIGURE_1, tab="At the horizon")
def regret(results: Results) -> pd.DataFrame:
    """Mean, standard error and quantiles of the pseudo-regret at the horizon; epoch_se is Algorithm 3 without noise."""
    law, figure1 = (at_horizon(results.cells(study)) for study in ("regret", "figure1"))
    rows = pd.concat([law, figure1], ignore_index=True)
    summary = {"mean": "regret_mean", "se": "regret_se"} | {p: f"regret_{p}" for p in ("p05", "p50", "p95")}
    keys = ["policy", "width", "K", "epsilon", "horizon", "replicates"]
    rows = rows.assign(policy=entries(rows, keys)).reindex(columns=[*keys, *summary.values()])
    # Study `regret` has more runs, so Figure 1 only fills its gaps.
    rows = rows.drop_duplicates([k for k in keys if k != "replicates"], ignore_index=True)
    return rows.rename(columns={v: k for k, v in summary.items()})


@table(
    "The discrete distribution of the regret at the horizon",
    inference=["regret_atoms"],
    card=FIGURE_1,
    tab="Distribution of the regret",
)
def regret_atoms(results: Results) -> pd.DataFrame:
    """All values of DP-SE's regret with their probabilities, K = 5. Pulls of an arm are sums of whole epochs, so only a
    few values occur."""
    law = results.inference("regret_atoms")
    law = law[law["K"] == 5]
    columns = ["policy", "epsilon", "value", "probability", "replicates"]
    policies = entries(law, columns)
    return law.assign(policy=policies)[columns].reset_index(drop=True)


def _stopping(cells: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return one row per cell of stopping times: algorithm, setting and these columns; events are counts of runs."""
    keys = ["alpha", "mu", "epsilon", "replicates"]
    cells = cells.assign(algorithm=entries(cells, keys))
    for event, share in (("failures", "failure_mean"), ("halted", "by_upper")):
        if event in columns:
            cells[event] = np.rint(cells[share] * cells["replicates"]).astype("Int64")
    cells = cells.rename(columns={"stopping_time_mean": "mean", "stopping_time_se": "se"})
    return cells[["algorithm", *keys, *columns]]


@table("Stopping times and failures", inference=["stopping"], card=STOPPING, tab="All settings")
def stopping_time(results: Results) -> pd.DataFrame:
    """Mean stopping times. `failures` counts the runs whose estimate misses mu by alpha |mu| or more; t_upper is t_U of
    Theorem 3.3, t_lower the number of samples in Theorem 3.4's proof."""
    return _stopping(results.inference("stopping"), ["mean", "se", "failures", "t_upper", "t_lower"])


@table("Where Theorem 3.3 fails", inference=["large_mean"], card=STOPPING, tab="Large means")
def large_mean(results: Results) -> pd.DataFrame:
    """Algorithm 2 with |mu| near R and large epsilon. `halted` counts the runs that stop by t_upper, t_U of
    Theorem 3.3; the theorem guarantees 92 in 100."""
    return _stopping(results.inference("large_mean"), ["mean", "se", "halted", "t_upper"])


@table(
    "Stopping times and failures where only the noise decides",
    inference=["noise_alone"],
    card=STOPPING,
    tab="Noise alone",
)
def noise_alone(results: Results) -> pd.DataFrame:
    """DP-NAS and DP exponential NAS at very small epsilon. `failures` counts the runs whose estimate misses mu by alpha
    |mu| or
    more. A quarter of the stopping times exceed upper_quartile; t_proof is the largest number for which Theorem 3.4's
    proof shows this for every private rule."""
    return _stopping(results.inference("noise_alone"), ["failures", "upper_quartile", "t_proof"])


@table(
    "Are DP-SE, DP-NAS and DP-UCB private? (Theorems 4.1 and 3.1)", inference=["audit", "audit_dp_nas", "audit_dp_ucb"]
)
def audit(results: Results) -> pd.DataFrame:
    """Privacy loss on two streams that differ in one reward or sample: the exact log ratio and the 95% Clopper-Pearson
    lower bound from counts. `noise` multiplies the Laplace scale (line 17 for DP-SE)."""
    tables = [results.inference(name) for name in ("audit", "audit_dp_nas", "audit_dp_ucb")]
    rows = pd.concat([rows.assign(policy=rows["subject"]) for rows in tables], ignore_index=True)
    columns = ["policy", "epsilon", "noise", "claimed", "exact", "lower_bound", "confidence", "trials"]
    return rows.assign(policy=entries(rows, columns))[columns]
