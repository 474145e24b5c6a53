"""The inference tables on real data: Table 2's entries, comparisons of methods, and Adult with other choices.

The methods of a row are compared over the same replicates, with the same users in the same order.
"""

from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd

from privarms.execution.streams import digest, stream
from privarms.inference.intervals import ratio
from privarms.inference.paired import holm, ratio_of_means, wilcoxon_p_value
from privarms.inference.rows import as_frame
from privarms.ledger.contrasts import error, ratios
from privarms.papers.ma2025._table2 import (
    METHOD,
    PUBLISHED_DATASETS,
    ROW,
    absse,
    at_times,
    main_cells,
    named,
    reference,
    repeated,
)
from privarms.planning.results import Results
from privarms.registry.artifacts import inference

ALPHA = 0.05
BOOTSTRAP_SEED = 2025
ADULT = "adult"
# The studies of Table 2, and those of Adult under the choices that the paper leaves open.
REAL_DATA = ["real_data", "real_data_reference", "adult_sensitivity", "adult_settings", "adult_sensitivity_reference"]
DEFAULT, MAIN = "default", "as in Table 2"
# The start of the name of a setting that only changes ABSE.
OF_ABSSE = "ABSE: "
# The text of a choice, if its name is not enough.
CHOICES = {
    "adultmarital": "sources by marital status",
    "adultone": "one source",
    "adultcopies": "seven copies of the rows",
    "adultall": "reduction fitted on all rows",
    "learnt first": "first source alone",
}
KEYS = ["dataset", "data", "epsilon", "epsilon_aux", "time", "method", "auxiliary"]
ERRORS = ["ratio", "ratio_se", "ratio_bottom", "ratio_top_sd", "ratio_bottom_sd"]
ENTRY = [
    *("reward_mean", "reward_se", "base", "base_se", "ratio", "se", "replicates"),
    *("best", "significant", "significant_holm", "best_method", "best_setting", "best_auxiliary"),
    *("best_over_this", "low", "high", "p", "p_holm"),
]


@inference(studies=["real_data", "real_data_reference"])
def table2(results: Results) -> pd.DataFrame:
    """Return Table 2's entries for its picture and table; statements use those of `table2_settings`.

    They are in the order of the configuration: row, method, mean reward, ABSE's (`base`), their ratio, and the
    comparison with the best method of the row.

    best_over_this: the best method's mean reward over this one's, with a 95% percentile interval of the paired
    bootstrap; p of the signed-rank test that the best one is larger, p_holm adjusted over the row's comparisons. Empty
    for the best one itself and, like best and significant, for methods that are not compared: the algorithm as printed,
    and those with fewer replicates than most of the row.
    """
    cells = repeated(named(at_times(results.cells("real_data")), main_cells(results, "real_data")))
    base = reference(results)
    cells = cells.merge(base, on=["dataset", "horizon", "t"], how="left", validate="many_to_one")
    # No ratio to a mean reward of 0.
    base, base_se = (cells[k].where(cells["base"] > 0) for k in ("base", "base_se"))
    cells["ratio"], cells["se"] = ratio(cells["reward_mean"], cells["reward_se"], base, base_se)
    rewards = _rewards(results)
    parts = []
    key: tuple
    for key, row in cells.groupby(ROW, sort=False, dropna=False, observed=True):
        contest = _compared(row)
        if contest.empty:
            parts.append(row)
            continue
        # One random stream per row, so another dataset changes no interval.
        dataset, data, epsilon, epsilon_aux, time = key
        name = [dataset, data, f"{epsilon:g}", str(float(epsilon_aux)), time]
        rng = stream(BOOTSTRAP_SEED, digest({"row": name}), 0)
        parts.append(row.merge(_contest(contest, rewards, time, rng), on="cell", how="left"))
    table = pd.concat(parts, ignore_index=True).reindex(columns=[*ROW, *METHOD, *ENTRY])
    kinds = {"boolean": ENTRY[7:10], "object": ENTRY[10:13], "float64": ENTRY[13:]}
    return table.astype({name: kind for kind, names in kinds.items() for name in names})


def _rewards(results: Results) -> dict[Hashable, pd.Series]:
    """Return (cell, time) -> rewards by replicate."""
    runs = at_times(results.replicates("real_data", ("cell", "replicate", "t", "horizon", "reward")))
    return {
        key: own.set_index("replicate")["reward"].sort_index()
        for key, own in runs.groupby(["cell", "time"], observed=True)
    }


def _compared(row: pd.DataFrame) -> pd.DataFrame:
    """Return the compared methods of a row: those with at least the most common number of replicates, two or more.

    A method with more replicates is compared over its first ones.
    """
    able = row[(row["variant"] != "as_printed") & (row["replicates"] > 1) & (row["reward_missing"] == 0)]
    counts = able["replicates"].value_counts()
    if counts.empty:
        return able
    chosen = able[able["replicates"] >= max(counts.index, key=lambda n: (counts[n], n))]
    return chosen if len(chosen) > 1 else chosen.iloc[:0]


def _rewards_of(contest: pd.DataFrame, rewards: dict, time: str) -> dict[str, pd.Series]:
    """Return cell -> rewards of the replicates that all methods of one row have."""
    return {cell: rewards[cell, time].iloc[: contest["replicates"].min()] for cell in contest["cell"]}


def _contest(contest: pd.DataFrame, rewards: dict, time: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return the comparison of a row's method with the largest mean (the first of equals) with each other method.

    The best one is chosen on the replicates of the tests, and the p-values do not account for this choice: one of two
    equal methods is significant with a probability near 2 ALPHA.
    """
    of = _rewards_of(contest, rewards, time)
    best = max(of, key=lambda cell: of[cell].mean())
    others = [cell for cell in of if cell != best]
    p = np.array([wilcoxon_p_value(of[best], of[cell]) for cell in others])
    adjusted = holm(p)
    rows = [{"cell": best, "best": True, "significant": p.max() <= ALPHA, "significant_holm": adjusted.max() <= ALPHA}]
    for cell, one, corrected in zip(others, p, adjusted, strict=True):
        rows.append({"cell": cell, "best": False, "significant": False, "significant_holm": False})
        rows[-1] |= {"p": one, "p_holm": corrected}
        # A method may have earned nothing so far.
        if of[cell].mean() > 0:
            output = ratio_of_means(of[best], of[cell], rng)
            rows[-1] |= dict(zip(("best_over_this", "low", "high"), output, strict=True))
    winner = contest.set_index("cell").loc[best]
    return pd.DataFrame(rows).assign(**{f"best_{k}": winner[k] for k in ("method", "setting", "auxiliary")})


@inference(studies=REAL_DATA)
@as_frame
def table2_settings(results: Results) -> Iterator[pd.DataFrame]:
    """Return the entries of Table 2 on the paper's datasets, in each `setting` that the paper leaves open.

    A row per dataset, pair of budgets, time, method, auxiliary, variant and setting: ratio of mean rewards to ABSE's
    with its error, and the parts of the error; se: the error of the method's own mean, over ABSE's mean; cells, runs.
    Only Adult has other settings than `default`: the preparation, a parameter of the methods, or one of ABSE. The
    algorithm as printed has its constant c. A row's method and ABSE share the users of a replicate in the paper; here
    they are independent.
    """
    usual = main_cells(results, "real_data")
    main = named(results.cells("real_data"), usual)
    main = main[main["dataset"].isin(PUBLISHED_DATASETS)]
    references = pd.concat([absse(results), absse(results, "adult_sensitivity_reference")], ignore_index=True)
    # Other cells of `real_data` are no setting of the paper's methods.
    own = main[results.has_tag(main)]
    others = [named(results.cells(study), usual) for study in ("adult_sensitivity", "adult_settings")]
    for cells in (own, *others):
        cells = at_times(cells)
        printed = cells["variant"] == "as_printed"
        if printed.any():
            cells.loc[printed, "setting"] = cells.loc[printed, "c"].map("c {:g}".format)
        key: tuple
        for key, part in cells.groupby(["dataset", "setting"], sort=False):
            dataset, setting = key
            prepared = dataset not in PUBLISHED_DATASETS
            added = [name for name in (dataset if prepared else "", setting) if name]
            choices = [str(CHOICES.get(name, name)) for name in added]
            base = references[(references["dataset"] == dataset) & (references["setting"] == "")]
            part = part.assign(dataset=ADULT if prepared else dataset)
            yield _entries(part, base, ", ".join(choices) or DEFAULT)
    adult = at_times(main[(main["dataset"] == ADULT) & (main["setting"] == "") & (main["variant"] != "as_printed")])
    changed = references[(references["dataset"] == ADULT) & (references["setting"] != "")]
    for setting, base in changed.groupby("setting", sort=False):
        yield _entries(adult, base, f"{OF_ABSSE}{setting}")


def _entries(cells: pd.DataFrame, base: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Return the ratios of some cells to ABSE (`base`) in one setting, where ABSE's mean is above 0."""
    base = base[base["reward_mean"] > 0].drop_duplicates("t")
    rows = repeated(cells)
    rows["spread"] = rows["reward_se"] * np.sqrt(rows["replicates"])
    rows, base = (one.assign(reward_se=_error(one)) for one in (rows, base))
    rows = ratios(rows, base, "reward", ["t"])
    # The bound on the error of equal runs says how sure we are; it is no scatter of the paper's runs.
    rows = rows.assign(ratio_top_sd=rows["spread"], se=rows["reward_se"] / rows["ratio_bottom"], setting=setting)
    return rows[[*KEYS, "variant", "setting", *ERRORS, "se", "replicates", "runs", "cells"]]


def _error(rows: pd.DataFrame) -> np.ndarray:
    """Return errors of mean rewards up to t; a method that plays one arm has the same reward in every run."""
    return error(rows["reward_mean"], rows["reward_se"], rows["replicates"], 0, rows["t"])


@inference(studies=REAL_DATA)
def adult_alternatives(results: Results) -> pd.DataFrame:
    """Return Adult's entries under each alternative, without LDPMAB as printed; no row if ABSE did not run."""
    table = table2_settings(results)
    table = table[(table["dataset"] == ADULT) & (table["variant"] != "as_printed")]
    table = table.assign(alternative=table["setting"].replace(DEFAULT, MAIN), se=table["ratio_se"])
    return table[[*KEYS[1:], "ratio", "se", "replicates", "alternative"]].reset_index(drop=True)
