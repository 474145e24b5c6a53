"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.li2024 import _rows
from privarms.papers.li2024._rows import INFERENCE, MEASURED, PRIVACY
from privarms.planning.labels import entries
from privarms.planning.results import Results
from privarms.registry.artifacts import table


@table("Table 1: comparison with Simchi-Levi & Wang 2023", inference=["pareto", "coverage", "audit"])
def table1(results: Results) -> pd.DataFrame:
    """Table 1 as published, with our measurement for each cell."""
    cells, audit, coverage = (results.inference(name) for name in ("pareto", "audit", "coverage"))
    patterns = " and ".join(dict.fromkeys(cells["arrivals"].astype(str)))
    plain = cells[(cells["policy"] == "conse_se") & (cells["arrivals"] == "stationary")].dropna(subset="product")
    least = plain["product"].min()
    printed = (coverage["policy"] == "conse_se") & (coverage["interval"] == "printed")
    ratios = coverage.loc[printed, "variance_ratio"]
    measured = [
        f"run with {cells['M'].min()} to {cells['M'].max()} features, {patterns}",
        f"a statement about all designs; the smallest measured regret times error / M is {least:.3g}",
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
    return f"regret times error / M runs from {ends[0]} to {ends[1]}, without a constant limit at these n"


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
    """Return the rows to write; estimators on the arms of another policy than `uniform` name that policy."""
    names, own = pd.Series(entries(rows, ()), rows.index), rows["estimator"].astype(str)
    rows = rows.assign(estimator=own.where(names == "uniform", own + " (" + names + ")"))
    return rows[["reading", "estimator", "reg", "m", "mse", "se", "replicates", "published"]]


@table("Table 2: normal linear bandit", inference=["table2"])
def table2(results: Results) -> pd.DataFrame:
    """Mean squared error of each named estimator after m rounds of the trial. m is the regret budget (literal) or
    follows from the published errors of the mean difference (implied); `published` is MD's or DML's entry. The
    experiments of 20,000 rounds are not run, because both arms are equal and regret is 0."""
    return _readings(results.inference("table2"))


@table("Table 3: when the regularity assumption fails", inference=["table3"])
def table3(results: Results) -> pd.DataFrame:
    """As Table 2, for Experiment 2, without a regret of 200. The experiments of 20,000 rounds are not run, because the
    first half of ConSE has more regret than every budget."""
    return _readings(results.inference("table3"))


@table("Regret and error over the grid", inference=["pareto"], card=MEASURED, tab="All cells")
def pareto(results: Results) -> pd.DataFrame:
    """Regret and error of every cell. `mse` is the largest over features, `expected_mse` the same by formula. If
    `mse_se` is above a tenth of `mse`, a few runs with short trials make most of it. `missing_fraction` is the share of
    runs without an estimate of some feature, `eliminated_fraction` that of features whose worse arm is eliminated."""
    return _rows.pareto(results.inference("pareto"))


@table("Coverage of 95% intervals", inference=["coverage"], card=INFERENCE, tab="All cells")
def coverage(results: Results) -> pd.DataFrame:
    """Coverage of each interval. `variance_ratio` is the variance of the estimate over that of the interval. The
    propositions claim 1 for the printed interval, their proofs for `trial`, which has T_min instead of max{f_min(n)^(1
    - alpha), log n}."""
    axes = ["n", "M", "alpha", "epsilon"]
    columns = ["algorithm", *axes, "interval", "coverage", "se", "variance_ratio", "ks_p", "replicates"]
    return _rows.written(results.inference("coverage"), ["horizon", *axes[1:]], columns)


@table("Privacy audit of DP-ConSE", inference=["audit"], card=PRIVACY, tab="All settings")
def privacy_audit(results: Results) -> pd.DataFrame:
    """Privacy loss of each release. `claimed` is the loss that the proof allows: epsilon/2, or epsilon for a whole
    experiment. Each bound holds with `confidence`. With M = 1 no changed context moves T_min, so the rows of the
    lengths are only about the mechanism. Actions reveal the length of a trial if its losing arm was eliminated before.
    """
    return _rows.audit(results.inference("audit"))


@table("Sum of the probabilities of Lap+", inference=["lap_plus"], card=PRIVACY, tab="Lap+")
def lap_plus(results: Results) -> pd.DataFrame:
    """Sum of the probabilities of Lap+, with the printed constant and with the corrected one."""
    return results.inference("lap_plus")
