"""Tables 1 and 2 as they are written, and Table 2 and its ranks laid out for reading."""

import pandas as pd

from privarms.papers.ma2025._table2 import (
    PUBLISHED_DATASETS,
    TIMES,
    WRITTEN_METHOD,
    WRITTEN_ROW,
    in_pair,
    label_of,
    pair_text,
    pairs_of,
    ranks_among,
    written,
)
from privarms.plots.sheet import Entry, Sheet
from privarms.studies.artifacts import table
from privarms.studies.results import Results

TABLE1_ENTRIES = ("n_target", "sources", "max_n_source", "sum_n_source", "K", "original_dimensions", "dimensions")
COLUMNS = [*WRITTEN_ROW, *WRITTEN_METHOD, "ratio", "se", "replicates", "best", "significant", "significant_holm"]
COMPARISON = [
    *(*WRITTEN_ROW, *WRITTEN_METHOD, "best_method", "best_auxiliary", "best_over_this", "low", "high", "p", "p_holm")
]
TIME_LABELS = {"quarter": "t = n_P/4", "full": "t = n_P"}
AUXILIARY_LABELS = {"with": "w", "without": "wo"}
VARIANT_LABELS = {"as_printed": " as printed"}
# So many methods stand beside each other at both times; more at one time, and the other below.
MOST_BESIDE = 5


@table("Table 1: the real datasets", studies=["real_data"])
def table1(results: Results) -> pd.DataFrame:
    """Sizes and dimensions, ours and as published; the published max n_Q of Adult is the sum over its sources. Taxi's
    sizes are taken as published, from the first trips of May 2022 on; taxisample is a sample of three days of that
    month. Their label is a tip, that of taxicard and taxisamplecard a trip paid by card.
    """
    stated = results.published_table("table1")
    names = [f"published_{entry}" for entry in stated["entry"].unique()]
    rows = []
    for dataset in results.cells("real_data")["dataset"].unique():
        facts, own = results.dataset(dataset), stated[stated["dataset"] == dataset]
        row = {"dataset": dataset, **{entry: facts[entry] for entry in TABLE1_ENTRIES}}
        row |= {f"published_{entry}": value for entry, value in zip(own["entry"], own["value"], strict=True)}
        rows.append(row | {"data": facts["data"]})
    columns = ["dataset", *TABLE1_ENTRIES, *names, "data"]
    return pd.DataFrame(rows).reindex(columns=columns).astype(dict.fromkeys(names, "Int64"))


@table(
    "Table 2: the best method against every other one",
    inference=["table2"],
    card="Table 2: rewards on real data",
    tab="Best against others",
)
def table2_comparisons(results: Results) -> pd.DataFrame:
    """`best_over_this` is the best method's mean reward over that of the method, with a 95% interval of the paired
    bootstrap; p of the signed-rank test that the best one is larger, and adjusted by Holm over the row.
    """
    table = results.inference("table2")
    return written(table, COMPARISON)[table["p"].notna()]


def table2_sheet(table: pd.DataFrame, results: Results) -> Sheet:
    """Table 2 as the paper prints it, our entries above the published ones."""
    marked = table.astype({"best": "boolean", "significant": "boolean"})
    marked = marked.fillna({"best": False, "significant": False})
    methods = _methods(table)
    beside = [TIMES] if len(methods) <= MOST_BESIDE else [(time,) for time in TIMES]
    theirs = results.published_table("table2")
    sums = ranks_among(results.inference("table2"), set(theirs["method"]))
    lines: list[str | list[Entry]] = []
    for times in beside:
        columns = [(t, method, variant, a) for t in times for method, variant in methods for a in AUXILIARY_LABELS]
        where = f", {TIME_LABELS[times[0]]}" if len(beside) > 1 else ""
        of_paper = marked["dataset"].isin(PUBLISHED_DATASETS)
        for part in filter(len, (marked[of_paper], marked[~of_paper])):
            names = list(part["dataset"].unique())
            if of_paper.any() and not set(names) & set(PUBLISHED_DATASETS):
                lines.append(f"not in the paper: {', '.join(names)}{where}")
            for pair in pairs_of(part):
                lines.append(f"{_pair(pair)}{where}")
                lines += _lines_of_pair(part[in_pair(part, pair)], theirs[in_pair(theirs, pair)], columns)
            lines += _rank_lines(sums, columns, names)
    heads = [f"{label_of(method)}{VARIANT_LABELS.get(variant, '')}" for method, variant in methods]
    times = [("", 1), *((TIME_LABELS[time], 2 * len(heads)) for time in beside[0])]
    notes = [
        "Mean reward over that of ABSE (not private, target users only). Bold, the best of a row's methods, the first "
        "of equals; grey, better than each other one by the signed-rank test at .05. As printed: c = 64, fewer runs, "
        "not tested. Rank sums are among the paper's six methods; any other column's are among these and its own two."
    ]
    return Sheet(
        heads=[
            *([times] if len(beside) == 1 else []),
            [("", 1), *((head, 2) for _ in beside[0] for head in heads)],
            [("dataset", 1), *((AUXILIARY_LABELS[auxiliary], 1) for _, _, _, auxiliary in columns)],
        ],
        rows=lines,
        notes=notes,
    )


def _lines_of_pair(ours: pd.DataFrame, theirs: pd.DataFrame, columns: list[tuple]) -> list[list[Entry]]:
    """The lines of a pair of budgets: a dataset's entries, and the published ones where there are any."""
    lines = []
    for dataset, rows in ours.groupby("dataset", sort=False, observed=True):
        lines.append([Entry(_name(dataset, rows)), *_entries(rows, columns)])
        own = theirs[theirs["dataset"] == dataset].set_index(["time", "method", "auxiliary"])["ratio"]
        found = [None if v == "as_printed" else own.get((t, method, a)) for t, method, v, a in columns]
        if any(found):
            quiet = [Entry("" if value is None else f"{value:.3f}", quiet=True) for value in found]
            lines.append([Entry("published", quiet=True), *quiet])
    return lines


def _pair(pair: tuple) -> str:
    words = pair_text(*pair)
    if len(words) == 2:
        return f"(ε, ε_m) = ({', '.join(word.split(' = ')[1] for word in words)})"
    return f"{words[0]}, no auxiliary data" if words else "no budget"


def _rank_lines(sums: pd.DataFrame, columns: list[tuple], names: list[str]) -> list[str | list[Entry]]:
    """The rank sums over most of these datasets, as in the last line of the published table."""
    among = sums["datasets"].map(lambda datasets: set(datasets.split("+")) <= set(names)).astype(bool)
    sums = written(sums[sums["rank_sum"].notna() & among], [*WRITTEN_METHOD, "time", "datasets", "rank_sum"])
    if sums.empty:
        return []
    datasets = max(sums["datasets"].unique(), key=lambda names: names.count("+"))
    found = sums[sums["datasets"] == datasets].set_index(["time", *WRITTEN_METHOD])["rank_sum"]
    numbers = [Entry(f"{found[c]}" if c in found.index else "") for c in columns]
    return [f"rank sums over the rows of {datasets.replace('+', ' + ')}", [Entry("rank sum"), *numbers]]


def _methods(table: pd.DataFrame) -> list[tuple[str, str]]:
    """The methods and variants in their order, as printed last."""
    found = table[["method", "variant"]].drop_duplicates().itertuples(index=False, name=None)
    return sorted(found, key=lambda one: one[1] == "as_printed")


def _name(dataset: str, rows: pd.DataFrame) -> str:
    return f"{dataset} (stand-in)" if (rows["data"] == "stand-in").any() else dataset


def _entries(rows: pd.DataFrame, columns: list[tuple]) -> list[Entry]:
    own = rows.set_index(["time", *WRITTEN_METHOD])[["ratio", "best", "significant"]]
    found = dict(zip(own.index, own.itertuples(index=False, name=None), strict=True))
    there = {c: found[c] for c in columns if c in found and pd.notna(found[c][0])}
    return [Entry(f"{there[c][0]:.3f}", *map(bool, there[c][1:])) if c in there else Entry("") for c in columns]


def table2_ranks_sheet(table: pd.DataFrame, results: Results) -> Sheet:
    """Rank sums: a line a method, columns for each set of datasets, with the published ones where they can be had."""
    groups = {d: bool(rows["published_rank_sum"].notna().any()) for d, rows in table.groupby("datasets", sort=False)}
    columns = [
        (datasets, time, kind)
        for datasets, has_published in groups.items()
        for time in TIME_LABELS
        for kind in ("rank_sum", *(["published_rank_sum"] if has_published else []))
    ]
    found = table.set_index(["method", "variant", "auxiliary", "datasets", "time"])
    lines: list[str | list[Entry]] = []
    rows = table[["method", "variant", "auxiliary"]].drop_duplicates().itertuples(index=False, name=None)
    methods = _methods(table)
    for method in sorted(rows, key=lambda one: (methods.index(one[:2]), one[2])):
        name = f"{label_of(method[0])}{VARIANT_LABELS.get(method[1], '')} {AUXILIARY_LABELS[method[2]]}"
        numbers = [found[kind].get((*method, datasets, time)) for datasets, time, kind in columns]
        lines.append([Entry(name), *(Entry("" if n is None or pd.isna(n) else f"{n:.0f}") for n in numbers)])
    kinds = {"rank_sum": "", "published_rank_sum": ", published"}
    notes = ["Rank 1 is the best of a row; small sums are good. As printed takes the place of the released LDPMAB."]
    if table["rank_sum"].isna().any():
        notes.append("A method that does not run in all of the rows that the others share has no sum.")
    return Sheet(
        heads=[
            [("", 1), *((d.replace("+", " + "), 4 if has_published else 2) for d, has_published in groups.items())],
            [("", 1), *((f"{TIME_LABELS[time]}{kinds[kind]}", 1) for _, time, kind in columns)],
        ],
        rows=lines,
        notes=notes,
    )


@table(
    "Table 2: rewards on real data, relative to ABSE",
    inference=["table2"],
    card="Table 2: rewards on real data",
    tab="Rewards",
    sheet=table2_sheet,
)
def table2(results: Results) -> pd.DataFrame:
    """Every dataset whose file is there, at a quarter of the target's users and at all of them; as printed c = 64.
    Linear and NN at the authors' rate, .01, and on Adult at .1, which was chosen on its rewards; on Adult they are all
    compared with each other. `best` is the largest of a row, `significant` where the signed-rank test at .05 finds it
    larger than each other one, `significant_holm` where it does so after Holm's correction over these tests. Linear and
    NN are epsilon-locally private; LDPMAB as released is so in the arm alone.
    """
    return written(results.inference("table2"), COLUMNS)


@table(
    "Table 2: rank sums",
    inference=["table2"],
    card="Table 2: rewards on real data",
    tab="Rank sums",
    sheet=table2_ranks_sheet,
)
def table2_ranks(results: Results) -> pd.DataFrame:
    """Ranks of the entries, to three decimals, over the four pairs of budgets of each dataset, equal ones sharing the
    best rank, among the six methods of the paper's table, LDPMAB as printed in the place of the released one; any other
    method's are among these and itself. The published sums follow from the published entries that way. Those over
    Adult, Jobs and Taxi wait for all three.
    """
    table = results.inference("table2")
    real = set(table.loc[table["data"] == "real", "dataset"]) >= set(PUBLISHED_DATASETS)
    stated = results.published_table("rank_sums").set_index(["time", "method", "auxiliary"])["rank_sum"]
    methods = stated.index.get_level_values("method")
    sums = written(ranks_among(table, set(methods)), [*WRITTEN_METHOD, "time", "datasets", "rank_sum"])
    keys = zip(sums["time"], sums["method"], sums["auxiliary"], strict=True)
    comparable = real & (sums["variant"] != "as_printed") & (sums["datasets"] == "+".join(PUBLISHED_DATASETS))
    found = [stated.get(key) if can else None for key, can in zip(keys, comparable, strict=True)]
    return sums.assign(published_rank_sum=pd.array(found, "Int64"))
