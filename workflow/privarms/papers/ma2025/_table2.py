"""Table 2 (section 4.2): names of its methods and rows, and ranks over its rows.

A method is a policy in a variant, with or without auxiliary data, in a `setting`: the parameters in which a cell
differs from our main cell of its policy and variant, usually none. The main cells have the tag TAG in `real_data` and
`real_data_reference`. A row is a dataset, a pair of budgets and a time. Entries that do not depend on a budget are
repeated for each one; in the published table they differ. The algorithm as printed is not compared.
"""

import numpy as np
import pandas as pd

from privarms.files.numbers import shown
from privarms.planning.results import Results
from privarms.registry.modules import EnvironmentModule, PolicyModule

TAG = "table2"
REFERENCE = "real_data_reference"
PUBLISHED_DATASETS = ("adult", "jobs", "taxi")
TIMES = ("quarter", "full")
ROW = ["dataset", "data", "epsilon", "epsilon_aux", "time"]
METHOD = ["method", "variant", "auxiliary", "setting"]
# As it is written: the name of a method has its setting.
WRITTEN_METHOD = ["method", "variant", "auxiliary"]
# Parameters that make rows or methods; all others are settings.
AXES = ("dataset", "epsilon", "epsilon_aux", "auxiliary")


def label_of(method: str) -> str:
    """Return a method's name in tables and figures: the policy's LABEL, and the setting of a written name."""
    policy, *setting = method.split(" (", 1)
    return " (".join([PolicyModule(policy).label, *setting])


def at_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at a quarter of the users (rounded down) and at all of them, with `time`."""
    quarter, full = (rows["t"] == n for n in (np.maximum(rows["horizon"] // 4, 1), rows["horizon"]))
    output = rows[quarter | full]
    return output.assign(time=np.where(output["t"] == output["horizon"], "full", "quarter"))


def main_cells(results: Results, study: str) -> pd.DataFrame:
    """Return those of our cells of a study with the settings of Table 2, the tag TAG."""
    cells = results.cells(study)
    return cells[results.has_tag(cells, TAG)]


def named(cells: pd.DataFrame, usual: pd.DataFrame) -> pd.DataFrame:
    """Return a study's cells with the columns of METHOD, none empty.

    dataset: with the number of users, unless it is the published one, or the only one of a dataset without
    setting: the parameters in which a cell differs from that of `usual`, sorted ("batch 100, rate 0.1")
    usual: the `main_cells`; a cell whose policy and variant it does not have differs in all its parameters
    """
    output = cells.rename(columns={"policy": "method"})
    output = output.assign(**{k: output.get(k, np.nan) for k in ("variant", "auxiliary", *AXES[1:3])})
    output["auxiliary"] = output["auxiliary"].astype(object).fillna("with")
    output["variant"] = output["variant"].astype(object).fillna("")
    output["epsilon_aux"] = output["epsilon_aux"].astype(float)
    usual = usual.assign(variant=usual["variant"].astype(object).fillna("") if "variant" in usual else "")
    inputs = {key: _given(part.iloc[0]) for key, part in usual.groupby(["policy", "variant"], observed=True)}
    own: dict[str, str] = {}
    for _, row in output.drop_duplicates("cell").iterrows():
        mine, theirs = _given(row), inputs.get((row["method"], row["variant"]), {})
        own[row["cell"]] = words({k: mine.get(k) for k in sorted({*mine, *theirs}) if mine.get(k) != theirs.get(k)})
    sizes = output.groupby("dataset", observed=True)["horizon"].agg(
        lambda own: own.iloc[0] if own.nunique() == 1 else 0
    )
    users = output["dataset"].map({**sizes, **dict(zip(usual["dataset"], usual["horizon"], strict=True))})
    other = output["dataset"] + output["horizon"].map(" ({:,} users)".format)
    names = output["dataset"].where(output["horizon"] == users, other)
    return output.assign(dataset=names, setting=output["cell"].map(own))


def _given(row: pd.Series) -> dict:
    """Return a cell's parameters apart from AXES: the policy's and its environment's."""
    policy = row["method"] if "method" in row else row["policy"]
    around = EnvironmentModule(row["environment"]).arguments if "environment" in row else ()
    names = dict.fromkeys((*PolicyModule(policy).arguments, *around))
    return {
        k: row[k] for k in sorted(names) if k in row and k not in (*AXES, "variant", "horizon") and pd.notna(row[k])
    }


def words(parameters: dict) -> str:
    """Return parameters as a text: "batch 500, rate 0.1"; one without a value is "by default"."""
    return ", ".join(f"{k} {'by default' if v is None else shown(v)}" for k, v in parameters.items())


def repeated(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows without a budget once per budget of the others on the same dataset; empty if there are none."""
    rows = _repeated(rows, "epsilon", ["dataset"])
    return _repeated(rows, "epsilon_aux", ["dataset", "epsilon"])


def _repeated(rows: pd.DataFrame, budget: str, place: list[str]) -> pd.DataFrame:
    alone = rows[budget].isna()
    budgets = rows.loc[~alone, [*place, budget]].drop_duplicates()
    if budgets.empty or not alone.any():
        return rows
    again = rows[alone].drop(columns=budget).merge(budgets, on=place, how="left")
    return pd.concat([rows[~alone], again], ignore_index=True)


def absse(results: Results, study: str = REFERENCE) -> pd.DataFrame:
    """Return a study's cells of ABSE, `named`; Table 2's entries are relative to those with an empty `setting`."""
    cells = results.cells(study)
    return named(cells[cells["policy"] == "absse"], main_cells(results, REFERENCE))


def reference(results: Results) -> pd.DataFrame:
    """Return the mean rewards of ABSE's main cells, which Table 2 divides by: dataset, horizon, t, base, base_se."""
    cells = absse(results)
    output = cells.loc[cells["setting"] == "", ["dataset", "horizon", "t", "reward_mean", "reward_se"]]
    return output.set_axis(["dataset", "horizon", "t", "base", "base_se"], axis=1)


def written(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return columns as they are written: the name of a method has its setting."""
    names = {f"{best}method": called(table, best) for best in ("", "best_") if f"{best}method" in table}
    return table.assign(**names)[columns]


def called(table: pd.DataFrame, which: str = "") -> list[str]:
    """Return the name of each row's method with its setting; which: "best_" for the columns of the best method."""
    return [
        f"{m} ({s})" if s else m
        for m, s in zip(table[f"{which}method"], table[f"{which}setting"].fillna(""), strict=True)
    ]


def pair_text(epsilon: float, epsilon_aux: float, symbols: tuple[str, str] = ("ε", "ε_m")) -> str:
    """Return the budgets that a row has: "ε = 1, ε_m = 4"."""
    values = zip(symbols, (epsilon, epsilon_aux), strict=True)
    return ", ".join(f"{symbol} = {shown(value)}" for symbol, value in values if pd.notna(value))


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Return rank sums over the rows of Table 2, per dataset and over the paper's three, `datasets` naming them.

    Ranks are among all methods of the table, over the rows in which every method has an entry. Entries are rounded to
    three decimals and equal ones share the best rank, as in the published sums.
    """
    table = table.assign(row=table.groupby(ROW, sort=False, dropna=False, observed=True).ngroup())
    groups, parts = [[name] for name in table["dataset"].unique()], []
    if set(PUBLISHED_DATASETS) <= set(table["dataset"]):
        groups.append([*PUBLISHED_DATASETS])
    for datasets in groups:
        for time in TIMES:
            rows = table[table["dataset"].isin(datasets) & (table["time"] == time)]
            entries = rows.pivot(index="row", columns=METHOD, values="ratio").dropna().round(3)
            if len(entries):
                sums = entries.rank(axis=1, method="min", ascending=False).sum().astype(int).rename("rank_sum")
                own = rows[METHOD].drop_duplicates().merge(sums.reset_index(), on=METHOD)
                parts.append(own.assign(time=time, datasets="+".join(datasets)))
    columns = [*METHOD, "time", "datasets", "rank_sum"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def best_constant(results: Results, dataset: str) -> float:
    """Return the reward per user of the best constant arm: the share of the target's most frequent label."""
    facts = results.dataset(dataset)
    return max(facts["target_label_counts"]) / facts["n_target"]
