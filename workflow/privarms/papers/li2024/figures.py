"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Whatever value or policy joins a grid gets a panel, or a curve with a look and an entry of its own; what a figure
leaves out it names.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from privarms.papers.li2024 import _rows
from privarms.papers.li2024._rows import CURVE, ELIMINATION, INFERENCE, MEASURED, PRIVACY
from privarms.plots import style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import band, curves, dodged, panels, parts, points
from privarms.studies import library
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

N = 1_000_000
THEORY = {"color": "black", "linewidth": 1.2, "linestyle": "-"}
# These look the same in every figure.
PUBLISHED = (
    *(("conse_se", math.nan), ("conse_exp3e", math.nan)),
    *(("dp_conse", epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0)),
)


def _entry(label: str, epsilon: float) -> str:
    return label if math.isnan(epsilon) else f"{label}, $\\varepsilon = {epsilon:g}$"


def _named(rows: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """The rows with the legend entry `curve`: LABEL, settings other than the axes, and epsilon."""
    names = labels(rows, apart_from=(*axes, "epsilon"))
    return rows.assign(curve=[_entry(*pair) for pair in zip(names, rows["epsilon"], strict=True)])


def _published(policy: str, epsilon: float) -> str:
    return _entry(library.attributes("policies", policy)["LABEL"], epsilon)


def _looks(rows: pd.DataFrame) -> style.Looks:
    """Return the look of each curve; the published algorithms look the same in every figure."""
    return style.looks(rows["curve"], [_published(*one) for one in PUBLISHED])


def _without(rows: pd.DataFrame, *algorithms: tuple[str, float], **left_out: tuple) -> pd.DataFrame:
    """The rows without some published algorithms and some values, an axis a name; an axis that has no others stays
    whole."""
    for axis, values in {"curve": [_published(*one) for one in algorithms], **left_out}.items():
        others = ~rows[axis].isin(values)
        rows = rows[others] if others.any() else rows
    return rows


def _curve(M: int, least_T: float, most_T: float) -> pd.DataFrame:
    """The points (M T, 1 / T) of the Pareto curve between two lengths of the trial."""
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
    """Theory: regret times error = M, drawn with constant 1 for n = 1,000,000 and M = 2; the ends are alpha = 0 and
    1.
    """
    M = 2
    rows = _curve(M, math.log(N), N / M).assign(M=M, n=N)
    ends = ("$\\alpha = 1$: $(M\\log n,\\ 1/\\log n)$", "$\\alpha = 0$: $(M f_{\\min},\\ 1/f_{\\min})$")
    return _theory(rows, *ends).figure, rows


@figure("Figure 2: the Pareto curve with privacy", card=CURVE, tab="Figure 2")
def fig2(results: Results):
    """Theory, as Figure 1: all curves are parts of one. Privacy shortens it at the end of least regret, alpha = 1,
    which is (M log(n)/epsilon, epsilon/log(n)).
    """
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
    """Theory, as Figure 1, for f_min from n/M down to log(n), where the curve is a single point; the shaded region is
    attainable, with epsilon = 1. The paper does not say which scenarios its panels have.
    """
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


def _stationary(results: Results) -> pd.DataFrame:
    cells = _named(results.inference("pareto"), _rows.PARETO)
    return cells[cells["arrivals"] == "stationary"]


def _size(rows: pd.DataFrame) -> list[str]:
    return [f"n = {n:,}, M = {M}" for n, M in zip(rows["horizon"], rows["M"], strict=True)]


@figure("Measured regret and error on the theory's curve", inference=["pareto"], card=MEASURED, tab="On the curve")
def pareto_empirical(results: Results):
    """Points are the values of alpha from 0 to 1 (largest symbol: alpha = 1), stationary arrivals, with 95% intervals
    of the error; thin lines, the error by formula (mean difference); dashed, regret times error = M. At alpha = 0
    only the runs with an estimate count; at epsilon = 0.1 one run in thousands can make most of the measured error.
    DP-ConSE at epsilon = .5 and 2 is in the CSV alone. With the budget total, ours, epsilon is for the whole
    experiment.
    """
    rows = _without(_stationary(results), ("dp_conse", 0.5), ("dp_conse", 2.0))
    rows = rows.assign(panel=_size(rows)).sort_values(["horizon", "M", "alpha"], kind="stable")
    rows = with_interval(rows.fillna({"mse_se": 0}), "mse", "mse_se", least=10, normal=True)
    looks, columns = _looks(rows), rows["M"].nunique()
    options = {"wrap": columns, "width": max(style.PAGE, 1.6 * columns), "height": 1.6, "log": "xy"}
    grid = panels(rows, col="panel", looks=looks, **options)
    for ax, name, some in parts(grid):
        line = looks[name] | {"elinewidth": 0.5}
        points(ax, some, "regret", "mse", label=name, **(line | {"markersize": 2.4}))
        points(ax, some.iloc[-1:], "regret", "mse", **(line | {"markersize": 4.5}))
        # EXP3E's estimate is not a mean difference.
        if some["policy"].iloc[0] != "conse_exp3e":
            ax.plot(some["regret"], some["expected_mse"], color=line["color"], linewidth=0.6)
    for n, M in rows[["horizon", "M"]].drop_duplicates().itertuples(index=False):
        curve = _curve(M, math.log(n), n / M)
        grid.axes_dict[f"n = {n:,}, M = {M}"].plot(curve["regret"], curve["error"], **style.GUIDE)
    grid.set_axis_labels("regret", "error")
    style.legend(grid.figure, title="dashed: regret × error = M")
    return grid.figure, _rows.pareto(results.inference("pareto")).query("arrivals == 'stationary'")


@figure("Is privacy almost free?", inference=["privacy_cost"])
def privacy_cost(results: Results):
    """M = 2 (others are left out), stationary arrivals. Left, DP-ConSE's error over that of a trial of T_min
    patients without noise, against epsilon^2 T_min, with 1 + 8/(epsilon^2 T_min 2(s0^2 + s1^2)) dashed: below 1.1 from
    89 on; points far above it at the left are rare short trials. Right, its regret over ConSE's at the same n and
    alpha. With the budget total, ours, epsilon is for the whole experiment; as printed at epsilon = .5 and 2 is in the
    CSV alone.
    """
    rows = _named(results.inference("privacy_cost"), _rows.PARETO)
    everything = _without(rows[rows["arrivals"] == "stationary"], M=(1, 5, 10))
    rows = _without(everything, ("dp_conse", 0.5), ("dp_conse", 2.0)).sort_values("epsilon", kind="stable")
    rows = rows.assign(name=[f"{c}, n = {n:,}" for c, n in zip(rows["curve"], rows["horizon"], strict=True)])
    ns = sorted(rows["horizon"].unique())
    looks = style.crossed(rows, "name", "curve", "horizon", seconds=ns)
    for name, n in zip(rows["name"], rows["horizon"], strict=True):
        looks[name]["marker"] = style.MARKERS[ns.index(n) % len(style.MARKERS)]
    drawn = []
    for ratio, x in (("noise_ratio", "eps2_T"), ("regret_ratio", "alpha")):
        part = rows.assign(ratio=ratio, x=rows[x], y=rows[ratio], se=rows[f"{ratio}_se"].fillna(0))
        drawn.append(with_interval(part, "y", "se", normal=True))
    rows = pd.concat(drawn, ignore_index=True)
    options = {"col": "ratio", "row": "M", "hue": "name", "sharex": "col", "sharey": "col", "height": 2.3, "log": "y"}
    grid = panels(rows, looks=looks, **options)
    for ax, name, some in parts(grid):
        draw = points if some["ratio"].iloc[0] == "noise_ratio" else band
        draw(ax, some, "x", "y", label=name, **(looks[name] | {"linewidth": 0.8}))
    x = np.geomspace(0.05, 1e6, 100)
    # s0^2 + s1^2 of the first feature, whose means are .3 and, but for M = 1, .6.
    formula = "$1 + 8/(\\varepsilon^2 T_{\\min}\\,2(s_0^2+s_1^2))$"
    for (M, ratio), ax in grid.axes_dict.items():
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        ax.set_title(f"M = {M}" if rows["M"].nunique() > 1 else "")
        if ratio == "noise_ratio":
            ax.plot(x, 1 + 8 / (x * 2 * (0.21 + (0.24 if M > 1 else 0.21))), **style.GUIDE)
            where = {"xycoords": "axes fraction", "ha": "right", "va": "top", "fontsize": 7}
            ax.annotate(formula, (1, 1), color=style.QUIET, **where)
            ax.set(xscale="log", xlabel="$\\varepsilon^2 T_{\\min}$", ylabel="error / error without noise")
        else:
            style.log_ticks(ax.yaxis)
            ax.set(xlabel="$\\alpha$", ylabel="regret / ConSE's regret")
    style.legend(grid.figure, columns=3)
    return grid.figure, everything.drop(columns="curve")


@figure("When is an arm eliminated?", inference=["elimination"], card=ELIMINATION, tab="Figure")
def elimination(results: Results):
    """Share of features whose worse arm is eliminated in the first half, against n, by the number of features M (95%
    Clopper-Pearson intervals); EXP3E on few runs, for it needs tens of millions of patients.
    """
    rows = _named(results.inference("elimination"), ("horizon", "M"))
    shown = rows.sort_values(["M", "horizon"], kind="stable")
    shown = shown.assign(panel=[f"M = {M}" for M in shown["M"]])
    grid = curves(shown, "horizon", "eliminated_fraction", looks=_looks(rows), col="panel", log="x")
    grid.set(ylim=(-0.03, 1.03)).set_axis_labels("patients $n$", "share of features eliminated")
    for ax in grid.axes.flat:
        ax.tick_params(axis="x", which="minor", labelbottom=False)
    style.legend(grid.figure)
    return grid.figure, rows.drop(columns="curve")


@figure("Quantiles of the standardised estimate", inference=["normality"], card=INFERENCE, tab="Normality")
def normality(results: Results):
    """Error of the first feature's estimate over the printed standard deviation, sqrt((s0^2 + s1^2)/N) with N =
    max{f_min(n)^(1 - alpha), log n}, over the same with T_min for N (trial), and over the corrected ones, against
    normal quantiles from .5% to 99.5%; M = 1, n = 1,000,000. Errors beyond 6 are not shown. M = 2, n = 20,000, alpha
    = .1 and .3 and DP-ConSE at epsilon = 1 are left out.
    """
    rows = _named(results.inference("normality"), ("horizon", "M", "alpha"))
    rows = _without(rows, ("dp_conse", 1.0), M=(2,), horizon=(20_000,), alpha=(0.1, 0.3))
    several = len(rows[["M", "horizon"]].drop_duplicates()) > 1
    alphas = ["" if math.isnan(a) else f"\n$\\alpha = {a:g}$" for a in rows["alpha"]]
    sizes = ["\n" + size if several else "" for size in _size(rows)]
    shown = rows.assign(panel=rows["curve"] + alphas + sizes, interval=rows["interval"].str.replace("_", " + "))
    looks = style.looks(shown["interval"], ("printed", "trial", "corrected", "corrected + laplace"))
    looks = {name: look | {"markersize": 2} for name, look in looks.items()}
    shown = shown.sort_values(["M", "horizon"], kind="stable")
    grid = curves(shown, "normal", "measured", hue="interval", looks=looks, col="panel", draw=points)
    for ax in grid.axes.flat:
        ax.plot([-3, 3], [-3, 3], color="black", linewidth=0.8, zorder=1)
    grid.set(xlim=(-3, 3), ylim=(-6, 6)).set_axis_labels("normal quantile", "standardised error")
    style.legend(grid.figure, columns=4, title="standardised by the variance")
    return grid.figure, rows.drop(columns="curve")


@figure("Coverage of three 95% intervals", inference=["coverage"], card=INFERENCE, tab="Coverage")
def coverage_intervals(results: Results):
    """Share of runs whose interval holds the true effect, with 95% intervals; nominal level dashed; stationary
    arrivals, M = 1, and M = 2 in the table. The printed variance, (s0^2 + s1^2)/max{f_min(n)^(1 - alpha), log n}, is
    too small by 2 (f_min(n)/f_min(n/2))^(1 - alpha). With T_min, as in the proof, it would be by 2: in the table.
    """
    everything = results.inference("coverage")
    rows = _without(_named(everything, ("horizon", "M", "alpha")), M=(2,), interval=("trial",))
    ns = sorted(rows["horizon"].unique(), key=lambda n: (n not in (20_000, N), -n))
    names = [f"{i.replace('_', ' + ')}, n = {n:,}" for i, n in zip(rows["interval"], rows["horizon"], strict=True)]
    panel = rows["curve"] if rows["M"].nunique() == 1 else rows["curve"] + ", M = " + rows["M"].astype(str)
    shown = with_interval(rows.assign(name=names, panel=panel), "coverage", "se")
    looks = style.crossed(shown, "name", "interval", "horizon", seconds=ns)
    grid = curves(shown, "alpha", "coverage", hue="name", looks=looks, col="panel", wrap=3)
    for ax in grid.axes.flat:
        style.published(ax, results.published("coverage"))
    grid.set(ylim=(0, 1.02)).set_axis_labels("$\\alpha$", "coverage of 95% intervals")
    style.legend(grid.figure, columns=3)
    return grid.figure, everything[everything["M"].isin(rows["M"])]


RELEASES = {
    "lengths": "lengths of the trials",
    "estimate": "estimates",
    "lengths_from_actions": "lengths, from actions",
    "first_half": "first half, epoch 1",
    "experiment": "whole experiment",
}
RELEASES |= {f"{name} (budget total)": f"{title},\ntotal budget" for name, title in RELEASES.items()}


@figure("What DP-ConSE gives away", inference=["audit"], card=PRIVACY, tab="Audits")
def audit(results: Results):
    """Privacy loss shown on two runs that differ in one patient, over epsilon: exact (line) and Clopper-Pearson lower
    bounds of 99.99% each (points), beside the epsilon/2 that the proof allows for each release and the epsilon of the
    theorem; with the total budget, ours, epsilon is for the whole experiment.
    """
    rows = results.inference("audit")
    releases = _rows.releases(rows)
    rows = rows.assign(
        panel=releases.map(lambda name: RELEASES.get(name, name.replace("_", " "))),
        curve=[f"$\\varepsilon = {epsilon:g}$" for epsilon in rows["epsilon"]],
        exact_loss=rows["exact"] / rows["epsilon"],
        bound=(rows["lower_bound"] / rows["epsilon"]).replace(-math.inf, math.nan),
    )
    order = list(dict.fromkeys(rows["panel"]))
    rows = rows.sort_values(["epsilon", "M"], kind="stable")
    rows = rows.assign(place=dodged(rows["M"], rows["curve"], 0.12))
    looks = style.looks(rows["curve"])
    grid = curves(rows, "place", "bound", looks=looks, draw=points, col="panel", col_order=order, wrap=3)
    for ax, name, some in parts(grid):
        ax.plot(some["M"], some["exact_loss"], color=looks[name]["color"], linewidth=0.8)
    for (panel, release), some in rows.groupby(["panel", releases]):
        if not release.startswith("experiment"):
            style.published(grid.axes_dict[panel], (some["claimed"] / some["epsilon"]).iloc[0])
        style.published(grid.axes_dict[panel], results.published("privacy_loss"))
        style.ticks(grid.axes_dict[panel], sorted(rows["M"].unique()))
    grid.set(ylim=(0, max(5.4, 1.08 * rows["exact_loss"].max())))
    grid.set_axis_labels("features $M$", "privacy loss / $\\varepsilon$")
    title = "line: exact; points: lower bounds that hold together with 95%;"
    style.legend(grid.figure, columns=8, title=f"{title} dashed: the theorem's loss, the proof's half")
    return grid.figure, _rows.audit(results.inference("audit"))


@figure("Is regret times error over M constant?", inference=["pareto"], card=MEASURED, tab="Their product")
def product(results: Results):
    """Regret times error over M against alpha, stationary arrivals, by n and M; Theorem 2.3 says that a constant bounds
    it. Where alpha is small the trial makes the regret, where it is near 1 the first half does. DP-ConSE's error is by
    formula, for rare short trials rule the simulated one. EXP3E and other budgets than epsilon = 1 as printed are in
    the table `pareto`.
    """
    cells = _stationary(results)
    if "budget" in cells:
        cells = cells[cells["budget"].isna()]
    cells = _without(cells, ("conse_exp3e", math.nan), *(("dp_conse", epsilon) for epsilon in (0.1, 0.5, 2.0)))
    shown = cells.sort_values("horizon", kind="stable")
    shown = shown.assign(
        name=[f"{name}, $M = {M}$" for name, M in zip(shown["curve"], shown["M"], strict=True)],
        panel=[f"n = {n:,}" for n in shown["horizon"]],
    )
    looks = style.crossed(shown, "name", "M", "curve", firsts=sorted(cells["M"].unique()), seconds=cells["curve"])
    grid = curves(shown, "alpha", "judged_product", hue="name", looks=looks, col="panel", wrap=3, log="y")
    grid.set_axis_labels("$\\alpha$", "regret × error / $M$")
    style.legend(grid.figure)
    columns = ["policy", "horizon", "M", "alpha", "epsilon", "replicates", "regret", "regret_se", "mse", "mse_se"]
    columns += ["product", "judged_product", "eliminated_fraction", "missing_fraction"]
    return grid.figure, cells.assign(policy=_rows.algorithms(cells, _rows.PARETO))[columns]
