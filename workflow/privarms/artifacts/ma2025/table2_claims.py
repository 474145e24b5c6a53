"""How the claims about Table 2 are measured."""

import math
from functools import cache

import numpy as np
import pandas as pd

from privarms.artifacts.ma2025.real_data import MAIN, alternatives, best_constant
from privarms.artifacts.ma2025.table2 import METHOD, at_times, label_of, ranks, reference, repeated
from privarms.artifacts.results import Results
from privarms.ledger import Measured

LDPMAB = "ldp_mab"
# Of eight rows none should be that far off by chance.
CLEAR = 3


def _table(results: Results, dataset: str) -> pd.DataFrame:
    table = results.inference("table2")
    return table[(table["dataset"] == dataset) & (table["variant"] != "as_printed")]


def table2_entry(
    results: Results, dataset: str, epsilon: float, epsilon_aux: float, time: str, method: str, auxiliary: str
) -> Measured:
    """One entry of Table 2; Adult's with its range over the alternatives."""
    keys = {"epsilon": epsilon, "epsilon_aux": epsilon_aux, "time": time, "method": method, "auxiliary": auxiliary}
    row = _chosen(_table(results, dataset), keys).iloc[0]
    note = ""
    if dataset == "adult":
        others = _chosen(alternatives(results), keys)
        others = others[others["alternative"] != MAIN]
        low, high = (others.loc[others["ratio"].agg(which)] for which in ("idxmin", "idxmax"))
        note = (
            f"Over the alternatives from {low['ratio']:.3f} ({low['alternative']}) to {high['ratio']:.3f} "
            f"({high['alternative']})."
        )
    return Measured(float(row["ratio"]), float(row["se"]), int(row["replicates"]), note)


def _chosen(table: pd.DataFrame, keys: dict) -> pd.DataFrame:
    chosen = np.ones(len(table), bool)
    for column, value in keys.items():
        chosen &= (table[column] == value).to_numpy()
    return table[chosen]


@cache
def _ranks(results: Results) -> pd.DataFrame:
    table = results.inference("table2")
    return ranks(table[table["variant"] != "as_printed"])


def rank_sum(results: Results, datasets: str, time: str, method: str, auxiliary: str) -> Measured:
    """A rank sum over the rows of some datasets, `datasets` being names with plus signs between them."""
    keys = {"datasets": datasets, "time": time, "method": method, "auxiliary": auxiliary}
    found = _chosen(_ranks(results), keys)
    replicates = min(_replicates(results, dataset) for dataset in datasets.split("+"))
    return Measured(float(found["rank_sum"].iloc[0]), math.nan, replicates)


def _sums(results: Results, dataset: str) -> pd.Series:
    """Rank sums of one dataset over both times, by method and auxiliary."""
    found = _ranks(results)
    return found[found["datasets"] == dataset].groupby(["method", "auxiliary"])["rank_sum"].sum()


def _rewards_of_others(results: Results, dataset: str) -> str:
    """What the ratios are relative to, in a sentence: ABSE's rewards, and those of the best constant arm."""
    base = reference(results)
    base = base[base["dataset"] == dataset].sort_values("t")
    quarter, full = (float(base["base"].iloc[i] / base["t"].iloc[i]) for i in _times(base["t"]))
    return (
        f"ABSE earns {quarter:.3f} a user up to n_P/4 and {full:.3f} up to n_P, the most frequent label "
        f"{best_constant(results, dataset):.3f}."
    )


def _times(t: pd.Series) -> tuple[int, int]:
    """Where a quarter of the last number of users stands, and that one."""
    values = t.to_numpy()
    return int(np.flatnonzero(values == max(values[-1] // 4, 1))[0]), len(values) - 1


def _said(values: pd.Series, form: str) -> str:
    return ", ".join(f"{label_of(m)} {a} {v:{form}}" for (m, a), v in values.items())


def rank_lead(results: Results, dataset: str) -> Measured:
    """LDPMAB's rank sum with auxiliary data, over both times, less the smallest one of the other methods."""
    sums = _sums(results, dataset)
    own = sums.pop((LDPMAB, "with"))
    note = f"LDPMAB with {own}; {_said(sums.sort_values(), '')}. {_rewards_of_others(results, dataset)}"
    return Measured(float(own - sums.min()), math.nan, _replicates(results, dataset), note)


def _replicates(results: Results, dataset: str) -> int:
    return int(_table(results, dataset)["replicates"].min())


def significant_lead(results: Results, dataset: str) -> Measured:
    """Rows in which LDPMAB with auxiliary data is significantly the best, less those of the next method."""
    table = _table(results, dataset)
    counts = {}
    for column in ("significant", "significant_holm"):
        counts[column] = table.groupby(["method", "auxiliary"])[column].sum()
    own = counts["significant"].pop((LDPMAB, "with"))
    holm = counts["significant_holm"][(LDPMAB, "with")]
    others = counts["significant"]
    best = others.idxmax()
    rows = int(table.groupby(["epsilon", "epsilon_aux", "time"]).ngroups)
    note = (
        f"{own} of {rows} rows (with Holm's correction {holm}); the next one, {label_of(best[0])} {best[1]} auxiliary "
        f"data, {others.max()}."
    )
    return Measured(float(own - others.max()), math.nan, _replicates(results, dataset), note)


def _runs(results: Results, dataset: str) -> pd.DataFrame:
    """Rewards, a row per entry and replicate."""
    columns = (
        "dataset",
        "policy",
        "variant",
        "auxiliary",
        "epsilon",
        "epsilon_aux",
        "replicate",
        "t",
        "horizon",
        "reward",
    )
    runs = at_times(results.replicates("real_data", columns))
    return runs[runs["dataset"] == dataset]


def _rewards(runs: pd.DataFrame, time: str, auxiliary: str, epsilon: float, epsilon_aux: float) -> np.ndarray:
    keys = {"variant": "as_released", "time": time, "auxiliary": auxiliary, "epsilon": epsilon}
    if auxiliary == "with":
        keys["epsilon_aux"] = epsilon_aux
    return _chosen(runs, keys).sort_values("replicate")["reward"].to_numpy(float)


def reward_gain(
    results: Results,
    dataset: str,
    time: str,
    auxiliary: str,
    epsilon: float,
    epsilon_aux: float,
    other_auxiliary: str,
    other_epsilon: float,
    other_epsilon_aux: float,
) -> Measured:
    """LDPMAB's mean reward in one setting over that in another, less 1; the error from differences by replicate."""
    runs = _runs(results, dataset)
    ours = _rewards(runs, time, auxiliary, epsilon, epsilon_aux)
    others = _rewards(runs, time, other_auxiliary, other_epsilon, other_epsilon_aux)
    value = ours.mean() / others.mean()
    se = (ours - value * others).std(ddof=1) / math.sqrt(len(ours)) / others.mean()
    settings = (auxiliary, epsilon, epsilon_aux), (other_auxiliary, other_epsilon, other_epsilon_aux)
    note = _gain_elsewhere(results, time, *settings) if dataset == "adult" else ""
    return Measured(float(value - 1), float(se), len(ours), note)


def _gain_elsewhere(results: Results, time: str, first: tuple, second: tuple) -> str:
    """The range of `reward_gain` over the alternatives, in which ABSE's reward cancels out."""
    table = alternatives(results)
    table = table[(table["method"] == LDPMAB) & (table["time"] == time) & (table["alternative"] != MAIN)]
    table = table[~table["alternative"].str.startswith("ABSE")]

    def of(setting: tuple) -> pd.Series:
        keys = dict(zip(("auxiliary", "epsilon", "epsilon_aux"), setting, strict=True))
        if setting[0] == "without":
            del keys["epsilon_aux"]
        return _chosen(table, keys).drop_duplicates("alternative").set_index("alternative")["ratio"]

    gains = of(first) / of(second) - 1
    return (
        f"Over the other ways to prepare and run it from {gains.min():.3f} ({gains.idxmin()}) to {gains.max():.3f} "
        f"({gains.idxmax()})."
    )


def negative_transfer(results: Results, dataset: str, method: str) -> Measured:
    """Rows in which a method earns less with auxiliary data than without, by more than CLEAR paired standard errors;
    of Adult also under each of the alternatives."""
    runs = _runs(results, dataset)
    z, replicates = _losses(runs[runs["method"] == method])
    worst = z.idxmax()
    note = (
        f"{int((z > CLEAR).sum())} of {len(z)} rows; the largest difference at epsilon = {worst[0]:g}, "
        f"eps_m = {worst[1]:g}, t = {'n_P/4' if worst[2] == 'quarter' else 'n_P'}: {z.max():.1f} standard errors."
    )
    if dataset == "adult":
        found = {name: int((_losses(own)[0] > CLEAR).sum()) for name, own in _alternative_runs(results, method)}
        some = ", ".join(f"{count} ({name})" for name, count in found.items() if count) or "none"
        note += f" Rows under the {len(found)} alternatives: {some}{', else none' if some != 'none' else ''}."
    return Measured(float((z > CLEAR).sum()), math.nan, replicates, note)


def _losses(runs: pd.DataFrame) -> tuple[pd.Series, int]:
    """By row, what auxiliary data lose in standard errors of differences by replicate; and the replicates."""
    wide = repeated(runs).pivot_table(
        index=["epsilon", "epsilon_aux", "time", "replicate"], columns="auxiliary", values="reward", observed=True
    )
    lost = (wide["without"] - wide["with"]).groupby(level=[0, 1, 2])
    # No difference in any replicate is no loss.
    return (lost.mean() / (lost.std() / np.sqrt(lost.size()))).fillna(0.0), int(lost.size().min())


def _alternative_runs(results: Results, method: str) -> list[tuple[str, pd.DataFrame]]:
    """The runs of a method on Adult with another preparation, batch or rate, by the name of the alternative."""
    columns = ("dataset", "policy", "auxiliary", "epsilon", "epsilon_aux", "replicate", "t", "horizon", "reward")
    other = at_times(results.replicates("adult_sensitivity", columns))
    found = list(other[other["method"] == method].groupby("dataset", observed=True))
    settings = at_times(results.replicates("adult_settings", (*columns, "batch", "rate")))
    settings = settings[settings["method"] == method]
    for column, usual in (("batch", 100), ("rate", 0.1)):
        changed = settings[settings[column].notna() & (settings[column] != usual)]
        found += [(f"{column} {value:g}", own) for value, own in changed.groupby(column)]
    return [(str(name), own) for name, own in found]


def beats_linear(results: Results, dataset: str) -> Measured:
    """Without auxiliary data: the mean of ln(LDPMAB's reward / Linear's) over epsilon and both times."""
    table = _table(results, dataset)
    alone = table[table["auxiliary"] == "without"].drop_duplicates(["epsilon", "time", *METHOD])
    wide = alone.set_index(["epsilon", "time", "method"])[["ratio", "se"]].unstack("method")
    logs = np.log(wide["ratio"][LDPMAB] / wide["ratio"]["ldp_linear"])
    # Entries of one run at two times are dependent: their errors are added up, not their squares.
    errors = sum(wide["se"][m] / wide["ratio"][m] for m in (LDPMAB, "ldp_linear"))
    each = ", ".join(f"{math.exp(v):.2f} at ({e:g}, {t})" for (e, t), v in logs.items())
    note = f"Ratios: {each}. {_rewards_of_others(results, dataset)}"
    return Measured(float(logs.mean()), float(errors.mean()), _replicates(results, dataset), note)


def share_below_absse(results: Results, dataset: str) -> Measured:
    """The share of entries without auxiliary data whose ratio is below 1."""
    table = _table(results, dataset)
    alone = table[table["auxiliary"] == "without"].drop_duplicates(["epsilon", "time", *METHOD])
    below = alone["ratio"] < 1
    by_method = ", ".join(f"{label_of(m)} {int(b.sum())} of {len(b)}" for m, b in below.groupby(alone["method"]))
    note = f"{by_method}. {_rewards_of_others(results, dataset)}"
    return Measured(float(below.mean()), math.nan, _replicates(results, dataset), note)


def printed_over_uniform(results: Results, dataset: str, auxiliary: str) -> Measured:
    """As printed: average reward up to n_P less that of uniform play, the largest over the budgets."""
    cells = at_times(results.cells("real_data"))
    keys = {"dataset": dataset, "variant": "as_printed", "auxiliary": auxiliary, "time": "full"}
    printed = _chosen(cells, keys)
    uniform = at_times(results.cells("real_data_reference"))
    uniform = _chosen(uniform, {"dataset": dataset, "method": "uniform", "time": "full"}).iloc[0]
    best = printed.loc[printed["reward_mean"].idxmax()]
    n = best["t"]
    se = math.hypot(best["reward_se"], uniform["reward_se"]) / n
    return Measured(float((best["reward_mean"] - uniform["reward_mean"]) / n), se, int(best["replicates"]))
