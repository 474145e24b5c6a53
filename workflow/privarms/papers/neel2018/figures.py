"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import numpy as np
import pandas as pd

from privarms.inference.bias import bias_bound
from privarms.inference.proportions import clopper_pearson
from privarms.papers.neel2018._settings import ABLATIONS, CORRECTION, FIGURE_5, LEVEL, THEOREM_1, bonus
from privarms.plots import style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import curves, dodged, panels, parts, points
from privarms.studies.artifacts import figure
from privarms.studies.results import Results


def _bias_figure(results: Results, experiment: str, private: bool, published: dict[str, float]):
    """Draw the bias per arm over the published number of replicates, with 95% intervals, and the published numbers.

    private: whether private UCB and added policies are drawn; otherwise UCB
    published: text -> value, drawn as a line
    """
    rows = results.inference(f"bias_experiment_{experiment}")
    rows = rows.assign(curve=labels(rows, ()))
    looks = style.looks(rows["curve"])
    drawn = ~rows["policy"].isin(("ucb", "ucb1", *ABLATIONS)) if private else rows["policy"] == "ucb"
    # Assumptions about the bonus and the ladder are for the statements.
    stated = (rows["ladder"] == "1.00-0.05") & (rows["gamma"] != "without factor K")
    rows = rows[drawn & (rows["size"] == "published") & stated]
    rows = with_interval(rows, "bias", "se", normal=True)
    rows = rows.assign(place=dodged(rows["mean"], rows["curve"], 0.01))
    grid = curves(rows, "place", "bias", looks=looks, draw=points)
    grid.set_axis_labels("mean of the arm", "bias of the sample mean")
    grid.ax.axhline(0, color=style.QUIET, linewidth=0.6)
    for text, value in published.items():
        style.published(grid.ax, value, text, below=value < 0)
    style.legend(grid.figure, columns=2)
    columns = ["experiment", "policy", "variant", "ladder", "arm", "mean", "bias", "se", "low", "high", "replicates"]
    return grid.figure, rows[[*columns, "curve"]]


def _either_sign(results: Results, number: str) -> dict[str, float]:
    """Return the lines of an average of absolute values."""
    average = results.published(number)
    return {f"published average |bias|: {average:g}": average, "": -average}


@figure("Figure 1: bias per arm, private UCB, Experiment 1", inference=["bias_experiment_1"])
def fig1(results: Results):
    """Bias of the sample mean at T = 500 against the arm's mean, with 95% normal intervals over at most 10,000 runs, as
    published; K = 20, epsilon = 0.05. Dashed: the published average. Both variants, with the bonus of the authors'
    program, pull every arm 25 times in every run: the pulls do not depend on the rewards. Hollow: all runs agree."""
    return _bias_figure(results, "1", True, _either_sign(results, "experiment_1_private_bias"))


@figure("Figure 2: bias per arm, UCB, Experiment 1", inference=["bias_experiment_1"])
def fig2(results: Results):
    """As Figure 1, for UCB without privacy. Dashed: the published average and worst arm."""
    average, worst = (results.published(f"experiment_1_{which}_bias") for which in ("ucb", "worst"))
    published = {f"published average: {average:g}": -average, f"published worst: {worst:g}": -worst}
    return _bias_figure(results, "1", False, published)


@figure("Figure 3: bias per arm, private UCB, Experiment 2", inference=["bias_experiment_2"])
def fig3(results: Results):
    """Bias of the sample mean at the horizon (published: 100,000) against the arm's mean, with 95% normal intervals
    over at most 1,000 runs, as published; K = 5, means 1, 0.95, ..., 0.8, epsilon = 400. Dashed: the published average.
    """
    return _bias_figure(results, "2", True, _either_sign(results, "experiment_2_private_bias"))


@figure("Figure 4: bias per arm, UCB, Experiment 2", inference=["bias_experiment_2"])
def fig4(results: Results):
    """As Figure 3, for UCB without privacy."""
    average = results.published("experiment_2_ucb_bias")
    return _bias_figure(results, "2", False, {f"published average: {average:g}": -average})


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
    grid.set(ylim=(1e-5, 5)).set_axis_labels("privacy budget $\\varepsilon$", "average |bias| over arms")
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
    """Share of tests that reject a true null at .05 against epsilon, for an arm chosen by its pulls, T = 500. Filled:
    naive test; hollow: test at gamma(.05) for private data. Tests of an arm with mean 1, which cannot reject, are left
    out; so are selectors for which most tests are of this kind."""
    rows = results.inference("false_discovery")
    rows = rows[~(rows["degenerate"] > 0.5)]
    rows = rows.assign(curve=labels(rows, ("epsilon", "K")))
    drawn = [
        with_interval(part.assign(y=part[test], test=test), test, f"{test}_se", normal=True)
        for test, part in (("naive", rows), ("corrected", rows[rows["epsilon"].notna()]))
    ]
    shown = pd.concat(drawn, ignore_index=True)
    what = shown["test"] + ", " + shown["selector"].str.replace("_", " ")
    arms = zip(shown["K"], shown["top"], shown["bottom"], strict=True)
    panel = [f"{K} arms from {top:g} to {bottom:g}" for K, top, bottom in arms]
    shown = shown.assign(what=what, name=shown["curve"] + ", " + what, panel=panel)
    looks = style.crossed(shown, "name", "curve", "what")
    for name in shown.loc[shown["test"] == "corrected", "name"].unique():
        looks[name] |= {"markerfacecolor": "white", "markeredgecolor": looks[name]["color"]}
    grid = curves(shown, "epsilon", "y", hue="name", looks=looks, col="panel", sharey=False, log="x")
    for ax in grid.axes.flat:
        ax.axhline(LEVEL, **(style.LEVEL | {"linestyle": style.LINESTYLES[2]}))
    grid.set(ylim=(-0.004, None))
    grid.set_axis_labels("privacy budget $\\varepsilon$", "false discovery at .05\n(share of tests)")
    style.legend(grid.figure, columns=2)
    columns = ["ladder", "policy", "epsilon", "selector", "replicates", "level", "naive", "naive_se"]
    return grid.figure, rows[[*columns, "corrected", "corrected_se", "curve"]]


PRINTED = {"standard_error": "correct", "coordinate": "zero", "estimator": "ols"}


@figure("Figure 6: p-values of the z-test in linear bandits", inference=["histograms"])
def fig6(results: Results):
    """Histogram of p-values with 95% intervals, over at most 1,000 runs, as published; K = d = 5, T = 500, most-pulled
    arm. Dashed: alpha = .05; dotted: the uniform distribution. Left, as in the text: OFUL, the coordinate that is 0,
    estimate over its standard error. Right, as in the authors' program: its own data and estimate, the largest
    coordinate, divided by the variance. Verdicts use all runs, so their shares differ slightly. The right score also
    rejects two thirds of the tests if arms are chosen at random (table of linear bandits), so it is no evidence of
    adaptivity."""
    rows = results.inference("histograms")
    program = rows["policy"] == "linear_ucb_as_released"
    printed = rows[~program & ~rows["policy"].isin(("uniform", "private_linear_ucb"))]
    printed = printed[(printed[[*PRINTED]] == pd.Series(PRINTED)).all(axis=1)]
    printed = printed.assign(panel=labels(printed, ()) + ", z-test of\nthe zero coordinate")
    released = rows[program & rows["figure_6"] & (rows["contexts"] == "shared")]
    released = released.assign(panel=labels(released, ()) + ", divided by\nthe variance, largest coordinate")
    rows = pd.concat([printed, released], ignore_index=True)
    grid = panels(rows, col="panel", hue="panel", wrap=2)
    for ax, _, part in parts(grid):
        runs = part["replicates"].iloc[0]
        share, width = part["count"] / runs, part["high"] - part["low"]
        low, high = clopper_pearson(part["count"].to_numpy(), runs)
        error = {"elinewidth": 0.6, "capsize": 0, "ecolor": style.QUIET}
        ax.bar(part["low"], share, width, align="edge", yerr=[share - low, high - share], error_kw=error)
        ax.axhline(width.iloc[0], **(style.LEVEL | {"linestyle": style.LINESTYLES[2]}))
        ax.axvline(LEVEL, **style.LEVEL)
        below = f"{part['below_level'].iloc[0]:.1%} below .05"
        ax.annotate(below, (0.97, 0.72), xycoords="axes fraction", ha="right", va="top")
        value = results.published("figure_6_below_level")
        style.published(ax, value, f"published: {value:.0%} below .05", below=True)
    grid.set(xlim=(0, 1), ylim=(0, 0.82)).set_axis_labels("p-value", "share of the runs")
    rows = rows.assign(panel=rows["panel"].str.replace("\n", " "))
    return grid.figure, rows[["panel", "policy", *PRINTED, "low", "high", "count", "replicates"]]
