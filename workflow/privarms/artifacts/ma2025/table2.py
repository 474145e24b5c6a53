"""Section 4.2: rewards on real data relative to ABSE's, which method is best, and ranks over the table.

A row is compared with the others over the same replicates, which meet the same users in the same order. Methods without
auxiliary data are repeated for each budget of the sources, as in the published table. The algorithm as printed runs
fewer replicates: it is not among the methods that are compared.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from privarms.artifacts.curves import ratio
from privarms.artifacts.results import Results
from privarms.errors import PrivarmsError
from privarms.inference.paired import compare, paired_bootstrap, rank_sums
from privarms.studies import library
from privarms.studies.streams import digest, stream

# The published entries, to three decimals.
PUBLISHED_FILE = Path(__file__).with_suffix(".csv")
PUBLISHED_DATASETS = ("adult", "jobs", "taxi")
PUBLISHED_RANK_SUMS = {
    "quarter": {"ldp_mab": (15, 45), "ldp_linear": (55, 52), "ldp_nn": (37, 43)},
    "full": {"ldp_mab": (22, 44), "ldp_linear": (54, 56), "ldp_nn": (33, 36)},
}
TIMES = ("quarter", "full")
ROW = ["dataset", "data", "epsilon", "epsilon_aux", "time"]
METHOD = ["method", "variant", "auxiliary"]
COLUMNS = [*ROW, *METHOD, "ratio", "se", "replicates", "best", "significant", "significant_holm"]
COMPARISON = [*ROW, *METHOD, "best_method", "best_auxiliary", "best_over_this", "low", "high", "p", "p_holm"]
ALPHA = 0.05
BOOTSTRAP_SEED = 2025


def published() -> pd.DataFrame:
    """Table 2 as published: dataset, epsilon, epsilon_aux, time, method, auxiliary, ratio."""
    return pd.read_csv(PUBLISHED_FILE)


def label_of(method: str) -> str:
    """What a method is called in tables and figures."""
    return library.literals("policies", method)["LABEL"]


def at_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows at a quarter of the users (rounded down) and at all of them, which `time` tells; policies become methods."""
    quarter, full = (rows["t"] == n for n in (np.maximum(rows["horizon"] // 4, 1), rows["horizon"]))
    found = rows[quarter | full].rename(columns={"policy": "method"})
    found = found.assign(time=np.where(found["t"] == found["horizon"], "full", "quarter"))
    if "auxiliary" in found:
        found["auxiliary"] = found["auxiliary"].astype(object).fillna("with")
    if "variant" in found:
        found["variant"] = found["variant"].astype(object).fillna("")
    return found


def repeated(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows without auxiliary data once for each epsilon_aux of the others on the same dataset; empty without others."""
    if "epsilon_aux" not in rows:
        return rows.assign(epsilon_aux=np.nan)
    alone = rows["auxiliary"] == "without"
    budgets = rows.loc[~alone, ["dataset", "epsilon_aux"]].drop_duplicates()
    again = rows[alone].drop(columns="epsilon_aux").merge(budgets, on="dataset", how="left")
    return pd.concat([rows[~alone], again], ignore_index=True)


def reference(results: Results, study: str = "real_data_reference") -> pd.DataFrame:
    """ABSE's mean reward and its standard error: dataset, t, base, base_se and its own settings."""
    cells = results.cells(study)
    cells = cells[cells["policy"] == "absse"]
    own = [name for name in ("lipschitz", "smoothness") if name in cells]
    return cells[["dataset", "t", *own, "reward_mean", "reward_se"]].set_axis(
        ["dataset", "t", *own, "base", "base_se"], axis=1
    )


def entries(results: Results) -> pd.DataFrame:
    """Everything about each entry: COLUMNS and COMPARISON, sorted as in the configuration.

    best_over_this: the best method's mean reward over this one's, with a 95% percentile interval of the paired
    bootstrap; p of the signed-rank test that the best one is larger, p_holm adjusted over the row's comparisons. Empty
    for the best one itself and, like best and significant, for the algorithm as printed.
    """
    cells = at_times(results.cells("real_data"))
    _refuse_what_cannot_be_compared(cells)
    cells, base = repeated(cells), reference(results)
    _refuse_other_references(cells, base)
    cells = cells.merge(base[["dataset", "t", "base", "base_se"]], on=["dataset", "t"], validate="many_to_one")
    cells["ratio"], cells["se"] = ratio(cells["reward_mean"], cells["reward_se"], cells["base"], cells["base_se"])
    runs = results.replicates("real_data", ("cell", "replicate", "t", "horizon", "reward"))
    rewards = dict(list(at_times(runs).groupby(["cell", "time"], observed=True)))
    parts = []
    for key, row in cells.groupby(ROW, sort=False, dropna=False, observed=True):
        contest = row[row["variant"] != "as_printed"]
        # A stream a row, so that another dataset changes no interval.
        rng = stream(BOOTSTRAP_SEED, digest({"row": [str(one) for one in key]}), 0)
        found = _contest(contest, {cell: rewards[cell, row["time"].iloc[0]] for cell in contest["cell"]}, rng)
        parts.append(row.merge(found, on="cell", how="left"))
    table = pd.concat(parts, ignore_index=True)
    for column in ("best", "significant", "significant_holm"):
        table[column] = table[column].astype("boolean")
    return table[list(dict.fromkeys([*COLUMNS, *COMPARISON]))]


def _contest(contest: pd.DataFrame, rewards: dict[str, pd.DataFrame], rng: np.random.Generator) -> pd.DataFrame:
    """`paired.compare` of the methods of one row, by cell, with the bootstrap of the best one against each other."""
    frame = pd.concat([runs[["replicate", "reward"]].assign(cell=cell) for cell, runs in rewards.items()])
    found = compare(frame, "reward", "cell", "replicate", ALPHA)
    best = found.loc[found["best"], "cell"].iloc[0]
    named = contest.set_index("cell").loc[best]
    rows = []
    for cell in found["cell"]:
        if cell == best:
            rows.append((np.nan, np.nan, np.nan))
            continue
        ours, others = (rewards[c].sort_values("replicate")["reward"].to_numpy(float) for c in (best, cell))
        # A method may have earned nothing so far.
        earned = others.mean() > 0
        rows.append(paired_bootstrap(ours, others, rng, statistic="ratio") if earned else (np.nan, np.nan, np.nan))
    intervals = pd.DataFrame(rows, columns=["best_over_this", "low", "high"])
    own = found[["cell", "best", "significant", "significant_holm", "p", "p_holm"]].join(intervals)
    return own.assign(best_method=named["method"], best_auxiliary=named["auxiliary"])


def _refuse_what_cannot_be_compared(cells: pd.DataFrame) -> None:
    """PrivarmsError unless each dataset has several methods, once each, in the same settings and over the same runs."""
    if "epsilon_aux" in cells and not pd.api.types.is_numeric_dtype(cells["epsilon_aux"]):
        raise PrivarmsError(
            "studies.real_data: epsilon_aux: expected one number for all sources; put others into another study"
        )
    budgets = cells["epsilon_aux"] if "epsilon_aux" in cells else pd.Series(np.nan, cells.index)
    without = cells[(cells["auxiliary"] == "with") & budgets.isna()]
    if not without.empty:
        raise PrivarmsError(
            f"studies.real_data: {without['method'].iloc[0]} with auxiliary data: give it an epsilon_aux"
        )
    twice = cells[cells.assign(budget=budgets).duplicated(["dataset", "epsilon", "budget", "time", *METHOD])]
    if not twice.empty:
        row = twice.iloc[0]
        raise PrivarmsError(
            f"studies.real_data: {row['method']} ({row['auxiliary']} auxiliary data) stands twice on {row['dataset']}; "
            "methods are told apart by policy, variant and auxiliary: put other settings into a study of their own"
        )
    for (dataset, auxiliary), rows in cells.groupby(["dataset", "auxiliary"], observed=True):
        settings = {
            method: set(zip(own["epsilon"], budgets[own.index].fillna(0), own["time"], strict=True))
            for method, own in rows.groupby(["method", "variant"], observed=True)
        }
        most = max(settings.values(), key=len)
        for (method, _), own in settings.items():
            if own != most:
                raise PrivarmsError(
                    f"studies.real_data: {method} ({auxiliary} auxiliary data) on {dataset} has other "
                    "budgets or checkpoints than the other methods; give all of them the same"
                )
    contest = cells[cells["variant"] != "as_printed"]
    for dataset, rows in contest.groupby("dataset", observed=True):
        if len(rows[METHOD].drop_duplicates()) < 2 or rows["replicates"].nunique() > 1 or rows["replicates"].min() < 2:
            raise PrivarmsError(
                f"studies.real_data: {dataset}: expected at least two methods with equally many replicates, 2 or "
                f"more; found {rows.groupby('method', observed=True)['replicates'].unique().map(list).to_dict()}"
            )


def _refuse_other_references(cells: pd.DataFrame, base: pd.DataFrame) -> None:
    twice = base[base.duplicated(["dataset", "t"])]
    if not twice.empty:
        raise PrivarmsError(
            f"studies.real_data_reference: absse stands twice on {twice['dataset'].iloc[0]}; put other constants into "
            "a study of their own"
        )
    there = set(base[["dataset", "t"]].itertuples(index=False, name=None))
    for dataset, t in cells[["dataset", "t"]].drop_duplicates().itertuples(index=False, name=None):
        if (dataset, t) not in there:
            raise PrivarmsError(
                f"studies.real_data_reference: no run of absse on {dataset} at t = {t:,}, which studies.real_data has; "
                "give both studies the same horizons and checkpoints"
            )


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Rank sums over the rows of the table, per dataset and over several, `datasets` naming them with plus signs.

    Ranks are of entries to three decimals, equal ones sharing the best rank, which gives the published sums from the
    published entries. As printed, LDPMAB takes the place of the released one. The published sum stands where the
    three published datasets are real.
    """
    there = table[["dataset", "data"]].drop_duplicates()
    methods = {
        dataset: frozenset(rows[METHOD].itertuples(index=False, name=None))
        for dataset, rows in table.groupby("dataset", sort=False, observed=True)
    }
    names = list(methods)
    three = [name for name in PUBLISHED_DATASETS if name in names]
    # One without sources, say, has fewer methods: ranks among other numbers of methods are not added up.
    alike = [name for name in names if methods[name] == max(methods.values(), key=len)]
    groups = [[name] for name in names]
    groups += [several for several in (three, alike) if len(several) > 1 and len({methods[n] for n in several}) == 1]
    groups = [list(one) for one in dict.fromkeys(map(tuple, groups))]
    real = set(there.loc[there["data"] == "real", "dataset"]) >= set(PUBLISHED_DATASETS)
    parts = []
    for group in groups:
        for time in TIMES:
            rows = table[table["dataset"].isin(group) & (table["time"] == time)]
            for variant in rows["variant"].unique():
                found = _rank_sums(rows, variant or "as_released")
                parts.append(found[found["variant"] == variant].assign(time=time, datasets="+".join(group)))
    sums = pd.concat(parts, ignore_index=True)
    sums["rank_sum"] = sums["rank_sum"].astype(int)
    sums["published_rank_sum"] = pd.array(
        [_published_sum(row) if real and row.datasets == "+".join(three) else None for row in sums.itertuples()],
        "Int64",
    )
    return sums[[*METHOD, "time", "datasets", "rank_sum", "published_rank_sum"]]


def _rank_sums(rows: pd.DataFrame, variant: str) -> pd.DataFrame:
    contest = rows[rows["variant"].isin(("", variant))]
    contest = contest.assign(
        epsilon_aux=contest["epsilon_aux"].fillna(0),
        rounded=contest["ratio"].round(3),
        name=contest[METHOD].agg("|".join, axis=1),
    )
    sums = rank_sums(contest, "rounded", "name", ["dataset", "epsilon", "epsilon_aux"], ties="min")
    own = contest[["name", *METHOD]].drop_duplicates()
    return own.merge(sums, on="name").drop(columns="name")


def _published_sum(row) -> int | None:
    if row.variant == "as_printed" or row.method not in PUBLISHED_RANK_SUMS[row.time]:
        return None
    return PUBLISHED_RANK_SUMS[row.time][row.method][row.auxiliary == "without"]
