"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.li2024 import _rows
from privarms.papers.li2024._rows import INFERENCE, MEASURED, PRIVACY
from privarms.plots.curves import entries
from privarms.studies.artifacts import table
from privarms.studies.results import Results


@table("Table 1: comparison with Simchi-Levi & Wang 2023", inference=["pareto", "coverage", "audit"])
def table1(results: Results) -> pd.DataFrame:
    """The published cells, and what the measurements here say of them."""
    cells, audit, coverage = (results.inference(name) for name in ("pareto", "audit", "coverage"))
    patterns = " and ".join(dict.fromkeys(cells["arrivals"].astype(str)))
    plain = cells[(cells["policy"] == "conse_se") & (cells["arrivals"] == "stationary")].dropna(subset="product")
    least = plain["product"].min()
    printed = (coverage["policy"] == "conse_se") & (coverage["interval"] == "printed")
    ratios = coverage.loc[printed, "variance_ratio"]
    measured = [
        f"run with {cells['M'].min()} to {cells['M'].max()} features, {patterns}",
        f"a statement about all designs; the smallest regret times error / M measured is {least:.3g}",
        _products(plain),
        _estimates(audit),
        f"normal, but with {ratios.min():.2f} to {ratios.max():.2f} times the stated variance",
    ]
    return results.published_table("table1").assign(measured_here=measured)


def _products(plain: pd.DataFrame) -> str:
    plain = plain.sort_values("product", kind="stable")
    if plain.empty:
        return "not measured: no cell of ConSE has an estimate"
    ends = [
        f"{row['product']:.3g} (n = {row['horizon']:,}, M = {row['M']}, alpha = {row['alpha']:g})"
        for _, row in plain.iloc[[0, -1]].iterrows()
    ]
    return f"regret times error / M runs from {ends[0]} to {ends[1]}: no constant is in sight at these n"


def _estimates(audit: pd.DataFrame) -> str:
    audit = audit[(audit["release"] == "estimate") & (audit["M"] == 2) & (audit["epsilon"] == 0.5)]
    if audit.empty:
        return "not audited at epsilon = 0.5 and M = 2"
    estimates = audit.iloc[0]
    return (
        f"not as claimed: at epsilon = 0.5 and M = 2 the estimates lose {estimates['exact']:.2f} "
        f"(measured at least {estimates['lower_bound']:.2f})"
    )


def _readings(rows: pd.DataFrame) -> pd.DataFrame:
    """An estimator on the arms of another policy than `uniform` names it."""
    names, own = pd.Series(entries(rows, ()), rows.index), rows["estimator"].astype(str)
    rows = rows.assign(estimator=own.where(names == "uniform", own + " (" + names + ")"))
    return rows[["reading", "estimator", "reg", "m", "mse", "se", "replicates", "published"]]


@table("Table 2: normal linear bandit", inference=["table2"])
def table2(results: Results) -> pd.DataFrame:
    """Mean squared error of each named estimator, for as many rounds as the regret budget (literal) and for those
    that the published errors of the mean difference imply; `published` is MD's or DML's entry. Rounds are those of
    the trial: the experiments of 20,000 rounds are not run, for both arms are equal and their regret is 0.
    """
    return _readings(results.inference("table2"))


@table("Table 3: when the regularity assumption fails", inference=["table3"])
def table3(results: Results) -> pd.DataFrame:
    """As Table 2, Experiment 2; it has no row for a regret of 200. The experiments of 20,000 rounds are not run: the
    first half of ConSE has more regret than every budget.
    """
    return _readings(results.inference("table3"))


@table("Regret and error over the grid", inference=["pareto"], card=MEASURED, tab="All cells")
def pareto(results: Results) -> pd.DataFrame:
    """`mse` is the largest over features, `expected_mse` the same by formula: where `mse_se` is above a tenth of
    `mse`, a few runs with short trials make most of it. `missing_fraction` counts runs in which some feature never
    gets an estimate, `eliminated_fraction` features without their worse arm.
    """
    return _rows.pareto(results.inference("pareto"))


@table("Coverage of 95% intervals", inference=["coverage"], card=INFERENCE, tab="All cells")
def coverage(results: Results) -> pd.DataFrame:
    """`variance_ratio` is the variance of the estimate over the one that the interval has; the propositions say 1 for
    the printed one, their proofs for `trial`, which has T_min for max{f_min(n)^(1 - alpha), log n}.
    """
    axes = ["n", "M", "alpha", "epsilon"]
    columns = ["algorithm", *axes, "interval", "coverage", "se", "variance_ratio", "ks_p", "replicates"]
    return _rows.written(results.inference("coverage"), ["horizon", *axes[1:]], columns)


@table("Privacy audit of DP-ConSE", inference=["audit"], card=PRIVACY, tab="All settings")
def privacy_audit(results: Results) -> pd.DataFrame:
    """`claimed` is what the proof allows for the release, epsilon/2, or epsilon for a whole experiment; bounds hold
    with `confidence` each. With M = 1 no change of a context moves T_min: the rows of the lengths are about the
    mechanism alone. From actions the length of a trial shows where its losing arm is eliminated before.
    """
    return _rows.audit(results.inference("audit"))


@table("What the probabilities of Lap+ add up to", inference=["lap_plus"], card=PRIVACY, tab="Lap+")
def lap_plus(results: Results) -> pd.DataFrame:
    """With the printed constant, and with the right one."""
    return results.inference("lap_plus")
