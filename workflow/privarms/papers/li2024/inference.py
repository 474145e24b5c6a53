"""Inference tables: numbers computed from the studies for figures, tables and statements."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from privarms.audits.events import neighbouring_experiments, whole_experiments
from privarms.audits.reduction import COUNTS, ENDS, reduce
from privarms.inference import mean_difference
from privarms.inference.intervals import ratio
from privarms.inference.proportions import clopper_pearson
from privarms.inference.rows import as_frame
from privarms.ledger.contrasts import TAIL, TOGETHER
from privarms.ledger.intervals import quantile
from privarms.papers.li2024 import inference_formulas as by_formula
from privarms.papers.li2024.inference_formulas import expected_T_min, gaps_of, printed_order
from privarms.planning.results import Results, environment_of
from privarms.registry.artifacts import inference
from privarms.registry.modules import EnvironmentModule, PolicyModule

CONFIDENCE = 0.95
# Confidence of each bound on a loss: 150 bounds hold together with 98%.
AUDIT_CONFIDENCE = 0.9999
AXES = ("arrivals", "horizon", "M", "alpha", "epsilon")
# Columns that are added up over the trials of a cell, by feature.
SUMS = ["trials", "regret", "regret_squares", "first_half_regret", "second_half_squares"]
SUMS += ["squared_error", "squared_error_squares", "eliminated", "missing"]
# Records of the trial from which an estimate comes.
ESTIMATE = ("estimate", "effect", "floor_T_min", "variance_0", "variance_1")


def parameters(rows: pd.DataFrame) -> list[str]:
    """Return the columns that identify a cell: policy, environment and the parameters of both that any cell has."""
    named = ["policy", "variant", "environment", *AXES]
    for kind, column in ((PolicyModule, "policy"), (EnvironmentModule, "environment")):
        for name in rows[column].unique():
            named += kind(name).arguments
    return [k for k in dict.fromkeys(named) if k in rows and rows[k].notna().any()]


def _by_cell(rows: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the setting of each cell, with all AXES, and its rows."""
    columns = parameters(rows)
    for _, cell in rows.groupby("cell", observed=True, sort=False):
        yield _setting(columns, cell.iloc[0]), cell


def _setting(columns: Iterable[str], row: pd.Series) -> dict:
    absent = dict.fromkeys(AXES, math.nan) | {"arrivals": "stationary"}
    setting = absent | {name: row[name] for name in columns}
    return {k: setting[k] for k in ("policy", *AXES)} | setting


@inference(studies=["pareto"])
def pareto(results: Results) -> pd.DataFrame:
    """Return regret and error of every cell.

    mse: the largest mean squared error of a feature's estimates; missing_fraction: of runs without an estimate of some
    feature; eliminated_fraction: of features; T_min: at the expected counts; product: mse times regret over M;
    expected_mse: error by formula; gap_sum: over features; printed_order: the theorems' expression for T_min
    """
    measured = results.replicates("pareto")
    # All cells at once, because one sum per cell would take half of the time.
    sums = measured.groupby(["cell", "feature"], observed=True)[SUMS].sum()
    rows = []
    for setting, cell in _by_cell(measured):
        of_cell = sums.loc[cell["cell"].iloc[0]]
        run, features = of_cell.loc[0], of_cell.loc[1:]
        n = run["trials"]
        regret = run["regret"] / n
        second_half = regret - run["first_half_regret"] / n
        came = features["trials"] - features["missing"]
        errors = features["squared_error"] / came
        worst = errors.idxmax() if errors.notna().any() else features.index[0]
        mse, count = errors[worst], came[worst]
        error_spread = max(features["squared_error_squares"][worst] / max(count, 1) - mse**2, 0.0)
        regret_se, second_se = (
            math.sqrt(max(run[f"{name}_squares"] / n - mean**2, 0.0) / (n - 1)) if n > 1 else math.nan
            for name, mean in (("regret", regret), ("second_half", second_half))
        )
        mse_se = math.sqrt(error_spread / max(count - 1, 1)) if count > 1 else math.nan
        environment, M = environment_of(setting), int(setting["M"])
        n_patients, alpha, epsilon = int(setting["horizon"]), setting["alpha"], setting["epsilon"]
        T_min = expected_T_min(environment, n_patients, alpha, epsilon, setting["policy"] == "dp_conse_total")
        expected = by_formula.error_by_formula(setting, environment, T_min)
        rows.append(
            setting
            | {
                "replicates": int(n),
                "regret": regret,
                "regret_se": regret_se,
                "first_half_regret": run["first_half_regret"] / n,
                "second_half": second_half,
                "second_half_se": second_se,
                "mse": mse,
                "mse_se": mse_se,
                "eliminated_fraction": features["eliminated"].sum() / features["trials"].sum(),
                "missing_fraction": run["missing"] / n,
                "missing_fraction_events": int(run["missing"]),
                "missing_fraction_trials": int(n),
                "T_min": T_min,
                "printed_order": printed_order(environment, n_patients, alpha, epsilon),
                "product": mse * regret / M,
                "product_se": math.hypot(mse * regret_se, regret * mse_se) / M,
                "expected_mse": expected,
                "gap_sum": gaps_of(environment).sum(),
                "runs": int(n),
                "cells": cell["cell"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


@inference(studies=["pareto"])
def privacy_cost(results: Results) -> pd.DataFrame:
    """Return ratios of error and regret of each private policy to ConSE at the same n, M, alpha and arrivals.

    nan if ConSE did not run.
    """
    cells = pareto(results)
    own = [k for k in parameters(cells) if k not in ("policy", *AXES)]
    around = {"environment"}.union(*(EnvironmentModule(e).arguments for e in cells["environment"].unique()))
    readings = [k for k in own if k not in around]
    plain = cells[cells["policy"] == "conse_se"].drop(columns=["epsilon", *readings])
    keys = ["arrivals", "horizon", "M", "alpha", *(k for k in own if k in around)]
    private = cells[cells["epsilon"].notna()]
    joined = private.merge(plain, how="left", on=keys, suffixes=("", "_plain"), validate="many_to_one")
    for name in ("mse", "regret"):
        columns = (name, f"{name}_se", f"{name}_plain", f"{name}_se_plain")
        value, error = ratio(*(joined[c] for c in columns))
        joined = joined.assign(**{f"{name}_ratio": value, f"{name}_ratio_se": error})
    # Ratio to the error of the same trial without noise: 1 + 8 / (epsilon^2 T 2 (s0^2 + s1^2)), except for short noisy
    # lengths.
    rows = joined.to_dict("records")
    noiseless = [by_formula.expected_error(environment_of(row), row["T_min"], math.nan) for row in rows]
    joined["expected_mse_ratio"] = joined["expected_mse"] / joined["expected_mse_plain"]
    joined["expected_noise_ratio"] = joined["expected_mse"] / noiseless
    joined["runs"] = joined[["runs", "runs_plain"]].min(axis="columns")
    joined["cells"] = joined["cells"] + " " + joined["cells_plain"].fillna("")
    columns = ["epsilon", "replicates", "T_min", "mse_ratio", "mse_ratio_se", "expected_mse_ratio"]
    columns += ["expected_noise_ratio", "missing_fraction", "regret_ratio", "regret_ratio_se"]
    columns += ["eliminated_fraction", "eliminated_fraction_plain", "policy", *own, "runs", "cells"]
    return joined[["arrivals", "horizon", "M", "alpha", *columns]]


@inference(studies=["elimination"])
@as_frame
def elimination(results: Results) -> Iterator[dict]:
    """Return the share of features that lose an arm in the first half, and the first half's regret; one row per cell.

    wrong: runs that eliminate a better arm; over_bound (only M = 1): runs that pull the worse arm more often than the
    explicit bound in the proofs of Lemmas 2.1 and 3.1; inverse_gap_sum: over features; patients: whether that bound is
    smaller than the first half (only M = 1); {event}_times_n: the share of runs over 1/n, with the ends of an
    interval; undecided: runs with M = 1 that do not eliminate the worse arm; pulls_over_bound: mean pulls of the worse
    arm over the bound of arXiv version 1 (only EXP3E with M = 1)
    """
    columns = parameters(results.cells("elimination"))
    for head, measured in results.by_cell("elimination", ("eliminated", "wrong", "first_half_regret")):
        setting, cell = _setting(columns, head.iloc[0]), pd.DataFrame(measured)
        M, n, runs = int(setting["M"]), int(setting["horizon"]), len(cell)
        gone = int(cell["eliminated"].sum())
        low, high = clopper_pearson(gone, runs * M, CONFIDENCE)
        first, epsilon = cell["first_half_regret"], setting["epsilon"]
        gaps = gaps_of(environment_of(setting))
        params = by_formula.epoch_params(setting) if M == 1 else None
        # Regrets are multiples of the gap, so half a pull above a bound is only rounding.
        pulls = first / gaps[0] - 0.5
        bound = by_formula.pulls_bound(n, gaps[0], epsilon) if params else math.nan
        events = {"wrong": int((cell["wrong"] > 0).sum()), "over_bound": int((pulls > bound).sum())}
        if M == 1:
            events["undecided"] = runs - gone + events["wrong"]
        over_exp3e = first / gaps[0] / by_formula.exp3e_bound(setting, gaps[0])
        with np.errstate(divide="ignore"):
            inverse_gap_sum = (1 / gaps).sum()
        yield setting | {
            "replicates": runs,
            "eliminated_fraction": gone / (runs * M),
            "eliminated_fraction_events": gone,
            "eliminated_fraction_trials": runs * M,
            "low": float(low),
            "high": float(high),
            "wrong": events["wrong"],
            "first_half_regret": first.mean(),
            "first_half_se": first.std() / math.sqrt(runs),
            "over_bound": events["over_bound"],
            "inverse_gap_sum": inverse_gap_sum,
            "pulls_over_bound": over_exp3e.mean(),
            "pulls_over_bound_se": over_exp3e.std() / math.sqrt(runs),
            "patients": "" if math.isnan(bound) else "sufficiently many" if bound < n / 2 else "fewer",
            **{k: v for name, count in events.items() for k, v in _times_n(name, count, runs, n).items()},
            "runs": runs,
            "cells": head["cell"].iloc[0],
        }


def _times_n(name: str, events: int, runs: int, n: int) -> dict[str, float]:
    """Return the share of runs with an event over 1/n, and an interval that holds for TOGETHER such shares."""
    low, high = clopper_pearson(events, runs, 1 - 2 * TAIL / TOGETHER)
    ends = {"": events / runs, "_low": float(low), "_high": float(high)}
    return {f"{name}_times_n{end}": n * share for end, share in ends.items()}


def _variance(setting: dict, cell: dict[str, np.ndarray], interval: str) -> np.ndarray:
    """Return the variance that an interval assumes for each estimate of a cell."""
    T, environment = cell["floor_T_min"], environment_of(setting)
    if interval == "printed":
        T = printed_order(environment, int(setting["horizon"]), setting["alpha"], setting["epsilon"])
    if setting["policy"] == "conse_exp3e" and interval not in ("printed", "trial"):
        return mean_difference.inverse_propensity_variance(T, environment.means[0], environment.deviations[0] ** 2)
    noise = setting.get("noise", math.nan)
    budget = math.inf if pd.isna(setting["epsilon"]) else setting["epsilon"] / (1 if pd.isna(noise) else noise)
    return mean_difference.variance(T, cell["variance_0"], cell["variance_1"], interval, budget)


@inference(studies=["coverage"])
@as_frame
def coverage(results: Results) -> Iterator[dict]:
    """Return coverage, variance and normality of the first feature's estimate; one row per cell and interval.

    variance_ratio: variance of the estimate over that of the interval; nan if too few runs have an estimate
    relative_bias: |mean error| over the effect; ks_low, ks_high: by the inequality of Dvoretzky, Kiefer and Wolfowitz.
    The intervals of both hold for TOGETHER rows
    """
    columns = parameters(results.cells("coverage"))
    # Cell by cell, because the whole study takes three gigabytes.
    for first, cell in results.by_cell("coverage", ESTIMATE):
        setting = _setting(columns, first.iloc[0])
        estimate, effect = cell["estimate"], cell["effect"]
        errors = pd.Series((estimate - effect)[~np.isnan(estimate)])
        for interval in mean_difference.INTERVALS:
            variance = _variance(setting, cell, interval)
            share, error, runs = mean_difference.coverage(estimate, effect, variance, CONFIDENCE)
            distance, p = mean_difference.normality(estimate, effect, variance)
            ratio_of_variances, ratio_error = mean_difference.variance_ratio(estimate, effect, variance)
            reach = math.sqrt(math.log(TOGETHER / TAIL) / (2 * max(runs, 1)))
            # The stubs of pandas give a standard error the type of any cell.
            bias_se: Any = errors.sem()
            bias = abs(errors.mean()) / np.mean(effect)
            half = quantile(max(runs, 2), TOGETHER) * bias_se / np.mean(effect)
            yield setting | {
                "interval": interval,
                "coverage": share,
                "se": error,
                "variance_ratio": ratio_of_variances,
                "variance_ratio_se": ratio_error,
                "effect": float(np.mean(effect)),
                "bias": errors.mean(),
                "bias_se": bias_se,
                "relative_bias": bias,
                "relative_bias_low": max(bias - half, 0.0),
                "relative_bias_high": bias + half,
                "ks": distance,
                "ks_low": max(distance - reach, 0.0),
                "ks_high": distance + reach,
                "ks_p": p,
                "replicates": runs,
                "coverage_events": round(share * runs) if runs else 0,
                "coverage_trials": runs,
                "runs": runs,
                "cells": first["cell"].iloc[0],
            }


@inference(studies=["table2", "table3"])
@as_frame
def estimators(results: Results) -> Iterator[dict]:
    """Return each estimator's mean squared error over that of the mean difference on the same rewards, per study and m.

    se, ratio_se: of the ratio, from the pairs
    """
    for study in ("table2", "table3"):
        for setting, cell in _by_cell(results.replicates(study)):
            errors = cell.pivot(index="replicate", columns="estimator", values="squared_error").dropna()
            plain, n = errors["mean_difference"], len(errors)
            kept = {k: v for k, v in setting.items() if k not in AXES}
            for name in errors.columns.drop("mean_difference"):
                mean_ratio = errors[name].mean() / plain.mean()
                spread = (errors[name] - mean_ratio * plain).std() / plain.mean()
                own = {"study": study, "estimator": name, "m": int(setting["horizon"]), "replicates": n}
                error = spread / math.sqrt(n)
                about = {"ratio_se": error, "runs": n, "cells": cell["cell"].iloc[0]}
                yield kept | own | {"ratio": mean_ratio, "se": error} | about


def _readings(results: Results, table: str) -> pd.DataFrame:
    """Return each estimator's mean squared error for the rounds m that each budget of a published table means.

    reading: literal, m is the budget; implied, m is such that MD's error, 4 / m, is the published one.
    """
    cells = results.cells(table)
    own = [k for k in parameters(cells) if k != "horizon"]
    measured = {"squared_error_mean": "mse", "squared_error_se": "se", "horizon": "m"}
    errors = cells.rename(columns=measured)[["estimator", "m", "mse", "se", "replicates", "cell", *own]]
    printed = results.published_table(table).pivot(index="reg", columns="estimator", values="error")
    entries = [("literal", reg, reg) for reg in printed.index]
    entries += [("implied", reg, round(4 / printed.loc[reg, "MD"])) for reg in printed.index]
    parts = []
    for reading, reg, m in entries:
        part = errors[errors["m"] == m].assign(reading=reading, reg=reg)
        by_means = part["estimator"] == "mean_difference"
        parts.append(part.assign(published=np.where(by_means, printed.loc[reg, "MD"], printed.loc[reg, "DML"])))
    joined = pd.concat(parts, ignore_index=True)
    joined = joined.assign(mse_se=joined["se"], runs=joined["replicates"], cells=joined["cell"])
    columns = ["reading", "estimator", "reg", "m", "mse", "se", "replicates", "published", *own]
    return joined[[*columns, "mse_se", "runs", "cells"]]


@inference(studies=["table2"])
def table2(results: Results) -> pd.DataFrame:
    """Return Table 2 under both interpretations."""
    return _readings(results, "table2")


@inference(studies=["table3"])
def table3(results: Results) -> pd.DataFrame:
    """Return Table 3 under both interpretations."""
    return _readings(results, "table3")


@inference(studies=["audit", "composed_audit"])
def audit(results: Results) -> pd.DataFrame:
    """Return the privacy loss of each release and of a whole experiment; one row per cell of the studies.

    events_0, events_1: counts of the event in `trials` trials with each neighbour; over_half, over_epsilon: the loss
    over epsilon/2, and over epsilon with delta = 1/n, with the ends of an interval that holds for TOGETHER rows
    """
    named, parts = ["release", "M", "epsilon"], []
    for study, module in (("audit", neighbouring_experiments), ("composed_audit", whole_experiments)):
        counts = results.replicates(study)
        if module is whole_experiments:
            counts = counts.assign(release="experiment")
        others = (*named, "neighbour", "policy", "horizon")
        further = [k for k in parameters(counts) if k not in others and counts[k].nunique(dropna=False) > 1]
        settings = [*named, *further]
        for _, own in counts.groupby("policy", sort=False, observed=True):
            table = reduce(own, module.AUDIT, settings, AUDIT_CONFIDENCE)
            parts.append(table.assign(delta=1 / own["horizon"].iloc[0]))
    # Every event is likelier with neighbour 1.
    events = {"other_events": "events_0", "likelier_events": "events_1"}
    rows = pd.concat(parts, ignore_index=True).rename(columns=events)
    measures = ["claimed", "exact", "lower_bound", "confidence", "trials", "events_0", "events_1"]
    aside = ("audit", "subject", "cells", "delta", *ENDS, *COUNTS)
    further = [k for k in rows.columns if k not in (*named, *measures, *aside)]
    order = ("lengths", "estimate", "lengths_from_actions", "first_half", "experiment")
    rows["place"] = rows["release"].map(order.index)
    # As published first: the further settings are missing there.
    rows = rows.sort_values([*further, "place", *named], na_position="first")
    losses = _losses(rows, "over_half", rows["epsilon"] / 2, 0.0) | _losses(
        rows, "over_epsilon", rows["epsilon"], rows["delta"]
    )
    return rows[[*named, *measures, *further]].assign(**losses, runs=rows["trials"], cells=rows["cells"])


def _losses(rows: pd.DataFrame, name: str, promised: pd.Series, delta) -> dict[str, pd.Series]:
    """Return ln((p_1 - delta) / p_0) over the promised loss, p_i the event's probabilities; half an event is added."""
    confidence = 1 - TAIL / TOGETHER
    low_0, high_0 = clopper_pearson(rows["events_0"], rows["trials"], confidence)
    low_1, high_1 = clopper_pearson(rows["events_1"], rows["trials"], confidence)
    shares = ((rows["events_1"] + 0.5) / rows["trials"], (rows["events_0"] + 0.5) / rows["trials"])
    ends = {"": shares, "_low": (low_1, high_0), "_high": (high_1, low_0)}
    with np.errstate(divide="ignore"):
        return {
            name + end: np.log(np.maximum(top - delta, 0) / bottom) / promised for end, (top, bottom) in ends.items()
        }
