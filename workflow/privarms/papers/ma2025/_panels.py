"""The cells of each panel of Figures 7 to 9, and the names under which they are written.

A cell's algorithm is its policy, `variant`, `c` (of C_n as printed) and `program` (as released: the `older` version,
which drew Figure 7(a), or the `current` one). Written tables have all of this in their `variant`: as_released,
as_released_current (in Figure 7(a) next to the older one), as_printed_c2, ...
"""

from functools import cache

import numpy as np
import pandas as pd

from privarms.planning.labels import assigned, settings
from privarms.planning.results import Results
from privarms.plots.curves import FEWEST
from privarms.plots.facets import leading
from privarms.registry.modules import PolicyModule

FIGURES = ("fig7a", "fig7b", "fig8a", "fig8b", "fig8c", "fig8d", "fig8e", "fig8f", "fig9a", "fig9b", "fig9c")
STUDIES = {"exponential": ("regret", "regret_printed"), "symmetric": ("regret_symmetric",)}
# The columns of cells without auxiliary data, as in the authors' logs.
ALONE = {"epsilon_aux": "1024", "gamma": 0.0, "kappa": 1.0, "order": ""}
LOW_FIRST, HIGH_FIRST = "low_first(2,8)", "high_first(8,2)"
# The deviations from the released program that make its older version.
OLDER = {"logarithm", "offset"}
POLICY = "ldp_mab"
# Contexts of both environments.
DIMENSIONS = 2
BANDS = f"Bands: 95% intervals of the means of at least {FEWEST} runs."
# The algorithms that statements name. No text gives the constant c of the text's algorithm. At c = 64 and above no arm
# is removed at the published sizes, so play is uniform.
PROGRAM, OLDER_PROGRAM, NOISY = "program", "older program", "program with noise"
UNIFORM, UNIFORM_FROM = "text with c >= 64", 64

AXES = ["n", "epsilon", "n_aux", "epsilon_aux", "order", "gamma", "kappa", "M", "K"]
KEY = ["variant", "epsilon", "epsilon_aux", "gamma", "kappa", "n", "n_aux", "M", "K", "order"]
COLUMNS = ["figure", "environment", *KEY, "replicates", "mean_regret", "se_regret"]
# The columns that distinguish algorithms; `also` has other settings that vary.
ALGORITHM = ["policy", "variant", "c", "deviation"]
LOGS_KEY = ["figure", "epsilon", "epsilon_aux", "gamma", "kappa", "n", "n_aux", "M", "order"]


def named(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a study's cells, at their horizon, with the columns of KEY, ALGORITHM, `program` and `also`.

    n: target users; n_aux: users per source; epsilon_aux: as text, "2|8" if sources differ, and `order` then names the
    first one; budgets: the same as numbers, also of cells without sources; also: other settings, as name=value, in
    which cells of one algorithm differ
    """
    if "t" in cells:
        cells = cells[cells["t"] == cells["horizon"]]
    frame = cells.rename(columns={"horizon": "n", "regret_mean": "mean_regret", "regret_se": "se_regret"})
    for column, missing in (("policy", POLICY), ("variant", ""), ("deviation", ""), ("c", float("nan"))):
        frame[column] = frame[column].fillna(missing) if column in frame else missing
    frame["also"] = _also(frame)
    budgets = [str(e).split() for e in frame.get("epsilon_aux", pd.Series(1024, frame.index)).fillna(1024)]
    frame["order"] = [_order(b) for b in budgets]
    frame["budgets"] = [tuple(map(float, b)) for b in budgets]
    frame["epsilon_aux"] = ["|".join(f"{e:g}" for e in sorted(map(float, b))) for b in budgets]
    for column, value in {"n_aux": 0, "gamma": 0.0, "kappa": 1.0, "M": 0}.items():
        frame[column] = frame[column].fillna(value) if column in frame else value
    for column, value in ALONE.items():
        frame[column] = frame[column].where(frame["n_aux"] > 0, value)
    frame["gamma"], frame["kappa"] = frame["gamma"].astype(float), frame["kappa"].astype(float)
    older = [set(d.split()) == OLDER for d in frame["deviation"]]
    released = (frame["variant"] == "as_released") & (frame["policy"] == POLICY)
    frame["program"] = ["" if not r else "older" if o else "current" for r, o in zip(released, older, strict=True)]
    return frame


def algorithm(variant: str, c: float, deviation: str) -> str:
    """Return the name of a cell's algorithm; "" for one that no statement is about, and for c = 64 and above.

    deviation : points in which the program follows the text, or the text the program; `choice` is uniform play among
        the arms that are left, as in Figure 6
    """
    if variant == "as_printed":
        return "" if deviation or c >= UNIFORM_FROM else f"text with c = {c:g}"
    if variant != "as_released":
        return ""
    if set(deviation.split()) == OLDER:
        return OLDER_PROGRAM
    return {"": PROGRAM, "noise": NOISY, "choice": "program with uniform choices"}.get(deviation, "")


def _order(budgets: list[str]) -> str:
    """Return how sources of different quality follow each other; empty for one budget."""
    if len(budgets) == 1:
        return ""
    values = [float(b) for b in budgets]
    return f"{'low_first' if values == sorted(values) else 'high_first'}({','.join(budgets)})"


def _also(frame: pd.DataFrame) -> pd.Series:
    """Return the settings, as name=value, that are no axis of a figure and differ within one algorithm.

    A parameter that this module does not know is also named where it does not differ. Additions, in cells without a
    tag, change no name of a tagged cell.
    """
    own = pd.Series([{} for _ in frame.index], frame.index)
    tagged = frame.get("tagged", pd.Series(True, frame.index))
    for among in (frame, frame[tagged]):
        for _, cells in among.groupby(ALGORITHM, dropna=False, sort=False):
            own[cells.index] = np.array(settings(cells, AXES), object)
    names = [assigned(_added(row) | varying) for (_, row), varying in zip(frame.iterrows(), own, strict=True)]
    return pd.Series(names, frame.index, dtype=object)


def _added(row: pd.Series) -> dict:
    """Return the parameters of a cell's policy without a column of their own, where they are not the default.

    The batch has one size in a figure, so it is named only where it differs.
    """
    takes = PolicyModule(row["policy"]).arguments
    unknown = [k for k in takes if k in row and k not in (*ALGORITHM, *AXES, "batch") and pd.notna(row[k])]
    return {k: row[k] for k in unknown if row[k] != takes[k].default}


# Many contrasts use the same panel; each view of the results has its own.
@cache
def panel(results: Results, figure: str, environment: str = "exponential", *, logs: bool = False) -> pd.DataFrame:
    """Return the cells of one panel in the order of the studies, as `named`, with `figure`, `environment`, `written`
    (the variant in tables) and `tagged`. Do not change them. logs: also those that only the authors' logs have."""
    names = {figure, f"{figure}_logs"} if logs else {figure}
    parts = []
    for study in STUDIES[environment]:
        cells = results.cells(study)
        cells = cells.assign(tagged=results.has_tag(cells))
        parts.append(named(cells[cells["panels"].map(lambda p: bool(names & set(str(p).split())))]))
    # As the paper has it, the older version of the program comes first.
    rows = leading(pd.concat(parts), "program", ("older", "current")).reset_index(drop=True)
    suffix = "" if environment == "exponential" else f"_{environment}"
    return rows.assign(figure=f"{figure}{suffix}", environment=environment, written=written_variant(rows))


def of_authors(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the program that drew a panel: the older version, if present."""
    program = "older" if "older" in set(cells["program"]) else "current"
    plain = (cells["deviation"] == "") | (cells["program"] == "older")
    return cells[(cells["policy"] == POLICY) & (cells["program"] == program) & plain]


def written_variant(cells: pd.DataFrame) -> list[str]:
    """Return the `variant` of written tables; it names the current program if the older one is present too."""
    both = "older" in set(cells["program"])
    rows = []
    for policy, variant, c, deviation, program, also in cells[[*ALGORITHM, "program", "also"]].itertuples(index=False):
        name = "_".join(part for part in (policy if policy != POLICY else "", variant) if part)
        name += f"_c{c:g}" if variant == "as_printed" and pd.notna(c) else ""
        name += "_current" if both and program == "current" else ""
        changed = deviation if program != "older" else ""
        rows.append(" ".join(part for part in (name, changed, also) if part))
    return rows


def words(variants: pd.Series) -> pd.Series:
    """Return written variants for legends and titles; `noise` is the noise from every user that privacy needs."""
    if variants.str.contains("_current").any():
        programs = {r"^as_released_current": "current program", r"^as_released": "older program"}
        variants = variants.replace(programs, regex=True)
    return variants.replace({r"_c(\d+)": r", c = \1", " noise": " + noise", "_": " "}, regex=True)


def figure_8(results: Results, environment: str) -> pd.DataFrame:
    """Return the cells of Figure 8, each once, though a cell may be in several panels."""
    cells = pd.concat([panel(results, name, environment) for name in FIGURES if name.startswith("fig8")])
    return cells.drop_duplicates("cell", ignore_index=True)


def written(cells: pd.DataFrame, *also: str) -> pd.DataFrame:
    """Return COLUMNS and others, under the names that other programs read."""
    return cells.assign(variant=cells["written"])[[*COLUMNS, *also]]


def logs(results: Results) -> pd.DataFrame:
    """Return the authors' logs: a row per cell and panel, LOGS_KEY, replicates, mean_regret, se_regret.

    From the logs released with their program (github.com/Karlmyh/LDP-Contextual-MAB). Each seed counts once: 30 runs
    per cell, 50 in Figure 9(a). Figure 7(a) comes from the older version of the program. Cells without auxiliary data,
    which several panels share, are listed in the first of these.
    """
    return results.published_table("logs", dtype={"epsilon_aux": str, "order": str}).fillna({"order": ""})


def agreement(results: Results) -> pd.DataFrame:
    """Return the authors' logs next to ours, as released: their columns, `ours`, `ours_se`, `ours_replicates`, `z`.

    z is the difference in standard errors of the difference. Rows without a cell of ours (sizes of another scale) have
    no z.
    """
    ours = pd.concat([of_authors(panel(results, figure, logs=True)) for figure in FIGURES])
    # Their cells have three arms; among other settings the first one counts.
    ours = ours[ours["K"] == 3].drop_duplicates(LOGS_KEY)
    names = {"mean_regret": "ours", "se_regret": "ours_se", "replicates": "ours_replicates"}
    ours = ours[[*LOGS_KEY, *names]].rename(columns=names)
    rows = logs(results).merge(ours, on=LOGS_KEY, how="left")
    z = (rows["ours"] - rows["mean_regret"]) / (rows["ours_se"] ** 2 + rows["se_regret"] ** 2) ** 0.5
    return rows.assign(z=z)
