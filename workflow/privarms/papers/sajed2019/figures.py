"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import numpy as np
import pandas as pd

from privarms.papers.sajed2019._settings import FIGURE_1, STOPPING, at_horizon
from privarms.plots import style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import curves, in_every, parts, points
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

# The curves of Figure 1, in the order of their colours.
CURVES = ("DP-SE", "DP-UCB (log^2.5)", "DP-UCB (log^3)", "DP-UCB (chan)", "DP-UCB (exact)")
CURVES += ("DP-UCB (Mishra & Thakurta)", "DP-UCB (exact, printed counter)", "DP-UCB (ln^2.5)", "DP-UCB (ln^3)")
EPSILON = "privacy budget $\\varepsilon$"
# The names of the instances in Azize & Basu 2022.
INSTANCES = {"linear": "mu2", "one_best": "mu1", "convex": "mu3", "concave": "mu4"}


def _panel(name: str, values: pd.Series) -> list[str]:
    """Return the title of the panel of each row."""
    return [f"${name} = {value:g}$" for value in values]


def _regret_panels(results: Results, name: str, *, further: bool):
    """Draw regret against the round, one panel per epsilon; policies without privacy are in every panel.

    further: whether epsilons that Figure 1 does not have get a panel too
    """
    cells, printed = results.cells("figure1"), results.published_table("figure1")
    elsewhere = set(printed.loc[printed["figure"] != name, "epsilon"] if further else [])
    chosen = set(cells["epsilon"].dropna() if further else printed.loc[printed["figure"] == name, "epsilon"])
    cells = cells.assign(curve=labels(cells))
    rows = with_interval(cells, "regret_mean", "regret_se", least=50)
    few = rows[["cell", "t"]].merge(results.inference("thirty_runs"), on=["cell", "t"], how="left").set_axis(rows.index)
    rows = rows.assign(**{end: few[end].fillna(rows[end]) for end in ("low", "high")}, banded=few["low"].notna())
    rows = in_every(rows, "epsilon", sorted(chosen - elsewhere))
    rows = rows.assign(panel=_panel("\\varepsilon", rows["panel_epsilon"]))
    looks = style.looks(cells["curve"], CURVES, cells.loc[cells["epsilon"].isna(), "curve"])
    grid = curves(rows, "t", "regret_mean", looks=looks, col="panel", wrap=2, height=2.3, log="y")
    for ax, name, some in parts(grid):
        if some["banded"].all():
            ax.plot(some["t"], some["regret_p50"], color=looks[name]["color"], linewidth=0.8, linestyle=(0, (1, 1)))
    grid.set_axis_labels("round $t$", "mean cumulative pseudo-regret")
    grid.set(xlim=(0, cells["horizon"].max()), ylim=(100, None))
    style.legend(grid.figure)
    columns = ["policy", "width", "counter", "horizon", "t", "replicates", "regret_mean", "regret_se", "regret_p50"]
    return grid.figure, rows.reindex(columns=[*columns, "panel_epsilon", "curve", "low", "high"])


@figure(
    "Figure 1a: regret at epsilon = 0.1 and 0.25",
    studies=["figure1"],
    inference=["thirty_runs"],
    card=FIGURE_1,
    tab="epsilon = 0.1 and 0.25",
)
def fig1a(results: Results):
    """Mean cumulative pseudo-regret of DP-SE and DP-UCB against the round, one panel per epsilon, with 95%
    intervals. Grey: policies without privacy. DP-UCB's width is of order log^2.5 or log^3, that of Mishra and
    Thakurta or of Chan, Shi and Song (chan), or the exact quantile of its noise (exact). One curve has the counter
    that section 1 prints. With more than 30 runs, dots are the median and the band contains 95% of the means of 30
    runs. The published figure has no printed numbers and one width of DP-UCB."""
    return _regret_panels(results, "fig1a", further=False)


@figure(
    "Figure 1b: regret at epsilon = 0.5 and 1",
    studies=["figure1"],
    inference=["thirty_runs"],
    card=FIGURE_1,
    tab="epsilon = 0.5 and 1",
)
def fig1b(results: Results):
    """As Figure 1a, for epsilon = 0.5 and 1. Any other added epsilon has a panel here."""
    return _regret_panels(results, "fig1b", further=True)


@figure("How much more regret DP-UCB has, by its private width", inference=["ratios"])
def dp_ucb_width(results: Results):
    """Mean regret of DP-UCB over that of DP-SE at the horizon, against epsilon, with 95% intervals. Rows: the instances
    mu1 to mu4 of Azize and Basu (2022), where mu2 is that of Figure 1; columns: K. Their instances have K = 5. At other
    K we continue mu1, mu3 and mu4, the last two as parabolas. The paper claims that every ratio is at least 5 (dashed).
    One line per width of DP-UCB: of order log^2.5 or log^3 (ln^2.5 or ln^3 with base e throughout), that of Mishra and
    Thakurta or of Chan, Shi and Song (chan), or the exact quantile of the noise. Added policies have their own
    names."""
    ratios = results.inference("ratios")
    ratios = ratios.assign(curve=labels(ratios, ("epsilon", "K", "horizon", "top", "bottom", "spacing")))
    spacing = ratios["spacing"].fillna("linear")
    rows = ratios.assign(instance=spacing.map(INSTANCES).fillna(spacing)).sort_values("instance", kind="stable")
    rows = with_interval(rows, "ratio", "ratio_se")
    looks = style.looks(rows["curve"], CURVES)
    grid = curves(rows, "epsilon", "ratio", looks=looks, row="instance", col="K", log="xy", height=1.9)
    grid.set_titles("{row_name}, K = {col_name}").set_axis_labels(EPSILON, "regret / DP-SE's")
    for ax in grid.axes.flat:
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        style.published(ax, results.published("at_least_times"))
        style.log_ticks(ax.xaxis)
    style.legend(grid.figure)
    columns = ["instance", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    columns += ["regret_mean_dp_se", "regret_se_dp_se", "ratio", "ratio_se", "low", "high", "policy", "curve"]
    return grid.figure, rows.reindex(columns=columns)


@figure("How regret grows with the horizon", studies=["growth"], inference=["growth"])
def growth(results: Results):
    """Mean regret at the horizon T divided by ln T, against T, with 95% intervals. A curve is level if regret is of
    order log T. The legend has the p for which regret grows like ln(T)^p from the first horizon to the last."""
    cells, powers = at_horizon(results.cells("growth")), results.inference("growth")
    # The widest pair of horizons is the last one of each curve.
    powers = powers.iloc[(powers["last"] / powers["first"]).argsort(kind="stable")]
    powers = dict(zip(labels(powers, ()), powers["exponent"], strict=True))
    logarithm = np.log(cells["horizon"])
    cells = cells.assign(ratio=cells["regret_mean"] / logarithm, ratio_se=cells["regret_se"] / logarithm)
    cells = cells.assign(curve=labels(cells, ("horizon",)))
    rows = with_interval(cells.assign(exponent=cells["curve"].map(powers)), "ratio", "ratio_se")
    rows = rows.assign(name=rows["curve"] + [f", $p = {p:.2f}$" for p in rows["exponent"]])
    looks = style.looks(rows["name"])
    grid = curves(rows, "horizon", "ratio", looks=looks, hue="name", log="xy", height=2.3)
    grid.set_axis_labels("horizon $T$", "mean pseudo-regret / $\\ln T$")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "ratio", "low"]
    return grid.figure, rows.reindex(columns=[*columns, "high", "exponent", "curve"])


@figure("DP-SE against Theorem 4.3", inference=["scaling"])
def scaling(results: Results):
    """Mean regret of DP-SE and of Algorithm 3 without noise against the theorem's expression, at all epsilon, K and T
    of the grid. 95% intervals are narrower than the points. Line: the bound with the smallest constant that holds for
    DP-SE."""
    cells = results.inference("scaling")
    cells = cells.assign(curve=labels(cells, ("epsilon", "K", "horizon")))
    constant = cells.loc[cells["policy"] == "dp_se", "order_ratio"].max()
    cells = cells.assign(bound_constant=constant).sort_values("order", kind="stable")
    grid = curves(cells, "order", "regret_mean", looks=style.looks(cells["curve"]), draw=points, log="xy")
    bound = f"{constant:.0f} × bound of Theorem 4.3"
    grid.ax.plot(cells["order"], constant * cells["order"], label=bound, **style.GUIDE)
    grid.set_axis_labels("expression of Theorem 4.3", "mean pseudo-regret at $T$")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "order", "curve"]
    return grid.figure, cells[[*columns, "bound_constant"]].rename(columns={"order": "bound"})


@figure("Pulls of the suboptimal arms (Lemma 4.2)", inference=["pulls"])
def pulls(results: Results):
    """DP-SE's pulls of an arm against the arm's gap, one panel per epsilon, for beta = 1/T and another beta.
    Line: mean; tick: largest of all runs; dotted: explicit bound by which the arm must be eliminated; dashed:
    expression of Lemma 4.2 with the smallest constant that is above every mean."""
    rows = results.inference("pulls")
    # The legend only names a beta other than 1/T.
    own = rows.assign(beta=rows["beta"].where(rows["beta"] != 1 / rows["horizon"]))
    constant = (rows["mean"] / rows["order"]).max()
    rows = rows.assign(curve=labels(own), panel=_panel("\\varepsilon", rows["epsilon"]), lemma_constant=constant)
    looks = style.looks(rows["curve"])
    rows = rows.sort_values("epsilon", kind="stable")
    grid = curves(rows, "gap", "mean", looks=looks, col="panel", wrap=3, log="xy")
    for ax, name, some in parts(grid):
        some, colour = some.sort_values("gap"), looks[name]["color"]
        ax.plot(some["gap"], some["largest"], marker="_", linestyle="none", color=colour, mec="auto")
        ax.plot(some["gap"], some["ceiling"], color=colour, linewidth=0.9, linestyle=(0, (1, 1)))
        ax.plot(some["gap"], constant * some["order"], color=colour, linewidth=0.9, linestyle=(0, (4, 2)))
        style.ticks(ax, [0.03, 0.1, 0.3])
    grid.set_axis_labels("gap $\\Delta_a$", "pulls of the arm by $T$")
    style.legend(grid.figure, columns=3, title=f"dotted: explicit ceiling; dashed: {constant:.0f} × Lemma 4.2")
    columns = ["beta", "K", "epsilon", "arm", "gap", "replicates", "mean", "largest", "order", "ceiling", "above"]
    return grid.figure, rows[[*columns, "any_above", "lemma_constant", "curve"]]


@figure("The worst gap (Theorem 4.4)", inference=["minimax"])
def minimax(results: Results):
    """Mean regret of DP-SE divided by Theorem 4.4's expression, against the gap, with 95% intervals. One arm is best
    and the other K - 1 are equal. Other policies are not drawn."""
    cells = with_interval(results.inference("minimax"), "ratio", "ratio_se")
    rows = cells.assign(curve=labels(cells, ("epsilon", "bottom")), panel=_panel("\\varepsilon", cells["epsilon"]))
    grid = curves(rows, "gap", "ratio", looks=style.looks(rows["curve"]), col="panel", log="x")
    grid.set_axis_labels("gap $\\Delta$", "mean regret / expression")
    style.legend(grid.figure, columns=3)
    columns = ["K", "epsilon", "horizon", "gap", "replicates", "regret_mean", "regret_se", "order", "ratio", "ratio_se"]
    return grid.figure, rows[[*columns, "curve"]]


@figure("The private stopping rules", inference=["stopping"], card=STOPPING, tab="Stopping times")
def stopping_rules(results: Results):
    """Mean stopping time of DP-NAS (Algorithm 1) and DP exponential NAS (Algorithm 2) against |mu|, one panel per
    alpha, with 95% intervals. Dotted: the lower bound in Theorem 3.4's proof, far below, and t_U of Theorem 3.3, far
    above."""
    rows = with_interval(results.inference("stopping"), "stopping_time_mean", "stopping_time_se")
    rows = rows.assign(curve=labels(rows, ("alpha", "mu")), size=rows["mu"].abs())
    rows = rows.assign(panel=_panel("\\alpha", rows["alpha"])).sort_values(["alpha", "epsilon", "size"], kind="stable")
    looks = style.looks(rows["curve"])
    grid = curves(rows, "size", "stopping_time_mean", looks=looks, col="panel", height=2.3, log="xy")
    for ax, name, some in parts(grid):
        for bound in ("t_upper", "t_lower"):
            ax.plot(some["size"], some[bound], color=looks[name]["color"], linewidth=0.7, linestyle=(0, (1, 1.2)))
        style.log_ticks(ax.xaxis)
    grid.set_axis_labels("$|\\mu|$ ($R = 1$)", "stopping time (samples)")
    style.legend(grid.figure, columns=3)
    columns = ["policy", "alpha", "mu", "epsilon", "replicates", "stopping_time_mean", "stopping_time_se"]
    return grid.figure, rows[[*columns, "low", "high", "t_upper", "t_lower", "curve"]]
