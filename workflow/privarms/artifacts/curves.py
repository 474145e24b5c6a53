"""Curves: one for every policy and every setting of its own, so that a policy that joins a study joins its plots."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from privarms.studies import library

CELL_COLUMNS = ("cell", "policy", "variant", "data", "environment", "horizon")


def own_settings(cells: pd.DataFrame, row: pd.Series, apart_from: Sequence[str]) -> dict:
    """The variant and the policy's own parameters of a cell, where they tell the cells of its policy apart."""
    own = [k for k in library.arguments("policies", row["policy"]) if k in cells and k not in apart_from]
    return {k: row[k] for k in ("variant", *own) if k in cells and pd.notna(row[k]) and _varies(cells, row, k)}


def curves(cells: pd.DataFrame, apart_from: Sequence[str] = ("epsilon",)) -> dict[str, pd.DataFrame]:
    """Split a study's cells into curves by policy, variant and the policy's own parameters, labelled, in their order.

    apart_from: parameters that a curve runs over, or that the panel fixes
    """
    parts: dict[str, pd.DataFrame] = {}
    for _, row in cells.drop_duplicates("cell").iterrows():
        values = [str(v) for v in own_settings(cells, row, apart_from).values()]
        label = library.literals("policies", row["policy"])["LABEL"]
        label = f"{label} ({', '.join(v.replace('_', ' ') for v in values)})" if values else label
        part = cells[cells["cell"] == row["cell"]]
        parts[label] = pd.concat([parts[label], part]) if label in parts else part
    return parts


def _varies(cells: pd.DataFrame, row: pd.Series, key: str) -> bool:
    """Whether a parameter tells the cells of one policy apart."""
    return cells.loc[cells["policy"] == row["policy"], key].nunique() > 1


def interval(mean, se, replicates, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Student's confidence interval of a mean from its standard error; arrays or scalars."""
    mean, se, replicates = (np.asarray(v, dtype=float) for v in (mean, se, replicates))
    half = stats.t.ppf(0.5 + level / 2, np.maximum(replicates - 1, 1)) * np.nan_to_num(se)
    return mean - half, mean + half


def ratio(mean, se, base_mean, base_se) -> tuple[np.ndarray, np.ndarray]:
    """The ratio of two independent means and its standard error to first order."""
    value = mean / base_mean
    return value, value * np.sqrt((se / mean) ** 2 + (base_se / base_mean) ** 2)
