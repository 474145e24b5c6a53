"""Inference tables: numbers computed from the studies for figures, tables and claims."""

import numpy as np
import pandas as pd

from privarms.audits import first_choice, first_choice_adap_klucb
from privarms.audits.reduction import COUNTS, reduce
from privarms.inference import lower_bounds
from privarms.inference.rows import as_frame
from privarms.plots.curves import described, entries
from privarms.studies.results import Results

AUDITS = {f"audit_{policy}": first_choice for policy in ("adap_ucb", "adap_klucb", "dp_klucb", "dp_imed")}
AUDITS["audit_adap_klucb"] = first_choice_adap_klucb
CONFIDENCE = 0.95
BOUNDS = ("bound_lai_robbins", "bound_azize_basu", "bound_d_epsilon")


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


def _summary(regret: np.ndarray) -> dict[str, float]:
    median, q90, q99 = np.quantile(regret, [0.5, 0.9, 0.99])
    share = regret.max() / regret.sum() if regret.sum() > 0 else np.nan
    summary = {"regret": regret.mean(), "se": pd.Series(regret).sem(), "median": median, "q90": q90, "q99": q99}
    return summary | {"regret_largest_share": share}


def _with_bounds(results: Results, study: str) -> pd.DataFrame:
    """Return regret at the horizon and the lower bounds times ln T; one row per cell of a study.

    over_bound, over_bound_se: mean regret and its standard error over the bound by d_epsilon
    """
    cells = _named(results.cells(study)).set_index("cell")
    runs = results.replicates(study, ("cell", "horizon", "t", "regret"))
    ends = runs[runs["t"] == runs["horizon"]].groupby("cell", observed=True, sort=False)["regret"]
    output = {name: _summary(regret.to_numpy()) for name, regret in ends}
    rows = [output[name] | _bounds(c.means, c.epsilon, c.horizon) for name, c in cells.iterrows()]
    frame = cells.drop(columns="means").join(pd.DataFrame(rows, cells.index)).reset_index()
    bound = frame["bound_d_epsilon"]
    return frame.assign(over_bound=frame["regret"] / bound, over_bound_se=frame["se"] / bound)


def regret(results: Results) -> pd.DataFrame:
    """Return regret at the horizon with the bounds; one row per cell of study `regret`."""
    return _with_bounds(results, "regret")


def regimes(results: Results) -> pd.DataFrame:
    """Return regret at the horizon with the bounds; one row per cell of study `regimes`."""
    return _with_bounds(results, "regimes")


@as_frame
def bounds(results: Results) -> pd.DataFrame:
    """Return the lower bounds times ln T; one row per instance, epsilon, horizon and bound.

    The bound of Lai & Robbins has one row per epsilon, and one without epsilon. over_older: the bound by d_epsilon over
    the larger of the two others, NaN in their rows; rounded to twelve digits, because equal bounds are sums in
    different orders
    """
    cells = described(results.cells("regret"))
    columns = ["instance", "K", "top", "bottom", "spacing", "epsilon", "horizon", "means"]
    for point in cells[columns].drop_duplicates(ignore_index=True).to_dict("records"):
        values = _bounds(point.pop("means"), point["epsilon"], point["horizon"])
        *older, newest = values.values()
        over_older = {BOUNDS[-1]: round(newest / max(older), 12)}
        for name, value in values.items():
            if value == value:
                yield point | {"bound": name, "value": value, "over_older": over_older.get(name)}


def tail(results: Results) -> pd.DataFrame:
    """Return regret by size of the first batch and ratio of the batches; one row per cell of study `tail`."""
    cells = _named(results.cells("tail")).set_index("cell")
    output = {}
    for first, columns in results.by_cell("tail", ("pulls",)):
        name = first["cell"].iloc[0]
        means = np.array(cells.loc[name, "means"])
        output[name] = _summary(columns["pulls"].reshape(-1, len(means)) @ (means.max() - means))
    return cells.drop(columns="means").join(pd.DataFrame.from_dict(output, orient="index")).reset_index()


def audit(results: Results) -> pd.DataFrame:
    """Return the audits of the private policies; one row per policy, epsilon and multiple of the noise."""
    parts = [
        reduce(results.replicates(study), of.AUDIT, ["K", "epsilon", "noise"], CONFIDENCE)
        for study, of in AUDITS.items()
    ]
    return pd.concat(parts, ignore_index=True).drop(columns=list(COUNTS))
