"""How each claim's value is measured; a function takes the results and the claim's arguments."""

import numpy as np
import pandas as pd

from privarms.artifacts.results import Results
from privarms.claims.verdict import Measured, quantile


def _of(results: Results, study: str, policy: str, **settings: str | None) -> pd.DataFrame:
    rows = results.inference("pulls")
    rows = rows[(rows["study"] == study) & (rows["policy"] == policy)]
    for name, value in settings.items():
        rows = rows[rows[name] == value] if value else rows
    return rows


def pulls_off(results: Results, policy: str, width: str | None = None) -> Measured:
    """The largest difference between an arm's pulls and those counted by hand, where nothing is left to chance.

    Runs that differ from each other count too: nothing is left to chance.
    """
    rows = _of(results, "without_chance", policy, width=width)
    off = np.maximum((rows["pulls"] - rows["expected"]).abs(), rows["spread"])
    cells = len(rows) // rows["arm"].nunique()
    return Measured(float(off.max()), 0.0, None, f"{cells} settings, up to {rows['horizon'].max():,} rounds.")


def share_off(results: Results, study: str, policy: str, variant: str | None = None) -> Measured:
    """The largest difference between an arm's mean pulls and those expected, over the rounds; all arms together."""
    rows = _of(results, study, policy, variant=variant)
    return _farthest(rows, rows["horizon"])


def relative_off(results: Results, study: str, policy: str) -> Measured:
    """The same over the expected pulls, of all arms but the first."""
    rows = _of(results, study, policy)
    rows = rows[rows["arm"] > 0]
    return _farthest(rows, rows["expected"])


def _farthest(rows: pd.DataFrame, size: pd.Series) -> Measured:
    off = ((rows["pulls"] - rows["expected"]) / size).abs()
    errors = np.hypot(rows["pulls_se"], rows["expected_se"]) / size
    parts = []
    for value, se, runs in zip(off, errors, rows["replicates"], strict=True):
        half = quantile(int(runs), len(rows)) * se
        parts.append(Measured(value, se, int(runs), low=max(value - half, 0.0), high=value + half))
    least, most = rows["expected"].min(), rows["expected"].max()
    note = f"{len(rows)} arms of all settings; the expected pulls are {least:.4g} to {most:.4g}."
    return Measured.largest(parts, note)


def example_off(results: Results, module: str) -> Measured:
    """The largest relative difference between a number of the module's worked examples and what it should be."""
    rows = results.inference("examples")
    rows = rows[rows["module"] == module]
    # A function that gives nan agrees with nothing.
    off = rows["off"].fillna(np.inf)
    functions = ", ".join(rows["function"].unique())
    return Measured(float(off.max()), 0.0, None, f"{len(rows)} numbers of {functions}.")


MEASURES = {"pulls_off": pulls_off, "share_off": share_off, "relative_off": relative_off, "example_off": example_off}
