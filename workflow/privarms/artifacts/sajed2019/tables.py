"""The tables: each function takes the results and returns the frame that is written."""

import numpy as np
import pandas as pd

from privarms.artifacts.curves import settings
from privarms.artifacts.registry import functions_of
from privarms.artifacts.results import Results
from privarms.artifacts.sajed2019._settings import at_horizon


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


def stopping_time(results: Results) -> pd.DataFrame:
    """Stopping times, failures and the two bounds; a row per algorithm, alpha, mu and epsilon."""
    cells = results.inference("stopping")
    keys = ["alpha", "mu", "epsilon", "replicates"]
    failures = cells["failure_mean"] * cells["replicates"]
    return pd.DataFrame(
        {
            "algorithm": _with_settings(cells["policy"], cells, keys),
            **{k: cells[k] for k in keys},
            "mean": cells["stopping_time_mean"],
            "se": cells["stopping_time_se"],
            "failures": np.rint(failures).astype("Int64"),
            "t_upper": cells["t_upper"],
            "t_lower": cells["t_lower"],
        }
    )


def large_mean(results: Results) -> pd.DataFrame:
    """Who halts by t_U where |mu| is near R; a row per algorithm, alpha, mu and epsilon."""
    cells = results.inference("large_mean")
    keys = ["alpha", "mu", "epsilon", "replicates"]
    return pd.DataFrame(
        {
            "algorithm": _with_settings(cells["policy"], cells, keys),
            **{k: cells[k] for k in keys},
            "mean": cells["stopping_time_mean"],
            "se": cells["stopping_time_se"],
            "halted": np.rint(cells["by_upper"] * cells["replicates"]).astype("Int64"),
            "t_upper": cells["t_upper"],
        }
    )


def noise_alone(results: Results) -> pd.DataFrame:
    """Failures and stopping times where the noise decides alone; a row per algorithm, alpha, mu and epsilon."""
    cells = results.inference("noise_alone")
    keys = ["alpha", "mu", "epsilon", "replicates"]
    return pd.DataFrame(
        {
            "algorithm": _with_settings(cells["policy"], cells, keys),
            **{k: cells[k] for k in keys},
            "failures": np.rint(cells["failure_mean"] * cells["replicates"]).astype("Int64"),
            "upper_quartile": cells["upper_quartile"],
            "t_proof": cells["t_proof"],
        }
    )


def audit(results: Results) -> pd.DataFrame:
    """The privacy audit; a row per epsilon and multiple of the noise."""
    found = results.inference("audit")
    columns = ["epsilon", "noise", "claimed", "exact", "lower_bound", "confidence", "trials"]
    # Whatever else tells its rows apart stands beside them.
    measured = found.columns.get_loc("claimed")
    settings = [c for c in found.columns[:measured] if c not in columns and found[c].nunique(dropna=False) > 1]
    return found[[*columns, *settings]]


TABLES = functions_of(__name__)
