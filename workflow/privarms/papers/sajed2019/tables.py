"""The tables: each function takes the results and returns the frame that is written."""

import numpy as np
import pandas as pd

from privarms.papers.sajed2019._settings import at_horizon
from privarms.plots.curves import settings
from privarms.plots.registry import functions_of
from privarms.studies.results import Results


def _with_settings(policies: pd.Series, cells: pd.DataFrame, columns: list[str]) -> list[str]:
    """The policies' names, each with its settings that are no column of the table: a key has one row."""
    further = settings(cells, columns)
    named = zip(policies, further, strict=True)
    return [" ".join([policy, *(f"{k}={v}" for k, v in own.items())]) for policy, own in named]


def regret(results: Results) -> pd.DataFrame:
    """Regret at the horizon; a row per policy, width, K and epsilon.

    From study `regret`, which has more runs; what was run for Figure 1 alone stands with the runs of Figure 1.
    """
    law, figure1 = (at_horizon(results.cells(study)) for study in ("regret", "figure1"))
    rows = pd.concat([law, figure1], ignore_index=True)
    summary = {"mean": "regret_mean", "se": "regret_se"} | {p: f"regret_{p}" for p in ("p05", "p50", "p95")}
    keys = ["policy", "width", "K", "epsilon", "horizon", "replicates"]
    rows = rows.assign(policy=_with_settings(rows["policy"], rows, keys)).reindex(columns=[*keys, *summary.values()])
    # The first stands.
    rows = rows.drop_duplicates([k for k in keys if k != "replicates"], ignore_index=True)
    return rows.rename(columns={v: k for k, v in summary.items()})


def regret_atoms(results: Results) -> pd.DataFrame:
    """The law of DP-SE's regret at K = 5; a row per epsilon and value."""
    law = results.inference("regret_atoms")
    law = law[law["K"] == 5]
    columns = ["policy", "epsilon", "value", "probability", "replicates"]
    policies = _with_settings(law["policy"], law, columns)
    return law.assign(policy=policies)[columns].reset_index(drop=True)


def _stopping(cells: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """A row per cell of stopping times: its algorithm and setting, with these columns; events are counts of runs."""
    keys = ["alpha", "mu", "epsilon", "replicates"]
    cells = cells.assign(algorithm=_with_settings(cells["policy"], cells, keys))
    for event, share in (("failures", "failure_mean"), ("halted", "by_upper")):
        if event in columns:
            cells[event] = np.rint(cells[share] * cells["replicates"]).astype("Int64")
    cells = cells.rename(columns={"stopping_time_mean": "mean", "stopping_time_se": "se"})
    return cells[["algorithm", *keys, *columns]]


def stopping_time(results: Results) -> pd.DataFrame:
    """Stopping times, failures and the two bounds; a row per algorithm, alpha, mu and epsilon."""
    return _stopping(results.inference("stopping"), ["mean", "se", "failures", "t_upper", "t_lower"])


def large_mean(results: Results) -> pd.DataFrame:
    """Who halts by t_U where |mu| is near R; a row per algorithm, alpha, mu and epsilon."""
    return _stopping(results.inference("large_mean"), ["mean", "se", "halted", "t_upper"])


def noise_alone(results: Results) -> pd.DataFrame:
    """Failures and stopping times where the noise decides alone; a row per algorithm, alpha, mu and epsilon."""
    return _stopping(results.inference("noise_alone"), ["failures", "upper_quartile", "t_proof"])


def audit(results: Results) -> pd.DataFrame:
    """The privacy audit; a row per epsilon and multiple of the noise."""
    found = results.inference("audit")
    columns = ["epsilon", "noise", "claimed", "exact", "lower_bound", "confidence", "trials"]
    # Whatever else tells its rows apart stands beside them.
    measured = found.columns.get_loc("claimed")
    settings = [c for c in found.columns[:measured] if c not in columns and found[c].nunique(dropna=False) > 1]
    return found[[*columns, *settings]]


TABLES = functions_of(__name__)
