"""What tells cells apart, and which of them the paper prints."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pandas as pd

from privarms.studies.results import Results

# Cards of the report.
FIGURE_5 = "Figure 5: average regret, Experiment 2"
THEOREM_1 = "Bias over epsilon, and Theorem 1"
CORRECTION = "Corrected p-values (Theorem 3, Corollary 2)"
FIGURE_6 = "Figure 6 in every reading"
LEVEL = 0.05
# study -> what its column `experiment` says.
EXPERIMENTS = {"experiment_1": "1", "experiment_2": "2", "epsilon_sweep": "epsilon_sweep", "corollary_1": "corollary_1"}
ABLATIONS = ("private_ucb_gamma_only", "private_ucb_noise_only")
# Ladders of Experiment 2 that the text does not state: for its numbers, not for its figures.
POST_HOC = ("0.90-0.05", "1.00-0.10", "0.90-0.10")
# What one panel holds; an own setting of a policy makes a curve.
PANEL = ("ladder", "K", "horizon", "epsilon")
# In written tables: the policy is the same as printed and as released.
BOTH = "both"


def ladder(top: float, bottom: float, K: float, spacing: str | None = None) -> str:
    """The name of the arms' means: the top one and the gap; of one better arm among equal ones, both means."""
    if spacing == "one_best":
        return f"{_decimals(top)} and {_decimals(bottom)}"
    return f"{_decimals(top)}-{_decimals((top - bottom) / (K - 1))}"


def _decimals(value: float) -> str:
    """Two decimals, and more where these do not say it."""
    return f"{value:.2f}" if abs(round(value, 2) - value) < 1e-9 else f"{value:.6g}"


def means(top: float, bottom: float, K: int, spacing: str | None = None) -> np.ndarray:
    """float64[K], the expected rewards of `environments.bernoulli`."""
    found = np.linspace(top, bottom, K)
    if spacing == "one_best":
        found[1:] = bottom
    return found


def ladders(cells: pd.DataFrame) -> list[str]:
    """The ladder of every row of a frame with the environment's parameters."""
    spacing = cells["spacing"] if "spacing" in cells else pd.Series(None, cells.index, dtype=object)
    return [ladder(*row) for row in zip(cells["top"], cells["bottom"], cells["K"], spacing, strict=True)]


def parameters(replicates: pd.DataFrame) -> list[str]:
    """The columns of a study's replicates that hold its cells' parameters, but for policy, variant and horizon."""
    named = ("cell", "policy", "variant", "data", "environment", "horizon")
    columns = list(replicates.columns)
    return [c for c in columns[: columns.index("replicate")] if c not in named]


def printed(results: Results) -> pd.DataFrame:
    """What the paper's experiments are, a row each, by `experiment`."""
    return results.published_table("experiments", dtype={"experiment": str}).set_index("experiment")


def is_printed(rows: pd.DataFrame, results: Results, experiment: str) -> pd.Series:
    """Which rows of an experiment are of the setting that the paper prints; what one of the two lacks tells nothing.

    Scale quick may shorten the horizon of all rows: it is not compared then.
    """
    setting = printed(results).loc[experiment].drop("replicates").dropna()
    if results.scale == "quick" and not (rows["horizon"] == setting["horizon"]).any():
        setting = setting.drop("horizon")
    chosen = pd.Series(True, rows.index)
    for column, value in setting.items():
        if column in rows:
            chosen &= rows[column].isna() | (rows[column] == value)
    return chosen


def panels(
    rows: pd.DataFrame, by: Sequence[str] = PANEL, first: pd.Series | None = None
) -> list[tuple[str, pd.DataFrame]]:
    """(title, rows) of each panel: one for every setting of the columns `by` that are there, those of `first` before
    the others.

    A row without a value in one of the columns (a policy without a privacy budget) is in every panel that its other
    values fit. A title tells of what the panels differ in.
    """
    by = [c for c in by if c in rows]
    if first is not None:
        rows = pd.concat([rows[first], rows[~first]])
    settings = [dict(zip(by, values, strict=True)) for values in rows[by].drop_duplicates().itertuples(index=False)]
    settings = [s for s in settings if not any(_covers(other, s) for other in settings)]
    differing = [c for c in by if len({_key(s[c]) for s in settings}) > 1]
    if len({tuple(_key(s[c]) for c in differing if c != "ladder") for s in settings}) == len(settings):
        differing = [c for c in differing if c != "ladder"]
    found = []
    for setting in settings:
        fits = np.ones(len(rows), bool)
        for column, value in setting.items():
            fits &= (rows[column].isna() | (rows[column] == value)).to_numpy() if pd.notna(value) else True
        found.append((described({c: setting[c] for c in differing}), rows[fits]))
    return found


def _covers(other: dict, setting: dict) -> bool:
    """Whether a panel shows all that another would, because it says more."""
    more = [c for c in setting if pd.isna(setting[c]) and pd.notna(other[c])]
    return bool(more) and all(c in more or _key(setting[c]) == _key(other[c]) for c in setting)


def _key(value) -> Hashable:
    return None if pd.isna(value) else value


def described(setting: dict) -> str:
    """A setting in words, without what is missing."""
    return ", ".join(_word(name, value) for name, value in setting.items() if pd.notna(value))


def _word(name: str, value) -> str:
    names = {"horizon": "$T$", "K": "$K$", "dimensions": "$d$", "d": "$d$", "epsilon": "$\\varepsilon$"}
    if name == "variant":
        return str(value).replace("_", " ")
    if name == "ladder":
        return f"ladder {value}"
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    text = f"{value:,.10g}".replace(",", "{,}") if number else str(value).replace("_", " ")
    return f"{names.get(name, name.replace('_', ' '))} = ${text}$" if number else f"{names.get(name, name)} = {text}"


def told_apart(frame: pd.DataFrame, columns: Sequence[str], keys: Iterable[str]) -> pd.DataFrame:
    """The columns of a written table; where they leave rows that nothing tells apart, those of `keys` behind them that
    do."""
    further = [k for k in keys if k in frame and k not in columns]
    needed = [k for k in further if _tells_apart(frame, [c for c in keys if c in columns], k)]
    return frame[[*columns, *needed]].reset_index(drop=True)


def _tells_apart(frame: pd.DataFrame, keys: list[str], column: str) -> bool:
    return bool((frame.groupby(keys, dropna=False, observed=True)[column].nunique(dropna=False) > 1).any())


def together(results: Results, table: str, studies: Iterable[str]) -> pd.DataFrame:
    """The rows of an inference table of several studies, one study after another."""
    return pd.concat([results.inference(f"{table}_{study}") for study in studies], ignore_index=True)
