"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.artifacts.byhand.inference import COLUMNS, SETTINGS
from privarms.artifacts.results import Results


def pulls(results: Results) -> pd.DataFrame:
    """The mean pulls of every arm beside those worked out; a row per study, policy, setting and arm.

    setting: what tells the policy's cells in the study apart, and the horizon, in words
    """
    found = results.inference("pulls")
    words = found.groupby(["study", "policy"], sort=False, group_keys=False).apply(_words, include_groups=False)
    return found[["study", "policy"]].assign(setting=words, **{name: found[name] for name in COLUMNS})


def _words(rows: pd.DataFrame) -> pd.Series:
    names = [name for name in SETTINGS if name in rows and (name == "horizon" or rows[name].nunique() > 1)]
    words = [
        ", ".join(f"{k} {v}" if isinstance(v, str) else f"{k} = {v:g}" for k, v in row.items() if pd.notna(v))
        for row in rows[names].to_dict("records")
    ]
    return pd.Series(words, rows.index)


def examples(results: Results) -> pd.DataFrame:
    """The worked examples; a row per number."""
    return results.inference("examples")


TABLES = {"pulls": pulls, "examples": examples}
