"""Measures of the claims about Tables 1 and 2.

The interval of a rank, or of a number of rows, is from simultaneous intervals of all differences that it uses. Its ends
count the significant differences, and those that are not significantly reversed.
"""

import math
from functools import cache

import numpy as np
import pandas as pd

from privarms.claims.measures import choose
from privarms.claims.verdict import Measured, quantile
from privarms.errors import NoCellsError
from privarms.inference.paired import holm
from privarms.papers.ma2025._table2 import METHOD, ROW, at_times, best_constant, label_of, ranks, reference
from privarms.papers.ma2025.inference_table2 import ADULT, MAIN
from privarms.plots.tables import shown
from privarms.studies.results import Results

LDPMAB = "ldp_mab"
ALPHA = 0.05
# Standard errors of a clear difference: by chance none of eight rows should have it.
CLEAR = 3
# Ranks use entries to three decimals: entries this far apart have different ranks.
DIGIT = 0.001


def table1_entry(results: Results, dataset: str, entry: str) -> Measured:
    """Return one entry of Table 1, counted in the prepared data."""
    facts = results.dataset(dataset)
    sizes = ", ".join(f"{n} {s}" for n, s in zip(facts["source_names"], facts["source_sizes"], strict=True))
    note = f"Sources: {sizes}." if "source" in entry else ""
    return Measured(facts[entry], note=note)


def _table(results: Results, datasets: str) -> pd.DataFrame:
    """Return the entries of some datasets, names with plus signs between them, without LDPMAB as printed."""
    table = results.inference("table2")
    table = table[(table["variant"] != "as_printed") & table["ratio"].notna()]
    return pd.concat([choose(table, {"dataset": dataset}) for dataset in datasets.split("+")])


def _alone(results: Results, datasets: str) -> pd.DataFrame:
    """Return the entries without auxiliary data, each once."""
    table = choose(_table(results, datasets), {"auxiliary": "without"})
    return table.drop_duplicates(["dataset", "epsilon", "time", *METHOD])


def table2_entry(
    results: Results, dataset: str, epsilon: float, epsilon_aux: float, time: str, method: str, auxiliary: str
) -> Measured:
    """Return one entry of Table 2; Adult's with its range over the alternatives."""
    keys = {"epsilon": epsilon, "epsilon_aux": epsilon_aux, "time": time, "method": method, "auxiliary": auxiliary}
    row = choose(_table(results, dataset), keys).iloc[0]
    note = ""
    if dataset == ADULT:
        others = choose(results.inference("adult_alternatives"), keys)
        others = others[(others["alternative"] != MAIN) & others["ratio"].notna()]
        if not others.empty:
            low, high = (others.loc[others["ratio"].agg(which)] for which in ("idxmin", "idxmax"))
            note = (
                f"Over the alternatives from {low['ratio']:.3f} ({low['alternative']}) to {high['ratio']:.3f} "
                f"({high['alternative']})."
            )
    return Measured(float(row["ratio"]), float(row["se"]), int(row["replicates"]), note)


@cache
def _ranks(results: Results) -> pd.DataFrame:
    """Return rank sums among the methods in the results, cached for each view of them."""
    table = results.inference("table2")
    return ranks(table[table["variant"] != "as_printed"])


def rank_sum(results: Results, datasets: str, time: str, method: str, auxiliary: str) -> Measured:
    """Return a rank sum over the rows of some datasets, `datasets` being names with plus signs between them."""
    keys = {"datasets": datasets, "time": time, "method": method, "auxiliary": auxiliary}
    value = float(choose(_ranks(results), keys)["rank_sum"].iloc[0])
    orders = _orders(results, datasets)
    places = _places(orders[orders["time"] == time])
    if (method, auxiliary) not in places.index:
        raise NoCellsError(f"{label_of(method)} {auxiliary} auxiliary data is not among the methods that are compared")
    best, worst = places.loc[(method, auxiliary), ["best", "worst"]]
    return Measured(value, math.nan, _replicates(results, datasets), "", float(best), float(worst))


@cache
def _orders(results: Results, datasets: str) -> pd.DataFrame:
    """Return each method of a row against each other one, `other_`: is its entry larger, significantly or possibly?"""
    pairs = _pairs(results, datasets)
    bases = _table(results, datasets).drop_duplicates(ROW)[[*ROW, "base"]]
    pairs = pairs.merge(bases, on=ROW, how="left")
    half = [quantile(row.replicates, len(pairs)) * row.gap_se for row in pairs.itertuples()]
    low, high = (pairs["gap"] - half) / pairs["base"], (pairs["gap"] + half) / pairs["base"]
    names = {k: f"other_{k}" for k in METHOD}
    turned = pairs.rename(columns=names | {v: k for k, v in names.items()})
    pairs = pairs.assign(sure=low > DIGIT, possible=high > 0, larger=low > 0)
    turned = turned.assign(sure=high < -DIGIT, possible=low < 0, larger=high < 0)
    return pd.concat([pairs, turned], ignore_index=True)


def _places(orders: pd.DataFrame) -> pd.DataFrame:
    """Return the least and the largest rank sum that each method can have, `best` and `worst`."""
    above = orders.groupby(["other_method", "other_auxiliary"])[["sure", "possible"]].sum()
    rows = orders.groupby(ROW, dropna=False, observed=True).ngroups
    return (above + rows).set_axis(["best", "worst"], axis=1)


def _rewards_of_others(results: Results, datasets: str) -> str:
    """Return sentences on the references of the ratios: ABSE's rewards, and those of the best constant arm."""
    absse, texts = at_times(reference(results.cells("real_data_reference"))), []
    for dataset in datasets.split("+"):
        base = choose(absse, {"dataset": dataset}).drop_duplicates("time").set_index("time")
        rewards = base["base"] / base["t"]
        texts.append(
            f"On {dataset} ABSE earns {rewards['quarter']:.3f} a user up to n_P/4 and {rewards['full']:.3f} up to n_P, "
            f"the most frequent label {best_constant(results, dataset):.3f}."
        )
    return " ".join(texts)


def rank_lead(results: Results, datasets: str) -> Measured:
    """Return LDPMAB's rank sum with auxiliary data, over both times, less the smallest one of the other methods."""
    sums = choose(_ranks(results), {"datasets": datasets})
    sums = sums.groupby(["method", "auxiliary"])["rank_sum"].sum()
    own = _own(sums, datasets)
    places = _places(_orders(results, datasets))
    mine, others = places.loc[(LDPMAB, "with")], places.drop(index=[(LDPMAB, "with")])
    low, high = mine["best"] - others["worst"].min(), mine["worst"] - others["best"].min()
    each = ", ".join(f"{label_of(m)} {a} {v}" for (m, a), v in sums.sort_values().items())
    note = f"LDPMAB with {own}; {each}. {_rewards_of_others(results, datasets)}"
    return Measured(float(own - sums.min()), math.nan, _replicates(results, datasets), note, float(low), float(high))


def _own(values: pd.Series, datasets: str):
    """Return LDPMAB's value with auxiliary data, which is taken out."""
    if (LDPMAB, "with") not in values or len(values) < 2:
        raise NoCellsError(f"this run has not both LDPMAB with auxiliary data and another method on {datasets}")
    return values.pop((LDPMAB, "with"))


def _replicates(results: Results, datasets: str) -> int:
    return int(_table(results, datasets)["replicates"].min())


def significant_lead(results: Results, datasets: str) -> Measured:
    """Return the rows in which LDPMAB with auxiliary data is significantly the best method, less those of the next."""
    table = _table(results, datasets)
    counts = table.groupby(["method", "auxiliary"]).size() * 0
    corrected = counts.copy()
    for _, row in _pairs(results, datasets).groupby(ROW, sort=False, dropna=False):
        names, others = (list(zip(*(row[f"{o}{k}"] for k in METHOD), strict=True)) for o in ("", "other_"))
        # The best method is never the worse one of a pair.
        (winner,) = set(names) - set(others)
        p = row.loc[[name == winner for name in names], "p"].to_numpy()
        counts[winner[0], winner[2]] += bool((p <= ALPHA).all())
        corrected[winner[0], winner[2]] += bool((holm(p) <= ALPHA).all())
    own = _own(counts, datasets)
    best = counts.idxmax()
    rows = int(table.groupby(ROW, dropna=False, observed=True).ngroups)
    note = (
        f"{own} of {rows} rows (with Holm's correction {corrected[LDPMAB, 'with']}); the next one, {label_of(best[0])} "
        f"{best[1]} auxiliary data, {counts.max()}."
    )
    sure, possible = _wins(_orders(results, datasets))
    low = _own(sure, datasets) - possible.drop((LDPMAB, "with")).max()
    high = _own(possible, datasets) - sure.max()
    value = float(own - counts.max())
    # A rank test may detect differences that means do not, and the other way round.
    ends = min(value, float(low)), max(value, float(high))
    return Measured(value, math.nan, _replicates(results, datasets), note, *ends)


def _wins(orders: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the numbers of rows in which each method is significantly, and possibly, better than all others."""
    by_row = orders.groupby([*ROW, "method", "auxiliary"], dropna=False, observed=True)
    beaten = orders.groupby([*ROW, "other_method", "other_auxiliary"], dropna=False, observed=True)
    rows = by_row["larger"].all(), ~beaten["larger"].any()
    return tuple(of.groupby(level=[-2, -1]).sum().rename_axis(["method", "auxiliary"]) for of in rows)


def _pairs(results: Results, datasets: str) -> pd.DataFrame:
    """Return the comparisons of two methods that the claim uses; raise NoCellsError if one is compared with none."""
    own, parts = [*METHOD, "settings"], []
    for dataset in datasets.split("+"):
        named = _table(results, dataset)[[*ROW, *own]]
        others = named.rename(columns={k: f"other_{k}" for k in own})
        both = results.inference("table2_pairs").merge(named, on=[*ROW, *own]).merge(others)
        # A method with fewer runs than most is not compared, and a comparison without it is another one.
        compared = {tuple(row) for o in ("", "other_") for row in both[[f"{o}{k}" for k in METHOD]].to_numpy()}
        if lacking := {tuple(row) for row in named[METHOD].to_numpy()} - compared:
            names = "; ".join(" ".join(filter(None, one)) for one in sorted(lacking))
            raise NoCellsError(
                f"this run compares {names} with no other method on {dataset}: it has fewer runs than most"
            )
        parts.append(both)
    return pd.concat(parts, ignore_index=True)


def negative_transfer(results: Results, datasets: str, method: str) -> Measured:
    """Return the rows in which auxiliary data lower a method's reward by more than CLEAR paired standard errors."""
    pairs = _pairs(results, datasets)
    pairs = pairs[(pairs["method"] == method) & (pairs["other_method"] == method)]
    if pairs.empty:
        raise NoCellsError(f"this run has no runs of {method} with and without auxiliary data on {datasets}")
    # The better one is first.
    lost = pairs["gap"].where(pairs["auxiliary"] == "without", -pairs["gap"])
    with np.errstate(divide="ignore"):
        z = (lost / pairs["gap_se"]).where(lost != 0, 0.0)
    worst, count = pairs.loc[z.idxmax()], int((z > CLEAR).sum())
    note = (
        f"{count} of {len(pairs)} rows; the largest difference at epsilon = {worst['epsilon']:g}, "
        f"eps_m = {shown(worst['epsilon_aux'])}, t = {'n_P/4' if worst['time'] == 'quarter' else 'n_P'}: "
        f"{z.max():.1f} standard errors."
    )
    errors = np.array([quantile(n, len(pairs)) for n in pairs["replicates"]])
    sure, possible = int((z > errors).sum()), int((z > -errors).sum())
    ends = float(min(sure, count)), float(possible)
    return Measured(float(count), math.nan, int(pairs["replicates"].min()), note, *ends)


def beats_linear(results: Results, datasets: str) -> Measured:
    """Return, without auxiliary data, the mean of ln(LDPMAB's reward / Linear's) over epsilon and both times."""
    wide = _alone(results, datasets).set_index(["dataset", "epsilon", "time", "method"])[["reward_mean", "reward_se"]]
    wide = wide.unstack("method")
    both = (LDPMAB, "ldp_linear")
    if not set(both) <= set(wide["reward_mean"]):
        raise NoCellsError(f"this run has not both LDPMAB and Linear without auxiliary data on {datasets}")
    logs = np.log(wide["reward_mean"][LDPMAB] / wide["reward_mean"]["ldp_linear"])
    # Entries of one run at two times are dependent, so their errors are added, not their squares.
    errors = sum(wide["reward_se"][m] / wide["reward_mean"][m] for m in both)
    each = ", ".join(f"{math.exp(v):.2f} at ({e:g}, {t})" for (_, e, t), v in logs.items())
    note = f"Ratios: {each}. {_rewards_of_others(results, datasets)}"
    return Measured(float(logs.mean()), float(errors.mean()), _replicates(results, datasets), note)


def share_below_absse(results: Results, datasets: str) -> Measured:
    """Return the share of entries without auxiliary data whose ratio is below 1."""
    alone = _alone(results, datasets)
    below = alone["ratio"] < 1
    by_method = ", ".join(f"{label_of(m)} {int(b.sum())} of {len(b)}" for m, b in below.groupby(alone["method"]))
    note = f"{by_method}. {_rewards_of_others(results, datasets)}"
    half = np.array([quantile(n, len(alone)) for n in alone["replicates"]]) * alone["se"]
    sure, possible = (alone["ratio"] + half < 1).mean(), (alone["ratio"] - half < 1).mean()
    return Measured(float(below.mean()), math.nan, _replicates(results, datasets), note, float(sure), float(possible))


def printed_changes(results: Results, methods: str, auxiliary: str, epsilon) -> Measured:
    """Return how many pairs of published entries differ between eps_m = 1 and 4, of some methods (plus signs)."""
    table = results.published_table("table2")
    table = choose(table, {"method": methods.split("+"), "auxiliary": auxiliary, "epsilon": epsilon})
    entries = table.groupby(["dataset", "epsilon", "time", "method"])["ratio"]
    return Measured(int((entries.nunique() > 1).sum()), 0.0, None, f"Of {entries.ngroups} pairs.")
