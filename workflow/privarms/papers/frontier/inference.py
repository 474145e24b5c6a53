"""Inference tables: numbers computed from the studies for figures, tables and statements."""

from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd

from privarms.audits.events import first_choice, first_choice_adap_klucb
from privarms.audits.reduction import COUNTS, reduce
from privarms.inference import lower_bounds
from privarms.inference.divergences import kl
from privarms.inference.rows import as_frame
from privarms.jit.cache import compiled
from privarms.ledger import contrasts
from privarms.planning.labels import described, entries
from privarms.planning.results import Results
from privarms.registry.artifacts import inference

AUDITS = {f"audit_{policy}": first_choice for policy in ("adap_ucb", "adap_klucb", "dp_klucb", "dp_imed")}
AUDITS["audit_adap_klucb"] = first_choice_adap_klucb
CONFIDENCE = 0.95
BOUNDS = ("bound_lai_robbins", "bound_azize_basu", "bound_d_epsilon")
# The paper's alpha, which is also the default of both AdaP policies.
ALPHA = 3.1
# The privacy budgets in the experiments of Azize et al. 2025.
PRINTED_EPSILON = (0.01, 0.1, 0.5, 1.0)
POINT = ["instance", "K", "top", "bottom", "spacing", "horizon"]
# The columns that statements use next to a value: what the row is about, and what states its error.
ABOUT = ["policy", "width", "instance", "epsilon", "horizon", "regret_largest_share", "runs", "cells"]
# Those whose regret the papers compare with others'.
BASELINES = ("adap_ucb", "adap_klucb", "dp_se")
# Regret at other budgets is divided by that at these: the end of the high-privacy regime, and our largest budget.
REFERENCES = (0.3, 5.0)


def _named(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with `entry`: the policy with its settings, except `ratio`, which has its own column."""
    cells = described(cells)
    apart = ("epsilon", "horizon", "environment", "K", "top", "bottom", "spacing", "ratio")
    return cells.assign(entry=entries(cells, apart))


def _bounds(means: tuple[float, ...], epsilon: float, horizon: int) -> dict[str, float]:
    """Return the three lower bounds times ln T; the private ones are NaN without an epsilon."""
    private = epsilon > 0
    values = (
        lower_bounds.lai_robbins(means),
        lower_bounds.azize_basu(means, epsilon) if private else np.nan,
        lower_bounds.azize(means, epsilon) if private else np.nan,
    )
    return {name: value * np.log(horizon) for name, value in zip(BOUNDS, values, strict=True)}


def _upper_bounds(means: tuple[float, ...], epsilon: float, horizon: int) -> dict[str, float]:
    """Return the upper bounds on AdaP-UCB's and AdaP-KLUCB's regret (Azize & Basu 2022, Theorems 7 and 8).

    Theorem 8 has constants C1(alpha) and C2 without values. We set both to 1 and leave out the term without T.
    """
    best = max(means)
    gaps = [(best - mean, float(compiled(kl)(mean, best))) for mean in means if mean < best]
    seventh = sum(16 * ALPHA / min(gap, epsilon) * np.log(horizon) + ALPHA / (ALPHA - 3) for gap, _ in gaps)
    eighth = sum(gap / min(apart, epsilon * gap) * np.log(horizon) for gap, apart in gaps)
    return {"theorem_7": seventh, "theorem_8": eighth}


def _summary(regret: np.ndarray) -> dict[str, float]:
    median, q90, q99 = np.quantile(regret, [0.5, 0.9, 0.99])
    share = regret.max() / regret.sum() if regret.sum() > 0 else np.nan
    summary = {"regret": regret.mean(), "se": pd.Series(regret).sem(), "median": median, "q90": q90, "q99": q99}
    return summary | {"regret_largest_share": share}


def _with_bounds(results: Results, study: str) -> pd.DataFrame:
    """Return regret at the horizon and the lower bounds times ln T; one row per cell of a study."""
    cells = _named(results.cells(study)).set_index("cell")
    runs = results.replicates(study, ("cell", "horizon", "t", "regret"))
    ends = runs[runs["t"] == runs["horizon"]].groupby("cell", observed=True, sort=False)["regret"]
    output: dict[Hashable, dict] = {name: _summary(regret.to_numpy()) for name, regret in ends}
    rows = [output[name] | _bounds(c.means, c.epsilon, c.horizon) for name, c in cells.iterrows()]
    return cells.join(pd.DataFrame(rows, cells.index)).reset_index()


def _means(results: Results, study: str) -> pd.DataFrame:
    """Return the private policies' rows of `_with_bounds` with the columns that `contrasts` needs.

    The regret of one run is between 0 and the horizon times the largest gap.
    """
    rows = _with_bounds(results, study)
    rows = rows[rows["epsilon"].notna()]
    most = rows["horizon"] * [max(means) - min(means) for means in rows["means"]]
    error = contrasts.error(rows["regret"], rows["se"], rows["replicates"], 0, most)
    return rows.assign(regret_mean=rows["regret"], regret_se=error, runs=rows["replicates"], cells=rows["cell"])


@inference(studies=["regret"])
def regret(results: Results) -> pd.DataFrame:
    """Return regret at the horizon with the bounds; one row per cell of study `regret`."""
    return _with_bounds(results, "regret").drop(columns="means")


@inference(studies=["regimes"])
def regimes(results: Results) -> pd.DataFrame:
    """Return regret at the horizon with the bounds; one row per cell of study `regimes`."""
    return _with_bounds(results, "regimes").drop(columns="means")


@inference(studies=["regret"])
def over_bounds(results: Results) -> pd.DataFrame:
    """Return mean regret of study `regret` over a bound (`quotient`); one row per cell and bound.

    bound: `d_epsilon` (the lower bound times ln T), `theorem_7`, `theorem_8` (the upper ones of `_upper_bounds`)
    """
    rows = _means(results, "regret")
    settings = rows[["means", "epsilon", "horizon"]].itertuples(index=False)
    upper = pd.DataFrame([_upper_bounds(*setting) for setting in settings], rows.index)
    bounds = {"d_epsilon": rows["bound_d_epsilon"], **upper}
    over = [
        rows.reindex(columns=ABOUT).assign(
            bound=name, quotient=rows["regret"] / bound, quotient_se=rows["regret_se"] / bound
        )
        for name, bound in bounds.items()
    ]
    return pd.concat(over, ignore_index=True)


def _ratios(rows: pd.DataFrame, bottoms: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    pairs = contrasts.ratios(rows, bottoms, "regret", on, name="quotient")
    return pairs.reindex(
        columns=["entry", *ABOUT, *(column for column in pairs.columns if column.startswith("quotient"))]
    )


@inference(studies=["regret"])
def ratios(results: Results) -> pd.DataFrame:
    """Return mean regret over that of a baseline (`to`) at the same point of study `regret`; one row per pair."""
    rows = _means(results, "regret").drop(columns="ratio")
    settings = rows[rows["policy"].isin(BASELINES)].groupby("entry", sort=False)
    pairs = pd.concat([_ratios(rows, some, [*POINT, "epsilon"]).assign(to=to) for to, some in settings])
    return pairs[pairs["entry"] != pairs["to"]].drop(columns="entry").reset_index(drop=True)


@inference(studies=["regimes"])
def regime_ratios(results: Results) -> pd.DataFrame:
    """Return mean regret over that of the same policy at another epsilon (`to`), 0.3 or 5; one row per pair."""
    rows = _means(results, "regimes").rename(columns={"ratio": "batch_ratio"})
    same = [*POINT, "entry", "batch_ratio"]
    pairs = [_ratios(rows, rows[rows["epsilon"] == epsilon], same).assign(to=epsilon) for epsilon in REFERENCES]
    return pd.concat(pairs, ignore_index=True).drop(columns="entry")


@inference(studies=["regret"])
@as_frame
def bounds(results: Results) -> Iterator[dict]:
    """Return the lower bounds times ln T; one row per instance, epsilon, horizon and bound.

    The bound of Lai & Robbins has one row per epsilon, and one without epsilon.
    """
    cells = described(results.cells("regret"))
    columns = ["instance", "K", "top", "bottom", "spacing", "epsilon", "horizon", "means"]
    for point in cells[columns].drop_duplicates(ignore_index=True).to_dict("records"):
        for name, value in _bounds(point.pop("means"), point["epsilon"], point["horizon"]).items():
            if value == value:
                yield point | {"bound": name, "value": value}


@inference()
@as_frame
def older_bounds(results: Results) -> Iterator[dict]:
    """Return the bound by d_epsilon over older ones, on mu1 to mu4 at the budgets of Azize et al. 2025; exact.

    ratio: over the larger of the two older bounds, rounded to twelve digits, because equal bounds are sums in
    different orders
    """
    instances = results.published_table("instances").set_index("instance")
    for instance in ("mu1", "mu2", "mu3", "mu4"):
        means = instances.loc[[instance]].to_numpy(float)[0].tolist()
        for epsilon in PRINTED_EPSILON:
            newest = lower_bounds.azize(means, epsilon)
            older = max(lower_bounds.lai_robbins(means), lower_bounds.azize_basu(means, epsilon))
            yield {"instance": instance, "epsilon": epsilon, "ratio": round(newest / older, 12)}


@inference()
@as_frame
def minimax(results: Results) -> Iterator[dict]:
    """Return the private term of the minimax bound over the other term (Azize & Basu 2022, Theorem 2); exact.

    The terms are (K - 1) / (131 epsilon) and sqrt(T (K - 1)) / 27, at the K and T of the paper's example.

    regime: `high` for budgets below the printed threshold 131/27 sqrt((K - 1) / T), `example` for budgets from the
    printed 0.05 up
    """
    K, T = 100, 10**6
    threshold = 131 / 27 * np.sqrt((K - 1) / T)
    budgets = {"high": threshold * np.array([0.01, 0.1, 0.5, 0.99]), "example": [0.05, 0.1, 1.0]}
    for regime, some in budgets.items():
        for epsilon in some:
            ratio = (K - 1) / (131 * epsilon) / (np.sqrt(T * (K - 1)) / 27)
            yield {"K": K, "T": T, "regime": regime, "epsilon": float(epsilon), "ratio": float(ratio)}


@inference(studies=["tail"])
def tail(results: Results) -> pd.DataFrame:
    """Return regret by size of the first batch and ratio of the batches; one row per cell of study `tail`."""
    cells = _named(results.cells("tail")).set_index("cell")
    output = {}
    for first, columns in results.by_cell("tail", ("pulls",)):
        name = first["cell"].iloc[0]
        means = np.array(cells.loc[name, "means"])
        output[name] = _summary(columns["pulls"].reshape(-1, len(means)) @ (means.max() - means))
    return cells.drop(columns="means").join(pd.DataFrame.from_dict(output, orient="index")).reset_index()


@inference(studies=[*AUDITS])
def audit(results: Results) -> pd.DataFrame:
    """Return the audits of the private policies; one row per policy, epsilon and multiple of the noise."""
    parts = []
    for study, of in AUDITS.items():
        for _, counts in results.replicates(study).groupby("policy", sort=False, observed=True):
            parts.append(reduce(counts, of.AUDIT, ["K", "epsilon", "noise"], CONFIDENCE))
    return pd.concat(parts, ignore_index=True).drop(columns=list(COUNTS))


@inference(studies=[*AUDITS])
def losses(results: Results) -> pd.DataFrame:
    """Return the exact loss (`exact`) and its lower bound from counts (`bound`) over the claimed one."""
    rows = audit(results)
    over = {"exact": rows["exact"] / rows["claimed"], "bound": rows["lower_bound"] / rows["claimed"]}
    return rows[["subject", "epsilon", "noise", "cells"]].assign(**over)
