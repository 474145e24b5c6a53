"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import numpy as np
import pandas as pd

from privarms.papers.sajed2019._settings import FIGURE_1, STOPPING, at_horizon
from privarms.planning.labels import labels
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import horizon_in_words, with_interval
from privarms.plots.facets import band, curves, in_every, panels, parts, points
from privarms.registry.artifacts import figure

# Curves of DP-UCB -> name of the private width, from the narrowest width to the widest.
WIDTHS = {
    "DP-UCB (exact)": "exact noise quantile",
    "DP-UCB (exact, printed counter)": "exact, printed counter",
    "DP-UCB (ln^2.5)": "order $\\ln^{2.5}T$, base e",
    "DP-UCB (chan)": "bound of Chan et al.",
    "DP-UCB (log^2.5)": "order $\\log^{2.5}T$",
    "DP-UCB (ln^3)": "order $\\ln^3T$, base e",
    "DP-UCB (log^3)": "order $\\log^3T$",
    "DP-UCB (Mishra & Thakurta)": "Mishra & Thakurta",
}
DP_SE, EPOCH_SE = "DP-SE", "Epoch SE (not private)"
EPSILON = "privacy budget $\\varepsilon$"
# The names of the instances in Azize & Basu 2022.
INSTANCES = {"linear": "mu2", "one_best": "mu1", "convex": "mu3", "concave": "mu4"}
DOTTED = {"linewidth": 0.8, "linestyle": (0, (1, 1.2))}


def _panel(name: str, values: pd.Series) -> list[str]:
    """Return the title of the panel of each row."""
    return [f"${name} = {value:g}$" for value in values]


def _named(names: pd.Series) -> pd.Series:
    """Return the curves with the explained names of DP-UCB's widths."""
    return names.map({name: f"DP-UCB, {width}" for name, width in WIDTHS.items()}).fillna(names)


def _looks(names: pd.Series, context: pd.Series | tuple = ()) -> style.Looks:
    """Return the looks: DP-SE thick, DP-UCB from light (narrow) to dark (wide), the context grey, others as usual."""
    widths = [name for name in _named(pd.Series(list(WIDTHS))) if name in set(names)]
    looks = style.looks((name for name in names if name not in widths), (DP_SE,), context)
    if DP_SE in looks:
        looks[DP_SE] |= {"linewidth": 2.4, "zorder": 3}
    return looks | style.in_sequence(widths, "flare")


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
    rows = rows.assign(**{end: few[end].fillna(rows[end]) for end in ("low", "high")})
    rows = in_every(rows, "epsilon", sorted(chosen - elsewhere))
    rows = rows.assign(panel=_panel("\\varepsilon", rows["panel_epsilon"]), name=_named(rows["curve"]))
    looks = _looks(rows["name"], rows.loc[rows["epsilon"].isna(), "name"])
    looks = {curve: look | {"marker": None} for curve, look in looks.items()}
    grid = curves(rows, "t", "regret_mean", looks=looks, hue="name", col="panel", wrap=2, height=2.7, log="y")
    grid.set_axis_labels("round $t$", "mean cumulative pseudo-regret")
    # A panel begins at a regret of 100, or lower if no regret is much larger.
    grid.set(xlim=(0, cells["horizon"].max()), ylim=(min(100, rows["regret_mean"].max() / 10), None))
    times = results.published("at_least_times")
    claim = f"claim of section 5: DP-UCB has at least {times:g} times the regret of DP-SE"
    for ax, curve, some in parts(grid):
        if curve == DP_SE:
            ax.fill_between(some["t"], times * some["regret_mean"], ax.get_ylim()[1], label=claim, **style.ZONE)
    style.name_ends(grid.axes.flat[-1])
    style.legend(grid.figure, named=looks)
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
    """Mean cumulative pseudo-regret against the round, one panel per epsilon; K = 5. Thick: DP-SE. Light to dark:
    DP-UCB, from its narrowest private width to its widest. Grey: policies without privacy. Shaded: where DP-UCB's
    regret must lie by the claim of section 5. The paper does not give the width of DP-UCB, so we run several. "Exact"
    is the quantile of the noise at 1/T. The printed counter is that of section 1. With more than 30 runs, bands
    contain 95% of the means of 30 runs, the paper's number, drawn from ours. With 5 to 30 runs they are 95% intervals;
    with fewer there is no band. The published figure has no printed numbers and one width of DP-UCB."""
    return _regret_panels(results, "fig1a", further=False)


@figure(
    "Figure 1b: regret at epsilon = 0.5 and 1",
    studies=["figure1"],
    inference=["thirty_runs"],
    card=FIGURE_1,
    tab="epsilon = 0.5 and 1",
)
def fig1b(results: Results):
    """As Figure 1a, for epsilon = 0.5 and 1."""
    return _regret_panels(results, "fig1b", further=True)


OF_FIGURE_1, OTHER_K = "means of Figure 1, K = 5", "means of Figure 1, other K"
OTHER_MEANS, OTHER_BOTH = "other means, K = 5", "other means, other K"
SETTINGS: style.Looks = {
    OTHER_BOTH: {"color": "#C8C8C8", "linewidth": 0.8},
    OTHER_MEANS: {"color": style.COLOURS[5], "linewidth": 1.0},
    OTHER_K: {"color": style.COLOURS[0], "linewidth": 1.0},
    OF_FIGURE_1: {"color": "black", "linewidth": 2.2},
}


def _settings(rows: pd.DataFrame) -> np.ndarray:
    """Return the group of each row's setting: with or without the means and the K of Figure 1."""
    means, K = rows["instance"] == INSTANCES["linear"], rows["K"] == 5
    return np.select([means & K, means, K], [OF_FIGURE_1, OTHER_K, OTHER_MEANS], OTHER_BOTH)


@figure("How much more regret DP-UCB has, by its private width", inference=["ratios"])
def dp_ucb_width(results: Results):
    """Mean regret of DP-UCB divided by that of DP-SE at the horizon, against epsilon; one panel per private width of
    DP-UCB, from the narrowest to the widest. One line per setting: K of 3, 5, 10 or 20, and the means mu1 to mu4 of
    Azize and Basu (2022). The means mu2 are those of Figure 1. Their instances have K = 5. At other K we continue mu1,
    mu3 and mu4. Shaded: the paper's claim, at least 5 times. Below the line at 1, DP-UCB has the smaller regret.
    Bands: 95% intervals, of at least 5 runs. Added policies have panels of their own."""
    ratios = results.inference("ratios")
    ratios = ratios.assign(curve=labels(ratios, ("epsilon", "K", "horizon", "top", "bottom", "spacing")))
    spacing = ratios["spacing"].fillna("linear")
    rows = with_interval(ratios.assign(instance=spacing.map(INSTANCES).fillna(spacing)), "ratio", "ratio_se")
    rows = rows.assign(setting=_settings(rows), panel=rows["curve"].map(WIDTHS).fillna(rows["curve"]))
    names = list(dict.fromkeys(rows["panel"]))
    order = [name for name in WIDTHS.values() if name in names] + [n for n in names if n not in WIDTHS.values()]
    grid = panels(rows, col="panel", col_order=order, hue="setting", looks=SETTINGS, log="xy", height=1.9)
    for ax, setting, some in parts(grid):
        for _, one in some.groupby(["instance", "K"]):
            band(ax, one, "epsilon", "ratio", label=setting, marker=None, **SETTINGS[setting])
    times = results.published("at_least_times")
    for ax in grid.axes.flat:
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        ax.axhspan(times, 1.5 * rows["ratio"].max(), label=f"claim: at least {times:g} times", **style.ZONE)
        style.log_ticks(ax.xaxis)
        style.log_ticks(ax.yaxis)
    grid.set_axis_labels(EPSILON, "regret / DP-SE's")
    style.legend(grid.figure, columns=3)
    columns = ["instance", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    columns += ["regret_mean_dp_se", "regret_se_dp_se", "ratio", "ratio_se", "low", "high", "policy", "curve"]
    return grid.figure, rows.sort_values("instance", kind="stable").reindex(columns=columns)


@figure("How regret grows with the horizon", studies=["growth"], inference=["growth"])
def growth(results: Results):
    """Mean regret at the horizon T divided by ln T, against T, with 95% intervals (of at least 5 runs); K = 5, epsilon
    = 0.25. A curve is level if regret is of order log T. Behind each name: p, if regret grows like ln(T)^p from the
    first horizon to the last."""
    cells, powers = at_horizon(results.cells("growth")), results.inference("growth")
    # The widest pair of horizons is the last one of each curve.
    powers = powers.iloc[(powers["last"] / powers["first"]).argsort(kind="stable")]
    powers = dict(zip(labels(powers, ()), powers["exponent"], strict=True))
    logarithm = np.log(cells["horizon"])
    cells = cells.assign(ratio=cells["regret_mean"] / logarithm, ratio_se=cells["regret_se"] / logarithm)
    cells = cells.assign(curve=labels(cells, ("horizon",)))
    rows = with_interval(cells.assign(exponent=cells["curve"].map(powers)), "ratio", "ratio_se")
    words = dict(zip(_named(rows["curve"]), [f", $p = {p:.2f}$" for p in rows["exponent"]], strict=True))
    looks: style.Looks = {f"{name}{words[name]}": look for name, look in _looks(_named(rows["curve"])).items()}
    rows = rows.assign(name=[name + words[name] for name in _named(rows["curve"])])
    grid = curves(rows, "horizon", "ratio", looks=looks, hue="name", log="xy", width=5.0, height=2.5)
    horizons = sorted(rows["horizon"].unique())
    style.ticks(grid.ax, horizons, [f"{float(f'{T / 1e6:.3g}'):,g}" for T in horizons])
    grid.set_axis_labels("horizon $T$ (million rounds)", "mean pseudo-regret / $\\ln T$")
    style.name_ends(grid.ax)
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
    looks = style.looks(cells["curve"], (DP_SE, EPOCH_SE))
    grid = curves(cells, "order", "regret_mean", looks=looks, draw=points, log="xy")
    bound = f"{constant:.0f} × bound of Theorem 4.3"
    grid.ax.plot(cells["order"], constant * cells["order"], label=bound, **style.GUIDE)
    grid.set_axis_labels("expression of Theorem 4.3", "mean pseudo-regret at $T$")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "order", "curve"]
    return grid.figure, cells[[*columns, "bound_constant"]].rename(columns={"order": "bound"})


@figure("Pulls of the suboptimal arms (Lemma 4.2)", inference=["pulls"])
def pulls(results: Results):
    """DP-SE's pulls of an arm divided by the expression of Lemma 4.2 without its constant, against the arm's gap;
    columns: epsilon; rows: beta = 1/T and another beta. Line: mean of the runs; tick: largest of all runs; dotted:
    explicit bound by which the arm must be eliminated; dashed: the smallest constant for which the lemma holds for
    every mean."""
    rows = results.inference("pulls")
    # Only a beta other than 1/T has a number in the title.
    own = rows.assign(beta=rows["beta"].where(rows["beta"] != 1 / rows["horizon"]))
    constant = (rows["mean"] / rows["order"]).max()
    over = {f"{name}_over": rows[name] / rows["order"] for name in ("mean", "largest", "ceiling")}
    rows = rows.assign(curve=labels(own), lemma_constant=constant, **over)
    beta = [f"$\\beta = {b:g}$" if b == b else "$\\beta = 1/T$" for b in own["beta"]]
    names = [f"$K = {K}$" for K in rows["K"]]
    drawn = rows.assign(beta=beta, name=names, panel=_panel("\\varepsilon", rows["epsilon"]))
    drawn = drawn.sort_values("epsilon", kind="stable")
    looks = style.in_sequence(drawn.sort_values("K")["name"])
    options = {"col": "panel", "row": "beta", "height": 1.9, "log": "xy"}
    grid = curves(drawn, "gap", "mean_over", hue="name", looks=looks, **options)
    for ax, name, some in parts(grid):
        some, colour = some.sort_values("gap"), looks[name]["color"]
        ax.plot(some["gap"], some["largest_over"], marker="_", linestyle="none", color=colour, mec="auto")
        ax.plot(some["gap"], some["ceiling_over"], color=colour, **DOTTED)
    for ax in grid.axes.flat:
        ax.axhline(constant, label=f"{constant:.0f} × expression of Lemma 4.2", **style.GUIDE)
        style.ticks(ax, [0.03, 0.1, 0.3])
    grid.set_titles("{row_name}, {col_name}").set_axis_labels("gap $\\Delta_a$", "pulls / expression")
    style.log_ticks(grid.axes[0, 0].yaxis)
    style.legend(grid.figure, columns=4)
    columns = ["beta", "K", "epsilon", "arm", "gap", "replicates", "mean", "largest", "order", "ceiling", "above"]
    return grid.figure, rows[[*columns, "any_above", "lemma_constant", "curve"]]


@figure("The worst gap (Theorem 4.4)", inference=["minimax"])
def minimax(results: Results):
    """Mean regret of DP-SE divided by Theorem 4.4's expression, against the gap, with 95% intervals; columns: epsilon;
    rows: horizon. One arm is best and the other K - 1 are equal. Other policies are not drawn."""
    cells = with_interval(results.inference("minimax"), "ratio", "ratio_se")
    rows = cells.assign(curve=labels(cells, ("epsilon", "bottom")), panel=_panel("\\varepsilon", cells["epsilon"]))
    rows = rows.assign(name=[f"$K = {K}$" for K in rows["K"]], row=[horizon_in_words(T) for T in rows["horizon"]])
    looks = style.in_sequence(rows.sort_values("K")["name"])
    drawn = rows.sort_values("horizon", kind="stable")
    grid = curves(drawn, "gap", "ratio", hue="name", looks=looks, col="panel", row="row", height=1.7, log="x")
    grid.set_titles("{col_name}, {row_name}").set_axis_labels("gap $\\Delta$", "regret / expression")
    style.legend(grid.figure, columns=3)
    columns = ["K", "epsilon", "horizon", "gap", "replicates", "regret_mean", "regret_se", "order", "ratio", "ratio_se"]
    return grid.figure, rows[[*columns, "curve"]]


@figure("The private stopping rules", inference=["stopping"], card=STOPPING, tab="Stopping times")
def stopping_rules(results: Results):
    """Mean stopping time of DP-NAS (Algorithm 1) and DP exponential NAS (Algorithm 2) against |mu|, with 95%
    intervals; one row per algorithm and one column per alpha. Dotted, far below: the lower bound in the proof of
    Theorem 3.4. Dotted, far above: t_U of Theorem 3.3."""
    rows = with_interval(results.inference("stopping"), "stopping_time_mean", "stopping_time_se")
    rows = rows.assign(curve=labels(rows, ("alpha", "mu")), size=rows["mu"].abs())
    rows = rows.sort_values(["alpha", "epsilon", "size"], kind="stable")
    rule, name = labels(rows, ("alpha", "mu", "epsilon")), _panel("\\varepsilon", rows["epsilon"])
    drawn = rows.assign(rule=rule, name=name, panel=_panel("\\alpha", rows["alpha"]))
    looks = style.in_sequence(name)
    options = {"col": "panel", "row": "rule", "height": 1.8, "log": "xy"}
    grid = curves(drawn, "size", "stopping_time_mean", hue="name", looks=looks, **options)
    for ax, name, some in parts(grid):
        for bound in ("t_upper", "t_lower"):
            ax.plot(some["size"], some[bound], color=looks[name]["color"], **DOTTED)
        style.log_ticks(ax.xaxis)
    grid.set_titles("{row_name}, {col_name}").set_axis_labels("$|\\mu|$ ($R = 1$)", "stopping time (samples)")
    style.legend(grid.figure, columns=3)
    columns = ["policy", "alpha", "mu", "epsilon", "replicates", "stopping_time_mean", "stopping_time_se"]
    return grid.figure, rows[[*columns, "low", "high", "t_upper", "t_lower", "curve"]]
