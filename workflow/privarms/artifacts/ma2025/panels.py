"""Which cells each panel of Figures 7 to 9 shows, under the names by which they are published."""

import pandas as pd

from privarms.artifacts.ma2025 import logs
from privarms.artifacts.results import Results

FIGURES = ("fig7a", "fig7b", "fig8a", "fig8b", "fig8c", "fig8d", "fig8e", "fig8f", "fig9a", "fig9b", "fig9c")
# (epsilon, gamma) of the panels of Figure 8.
FIGURE_8 = {
    "fig8a": (1, 0), "fig8b": (1, 0.2), "fig8c": (1, 2), "fig8d": (2, 0), "fig8e": (2, 0.2), "fig8f": (2, 2),
}  # fmt: skip
ORDERS = {"2 8": "low_first(2,8)", "8 2": "high_first(8,2)"}
# What stands in the columns of cells without auxiliary data, as in the authors' logs.
ALONE = {"epsilon_aux": "1024", "gamma": 0.0, "kappa": 1.0, "order": ""}
STUDIES = {"exponential": ("regret", "regret_printed"), "symmetric": ("regret_symmetric", "regret_printed_symmetric")}

KEY = ["variant", "epsilon", "epsilon_aux", "gamma", "kappa", "n", "n_aux", "M", "K", "order"]
COLUMNS = ["figure", "environment", *KEY, "replicates", "mean_regret", "se_regret"]


def named(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of any regret study with the columns of COLUMNS but `figure`, and their batch.

    variant: as_released (in Figure 7(a) with its older constants), as_released_current (there with those of all other
    figures), as_printed_c2, as_printed_c64; n: target users; n_aux: users a source
    """
    frame = cells.rename(
        columns={"horizon": "n", "regret_mean": "mean_regret", "regret_se": "se_regret"}
    ).assign(order=cells["epsilon_aux"].map(ORDERS).fillna(""))  # fmt: skip
    frame["epsilon_aux"] = [
        "2|8" if order else f"{float(e):g}" for e, order in zip(frame["epsilon_aux"], frame["order"], strict=True)
    ]
    if "c" in frame:
        frame["variant"] = [
            v if pd.isna(c) else f"{v}_c{c:g}" for v, c in zip(frame["variant"], frame["c"], strict=True)
        ]
    for column, value in ALONE.items():
        frame[column] = frame[column].where(frame["n_aux"] > 0, value)
    frame["gamma"], frame["kappa"] = frame["gamma"].astype(float), frame["kappa"].astype(float)
    return frame


def panel(results: Results, figure: str, environment: str = "exponential", also: tuple = ()) -> pd.DataFrame:
    """The rows of one panel, both variants: COLUMNS and those that are asked for, in the order of the studies."""
    released, printed = (named(results.cells(study)) for study in STUDIES[environment])
    older = released["logarithm"].notna() if "logarithm" in released else pd.Series(False, released.index)
    if figure == "fig7a" and older.any():
        current = released[~older].assign(variant="as_released_current")
        released = pd.concat([released[older], current[_shows(current, figure)]])
    else:
        released = released[~older]
    chosen = pd.concat([part[_shows(part, figure)] for part in (released, printed)], ignore_index=True)
    suffix = "" if environment == "exponential" else f"_{environment}"
    return chosen.assign(figure=f"{figure}{suffix}", environment=environment)[[*COLUMNS, *also]]


def _shows(cells: pd.DataFrame, figure: str) -> pd.Series:
    """Which cells of one variant a panel shows; sizes are those of the study's scale."""
    alone = cells["n_aux"] == 0
    # As released, Figures 7, 9(a) and 9(b) have the smaller batch and 8 and 9(c) the larger; as printed, there is none.
    batch = cells["batch"] if "batch" in cells else pd.Series(float("nan"), cells.index)
    in_small, in_large = batch == batch.min(), batch == batch.max()
    small, large = batch.isna() | in_small, batch.isna() | in_large
    with_sources = (cells["M"] == 2) & ~alone
    most, fewer = _sizes(cells, with_sources)
    if figure == "fig7a":
        return alone & small
    if figure == "fig7b":
        return cells["M"] == 1
    if figure in FIGURE_8:
        epsilon, gamma = FIGURE_8[figure]
        quality = with_sources & (cells["gamma"] == gamma) & (cells["order"] == "")
        start = alone & in_large
        return large & (cells["n"] == most) & (cells["epsilon"] == epsilon) & (quality | start)
    base = alone & in_small & (cells["epsilon"] == 2)
    if figure == "fig9a":
        printed_at = batch.notna() | (cells["kappa"] < 1)
        return small & (cells["n"] == fewer) & ((with_sources & (cells["gamma"] == 0.2) & printed_at) | base)
    if figure == "fig9b":
        printed_at = batch.notna() | (cells["gamma"] == 1)
        return small & (cells["n"] == fewer) & ((with_sources & (cells["kappa"] == 1) & printed_at) | base)
    if figure == "fig9c":
        return large & ((cells["order"] != "") | (alone & in_large))
    raise ValueError(f"figure: expected one of {', '.join(FIGURES)}; found {figure!r}")


def _sizes(cells: pd.DataFrame, with_sources: pd.Series) -> tuple[int, int]:
    """The target users of Figure 8 and of Figures 9(a) and (b)."""
    unordered = cells[with_sources & (cells["order"] == "")]
    return unordered["n"].max(), unordered["n"].min()


def regret(results: Results) -> pd.DataFrame:
    """The rows of all panels of both environments."""
    return pd.concat([panel(results, f, e) for e in STUDIES for f in FIGURES], ignore_index=True)


def agreement(results: Results) -> pd.DataFrame:
    """The authors' logs beside ours, as released: their columns, `ours`, `ours_se`, `ours_replicates`, `z`, and
    `distinct`, whether the runs of a cell do not stand in an earlier row.

    z is the difference in standard errors of the difference. Rows without a cell of ours (sizes of another scale) have
    no z.
    """
    ours = pd.concat([panel(results, figure) for figure in FIGURES])
    ours = ours[ours["variant"] == "as_released"]
    theirs = logs.read()
    join = theirs[logs.KEY].copy()
    for column, value in ALONE.items():
        join[column] = join[column].where(theirs["n_aux"] > 0, value)
    found = join.merge(ours[[*logs.KEY, "mean_regret", "se_regret", "replicates"]], on=logs.KEY, how="left")
    difference = found["mean_regret"] - theirs["mean_regret"]
    z = difference / (found["se_regret"] ** 2 + theirs["se_regret"] ** 2) ** 0.5
    # One log stands in several panels: the same runs, drawn more than once.
    same_runs = theirs[["mean_regret", "se_regret", "n", "n_aux", "epsilon"]].duplicated()
    return theirs.assign(
        ours=found["mean_regret"],
        ours_se=found["se_regret"],
        ours_replicates=found["replicates"],
        z=z,
        distinct=~same_runs,
    )
