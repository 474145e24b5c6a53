"""The inference tables on real data: Table 2's entries, comparisons of methods, and Adult with other choices.

The methods of a row are compared over the same replicates, with the same users in the same order.
"""

import itertools
import math

import numpy as np
import pandas as pd

from privarms.inference.intervals import ratio
from privarms.inference.paired import holm, ratio_of_means, wilcoxon_p_value
from privarms.inference.rows import as_frame
from privarms.papers.ma2025._table2 import METHOD, ROW, at_times, named, reference, repeated
from privarms.studies.results import Results
from privarms.studies.streams import digest, stream

ALPHA = 0.05
BOOTSTRAP_SEED = 2025
ADULT = "adult"
MAIN = "as in Table 2"
# The text of a choice, if its name is not enough.
CHOICES = {
    "adultmarital": "sources by marital status",
    "adultone": "one source",
    "adultcopies": "seven copies of the rows",
    "adultall": "reduction fitted on all rows",
    "learnt first": "first source alone",
}
KEYS = ["data", "epsilon", "epsilon_aux", "time", "method", "auxiliary"]
ENTRY = [
    *("reward_mean", "reward_se", "base", "base_se", "ratio", "se", "replicates"),
    *("best", "significant", "significant_holm", "best_method", "best_setting", "best_auxiliary"),
    *("best_over_this", "low", "high", "p", "p_holm"),
]


def table2(results: Results) -> pd.DataFrame:
    """Return Table 2's entries in the order of the configuration: row, method, `settings`, mean reward, ABSE's
    (`base`), their ratio, and the comparison with the best method of the row.

    best_over_this: the best method's mean reward over this one's, with a 95% percentile interval of the paired
    bootstrap; p of the signed-rank test that the best one is larger, p_holm adjusted over the row's comparisons. Empty
    for the best one itself and, like best and significant, for methods that are not compared: the algorithm as printed,
    and those with fewer replicates than most of the row.
    """
    cells = repeated(named(at_times(results.cells("real_data"))))
    base = reference(results.cells("real_data_reference"))
    cells = cells.merge(base, on=["dataset", "horizon", "t"], how="left", validate="many_to_one")
    # No ratio to a mean reward of 0.
    base, base_se = (cells[k].where(cells["base"] > 0) for k in ("base", "base_se"))
    cells["ratio"], cells["se"] = ratio(cells["reward_mean"], cells["reward_se"], base, base_se)
    rewards = _rewards(results)
    parts = []
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
    table = pd.concat(parts, ignore_index=True).reindex(columns=[*ROW, *METHOD, "settings", *ENTRY])
    kinds = {"boolean": ENTRY[7:10], "object": ENTRY[10:13], "float64": ENTRY[13:]}
    return table.astype({name: kind for kind, names in kinds.items() for name in names})


def _rewards(results: Results) -> dict[tuple[str, str], pd.Series]:
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


def table2_pairs(results: Results) -> pd.DataFrame:
    """Return each pair of compared methods of a row of Table 2, the better one first.

    p: of the signed-rank test that it is larger; gap, gap_se: the difference of mean rewards, with its error from
    differences by replicate; other_*: columns of the other method
    """
    cells = repeated(named(at_times(results.cells("real_data"))))
    rewards = _rewards(results)
    own = [*METHOD, "settings"]
    rows = []
    for key, row in cells.groupby(ROW, sort=False, dropna=False, observed=True):
        contest = _compared(row)
        of = _rewards_of(contest, rewards, row["time"].iloc[0])
        # The first of equals is the better one, as in `_contest`.
        means = {cell: -rewards.mean() for cell, rewards in of.items()}
        ordered = sorted(contest.to_dict("records"), key=lambda one: means[one["cell"]])
        for first, second in itertools.combinations(ordered, 2):
            ours, others = (of[one["cell"]].to_numpy(float) for one in (first, second))
            names = {k: first[k] for k in own} | {f"other_{k}": second[k] for k in own}
            gaps = ours - others
            output = {"p": wilcoxon_p_value(ours, others), "gap": gaps.mean()}
            output |= {"gap_se": gaps.std(ddof=1) / math.sqrt(len(gaps)), "replicates": len(gaps)}
            rows.append(dict(zip(ROW, key, strict=True)) | names | output)
    names = [*own, *(f"other_{k}" for k in own)]
    return pd.DataFrame(rows, columns=[*ROW, *names, "p", "gap", "gap_se", "replicates"])


@as_frame
def adult_alternatives(results: Results) -> pd.DataFrame:
    """Return Adult's entries under each alternative, without LDPMAB as printed; no ratio if ABSE did not run."""
    main = results.cells("real_data")
    main = main[main["dataset"] == ADULT]
    references = [results.cells(study) for study in ("real_data_reference", "adult_sensitivity_reference")]
    absse = pd.concat([named(cells[cells["policy"] == "absse"]) for cells in references], ignore_index=True)
    for cells in (main, results.cells("adult_sensitivity"), results.cells("adult_settings")):
        cells = named(at_times(cells), first=named(main))
        for (dataset, setting), part in cells.groupby(["dataset", "setting"], sort=False):
            changed = [CHOICES.get(name, name) for name in (dataset if dataset != ADULT else "", setting) if name]
            base = absse[(absse["dataset"] == dataset) & (absse["settings"] == "")]
            yield _entries(part, base, ", ".join(changed) or MAIN)
    main = named(at_times(main))
    for setting, base in absse[(absse["dataset"] == ADULT) & (absse["settings"] != "")].groupby("settings", sort=False):
        yield _entries(main[main["setting"] == ""], base, f"ABSE: {setting}")


def _entries(cells: pd.DataFrame, absse: pd.DataFrame, alternative: str) -> pd.DataFrame:
    """Return the ratios of some cells to ABSE's runs in one setting."""
    absse = absse.drop_duplicates("t").rename(columns={"reward_mean": "base", "reward_se": "base_se"})
    rows = repeated(cells[cells["variant"] != "as_printed"]).merge(absse[["t", "base", "base_se"]], on="t", how="left")
    base, base_se = (rows[k].where(rows["base"] > 0).astype(float) for k in ("base", "base_se"))
    rows["ratio"], rows["se"] = ratio(rows["reward_mean"], rows["reward_se"], base, base_se)
    return rows[[*KEYS, "ratio", "se", "replicates"]].assign(alternative=alternative)
