"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import math

import numpy as np
import pandas as pd

from privarms.papers.li2024 import _rows
from privarms.papers.li2024._rows import CURVE, INFERENCE, MEASURED, PRIVACY
from privarms.plots import style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import curves, dodged, parts, points
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

N = 1_000_000
THEORY = {"color": "black", "linewidth": 1.2, "linestyle": "-"}
SIZE = ("arrivals", "horizon", "M", "alpha")


def _curve(M: int, least_T: float, most_T: float) -> pd.DataFrame:
    """Return the points (M T, 1 / T) of the Pareto curve between two lengths of the trial."""
    T = np.geomspace(least_T, most_T, 50)
    return pd.DataFrame({"regret": M * T, "error": 1 / T})


def _theory(rows: pd.DataFrame, first: str, last: str, **options):
    """Draw Pareto curves with their ends, which are named."""
    grid = curves(rows.assign(curve=""), "regret", "error", looks={"": THEORY}, log="xy", **options)
    for ax, _, curve in parts(grid):
        ends = curve[["regret", "error"]].iloc[[0, -1]].to_numpy()
        ax.plot(*ends.T, linestyle="none", marker="o", color="black")
        offset = {"textcoords": "offset points", "fontsize": 7}
        ax.annotate(first, ends[0], xytext=(6, 2), **offset)
        # A curve of a single point has one name.
        if ends[0, 0] < ends[1, 0]:
            ax.annotate(last, ends[1], xytext=(-6, -3), ha="right", va="top", **offset)
    return grid.set(xlim=(10, 3e6), ylim=(5e-7, 0.5)).set_axis_labels("regret $R$", "error $e$")


@figure("Figure 1: the Pareto curve", card=CURVE, tab="Figure 1")
def fig1(results: Results):
    """Error against regret in theory: regret times error = M with constant 1, n = 1,000,000, M = 2; ends at alpha = 0,
    1."""
    M = 2
    rows = _curve(M, math.log(N), N / M).assign(M=M, n=N)
    ends = ("$\\alpha = 1$: $(M\\log n,\\ 1/\\log n)$", "$\\alpha = 0$: $(M f_{\\min},\\ 1/f_{\\min})$")
    return _theory(rows, *ends).figure, rows


@figure("Figure 2: the Pareto curve with privacy", card=CURVE, tab="Figure 2")
def fig2(results: Results):
    """As Figure 1, one panel per epsilon. Privacy shortens the curve at its end of smallest regret, alpha = 1, which is
    (M log(n)/epsilon, epsilon/log(n))."""
    M = 2
    budgets = {
        "$\\varepsilon = 1$, or no privacy": math.inf,
        "$\\varepsilon = 0.1$": 0.1,
        "$\\varepsilon = 0.01$": 0.01,
    }
    drawn = [
        _curve(M, math.log(N) / min(epsilon, 1.0), N / M).assign(M=M, n=N, epsilon=epsilon, budget=budget)
        for budget, epsilon in budgets.items()
    ]
    rows = pd.concat(drawn, ignore_index=True)
    ends = ("$(M\\log n/\\varepsilon,\\ \\varepsilon/\\log n)$", "$(M f_{\\min},\\ 1/f_{\\min})$")
    return _theory(rows, *ends, col="budget").figure, rows.replace(math.inf, np.nan)


@figure("Figure 3: the Pareto curve in different scenarios", card=CURVE, tab="Figure 3")
def fig3(results: Results):
    """As Figure 1, one panel per f_min from n/M down to log(n), at which the curve is a single point; epsilon = 1.
    Shaded: the attainable region. The paper does not state the scenarios of its panels."""
    M = 2
    scenarios = {
        "$f_{\\min} = \\Theta(n)$": N / M,
        "$f_{\\min} = n^{0.6}$": N**0.6,
        "$f_{\\min} = \\log^2 n$": math.log(N) ** 2,
        "$f_{\\min} = \\log n$": math.log(N),
    }
    drawn = [_curve(M, math.log(N), most).assign(scenario=s, f_min=most, M=M, n=N) for s, most in scenarios.items()]
    rows = pd.concat(drawn, ignore_index=True)
    grid = _theory(rows, "$\\alpha = 1$", "$\\alpha = 0$", col="scenario")
    for ax, _, curve in parts(grid):
        right, low = [*curve["regret"], 3e6], [*curve["error"], curve["error"].iloc[-1]]
        ax.fill_between(right, low, 0.5, color=style.COLOURS[5], alpha=0.25, linewidth=0)
    return grid.figure, rows


@figure("Measured regret and error on the theory's curve", inference=["pareto"], card=MEASURED, tab="On the curve")
def pareto_empirical(results: Results):
    """Error against regret, one point per alpha from 0 (right) to 1 (left), stationary arrivals, with 95% intervals of
    the error. Thin lines: the error by formula; dashed: regret times error = M, which Theorem 2.3 bounds by a constant
    times M. At alpha = 0 only runs with an estimate count. At epsilon = 0.1 one run in thousands can make most of the
    measured error. With our budget `total`, epsilon is for the whole experiment."""
    rows = results.inference("pareto").query("arrivals == 'stationary'")
    panel = [f"n = {n:,}, M = {M}" for n, M in zip(rows["horizon"], rows["M"], strict=True)]
    rows = rows.assign(curve=labels(rows, SIZE), panel=panel).sort_values(["horizon", "M", "alpha"], kind="stable")
    rows = with_interval(rows, "mse", "mse_se", least=10, normal=True)
    looks = {name: look | {"markersize": 2.4} for name, look in style.looks(rows["curve"]).items()}
    grid = curves(rows, "regret", "mse", looks=looks, draw=points, col="panel", height=1.6, log="xy")
    for ax, name, some in parts(grid):
        ax.plot(some["regret"], some["expected_mse"], color=looks[name]["color"], linewidth=0.6)
    for (panel, n, M), _ in rows.groupby(["panel", "horizon", "M"]):
        curve = _curve(M, math.log(n), n / M)
        grid.axes_dict[panel].plot(curve["regret"], curve["error"], **style.GUIDE)
    grid.set_axis_labels("regret", "error")
    style.legend(grid.figure, title="dashed: regret × error = M")
    return grid.figure, _rows.pareto(results.inference("pareto")).query("arrivals == 'stationary'")


@figure("Is privacy almost free?", inference=["privacy_cost"])
def privacy_cost(results: Results):
    """DP-ConSE's error (by formula) and regret over ConSE's at the same n, against alpha; M = 2 only, stationary
    arrivals. With our budget `total`, epsilon is for the whole experiment, and the error is simulated."""
    rows = results.inference("privacy_cost").query("arrivals == 'stationary' and M == 2")
    rows = rows.assign(curve=labels(rows, SIZE), panel=[f"n = {n:,}" for n in rows["horizon"]])
    drawn = {"error": rows["expected_mse_ratio"].fillna(rows["mse_ratio"]), "regret": rows["regret_ratio"]}
    shown = pd.concat([rows.assign(what=what, ratio=ratio) for what, ratio in drawn.items()], ignore_index=True)
    shown = shown.sort_values("horizon", kind="stable")
    options = {"col": "panel", "row": "what", "sharey": "row", "log": "y"}
    grid = curves(shown, "alpha", "ratio", looks=style.looks(rows["curve"]), **options)
    for ax in grid.axes.flat:
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
    grid.set_axis_labels("$\\alpha$", "DP-ConSE / ConSE")
    style.legend(grid.figure)
    return grid.figure, rows.drop(columns=["curve", "panel"])


@figure("When is an arm eliminated?", inference=["elimination"])
def elimination(results: Results):
    """Share of features whose worse arm is eliminated in the first half, against n, one panel per number of features M.
    EXP3E needs tens of millions of patients, so it has few runs."""
    rows = results.inference("elimination")
    shown = rows.assign(curve=labels(rows, SIZE), panel=[f"M = {M}" for M in rows["M"]])
    looks = style.looks(shown["curve"])
    shown = shown.sort_values("M", kind="stable")
    grid = curves(shown, "horizon", "eliminated_fraction", looks=looks, col="panel", log="x")
    grid.set(ylim=(-0.03, 1.03)).set_axis_labels("patients $n$", "share of features eliminated")
    style.legend(grid.figure)
    return grid.figure, rows


@figure("Coverage of 95% intervals", inference=["coverage"], card=INFERENCE, tab="Coverage")
def coverage_intervals(results: Results):
    """Share of runs whose interval contains the true effect, against alpha, with 95% intervals; stationary arrivals.
    Dashed: nominal level. The printed variance, (s0^2 + s1^2)/max{f_min(n)^(1 - alpha), log n}, is too small by a
    factor of 2 (f_min(n)/f_min(n/2))^(1 - alpha). With T_min, as in the proof (trial), the factor is 2."""
    rows = results.inference("coverage")
    interval = rows["interval"].str.replace("_", " + ")
    names = [f"{which}, n = {n:,}" for which, n in zip(interval, rows["horizon"], strict=True)]
    shown = with_interval(rows.assign(name=names, curve=labels(rows, SIZE)), "coverage", "se")
    looks = style.crossed(shown, "name", "interval", "horizon")
    grid = curves(shown, "alpha", "coverage", hue="name", looks=looks, col="M", row="curve")
    for ax in grid.axes.flat:
        style.published(ax, results.published("coverage"))
    grid.set_titles("{row_name}, M = {col_name}")
    grid.set(ylim=(0, 1.02)).set_axis_labels("$\\alpha$", "coverage of 95% intervals")
    style.legend(grid.figure, columns=3)
    return grid.figure, rows


@figure("Privacy loss of DP-ConSE", inference=["audit"], card=PRIVACY, tab="Audits")
def audit(results: Results):
    """Privacy loss on two runs that differ in one patient, over epsilon, against the number of features M. Line: exact
    loss; points: 99.99% Clopper-Pearson lower bounds; dashed: epsilon/2, which the proof allows for each release, and
    the theorem's epsilon. With our budget `total`, epsilon is for the whole experiment."""
    rows = results.inference("audit")
    rows = rows.assign(
        panel=_rows.releases(rows).str.replace("_", " "),
        curve=[f"$\\varepsilon = {epsilon:g}$" for epsilon in rows["epsilon"]],
        exact_loss=rows["exact"] / rows["epsilon"],
        bound=(rows["lower_bound"] / rows["epsilon"]).replace(-math.inf, math.nan),
    )
    rows = rows.assign(place=dodged(rows["M"], rows["curve"], 0.12))
    looks = style.looks(rows["curve"])
    grid = curves(rows, "place", "bound", looks=looks, draw=points, col="panel", wrap=3)
    for ax, name, some in parts(grid):
        some = some.sort_values("M")
        ax.plot(some["M"], some["exact_loss"], color=looks[name]["color"], linewidth=0.8)
        ax.plot(some["M"], some["claimed"] / some["epsilon"], **style.GUIDE)
        style.published(ax, results.published("privacy_loss"))
        style.ticks(ax, sorted(rows["M"].unique()))
    grid.set(ylim=(0, None)).set_axis_labels("features $M$", "privacy loss / $\\varepsilon$")
    style.legend(grid.figure)
    return grid.figure, _rows.audit(results.inference("audit"))
