"""Tables 1 and 2 as written, and Table 2 laid out for the report."""

from typing import Any

import pandas as pd

from privarms.papers.ma2025 import _table2
from privarms.papers.ma2025._table2 import PUBLISHED_DATASETS, WRITTEN_METHOD, label_of, written
from privarms.planning.results import Results
from privarms.plots.sheet import Entry, Sheet
from privarms.registry.artifacts import table

TABLE1_ENTRIES = ("n_target", "sources", "max_n_source", "sum_n_source", "K", "original_dimensions", "dimensions")
KEY = ["dataset", "data", "epsilon", "epsilon_aux", "time", *WRITTEN_METHOD]
COLUMNS = [*KEY, "ratio", "se", "replicates", "best", "significant", "significant_holm"]
COMPARISON = [*KEY, "best_method", "best_auxiliary", "best_over_this", "low", "high", "p", "p_holm"]
TIME_LABELS = {"quarter": "t = n_P/4", "full": "t = n_P"}
AUXILIARY_LABELS = {"with": "w", "without": "wo"}


@table("Table 1: the real datasets", studies=["real_data"], policies=())
def table1(results: Results) -> pd.DataFrame:
    """Sizes and dimensions, ours and as published; the published max n_Q of Adult is the sum over its sources. Taxi's
    sizes are taken as published, from the first trips of May 2022 on; taxisample is a sample of three days of that
    month. The label of both is a tip; that of taxicard and taxisamplecard is a trip paid by card. jobssample has the
    rows of Jobs with a previous salary above 100,000."""
    stated = results.published_table("table1")
    names = [f"published_{entry}" for entry in stated["entry"].unique()]
    stated = stated.pivot(index="dataset", columns="entry", values="value").add_prefix("published_").astype("Int64")
    facts = {dataset: results.dataset(dataset) for dataset in results.cells("real_data")["dataset"].unique()}
    rows = pd.DataFrame.from_dict(facts, orient="index").assign(dataset=[*facts]).join(stated)
    return rows.reset_index(drop=True)[["dataset", *TABLE1_ENTRIES, *names, "data"]]


@table(
    "Table 2: the best method against each other method",
    inference=["table2"],
    card="Table 2: rewards on real data",
    tab="Best against others",
)
def table2_comparisons(results: Results) -> pd.DataFrame:
    """Comparison of a row's best method with the others. `best_over_this` is its mean reward over that of the method,
    with a
    95% interval of the paired bootstrap. p is that of the signed-rank test that the best one is larger; p_holm is
    adjusted over the row."""
    table = results.inference("table2")
    return written(table, COMPARISON)[table["p"].notna()]


def table2_sheet(table: pd.DataFrame, results: Results) -> Sheet:
    """Lay out Table 2 with a block per time and pair of budgets, our entries above the published ones."""
    keys = ["dataset", "epsilon", "epsilon_aux", "time", "method", "auxiliary"]
    theirs = results.published_table("table2").set_index(keys)["ratio"]
    output = table[["method", "variant"]].drop_duplicates().itertuples(index=False, name=None)
    methods = sorted(output, key=lambda one: one[1] == "as_printed")
    columns = [(method, variant, auxiliary) for method, variant in methods for auxiliary in AUXILIARY_LABELS]
    lines: list[str | list[Entry]] = []
    pair: tuple
    for time in _table2.TIMES:
        for pair, block in table[table["time"] == time].groupby(["epsilon", "epsilon_aux"], dropna=False):
            lines.append(", ".join(filter(None, [TIME_LABELS[time], _table2.pair_text(*pair)])))
            for dataset, rows in block.groupby("dataset", sort=False):
                own: dict[tuple, Any] = {(row.method, row.variant, row.auxiliary): row for row in rows.itertuples()}
                name = f"{dataset} (stand-in)" if (rows["data"] == "stand-in").any() else str(dataset)
                lines.append([Entry(name), *(_entry(own.get(column)) for column in columns)])
                stated = [
                    theirs.get((dataset, *pair, time, m, a)) if v != "as_printed" else None for m, v, a in columns
                ]
                if any(stated):
                    texts = ["" if value is None else f"{value:.3f}" for value in stated]
                    lines.append([Entry(text, quiet=True) for text in ["published", *texts]])
    heads = [f"{label_of(method)}{' as printed' if variant == 'as_printed' else ''}" for method, variant in methods]
    notes = [
        "Mean reward over that of ABSE (not private, target users only). Bold, the best of a row's methods, the first "
        "of equals; grey, better than each other one by the signed-rank test at .05. As printed: c = 64, or as marked, "
        "fewer runs, not tested."
    ]
    labels = [("dataset", 1), *((AUXILIARY_LABELS[auxiliary], 1) for _, _, auxiliary in columns)]
    return Sheet(heads=[[("", 1), *((head, 2) for head in heads)], labels], rows=lines, notes=notes)


def _entry(row) -> Entry:
    if row is None or pd.isna(row.ratio):
        return Entry("")
    return Entry(f"{row.ratio:.3f}", *(pd.notna(mark) and bool(mark) for mark in (row.best, row.significant)))


@table(
    "Table 2: rewards on real data, relative to ABSE",
    inference=["table2"],
    card="Table 2: rewards on real data",
    tab="Rewards",
    sheet=table2_sheet,
)
def table2(results: Results) -> pd.DataFrame:
    """Mean reward over ABSE's for every dataset with a file, at a quarter and at all of the target's users; as printed
    c = 64, and 2 on Adult. Linear and NN have the authors' rate, .01, and on Adult also .1, which was chosen on its
    rewards; on Adult all are compared with each other. `best` is the largest entry of a row. It is `significant` if the
    signed-rank test at .05 finds it larger than each other entry, `significant_holm` if also after Holm's correction
    over these tests. Linear and NN are epsilon-locally private; the released LDPMAB protects only the arm, not the
    context."""
    return written(results.inference("table2"), COLUMNS)


@table("Table 2: rank sums", inference=["table2"], card="Table 2: rewards on real data", tab="Rank sums")
def table2_ranks(results: Results) -> pd.DataFrame:
    """Rank sums of entries among the six methods of the paper's table, over the four pairs of budgets of each
    dataset. Entries are rounded to three decimals, and equal ones share the best rank. The published entries give the
    published sums in this way. Sums over Adult, Jobs and Taxi need all three datasets."""
    table = results.inference("table2")
    stated = results.published_table("rank_sums").rename(columns={"rank_sum": "published_rank_sum"})
    six = table["method"].isin(stated["method"]) & (table["variant"] != "as_printed") & (table["setting"] == "")
    sums = written(_table2.ranks(table[six]), [*WRITTEN_METHOD, "time", "datasets", "rank_sum"])
    sums = sums.merge(stated, on=["time", "method", "auxiliary"], how="left")
    real = set(table.loc[table["data"] == "real", "dataset"]) >= set(PUBLISHED_DATASETS)
    comparable = real & (sums["datasets"] == "+".join(PUBLISHED_DATASETS))
    return sums.assign(published_rank_sum=sums["published_rank_sum"].where(comparable).astype("Int64"))
