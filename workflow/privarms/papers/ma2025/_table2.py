"""Table 2 (section 4.2): what its methods and rows are called, and ranks over its rows.

A method is a policy in a variant, with or without auxiliary data, in a `setting`: the parameters in which a cell
differs from the first one of its policy and variant, so none as a rule. A row is a dataset, a number of its users (the
horizon), a pair of budgets and a time. What does not depend on a budget is repeated for each one; the published
table has entries that differ there nevertheless. The algorithm as printed runs fewer replicates: it is not among the
methods that are compared.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from privarms.inference.paired import rank_sums
from privarms.plots.tables import shown
from privarms.studies import library
from privarms.studies.results import Results

PUBLISHED_DATASETS = ("adult", "jobs", "taxi")
TIMES = ("quarter", "full")
ROW = ["dataset", "data", "horizon", "epsilon", "epsilon_aux", "time"]
METHOD = ["method", "variant", "auxiliary", "setting"]
# As they are written, where a method's name has its setting, and a dataset's its number of users unless that is the
# first.
WRITTEN_ROW = ["dataset", "data", "epsilon", "epsilon_aux", "time"]
WRITTEN_METHOD = ["method", "variant", "auxiliary"]
# Parameters that make rows or methods; all others are settings.
AXES = ("dataset", "epsilon", "epsilon_aux", "auxiliary")


def label_of(method: str) -> str:
    """Return a method's name in tables and figures: the policy's LABEL, and the setting of a written name."""
    policy, *setting = method.split(" (", 1)
    return " (".join([library.attributes("policies", policy)["LABEL"], *setting])


def at_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at a quarter of the users (rounded down) and at all of them, with `time`."""
    quarter, full = (rows["t"] == n for n in (np.maximum(rows["horizon"] // 4, 1), rows["horizon"]))
    found = rows[quarter | full]
    return found.assign(time=np.where(found["t"] == found["horizon"], "full", "quarter"))


def named(cells: pd.DataFrame, first: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return a study's cells with the columns of METHOD, none empty, and `settings`.

    settings: all parameters that the study gives a cell, sorted ("batch 100, rate 0.1"), whatever other cells it has
    first: cells of another study to which `setting` is relative, where it has their policy and variant
    """
    found = cells.rename(columns={"policy": "method"})
    found = found.assign(**{k: found.get(k, np.nan) for k in ("variant", "auxiliary", *AXES[1:3])})
    found["auxiliary"] = found["auxiliary"].astype(object).fillna("with")
    found["variant"] = found["variant"].astype(object).fillna("")
    if not pd.api.types.is_numeric_dtype(found["epsilon_aux"]):
        # Texts, for one budget a source ("2 8"), make a column of texts.
        found["epsilon_aux"] = found["epsilon_aux"].map(_number)
        if not found["epsilon_aux"].map(lambda v: isinstance(v, str)).any():
            found["epsilon_aux"] = found["epsilon_aux"].astype(float)
        else:
            found["epsilon_aux"] = found["epsilon_aux"].map(
                lambda v: v if isinstance(v, str) or pd.isna(v) else f"{v:g}"
            )
    base = found if first is None else pd.concat([first, found])
    given = {key: _given(part.iloc[0]) for key, part in base.groupby(["method", "variant"], sort=False, observed=True)}
    own: dict[str, tuple[str, str]] = {}
    for _, row in found.drop_duplicates("cell").iterrows():
        mine, usual = _given(row), given[row["method"], row["variant"]]
        changed = {k: mine.get(k) for k in sorted({*mine, *usual}) if mine.get(k) != usual.get(k)}
        own[row["cell"]] = words(mine), words(changed)
    texts = [own[cell] for cell in found["cell"]]
    return found.assign(settings=[a for a, _ in texts], setting=[b for _, b in texts])


def _number(value):
    try:
        return float(value)
    except ValueError:
        return value


def _given(row: pd.Series) -> dict:
    """Return a cell's parameters apart from AXES: the policy's and its environment's."""
    around = library.environment_arguments(row["environment"]) if "environment" in row else ()
    names = dict.fromkeys((*library.arguments("policies", row["method"]), *around))
    return {
        k: row[k] for k in sorted(names) if k in row and k not in (*AXES, "variant", "horizon") and pd.notna(row[k])
    }


def words(parameters: dict) -> str:
    """Return parameters as a text: "batch 500, rate 0.1"; one without a value is "by default"."""
    return ", ".join(f"{k} {'by default' if v is None else shown(v)}" for k, v in parameters.items())


def repeated(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows without a budget once per budget of the others on the same dataset; empty where there are none."""
    rows = _repeated(rows, "epsilon", ["dataset", "horizon"])
    return _repeated(rows, "epsilon_aux", ["dataset", "horizon", "epsilon"])


def _repeated(rows: pd.DataFrame, budget: str, place: list[str]) -> pd.DataFrame:
    alone = rows[budget].isna()
    budgets = rows.loc[~alone, [*place, budget]].drop_duplicates()
    if budgets.empty or not alone.any():
        return rows
    again = rows[alone].drop(columns=budget).merge(budgets, on=place, how="left")
    return pd.concat([rows[~alone], again], ignore_index=True)


def reference(cells: pd.DataFrame) -> pd.DataFrame:
    """Return ABSE's mean reward, to which Table 2's entries are relative: dataset, horizon, t, base, base_se.

    Of several settings of ABSE the one with the fewest parameters counts, the first of equals.
    """
    absse = named(cells[cells["policy"] == "absse"])
    fewest = absse["settings"].astype(str).str.count(" ").sort_values(kind="stable").index
    absse = absse.loc[fewest].drop_duplicates(["dataset", "horizon", "t"]).sort_index()
    found = absse[["dataset", "horizon", "t", "reward_mean", "reward_se"]]
    return found.set_axis(["dataset", "horizon", "t", "base", "base_se"], axis=1)


def place_of(table: pd.DataFrame) -> pd.Series:
    """Return the name of each row's dataset, with its users where that is not the dataset's first number of them."""
    firsts = table.groupby("dataset", sort=False, observed=True)["horizon"].transform("first")
    return pd.Series(
        [
            d if h == f else f"{d} ({h:,} users)"
            for d, h, f in zip(table["dataset"], table["horizon"], firsts, strict=True)
        ],
        table.index,
        dtype=object,
    )


def written(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return columns as they are written: the name of a method has its setting, that of a dataset its users."""
    names = {"dataset": place_of(table)} if "dataset" in table else {}
    names |= {f"{best}method": called(table, best) for best in ("", "best_") if f"{best}method" in table}
    return table.assign(**names)[columns]


def called(table: pd.DataFrame, which: str = "") -> list[str]:
    """Return the name of each row's method with its setting; which: "best_" for the columns of the best method."""
    return [
        f"{m} ({s})" if s else m
        for m, s in zip(table[f"{which}method"], table[f"{which}setting"].fillna(""), strict=True)
    ]


def pair_text(epsilon: float, epsilon_aux: float | str | None, symbols: tuple[str, str] = ("ε", "ε_m")) -> list[str]:
    """Return the budgets that a row has, as texts: ["ε = 1", "ε_m = 4"]."""
    values = zip(symbols, (epsilon, epsilon_aux), strict=True)
    return [f"{symbol} = {shown(value)}" for symbol, value in values if pd.notna(value)]


def pairs_of(table: pd.DataFrame) -> list[tuple]:
    """Return the pairs of budgets, in order; those without auxiliary data, or without any budget, first."""
    found = dict.fromkeys(
        (e, None if pd.isna(x) else x) for e, x in zip(table["epsilon"], table["epsilon_aux"], strict=True)
    )

    def size(pair):
        return [0.0 if v is None or pd.isna(v) else v for v in pair[:1]], [float(v) for v in str(pair[1] or "").split()]

    return sorted(found, key=size)


def in_pair(table: pd.DataFrame, pair: tuple) -> pd.Series:
    """Return which rows have a pair of budgets."""
    chosen = pd.Series(True, table.index)
    for column, value in zip(("epsilon", "epsilon_aux"), pair, strict=True):
        lacks = value is None or pd.isna(value)
        chosen &= table[column].isna() if lacks else table[column].map(_number) == _number(value)
    return chosen


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Return rank sums over the rows of Table 2, per dataset and over several, `datasets` naming them with plus signs.

    Ranks are of entries to three decimals, equal ones sharing the best rank, which gives the published sums from the
    published entries. They are over the largest part of the table in which every method has an entry in every row: a
    method that is not in all of these rows has no sum. As printed, LDPMAB takes the place of the released one.
    """
    table = table.assign(
        place=place_of(table),
        name=table[METHOD].agg("|".join, axis=1),
        row=table.groupby([*ROW[:-1], "time"], sort=False, dropna=False, observed=True).ngroup(),
    )
    names = list(table["place"].unique())
    three = [name for name in PUBLISHED_DATASETS if name in names]
    # One without sources, say, has fewer methods: ranks among other numbers of methods are not added up.
    alike = [name for name in names if name in set(_complete(_with_variant(table, "as_released"))["place"])]
    groups = [[name] for name in names] + [several for several in (three, alike) if len(several) > 1]
    parts = []
    for group in [list(one) for one in dict.fromkeys(map(tuple, groups))]:
        for time in TIMES:
            rows = table[table["place"].isin(group) & (table["time"] == time)]
            for variant in rows["variant"].unique():
                contest = _with_variant(rows, variant or "as_released")
                ranked = _complete(contest)
                if len(group) > 1 and set(ranked["place"]) != set(group):
                    continue
                found = _rank_sums(contest, ranked)
                parts.append(found[found["variant"] == variant].assign(time=time, datasets="+".join(group)))
    columns = [*METHOD, "time", "datasets", "rank_sum"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def ranks_among(table: pd.DataFrame, published: Collection[str]) -> pd.DataFrame:
    """Return the `ranks` of the published methods among themselves, and those of any other among these and itself.

    So no other method or setting moves a number that is compared with a published one.
    """
    own = table["method"].isin(published) & (table["setting"] == "")
    if not own.any():
        return ranks(table)
    parts = [ranks(table[own])]
    for (method, setting), rows in table[~own].groupby(["method", "setting"], sort=False):
        found = ranks(pd.concat([table[own & (table["variant"] != "as_printed")], rows]))
        parts.append(found[(found["method"] == method) & (found["setting"] == setting)])
    return pd.concat(parts, ignore_index=True)


def _with_variant(rows: pd.DataFrame, variant: str) -> pd.DataFrame:
    return rows[rows["variant"].isin(("", variant))]


def _complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the largest part of a table, in entries, in which every method has an entry in every row."""
    rows = rows[rows["ratio"].notna()]
    methods = rows.groupby("row", sort=False)["name"].agg(frozenset)
    if methods.empty:
        return rows
    most = max(methods.unique(), key=lambda chosen: len(chosen) * sum(chosen <= own for own in methods))
    return rows[rows["name"].isin(most) & rows["row"].isin(methods.index[[most <= own for own in methods]])]


def _rank_sums(contest: pd.DataFrame, ranked: pd.DataFrame) -> pd.DataFrame:
    own = contest[["name", *METHOD]].drop_duplicates()
    if ranked.empty:
        return own.assign(rank_sum=pd.array([pd.NA] * len(own), "Int64"))
    sums = rank_sums(ranked.assign(rounded=ranked["ratio"].round(3)), "rounded", "name", "row")
    return own.merge(sums.astype({"rank_sum": int}).astype({"rank_sum": "Int64"}), on="name", how="left")


def best_constant(results: Results, dataset: str) -> float:
    """Return what the best constant arm earns per user: the share of the target's most frequent label."""
    facts = results.dataset(dataset)
    return max(facts["target_label_counts"]) / facts["n_target"]
