"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd

from privarms.papers.li2024 import _rows
from privarms.papers.li2024._rows import CURVE, INFERENCE, MEASURED, PRIVACY
from privarms.planning.labels import labels
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves, dodged, in_order, parts, place_of, points
from privarms.registry.artifacts import figure

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


def _looks(rows: pd.DataFrame) -> style.Looks:
    """Return the looks of curves: colour by epsilon in sequence, dashes by algorithm; black and grey without privacy.

    rows: with curve, algorithm and epsilon; the curves come in the order of algorithm and epsilon
    """
    budgets = np.sort(rows["epsilon"].dropna().unique())
    colours = dict(zip(budgets, style.in_sequence(budgets).values(), strict=True))
    named = in_order(rows.drop_duplicates("curve"), "algorithm", by="epsilon")[["curve", "algorithm", "epsilon"]]
    private = named["epsilon"].notna()
    dashes = dict(zip(named.loc[private, "algorithm"].unique(), itertools.cycle(style.LINESTYLES), strict=False))
    looks: style.Looks = {
        curve: {"color": color, "marker": marker, "linestyle": "-"}
        for curve, color, marker in zip(named.loc[~private, "curve"], ("black", "#909090"), "sX", strict=False)
    }
    looks |= {name: look for name, look in style.looks(named.loc[~private, "curve"]).items() if name not in looks}
    for curve, algorithm, epsilon in named[private].itertuples(index=False):
        looks[curve] = colours[epsilon] | {"linestyle": dashes[algorithm]}
    return looks


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the algorithm without its epsilon, and the curve: algorithm and epsilon."""
    algorithm = labels(rows, ("epsilon", *SIZE))
    epsilon = [f", $\\varepsilon = {value:g}$" if value > 0 else "" for value in rows["epsilon"]]
    return rows.assign(algorithm=algorithm, curve=algorithm + epsilon)


@figure("Measured regret and error on the theory's curve", inference=["pareto"], card=MEASURED, tab="On the curve")
def pareto_empirical(results: Results):
    """Error against regret, one point per alpha from 0 (right) to 1 (left), M = 2, stationary arrivals, with 95%
    intervals of the error; rows: number of patients n; columns: algorithm. Intervals need at least 5 runs. Thin lines:
    the error by formula; dashed: regret times error = M, which Theorem 2.3 bounds by a constant times M. At alpha = 0
    only runs with an estimate count. At epsilon = 0.1 one run in thousands can make most of the measured error. With
    our budget `total`, epsilon is for the whole experiment. The CSV file has every M."""
    rows = _named(results.inference("pareto").query("arrivals == 'stationary' and M == 2"))
    private = rows["epsilon"].notna()
    rows = rows[rows["horizon"].isin(rows.loc[private, "horizon"])].sort_values(["horizon", "alpha"], kind="stable")
    rows = with_interval(rows, "mse", "mse_se", least=10, normal=True)
    # The columns name the algorithm, so the legend has only epsilon.
    private = rows["epsilon"].notna()
    curve = rows["curve"].where(~private, [f"$\\varepsilon = {epsilon:g}$" for epsilon in rows["epsilon"]])
    panel = rows["algorithm"].where(private, "no privacy")
    rows = rows.assign(curve=curve, panel=panel, size=[f"n = {n:,}" for n in rows["horizon"]])
    looks = {name: look | {"markersize": 3} for name, look in _looks(rows).items()}
    options = {"col": "panel", "row": "size", "row_order": list(dict.fromkeys(rows["size"]))}
    grid = curves(rows, "regret", "mse", looks=looks, draw=points, height=1.7, log="xy", **options)
    for ax, name, some in parts(grid):
        ax.plot(some["regret"], some["expected_mse"], color=looks[name]["color"], linewidth=0.6)
    for (size, panel), ax in grid.axes_dict.items():
        n = int(rows.loc[rows["size"] == size, "horizon"].iloc[0])
        curve = _curve(2, math.log(n), n / 2)
        ax.plot(curve["regret"], curve["error"], **style.GUIDE)
        ax.set_title(f"{panel}, {size}")
    grid.set_axis_labels("regret", "error")
    style.legend(grid.figure, columns=6, title="dashed: regret × error = M")
    return grid.figure, _rows.pareto(results.inference("pareto")).query("arrivals == 'stationary'")


@figure("Is privacy almost free?", inference=["privacy_cost"])
def privacy_cost(results: Results):
    """DP-ConSE's error (by formula) and regret divided by ConSE's at the same n, against alpha; M = 2 only, stationary
    arrivals. Dashed: our budget `total`, where epsilon is for the whole experiment and the error is simulated. No
    intervals are drawn."""
    rows = results.inference("privacy_cost").query("arrivals == 'stationary' and M == 2")
    named = _named(rows).assign(panel=[f"n = {n:,}" for n in rows["horizon"]])
    drawn = {"error": rows["expected_mse_ratio"].fillna(rows["mse_ratio"]), "regret": rows["regret_ratio"]}
    shown = pd.concat([named.assign(what=what, ratio=ratio) for what, ratio in drawn.items()], ignore_index=True)
    shown = shown.sort_values("horizon", kind="stable")
    options: dict[str, Any] = {"col": "panel", "row": "what", "sharey": "row", "log": "y"}
    grid = curves(shown, "alpha", "ratio", looks=_looks(shown), **options)
    for ax in grid.axes.flat:
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        style.log_ticks(ax.yaxis)
    grid.set_titles("{row_name}, {col_name}").set_axis_labels("$\\alpha$", "DP-ConSE / ConSE")
    style.legend(grid.figure, columns=3)
    return grid.figure, rows


@figure("When is an arm eliminated?", inference=["elimination"])
def elimination(results: Results):
    """Share of features whose worse arm is eliminated in the first half, against n, one panel per number of features M.
    Thick: without privacy. EXP3E needs tens of millions of patients, so it has few runs."""
    rows = results.inference("elimination")
    shown = _named(rows).assign(panel=[f"M = {M}" for M in rows["M"]]).sort_values("M", kind="stable")
    # Curves coincide: a thick one below others stays visible.
    public = set(shown.loc[shown["epsilon"].isna(), "curve"])
    thick = {"linewidth": 3.5, "markersize": 7}
    looks = {name: look | (thick if name in public else {}) for name, look in _looks(shown).items()}
    grid = curves(shown, "horizon", "eliminated_fraction", looks=looks, col="panel", log="x")
    grid.set(ylim=(-0.03, 1.03)).set_axis_labels("patients $n$", "share of features eliminated")
    style.legend(grid.figure)
    return grid.figure, rows


@figure("Coverage of 95% intervals", inference=["coverage"], card=INFERENCE, tab="Coverage")
def coverage_intervals(results: Results):
    """Share of runs whose interval contains the true effect, against alpha, with 95% intervals; stationary arrivals.
    Rows: algorithm; columns: patients n and features M. Dashed: nominal level. The printed variance, (s0^2 +
    s1^2)/max{f_min(n)^(1 - alpha), log n}, is too small by a factor of 2 (f_min(n)/f_min(n/2))^(1 - alpha). With T_min,
    as in the proof (trial), the factor is 2."""
    rows = results.inference("coverage")
    names = rows["interval"].str.replace("_", " + ") + " variance"
    size = [f"n = {n:,}, M = {M}" for n, M in zip(rows["horizon"], rows["M"], strict=True)]
    shown = with_interval(rows.assign(name=names, curve=labels(rows, SIZE), size=size), "coverage", "se")
    order = list(dict.fromkeys(shown.sort_values(["M", "horizon"], kind="stable")["size"]))
    options = {"col": "size", "row": "curve", "col_order": order, "height": 1.5}
    grid = curves(shown, "alpha", "coverage", hue="name", looks=style.looks(names), **options)
    for ax in grid.axes.flat:
        style.published(ax, results.published("coverage"))
    grid.set(ylim=(0, 1.02)).set_axis_labels("$\\alpha$", "coverage")
    ran = set(zip(shown["curve"], shown["size"], strict=True))
    for (curve, size), ax in grid.axes_dict.items():
        ax.set_title(size)
        ax.set_visible((curve, size) in ran)
        if place_of(ax).is_first_col():
            ax.set_ylabel(curve.replace(" (", "\n(") + "\ncoverage")
    style.legend(grid.figure, columns=4)
    return grid.figure, rows


@figure("Privacy loss of DP-ConSE", inference=["audit"], card=PRIVACY, tab="Audits")
def audit(results: Results):
    """Privacy loss on two runs that differ in one patient, over epsilon, against the number of features M. Line: exact
    loss; points: 99.99% Clopper-Pearson lower bounds; dashed: epsilon/2, which the proof allows for each release, and
    the theorem's epsilon. With our budget `total`, epsilon is for the whole experiment."""
    rows = results.inference("audit")
    settings = _rows.releases(rows.assign(release="")).str.strip(" ()").replace("", "as published")
    rows = rows.assign(
        panel=rows["release"].astype(str).str.replace("_", " "),
        settings=settings,
        curve=[f"$\\varepsilon = {epsilon:g}$" for epsilon in rows["epsilon"]],
        exact_loss=rows["exact"] / rows["epsilon"],
        bound=(rows["lower_bound"] / rows["epsilon"]).replace(-math.inf, math.nan),
    )
    rows = rows.assign(place=dodged(rows["M"], rows["curve"], 0.12))
    looks = style.in_sequence(rows.sort_values("epsilon")["curve"])
    options = {"col": "panel", "row": "settings", "height": 1.9}
    grid = curves(rows, "place", "bound", looks=looks, draw=points, **options)
    for ax, name, some in parts(grid):
        some = some.sort_values("M")
        ax.plot(some["M"], some["exact_loss"], color=looks[name]["color"], linewidth=0.8)
        ax.plot(some["M"], some["claimed"] / some["epsilon"], **style.GUIDE)
    for ax in grid.axes.flat:
        style.published(ax, results.published("privacy_loss"))
        style.ticks(ax, sorted(rows["M"].unique()))
    grid.set_titles("{col_name}\n{row_name}")
    grid.set(ylim=(0, None)).set_axis_labels("features $M$", "privacy loss / $\\varepsilon$")
    style.legend(grid.figure)
    return grid.figure, _rows.audit(results.inference("audit"))
