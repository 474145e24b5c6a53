"""The inference tables of the statements about Tables 1 and 2 and about Adult's messages.

Sentences about Table 2 are held against its printed numbers and against a re-run (`numbers`). A re-run has all rows of
the printed table: rows without real data have the printed entries as values, and bounds that allow every order of the
methods. So a sentence about all rows is decided where the rows at hand decide it.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from privarms.execution.streams import digest, stream
from privarms.inference.rows import as_frame
from privarms.ledger.intervals import quantile
from privarms.papers.ma2025._table2 import PUBLISHED_DATASETS
from privarms.papers.ma2025.inference_table2 import ADULT, CHOICES, DEFAULT, OF_ABSSE, REAL_DATA, table2_settings
from privarms.planning.results import Results
from privarms.registry.artifacts import inference

ROW = ["dataset", "epsilon", "epsilon_aux", "time"]
METHOD = ["method", "auxiliary"]
LDPMAB, LINEAR, NN = "ldp_mab", "ldp_linear", "ldp_nn"
PRINTED, AGAIN = "printed", "re-run"
REAL = "real"
# As printed with this constant no arm is removed from as few users, so play is uniform.
UNIFORM = "c 64"
# Entries are printed to three decimals; those this far apart have different ranks.
DIGIT = 0.001
# Guard against binary fractions of printed numbers.
TINY = 1e-9
# Section 4.2: repetitions behind each printed entry.
PAPERS_RUNS = 100
DRAWS, SEED = 2_000, 2025
# Entries of Table 1 that we count. The others were chosen to give the printed number, so they cannot confirm it.
COUNTED = {
    ADULT: ("n_target", "K", "sources", "max_n_source"),
    "jobs": ("n_target", "K", "sources", "max_n_source", "original_dimensions"),
    "taxi": ("K", "sources"),
}
SPLIT = ("sources", "max_n_source")


@inference(studies=["real_data", "adult_sensitivity"])
@as_frame
def table1_sizes(results: Results) -> Iterator[dict]:
    """Return the entries of Table 1 that can be counted in real data: dataset, entry, value.

    split: how Adult's auxiliary rows are split into sources, for the entries that depend on it
    """
    cells = [results.cells(study) for study in ("real_data", "adult_sensitivity")]
    prepared = [name for name in cells[1]["dataset"].unique() if name in CHOICES and name != "adultall"]
    for name in (*(d for d in PUBLISHED_DATASETS if d in set(cells[0]["dataset"])), *prepared):
        facts = results.dataset(name)
        dataset = ADULT if name in prepared else name
        for entry in COUNTED[dataset] if facts["data"] == REAL else ():
            split = CHOICES.get(name, "sources by workclass") if dataset == ADULT and entry in SPLIT else None
            if name == dataset or split:
                yield {"dataset": dataset, "entry": entry, "split": split, "value": facts[entry], "data": REAL}


def _tables(results: Results) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield Table 2 as printed, and in each setting of our runs, with a name: numbers, variant, setting, datasets.

    Every table has all entries of the printed one; `datasets` "adult" restricts them to Adult. se: the standard error
    of a method's entry against the others of its row, ratio_se against ABSE. Printed entries of rows without
    data have infinite errors.
    """
    printed = results.published_table("table2").assign(cells="", runs=PAPERS_RUNS)
    everything = {"datasets": "+".join(PUBLISHED_DATASETS), "data": REAL}
    exact = {"se": 0.0, "ratio_se": 0.0}
    yield {"numbers": PRINTED, "variant": "", "setting": None} | everything, printed.assign(**exact)
    ours = table2_settings(results)
    ours = ours[ours["data"] == REAL].merge(printed[[*ROW, *METHOD]])
    ours[[*exact]] = ours[[*exact]].fillna(math.inf)
    default = ours[ours["setting"] == DEFAULT]
    unknown = printed.assign(**dict.fromkeys(exact, math.inf))
    for setting, part in ours.groupby("setting", sort=False):
        variant = "as_printed" if (part["variant"] == "as_printed").all() else "as_released"
        table = pd.concat([part, default, unknown], ignore_index=True).drop_duplicates([*ROW, *METHOD])
        about = {"numbers": AGAIN, "variant": variant, "setting": setting}
        yield about | everything, table
        yield about | {"datasets": ADULT, "data": REAL}, table[table["dataset"] == ADULT]


def _used(table: pd.DataFrame) -> dict:
    """Return the cells and the number of runs behind a table; no runs if it is printed."""
    names = dict.fromkeys(name for cells in table["cells"] for name in cells.split())
    runs = table.loc[table["cells"] != "", "runs"].min()
    return {"cells": " ".join(names), "runs": runs}


def _half(se: pd.Series | np.ndarray, runs: pd.Series, together: int) -> np.ndarray:
    """Return half-widths of intervals that hold together; 0 for an exact value, infinite for an unknown one."""
    factor = {n: quantile(int(n), together) for n in runs.unique()}
    return np.where(se == 0, 0.0, runs.map(factor) * se)


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return each method of a row against each other one, and whether its entry is larger, for sure or maybe."""
    pairs = table.merge(table, on=ROW, suffixes=("", "_other"))
    pairs = pairs[(pairs["method"] != pairs["method_other"]) | (pairs["auxiliary"] != pairs["auxiliary_other"])]
    se = np.hypot(pairs["se"], pairs["se_other"])
    half = _half(se, pairs[["runs", "runs_other"]].min(axis="columns"), len(pairs) // 2)
    half = half + np.where(se > 0, DIGIT, 0.0)
    gap = pairs["ratio"] - pairs["ratio_other"]
    larger = pairs["ratio"].round(3) - pairs["ratio_other"].round(3) > TINY
    return pairs.assign(larger=larger, sure=gap - half > TINY, possible=gap + half > TINY)


def _ranks(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return rank sums by time and method: value, least and largest. Equal entries share the best rank."""
    method = ["method_other", "auxiliary_other"]
    ranks = 1 + pairs.groupby([*ROW, *method])[["larger", "sure", "possible"]].sum()
    sums = ranks.groupby(level=["time", *method]).sum().rename_axis(["time", *METHOD])
    return sums.set_axis(["value", "least", "largest"], axis="columns")


@inference(studies=REAL_DATA)
@as_frame
def rank_sums(results: Results) -> Iterator[pd.DataFrame]:
    """Return rank sums over the rows of Table 2, by time and method, with bounds that hold together.

    rank_sum_sd: ten times the standard deviation of the sum over repetitions of 100 runs, so it scales like that of a
    mean; rows without data add nothing, because the bounds allow all of their ranks
    """
    for about, table in _tables(results):
        if about["datasets"] == ADULT or (about["setting"] or "").startswith(OF_ABSSE):
            continue
        sums = _ranks(_pairs(table))
        sums = sums.set_axis(["rank_sum", "rank_sum_low", "rank_sum_high"], axis="columns").astype(float)
        sums["rank_sum_sd"] = _scatter(table, about).reindex(sums.index)
        yield sums.reset_index().assign(**about, **_used(table))


def _scatter(table: pd.DataFrame, about: dict) -> pd.Series:
    """Return rank_sum_sd by time and method, from normal draws of all entries with the error of the paper's runs."""
    # One random stream per table, so another setting changes no number.
    rng = stream(SEED, digest({"ranks": [str(value) for value in about.values()]}), 0)
    error = np.where(np.isinf(table["se"]), 0.0, table["se"] * np.sqrt(table["runs"] / PAPERS_RUNS))
    table = table.assign(error=error).sort_values([*ROW, *METHOD], kind="stable")
    found = {}
    for time, own in table.groupby("time"):
        shape = (-1, len(own[METHOD].drop_duplicates()))
        means, errors = (own[k].to_numpy(float).reshape(shape) for k in ("ratio", "error"))
        drawn = np.round(means + errors * rng.standard_normal((DRAWS, *means.shape)), 3)
        ranks = 1 + (drawn[..., None] > drawn[..., None, :] + TINY).sum(axis=-2)
        sd = ranks.sum(axis=1).std(axis=0, ddof=1) * math.sqrt(PAPERS_RUNS)
        found |= {(time, *method): one for method, one in zip(own[METHOD].head(shape[1]).to_numpy(), sd, strict=True)}
    return pd.Series(found)


@inference(studies=REAL_DATA)
@as_frame
def table2_sentences(results: Results) -> Iterator[dict]:
    """Return the differences that the text of section 4.2 is about, with bounds that hold together for all rows.

    sentence, by time: `average`, LDPMAB's rank sum with auxiliary data minus the smallest of the others; `best`, the
    rows in which its entry is the largest minus those of the next method; `linear`, LDPMAB's rank sum minus Linear's,
    both without auxiliary data; `transfer`, the mean over rows of ln(LDPMAB with / without). Over both times: `absse`,
    entries without auxiliary data below 1 minus the others.
    """
    seen = set()
    for about, table in _tables(results):
        own = about | _used(table)
        yield own | {"sentence": "absse"} | _below_one(table)
        if (about["setting"] or "").startswith(OF_ABSSE):
            continue
        pairs = _pairs(table)
        for time, sums in _ranks(pairs).groupby(level="time"):
            sums = sums.droplevel("time")
            mine, others = sums.loc[(LDPMAB, "with")], sums.drop(index=[(LDPMAB, "with")])
            yield own | {"sentence": "average", "time": time} | _difference(mine, others.min())
            mine, linear = sums.loc[(LDPMAB, "without")], sums.loc[(LINEAR, "without")]
            yield own | {"sentence": "linear", "time": time} | _difference(mine, linear)
            wins = _wins(pairs[pairs["time"] == time])
            mine, others = wins.loc[(LDPMAB, "with")], wins.drop(index=[(LDPMAB, "with")])
            yield own | {"sentence": "best", "time": time} | _difference(mine, others.max())
            # A mean over rows without data has no bounds, and settings of the other methods do not change LDPMAB.
            entries = table[(table["time"] == time) & (table["method"] == LDPMAB)]
            used = _used(entries)
            if (about["numbers"] == PRINTED or about["datasets"] == ADULT) and (time, used["cells"]) not in seen:
                seen.add((time, used["cells"]))
                alike = about["setting"] == UNIFORM
                yield about | used | {"sentence": "transfer", "time": time} | _transfer(entries, alike)


def _difference(mine: Any, other: Any) -> dict:
    return {
        "difference": float(mine["value"] - other["value"]),
        "difference_low": float(mine["least"] - other["largest"]),
        "difference_high": float(mine["largest"] - other["least"]),
    }


def _wins(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the number of rows in which each method's entry is the largest: value, least and largest."""
    every = pairs.groupby([*ROW, *METHOD])[["larger", "sure", "possible"]].all()
    wins = every.groupby(level=METHOD).sum()
    return wins.set_axis(["value", "least", "largest"], axis="columns")


def _below_one(table: pd.DataFrame) -> dict:
    """Return the number of entries without auxiliary data below 1, minus the number of the others."""
    alone = table[table["auxiliary"] == "without"]
    half = _half(alone["ratio_se"], alone["runs"], len(alone))
    counts = [(alone["ratio"] + move < 1 - TINY).sum() for move in (0.0, half, -half)]
    value, low, high = (float(2 * count - len(alone)) for count in counts)
    return {"difference": value, "difference_low": low, "difference_high": high}


def _transfer(entries: pd.DataFrame, alike: bool) -> dict:
    """Return the mean over rows of ln(LDPMAB with auxiliary data / without), and its interval.

    alike: whether both are known to play in the same way, so the mean is exactly 0.
    The errors of entries are added, because entries without auxiliary data are repeated for each budget of the sources.
    """
    if alike:
        return {"difference": 0.0, "difference_low": 0.0, "difference_high": 0.0}
    own = entries.set_index([*ROW[:3], "auxiliary"])
    of_entries = pd.Series(np.log(own["ratio"])), own["se"] / own["ratio"]
    logs, errors = (values.unstack("auxiliary") for values in of_entries)
    value, se = (logs["with"] - logs["without"]).mean(), errors.sum(axis="columns").mean()
    half = float(_half(pd.Series([se]), pd.Series([own["runs"].min()]), 1)[0])
    return {"difference": value, "difference_low": value - half, "difference_high": value + half}


@inference(studies=REAL_DATA)
@as_frame
def table2_transfer(results: Results) -> Iterator[pd.DataFrame]:
    """Return, for each row of Table 2, Linear's and NN's entry with auxiliary data over that without.

    The bounds hold together for all rows of a method. Those of printed numbers are their rounding.
    """
    for about, table in _tables(results):
        setting = about.pop("setting") or ""
        if about.pop("variant") == "as_printed" or setting.startswith(OF_ABSSE):
            continue
        table = table[table["method"].isin([LINEAR, NN])]
        both = [table[table["auxiliary"] == which].drop(columns="auxiliary") for which in ("with", "without")]
        rows = both[0].merge(both[1], on=[*ROW, "method"], suffixes=("", "_without"))
        ratio = rows["ratio"] / rows["ratio_without"]
        if about["numbers"] == PRINTED:
            low = (rows["ratio"] - DIGIT / 2) / (rows["ratio_without"] + DIGIT / 2)
            high = (rows["ratio"] + DIGIT / 2) / (rows["ratio_without"] - DIGIT / 2)
        else:
            se = np.hypot(rows["se"] / rows["ratio"], rows["se_without"] / rows["ratio_without"])
            runs = rows[["runs", "runs_without"]].min(axis="columns")
            half = _half(se, runs, len(rows) // 2)
            with np.errstate(over="ignore"):
                low, high = ratio * np.exp(-half), ratio * np.exp(half)
        used = (rows["cells"] + " " + rows["cells_without"]).str.strip()
        rows = rows.assign(transfer=ratio, transfer_low=low, transfer_high=high, cells=used, setting=setting or None)
        rows["runs"] = rows["runs"].where(used != "")
        columns = [*ROW, "method", "transfer", "transfer_low", "transfer_high", "runs", "cells", "setting"]
        yield rows[columns].assign(**about)


@inference(studies=REAL_DATA)
@as_frame
def printed_pairs(results: Results) -> Iterator[dict]:
    """Return each pair of printed entries without auxiliary data that differ only in the budget of the sources.

    same: equal, if there was one set of runs (`repeated` no). If runs were repeated for each budget (`repeated` yes),
    within 3.29 standard errors of two sets of the paper's 100 runs, and rounding. The error is known where we have
    runs on real data.
    """
    printed = results.published_table("table2")
    printed = printed[printed["auxiliary"] == "without"]
    ours = table2_settings(results)
    ours = ours[(ours["data"] == REAL) & (ours["setting"] == DEFAULT) & (ours["auxiliary"] == "without")]
    keys = ["dataset", "epsilon", "time", "method"]
    errors = ours.drop_duplicates(keys).set_index(keys)
    for names, pair in printed.groupby(keys, sort=False):
        gap = pair["ratio"].max() - pair["ratio"].min()
        about = dict(zip(keys, names, strict=True)) | {"gap": gap, "data": REAL}
        yield about | {"repeated": "no", "same": gap < TINY, "cells": ""}
        if names in errors.index:
            error = errors.loc[names]
            one = math.hypot(error["ratio_top_sd"], pair["ratio"].mean() * error["ratio_bottom_sd"])
            se = math.sqrt(2 / PAPERS_RUNS) * one / error["ratio_bottom"]
            same = gap - DIGIT <= quantile(None) * se
            yield about | {"repeated": "yes", "same": same, "gap_se": se, "cells": error["cells"]}


@inference()
@as_frame
def printed_budgets(results: Results) -> Iterator[dict]:
    """Return whether any printed entry with auxiliary data changes with the sources' budget, by method and epsilon."""
    printed = results.published_table("table2")
    printed = printed[printed["auxiliary"] == "with"]
    for (method, epsilon), rows in printed.groupby(["method", "epsilon"], sort=False):
        pairs = rows.groupby(["dataset", "time"])["ratio"].nunique()
        yield {"method": method, "epsilon": epsilon, "changes": bool((pairs > 1).any()), "data": REAL}


@inference(studies=["messages"])
def adult_messages(results: Results) -> pd.DataFrame:
    """Return the share of Adult's users whose message names the bin of their context, by variant and budgets.

    As printed by (12) every user adds noise to the sums of every bin, so the share is 0, without a run. The bounds hold
    together for all budgets.
    """
    cells = results.cells("messages")
    cells = cells[(cells["dataset"] == ADULT) & (cells["data"] == REAL)]
    half = [quantile(n, len(cells)) * se for n, se in zip(cells["replicates"], cells["in_parts_se"], strict=True)]
    rows = cells[["variant", "epsilon", "epsilon_aux"]].assign(
        data=REAL,
        told=cells["in_parts_mean"],
        told_low=cells["in_parts_mean"] - half,
        told_high=cells["in_parts_mean"] + half,
        runs=cells["replicates"],
        cells=cells["cell"],
    )
    printed = {"variant": "as_printed", "data": REAL, "told": 0.0, "told_low": 0.0, "told_high": 0.0, "cells": ""}
    return pd.concat([rows, pd.DataFrame([printed])], ignore_index=True)
