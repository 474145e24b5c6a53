"""The names and columns of inference tables in written tables."""

from collections.abc import Sequence

import pandas as pd

from privarms.planning.labels import entries

# Cards of the report.
CURVE = "Figures 1 to 3: the Pareto curve of regret and error"
MEASURED = "Measured regret and error"
INFERENCE = "Inference: coverage and normality"
PRIVACY = "Privacy loss of DP-ConSE"
PARETO = ("arrivals", "horizon", "M", "alpha", "epsilon")
# Policies with another name in written tables than their module's.
WRITTEN = {"dp_conse_total": "dp_conse (budget total)"}


def written(rows: pd.DataFrame, axes: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as tables write them: the algorithm, n and the named columns, in their order."""
    algorithm = pd.Series(entries(rows, axes), rows.index).replace(WRITTEN)
    return rows.assign(algorithm=algorithm).rename(columns={"horizon": "n"})[list(columns)]


def pareto(rows: pd.DataFrame) -> pd.DataFrame:
    """Return regret and error of cells, as table and figure write them."""
    columns = ["algorithm", "arrivals", "n", "M", "alpha", "epsilon", "replicates", "regret", "regret_se", "mse"]
    return written(rows, PARETO, [*columns, "mse_se", "expected_mse", "eliminated_fraction", "missing_fraction"])


AUDIT = ("release", "M", "epsilon", "claimed", "exact", "lower_bound", "confidence", "trials")
# What an audit measures, other than these columns: not a setting.
COUNTED = ("events_0", "events_1", "runs", "cells")
COUNTED += tuple(f"over_{promised}{end}" for promised in ("half", "epsilon") for end in ("", "_low", "_high"))


def releases(rows: pd.DataFrame) -> pd.Series:
    """Return the release of each row of an audit, with its cell's settings other than M and epsilon."""
    further = [k for k in rows.columns if k not in (*AUDIT, *COUNTED)]
    output = []
    for release, values in zip(rows["release"].astype(str), rows[further].to_dict("records"), strict=True):
        words = ", ".join(f"{k} {v}" for k, v in values.items() if pd.notna(v))
        output.append(f"{release} ({words})" if words else release)
    return pd.Series(output, rows.index, dtype=object)


def audit(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the privacy audit as table and figure write it."""
    return rows.assign(release=releases(rows))[list(AUDIT)]
