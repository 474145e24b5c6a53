"""Tables whose rows are the cases of statements: growth of orders, ratios of two means, printed entries."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from privarms.ledger import contrasts
from privarms.ledger.intervals import quantile
from privarms.papers.li2024 import inference as tables
from privarms.planning.results import Results
from privarms.planning.statements import half_unit
from privarms.registry.artifacts import inference
from privarms.registry.modules import EnvironmentModule

# The spread of a mean of 50 squared errors, over the mean, if the estimator is normal: sqrt(2 / 50).
PRINTED_SPREAD = math.sqrt(2 / 50)
# Both experiments' studies, the smallest budget of each, and the largest one.
STUDIES, LEAST, MOST = ("table2", "table3"), (200, 400), 800
# The meanings of a table's budget, in words.
ROUNDS = {"literal": "the budget", "implied": "as MD's errors imply"}
NAMES = {"horizon": "n", "M": "M", "one_over_epsilon": "1/epsilon"}


@inference(studies=["pareto"])
def orders(results: Results) -> pd.DataFrame:
    """Return the exponents with which regret, error and their product, over their printed orders, grow; by pairs.

    One row per quantity, setting and pair of values of n, M or 1/epsilon, which `growth` names. An order O() without
    constants says that its exponent tends to at most 0.

    error: simulated for ConSE; by formula for DP-ConSE, because rare short trials make most of it; runs without an
    estimate are left out. second_half: its regret over the order and the sum of the gaps. error_at_1_over_M: error
    times log(n)/M
    """
    cells = tables.pareto(results)
    order, formula = cells["printed_order"], cells["policy"] == "dp_conse"
    error = cells["mse"].where(~formula, cells["expected_mse"])
    error_se = cells["mse_se"].where(~formula, 0.0)
    product = error * cells["regret"] / cells["M"]
    log_n = np.log(cells["horizon"].to_numpy(float))
    means = {
        "regret": (cells["regret"] / cells["M"] / order, cells["regret_se"] / cells["M"] / order),
        "error": (error * order, error_se * order),
        "product": (product, product * np.hypot(error_se / error, cells["regret_se"] / cells["regret"])),
        "second_half": tuple(cells[k] / order / cells["gap_sum"] for k in ("second_half", "second_half_se")),
        "error_at_1_over_M": (error * log_n / cells["M"], error_se * log_n / cells["M"]),
    }
    settings = [k for k in tables.parameters(cells) if k != "epsilon"]
    cells = cells.assign(one_over_epsilon=1 / cells["epsilon"])
    return _growths(cells, means, settings)


@inference(studies=["elimination"])
def first_half(results: Results) -> pd.DataFrame:
    """Return the same for the first half's regret over its printed order, the sum of log(n)/gap [+ M log(n)/epsilon].

    EXP3E has the order log(n)/gap too.
    """
    cells = tables.elimination(results)
    order = np.log(cells["horizon"]) * (cells["inverse_gap_sum"] + (cells["M"] / cells["epsilon"]).fillna(0))
    settings = [k for k in tables.parameters(cells) if k != "epsilon"]
    cells = cells.assign(one_over_epsilon=1 / cells["epsilon"])
    return _growths(cells, {"regret": (cells["first_half_regret"] / order, cells["first_half_se"] / order)}, settings)


def _growths(cells: pd.DataFrame, means: dict, settings: Sequence[str]) -> pd.DataFrame:
    """Return one row per quantity, setting and pair of values of n, M and 1/epsilon.

    means: quantity -> means and standard errors, one per row of `cells`; settings: all parameters but epsilon
    """
    cells = cells.rename(columns={"cells": "cell"})
    parts = []
    for quantity, (mean, se) in means.items():
        rows = cells[[*settings, "one_over_epsilon", "replicates", "cell"]].assign(value_mean=mean, value_se=se)
        rows = rows[rows["value_mean"].notna() & rows["value_se"].notna()]
        for along, name in NAMES.items():
            by = [k for k in (*settings, "one_over_epsilon") if k != along]
            for first, last in _pairs(rows[along]):
                some = contrasts.ratios(rows[rows[along] == last], rows[rows[along] == first], "value", by)
                width = math.log(last / first)
                exponent = pd.Series(np.log(some["ratio"])) / width
                # An error by formula is exact.
                exact = some["ratio_se"] == 0
                ends = {f"exponent_{end}": exponent.where(exact) for end in ("low", "high")}
                columns = {"quantity": quantity, "growth": f"{name} from {first:,.10g} to {last:,.10g}"}
                columns |= {"exponent": exponent, "exponent_se": some["ratio_se"] / some["ratio"] / width, **ends}
                parts.append(some[[*by, "runs", "cells"]].assign(**columns))
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(epsilon=1 / rows["one_over_epsilon"]).drop(columns="one_over_epsilon")


def _pairs(column: pd.Series) -> Iterator[tuple[float, float]]:
    values = sorted(column.dropna().unique())
    yield from ((first, last) for first in values for last in values if first < last)


@inference(studies=["pareto"])
def steps_of_alpha(results: Results) -> pd.DataFrame:
    """Return regret and error of ConSE at each alpha over those at each smaller one; one row per quantity and pair.

    T_min: whether the shortest trial has the same length at both; then both policies are the same
    """
    cells = tables.pareto(results)
    cells = cells[cells["policy"] == "conse_se"].rename(columns={"cells": "cell"})
    by = [k for k in tables.parameters(cells) if k != "alpha"]
    parts = []
    for quantity, mean in (("regret", "regret"), ("error", "mse")):
        columns = [*by, "alpha", "T_min", "replicates", "cell"]
        rows = cells[columns].assign(value_mean=cells[mean], value_se=cells[f"{mean}_se"])
        for first, last in _pairs(rows["alpha"]):
            few = rows[rows["alpha"] == first]
            some = contrasts.ratios(rows[rows["alpha"] == last], few, "value", by)
            same = np.isclose(some["T_min"], some[by].merge(few[[*by, "T_min"]], on=by)["T_min"])
            some["ratio"] = some["ratio"].mask(same, 1.0)
            ends = {f"ratio_{end}": some["ratio"].where(same) for end in ("low", "high")}
            length = np.where(same, "log n at both alphas", "different")
            parts.append(some.assign(quantity=quantity, before=f"{first:g}", T_min=length, **ends))
    return pd.concat(parts, ignore_index=True)


@inference(studies=["pareto"])
def spans(results: Results) -> pd.DataFrame:
    """Return how long DP-ConSE's curve is at an epsilon, over its length at a larger one; one row per pair and setting.

    Length along an axis: regret at alpha = 0 over that at alpha = 1, or error, by formula, at alpha = 1 over that at 0
    """
    cells = tables.pareto(results)
    cells = cells[cells["policy"] == "dp_conse"].rename(columns={"cells": "cell"})
    by = [k for k in tables.parameters(cells) if k != "alpha"]
    parts = []
    for axis, mean, se, far in (("regret", "regret", cells["regret_se"], 0), ("error", "expected_mse", 0.0, 1)):
        rows = cells.assign(value_mean=cells[mean], value_se=se)
        lengths = contrasts.ratios(rows[rows["alpha"] == far], rows[rows["alpha"] == 1 - far], "value", by)
        values = {"value_mean": lengths["ratio"], "value_se": lengths["ratio_se"], "cell": lengths["cells"]}
        lengths, others = lengths[[*by, "replicates"]].assign(**values), [k for k in by if k != "epsilon"]
        for first, last in _pairs(lengths["epsilon"]):
            small, large = (lengths[lengths["epsilon"] == value] for value in (first, last))
            found = contrasts.ratios(small, large, "value", others)
            exact = {f"ratio_{end}": found["ratio"] if axis == "error" else np.nan for end in ("low", "high")}
            parts.append(found.assign(axis=axis, larger_epsilon=f"{last:g}", **exact))
    return pd.concat(parts, ignore_index=True)


@inference(studies=["pareto"])
def price(results: Results) -> pd.DataFrame:
    """Return DP-ConSE's error and regret over those without privacy; one row per quantity, baseline and cell.

    baseline: ConSE, or DP-ConSE's own trial without noise. Errors are by formula
    """
    ratios = tables.privacy_cost(results)
    sources = (
        ("error", "ConSE", "expected_mse_ratio", None),
        ("error", "DP-ConSE's trial without noise", "expected_noise_ratio", None),
        ("regret", "ConSE", "regret_ratio", "regret_ratio_se"),
    )
    parts = []
    for quantity, baseline, value, se in sources:
        exact = {"ratio_low": ratios[value], "ratio_high": ratios[value]} if se is None else {"ratio_se": ratios[se]}
        parts.append(ratios.assign(quantity=quantity, baseline=baseline, ratio=ratios[value], **exact))
    rows = pd.concat(parts, ignore_index=True)
    columns = ["policy", "quantity", "baseline", "arrivals", "horizon", "M", "alpha", "epsilon"]
    return rows.loc[rows["ratio"].notna(), [*columns, "ratio", "ratio_se", "ratio_low", "ratio_high", "runs", "cells"]]


@inference(studies=["coverage"])
def variance_cost(results: Results) -> pd.DataFrame:
    """Return the normalised variance of DP-ConSE's estimates over that of ConSE's; one row per cell of DP-ConSE."""
    cells = tables.coverage(results)
    cells = cells[cells["interval"] == "printed"].rename(columns={"cells": "cell"})
    rows = cells.assign(value_mean=cells["variance_ratio"], value_se=cells["variance_ratio_se"])
    tops, bottoms = (rows[rows["policy"] == policy] for policy in ("dp_conse", "conse_se"))
    takes = set().union(*(EnvironmentModule(e).arguments for e in cells["environment"].unique()))
    around = [k for k in tables.parameters(cells) if k in takes or k in ("environment", "alpha")]
    return contrasts.ratios(tops, bottoms, "value", around)


@inference(studies=STUDIES)
def entries(results: Results) -> pd.DataFrame:
    """Return the errors of Tables 2 and 3; one row per entry, number of rounds and method.

    estimator: as printed, MD or DML; method: a named estimator that DML may be; rounds: the budget, or for DML also the
    number that MD's printed errors imply
    """
    parts = []
    for name, made in zip(STUDIES, (tables.table2, tables.table3), strict=True):
        rows = made(results)
        of_means = rows["estimator"] == "mean_difference"
        named = np.where(of_means, "MD", "DML")
        parts.append(rows.assign(table=name, method=rows["estimator"].where(~of_means), estimator=named))
    rows = pd.concat(parts, ignore_index=True)
    # MD's own entries imply the number of rounds, so with it they would test nothing.
    rows = rows[(rows["reading"] == "literal") | (rows["estimator"] == "DML")]
    rows = rows.assign(rounds=rows["reading"].replace(ROUNDS))
    return rows.drop(columns=["reading", "published", "se"])


@inference(studies=STUDIES)
def conclusions(results: Results) -> pd.DataFrame:
    """Return the ratios that section 5's conclusions are about, simulated and on the printed numbers.

    quantity: over_MD, of an estimator's error to MD's; over_experiment_1, of its error in Experiment 2 to that in 1;
    growth, the exponent of the error along the budget from the smallest to the largest one. method: named estimators,
    and `printed`; estimator: MD or DML; m: rounds, read as the regret budget. The intervals of
    printed numbers include rounding and the spread of a mean over 50 replications
    """
    paired = tables.estimators(results)
    columns = ["study", "estimator", "m", "ratio", "ratio_se", "runs", "cells"]
    parts = [_named(paired[columns].rename(columns={"ratio": "value", "ratio_se": "value_se"}), "over_MD")]
    cells = [results.cells(study).assign(study=study) for study in STUDIES]
    both = pd.concat(cells, ignore_index=True)
    both = both.assign(m=both["horizon"], value_mean=both["squared_error_mean"], value_se=both["squared_error_se"])
    own = ["estimator", *(k for k in tables.parameters(both) if k not in ("environment", "experiment", "horizon"))]
    first, second = (both[both["study"] == study] for study in STUDIES)
    parts.append(_named(contrasts.ratios(second, first, "value", [*own, "m"], name="value"), "over_experiment_1"))
    for study, least in zip(STUDIES, LEAST, strict=True):
        some = both[both["study"] == study]
        rows = contrasts.ratios(some[some["m"] == MOST], some[some["m"] == least], "value", own, name="value")
        width = math.log(MOST / least)
        rows = rows.assign(value=np.log(rows["value"]) / width, value_se=rows["value_se"] / rows["value"] / width)
        parts.append(_named(rows, "growth"))
    parts.append(pd.DataFrame(_printed(results)))
    return pd.concat(parts, ignore_index=True)


def _named(rows: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return rows with the printed name of their estimator; the error of the mean difference is MD's."""
    of_means = rows["estimator"] == "mean_difference"
    rows = rows.assign(quantity=quantity, method=rows["estimator"], estimator=np.where(of_means, "MD", "DML"))
    return rows[["quantity", "study", "estimator", "method", "m", "value", "value_se", "runs", "cells"]]


def _printed(results: Results) -> Iterator[dict]:
    printed = {}
    for study in STUDIES:
        table = results.published_table(study, dtype=str)
        for estimator, reg, error in table[["estimator", "reg", "error"]].itertuples(index=False):
            printed[study, estimator, int(reg)] = error
    pairs = [(("over_MD", s, r), (s, "DML", r), (s, "MD", r)) for s, e, r in printed if e == "DML"]
    for name in ("MD", "DML"):
        pairs.append((("over_experiment_1", "table3", MOST), ("table3", name, MOST), ("table2", name, MOST)))
        for study, least in zip(STUDIES, LEAST, strict=True):
            pairs.append((("growth", study, MOST), (study, name, MOST), (study, name, least)))
    for (quantity, study, reg), top, bottom in pairs:
        texts = printed[top], printed[bottom]
        value = math.log(float(texts[0]) / float(texts[1]))
        reach = quantile(None) * math.hypot(PRINTED_SPREAD, PRINTED_SPREAD)
        rounded = [[math.log(float(t) + side * half_unit(t)) for side in (-1, 1)] for t in texts]
        low, high = rounded[0][0] - rounded[1][1] - reach, rounded[0][1] - rounded[1][0] + reach
        width = math.log(reg / bottom[2]) if quantity == "growth" else None
        shown = [x / width if width else math.exp(x) for x in (value, low, high)]
        about = {"quantity": quantity, "study": study, "estimator": top[1], "method": "printed", "m": reg}
        yield about | dict(zip(("value", "value_low", "value_high"), shown, strict=True)) | {"cells": ""}
