"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privarms.inference.bias import bias_bound
from privarms.inference.proportions import clopper_pearson
from privarms.papers.neel2018._settings import ABLATIONS, CORRECTION, FIGURE_5, LEVEL, THEOREM_1, bonus
from privarms.planning.labels import labels
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves, name_lines, panels, parts, points
from privarms.registry.artifacts import figure

# The panel below the others.
STRIP = "averages over arms"


def _bias_figure(results: Results, experiment: str, private: bool, published: dict[str, float]):
    """Draw the bias per arm over the published number of replicates, and below it averages with the published ones.

    private: whether private UCB and added policies are drawn, one panel per variant; otherwise UCB
    published: "average" or "worst" -> absolute value, over the arms
    """
    rows, averages = (results.inference(f"{table}_experiment_{experiment}") for table in ("bias", "average_bias"))
    rows, averages = (_drawn(some.assign(curve=labels(some, ())), private) for some in (rows, averages))
    rows = with_interval(rows.assign(quantity="bias of an arm"), "bias", "se", normal=True)
    printed = [
        averages.assign(
            bias=averages[name].abs(), se=averages[f"{name}_se"], quantity=f"{name} |bias|", published=value
        )
        for name, value in published.items()
    ]
    shown = with_interval(pd.concat(printed, ignore_index=True), "bias", "se", normal=True)
    shown = shown.assign(low=shown["low"].clip(lower=0), place=range(len(shown)))
    looks, names = style.looks(rows["curve"]), list(dict.fromkeys(rows["curve"]))
    figure, axes = _panels_and_strip(names, len(shown))
    for name, part in rows.groupby("curve", sort=False):
        points(axes[name], part, "mean", "bias", **looks[name])
        axes[name].axhline(0, color=style.QUIET, linewidth=0.6)
        axes[name].set(title=name, xlabel="mean of the arm")
    axes[names[0]].set_ylabel("bias of the sample mean")
    for name, part in shown.groupby("curve", sort=False):
        points(axes[STRIP], part, "bias", "place", along="x", **looks[name])
    look = {"marker": "x", "color": "black", "markeredgewidth": 1.2, "markeredgecolor": "black", "linestyle": "none"}
    axes[STRIP].plot(shown["published"], shown["place"], label="published", **look)
    where = {"textcoords": "offset points", "ha": "center", "fontsize": style.SMALL}
    for one in shown.itertuples():
        axes[STRIP].annotate(f"{one.published:g}", (one.published, one.place), xytext=(0, 4), va="bottom", **where)
        axes[STRIP].annotate(f"{one.bias:.2g}", (one.bias, one.place), xytext=(0, -4), va="top", **where)
    name_lines(axes[STRIP], shown["quantity"] if len(names) == 1 else shown["curve"].str.replace(" (", "\n("))
    what = "|bias|" if len(names) == 1 else " and ".join(f"{name} |bias| over the arms" for name in published)
    largest = np.nanmax(shown[["high", "published"]].to_numpy(float))
    axes[STRIP].set(xlim=(0, 1.12 * largest), xlabel=f"{what} (cross: published)")
    rows = pd.concat([rows, shown], ignore_index=True)
    columns = ["experiment", "policy", "variant", "ladder", "arm", "mean", "bias", "se", "low", "high", "replicates"]
    return figure, rows[[*columns, "curve", "quantity", "published"]]


def _panels_and_strip(names: list[str], lines: int) -> tuple[Figure, dict[Any, Axes]]:
    """Return one panel per name, with one y axis, above a strip of a few lines over the whole width."""
    heights = [2.1, 0.3 + 0.3 * lines]
    figure = Figure((style.COLUMN if len(names) == 1 else style.PAGE, sum(heights) + 0.5), layout="constrained")
    mosaic: list = [names, [STRIP] * len(names)]
    axes = figure.subplot_mosaic(mosaic, height_ratios=heights)
    for name in names[1:]:
        axes[name].sharey(axes[names[0]])
        axes[name].tick_params(labelleft=False)
    return figure, axes


def _drawn(rows: pd.DataFrame, private: bool) -> pd.DataFrame:
    """Return the rows of private UCB and of added policies, or of UCB, over the published number of replicates."""
    drawn = ~rows["policy"].isin(("ucb", "ucb1", *ABLATIONS)) if private else rows["policy"] == "ucb"
    # Assumptions about the bonus and the ladder are for the statements.
    stated = (rows["ladder"] == "1.00-0.05") & (rows["gamma"] != "without factor K")
    return rows[drawn & (rows["size"] == "published") & stated]


@figure(
    "Figure 1: bias per arm, private UCB, Experiment 1", inference=["bias_experiment_1", "average_bias_experiment_1"]
)
def fig1(results: Results):
    """Bias of the sample mean at T = 500 against the arm's mean, with 95% normal intervals over at most 10,000 runs, as
    published; K = 20, epsilon = 0.05; one panel per variant. Below: the average of |bias| over the arms, ours (number
    below the point) and the published one (number above the cross). Both variants, with the bonus of the authors'
    program, pull every arm 25 times in every run: the pulls do not depend on the rewards. Hollow: all runs agree."""
    return _bias_figure(results, "1", True, {"average": results.published("experiment_1_private_bias")})


@figure(
    "Figure 2: bias per arm, UCB, Experiment 1",
    inference=["bias_experiment_1", "average_bias_experiment_1"],
    policies=["ucb"],
)
def fig2(results: Results):
    """As Figure 1, for UCB without privacy. Below: the average of |bias| over the arms and the |bias| of the most
    biased arm. Points, with the number below: ours; crosses, with the number above: published."""
    keys = {"average": "ucb", "worst": "worst"}
    published = {name: results.published(f"experiment_1_{key}_bias") for name, key in keys.items()}
    return _bias_figure(results, "1", False, published)


@figure(
    "Figure 3: bias per arm, private UCB, Experiment 2", inference=["bias_experiment_2", "average_bias_experiment_2"]
)
def fig3(results: Results):
    """Bias of the sample mean at the horizon (published: 100,000) against the arm's mean, with 95% normal intervals
    over at most 1,000 runs, as published; K = 5, means 1, 0.95, ..., 0.8, epsilon = 400; one panel per variant. Below:
    the average of |bias| over the arms, ours (number below the point) and published (number above the cross)."""
    return _bias_figure(results, "2", True, {"average": results.published("experiment_2_private_bias")})


@figure(
    "Figure 4: bias per arm, UCB, Experiment 2",
    inference=["bias_experiment_2", "average_bias_experiment_2"],
    policies=["ucb"],
)
def fig4(results: Results):
    """As Figure 3, for UCB without privacy."""
    return _bias_figure(results, "2", False, {"average": results.published("experiment_2_ucb_bias")})


@figure("Figure 5: average regret, Experiment 2", studies=["regret_2"], card=FIGURE_5, tab="Figure 5")
def fig5(results: Results):
    """Mean cumulative pseudo-regret divided by t, against the round t, with 95% intervals. Grey: our two ablations. The
    published figure has no printed numbers."""
    cells = results.cells("regret_2")
    cells = cells[[bonus(cell) != "without factor K" for cell in cells.to_dict("records")]]
    cells = cells.assign(curve=labels(cells, ()))
    average, error = cells["regret_mean"] / cells["t"], cells["regret_se"] / cells["t"]
    rows = with_interval(cells.assign(average_regret=average, se=error), "average_regret", "se")
    looks = style.looks(rows["curve"], context=rows.loc[rows["policy"].isin(ABLATIONS), "curve"])
    grid = curves(rows, "t", "average_regret", looks=looks, log="x", height=2.3)
    grid.set(ylim=(0, None)).set_axis_labels("round $t$", "average regret (regret$/t$)")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "variant", "t", "replicates", "average_regret", "se", "low", "high", "curve"]
    return grid.figure, rows[columns]


@figure("Bias over epsilon (Theorem 1)", inference=["average_bias_epsilon_sweep"], card=THEOREM_1, tab="Over epsilon")
def bias_vs_epsilon(results: Results):
    """Average |bias| over arms against epsilon, with 95% intervals, for UCB with the counter's noise and gamma = 0,
    which gives adaptive data. Black: Theorem 1's bound averaged over arms (the variant as released is not private).
    Dotted: the average that simulation noise gives without bias. The table of average bias has Experiment 2 with each
    part of private UCB: the bonus reduces the bias, the noise does not."""
    rows = results.inference("average_bias_epsilon_sweep")
    rows = rows[rows["size"] == "all"]
    rows = with_interval(rows.assign(curve=labels(rows)), "average", "average_se", normal=True)
    # A logarithmic axis cannot show 0.
    rows = rows.assign(low=rows["low"].clip(lower=1e-5)).sort_values("epsilon", kind="stable")
    looks = style.looks(rows["curve"])
    grid = curves(rows, "epsilon", "average", looks=looks, log="xy")
    for ax, name, some in parts(grid):
        floor = {"color": looks[name]["color"], "linewidth": 0.8, "linestyle": style.LINESTYLES[2]}
        ax.plot(some["epsilon"], some["average_if_unbiased"], **floor)
    epsilons = np.geomspace(0.02, 6, 60)
    bound = bias_bound(epsilons, rows["mean_of_arms"].iloc[0])
    grid.ax.plot(epsilons, bound, label="Theorem 1: $(e^\\varepsilon-1)\\mu$", **style.LEVEL)
    grid.set(ylim=(2e-4, 5)).set_axis_labels("privacy budget $\\varepsilon$", "average |bias| over arms")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "variant", "epsilon", "replicates", "average", "average_se", "low", "high"]
    return grid.figure, rows[[*columns, "average_if_unbiased", "curve"]]


@figure(
    "False discovery before and after the correction",
    inference=["false_discovery"],
    card=CORRECTION,
    tab="False discovery",
)
def corrected_pvalues(results: Results):
    """Share of tests that reject a true null at .05 against epsilon, for an arm chosen by its pulls, T = 500, with 95%
    intervals. Filled: naive test; hollow: test at gamma(.05) for private data. Panels: arms, and which arm is tested.
    Tests of an arm with mean 1, which cannot reject, are left out; so are selectors for which most tests are of this
    kind."""
    rows = results.inference("false_discovery")
    rows = rows[~(rows["degenerate"] > 0.5)]
    rows = rows.assign(curve=labels(rows, ("epsilon", "K")))
    drawn = [
        with_interval(part.assign(y=part[test], test=test), test, f"{test}_se", normal=True)
        for test, part in (("naive", rows), ("corrected", rows[rows["epsilon"].notna()]))
    ]
    shown = pd.concat(drawn, ignore_index=True)
    arms = zip(shown["K"], shown["top"], shown["bottom"], shown["selector"].str.replace("_", " "), strict=True)
    panel = [f"$K = {K}$, means {top:g} to {bottom:g},\n{selector} arm" for K, top, bottom, selector in arms]
    shown = shown.assign(name=shown["curve"] + ", " + shown["test"] + " test", panel=panel)
    looks = style.crossed(shown, "name", "curve", "test")
    for name in shown.loc[shown["test"] == "corrected", "name"].unique():
        looks[name] |= {"markerfacecolor": "white", "markeredgecolor": looks[name]["color"]}
    grid = curves(shown, "epsilon", "y", hue="name", looks=looks, col="panel", log="x")
    for ax in grid.axes.flat:
        ax.axhline(LEVEL, label="level .05", **(style.LEVEL | {"linestyle": style.LINESTYLES[2]}))
    grid.set(ylim=(-0.004, None))
    grid.set_axis_labels("privacy budget $\\varepsilon$", "false discovery at .05\n(share of tests)")
    style.legend(grid.figure, columns=2)
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "level", "naive", "naive_se"]
    return grid.figure, rows[[*columns, "corrected", "corrected_se", "curve"]]


PRINTED = {"standard_error": "correct", "coordinate": "zero", "estimator": "ols"}
PROGRAM = "Score of the authors' program"


@figure("Figure 6: p-values of the z-test in linear bandits", inference=["histograms", "rejections"])
def fig6(results: Results):
    """Histogram of p-values with 95% intervals, over at most 1,000 runs, as published; K = d = 5, T = 500, most-pulled
    arm. Orange: p-values below .05; dotted: the uniform distribution. Left, the test of the text: OFUL, the coordinate
    that is 0, estimate over its standard error. Right, the score of the authors' program: its own data and estimate,
    the largest coordinate, divided by the variance. Dashed: the published share below .05. The number in each panel is
    the share of all runs, which the statements use. The right score also rejects two thirds of the tests if arms are
    chosen at random (table of linear bandits), so it is no evidence of adaptivity."""
    rows = results.inference("histograms")
    every = results.inference("rejections").rename(columns={"replicates": "all_runs"})
    rows = rows.merge(every[["cell", *PRINTED, "rejection_rate", "all_runs"]], on=["cell", *PRINTED], how="left")
    program = rows["policy"] == "linear_ucb_as_released"
    printed = rows[~program & ~rows["policy"].isin(("uniform", "private_linear_ucb"))]
    printed = printed[(printed[[*PRINTED]] == pd.Series(PRINTED)).all(axis=1)]
    printed = printed.assign(panel="Test of the text: " + labels(printed, ()))
    released = rows[program & rows["figure_6"] & (rows["contexts"] == "shared")].assign(panel=PROGRAM)
    rows = pd.concat([printed, released], ignore_index=True)
    grid = panels(rows, col="panel", hue="panel", wrap=2)
    dotted: dict[str, Any] = style.LEVEL | {"linestyle": style.LINESTYLES[2]}
    for ax, name, part in parts(grid):
        runs = part["replicates"].iloc[0]
        share, width = part["count"] / runs, part["high"] - part["low"]
        low, high = clopper_pearson(part["count"].to_numpy(), runs)
        error = {"elinewidth": 0.6, "capsize": 0, "ecolor": style.QUIET}
        colours = np.where(part["high"] <= LEVEL + 1e-9, style.COLOURS[4], style.COLOURS[0])
        heights = [share - low, high - share]
        ax.bar(part["low"], share, width, align="edge", color=colours, yerr=heights, error_kw=error)
        ax.axhline(width.iloc[0], **dotted)
        one = part.iloc[0]
        below = f"{one['rejection_rate']:.1%} of {one['all_runs']:,.0f} runs below .05"
        ax.annotate(below, (0.97, 0.72), xycoords="axes fraction", ha="right", va="top")
        if name == PROGRAM:
            value = results.published("figure_6_below_level")
            style.published(ax, value, f"published: {value:.0%} below .05")
    grid.set(xlim=(0, 1), ylim=(0, 0.9)).set_axis_labels("p-value", "share of the runs")
    columns = ["panel", "policy", *PRINTED, "low", "high", "count", "replicates", "rejection_rate", "all_runs"]
    return grid.figure, rows[columns]
