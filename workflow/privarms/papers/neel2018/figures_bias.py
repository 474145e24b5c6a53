"""Figures 1 to 5, bias over epsilon and Corollary 1: bias and regret of stochastic bandits."""

import numpy as np
import pandas as pd

from privarms.inference.bias import bias_bound
from privarms.papers.neel2018 import _looks
from privarms.papers.neel2018._settings import (
    ABLATIONS,
    FIGURE_5,
    PANEL,
    POST_HOC,
    THEOREM_1,
    described,
    is_printed,
    ladders,
    panels,
    told_apart,
)
from privarms.plots import facets, style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import band, curves, dodged, in_order, points
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

MEASURED = ("mean", "bias", "se", "pulls", "bound", "replicates", "missing", "size", "low", "high", "curve", "look")
MEASURED += ("printed", "panel", "place")


def _without_post_hoc(rows: pd.DataFrame) -> pd.DataFrame:
    """Without the paper's policies on ladders that the text does not state: those are for the table and the ledger."""
    return rows[~(rows["ladder"].isin(POST_HOC) & ~_looks.joined(rows))]


def _bias_figure(results: Results, experiment: str, policy: str, number: str, *, worst: str | None = None):
    """Bias per arm with 95% intervals, over as many replicates as published; the published averages drawn in.

    Of the paper's policies one; a policy that joins the experiment stands beside private UCB. A panel for each setting
    of the experiment.
    worst: the name of the published bias of the worst arm; "" where only the average is drawn, at one side of 0
    """
    rows = results.inference(f"bias_experiment_{experiment}")
    rows = rows[rows["size"] == "published"]
    rows = rows.assign(curve=labels(rows, PANEL))
    looks = _looks.looks(rows)
    chosen = rows["policy"] == policy
    if policy == "private_ucb":
        chosen |= _looks.joined(rows)
    rows = _looks.some(_without_post_hoc(rows[chosen]), f"Experiment {experiment}, {policy}")
    rows = rows.assign(printed=is_printed(rows, results, experiment))
    rows = _looks.tidy(panels(rows, first=rows["printed"]), looks)
    rows = with_interval(rows, "bias", "se", normal=True).assign(place=dodged(rows["arm"], rows["curve"]))
    options = {"col": "panel", "wrap": 2, "sharex": False, "sharey": False, "draw": points}
    grid = curves(rows, "place", "bias", looks=looks, **options)
    grid.set_axis_labels("mean of the arm", "bias of the sample mean")
    for panel, ax in grid.axes_dict.items():
        ax.axhline(0, color=style.QUIET, linewidth=0.6)
        part = rows[rows["panel"] == panel]
        means = part.drop_duplicates("arm").set_index("arm")["mean"].sort_index()
        means = means.iloc[:: 1 if len(means) <= 5 else -(-len(means) // 7)]
        style.ticks(ax, means.index, [f"{m:.2f}" for m in means])
        if part["printed"].all() and (part["policy"] == policy).any():
            _published_bias(ax, results, number, worst, inside=bool(panel))
    if policy == "private_ucb" or rows["curve"].nunique() > 1:
        style.legend(grid.figure, columns=2)
    columns = ["experiment", "policy", "variant", "ladder", "arm", "mean", "bias", "se", "low", "high", "replicates"]
    numbers = told_apart(rows, columns, [c for c in rows if c not in MEASURED])
    return grid.figure, numbers.assign(missing=rows["missing"]) if rows["missing"].any() else numbers


def _published_bias(ax, results: Results, number: str, worst: str | None, *, inside: bool) -> None:
    """Draw the published averages; inside: there is a title above, where the words stand else."""
    average = results.published(number)
    if worst is None:
        # Points lie all along both lines: the words stand above them.
        for level in (average, -average):
            style.published(ax, level, "")
        note = f"dashed: published average |bias|, {average:g}"
        va = "top" if inside else "bottom"
        ax.annotate(note, (0.98, 1), xycoords="axes fraction", ha="right", va=va, color=style.QUIET)
        return
    style.published(ax, -average, f"published average: {average:g}", left=not worst, below=True)
    if worst:
        style.published(ax, -results.published(worst), f"published worst: {results.published(worst):g}")


@figure("Figure 1: bias per arm, private UCB, Experiment 1", inference=["bias_experiment_1"])
def fig1(results: Results):
    """Bias of every arm's sample mean at T = 500 over at most as many runs as published, 10,000, with 95% normal
    intervals; K = 20, epsilon = 0.05. Both variants pull every arm 25 times in every run: the pulls do not depend on
    the rewards. Hollow: all runs agree.
    """
    return _bias_figure(results, "1", "private_ucb", "experiment_1_private_bias")


@figure("Figure 2: bias per arm, UCB, Experiment 1", inference=["bias_experiment_1"])
def fig2(results: Results):
    """As Figure 1, for UCB without privacy. Dashed, the published average and worst arm."""
    return _bias_figure(results, "1", "ucb", "experiment_1_ucb_bias", worst="experiment_1_worst_bias")


@figure("Figure 3: bias per arm, private UCB, Experiment 2", inference=["bias_experiment_2"])
def fig3(results: Results):
    """Bias of every arm's sample mean at the horizon (published: 100,000) over at most as many runs as published,
    1,000, with 95% normal intervals; K = 5, means 1, 0.95, ..., 0.8, epsilon = 400.
    """
    return _bias_figure(results, "2", "private_ucb", "experiment_2_private_bias")


@figure("Figure 4: bias per arm, UCB, Experiment 2", inference=["bias_experiment_2"])
def fig4(results: Results):
    """As Figure 3, for UCB without privacy."""
    return _bias_figure(results, "2", "ucb", "experiment_2_ucb_bias", worst="")


@figure("Figure 5: average regret, Experiment 2", studies=["regret_2"], card=FIGURE_5, tab="Figure 5")
def fig5(results: Results):
    """Cumulative pseudo-regret divided by t, means with 95% intervals; in grey, our two ablations. The published figure
    has no printed numbers.
    """
    cells = results.cells("regret_2")
    cells = cells.assign(ladder=ladders(cells))
    cells = cells.assign(curve=labels(cells, (*PANEL, "top", "bottom")))
    looks = _looks.looks(cells, context=ABLATIONS)
    average, error = cells["regret_mean"] / cells["t"], cells["regret_se"] / cells["t"]
    rows = with_interval(cells.assign(average_regret=average, se=error), "average_regret", "se")
    rows = _looks.tidy(panels(rows, first=is_printed(rows, results, "2")), looks)
    # Context first.
    rows = pd.concat([rows[_looks.ablated(rows)], rows[~_looks.ablated(rows)]])
    rows = in_order(rows, "panel", "curve", by="t")
    grid = curves(rows, "t", "average_regret", looks=looks, col="panel", wrap=2, log="x", height=2.3)
    grid.set(ylim=(0, None)).set_axis_labels("round $t$", "average regret (regret$/t$)")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "variant", "t", "replicates", "average_regret", "se", "low", "high"]
    keys = ("policy", "variant", "t", "ladder", "K", "horizon", "epsilon", "curve")
    return grid.figure, told_apart(rows, columns, keys)


@figure(
    "Bias over epsilon (Theorem 1), and what reduces it in Experiment 2",
    inference=["average_bias_experiment_1", "average_bias_experiment_2", "average_bias_epsilon_sweep"],
    card=THEOREM_1,
    tab="Over epsilon",
)
def bias_vs_epsilon(results: Results):
    """Left: average |bias| of UCB with the counter's noise and gamma = 0, so that the data are adaptive, and Theorem
    1's bound averaged over arms (as released is not private); dotted, what the noise of the simulation makes of no
    bias. Right: Experiment 2 with each part of private UCB alone: the bonus reduces the bias, the noise does not. 95%
    intervals.
    """
    every = [results.inference(f"average_bias_{s}") for s in ("experiment_1", "experiment_2", "epsilon_sweep")]
    every = [rows[rows["size"] == "all"] for rows in every]
    first, second, sweep = every[0], *(rows.assign(curve=labels(rows, PANEL)) for rows in every[1:])
    second = _without_post_hoc(second)
    looks = _looks.looks(pd.concat([sweep, second]))
    setting = ["ladder", "K", "horizon"]
    ucb = first[first["policy"] == "ucb"].drop_duplicates(setting).rename(columns={"average": "ucb"})
    shown = panels(sweep, setting, is_printed(sweep.drop(columns="epsilon"), results, "1"))
    shown = [(title or f"Experiment 1's arms, $T = {part['horizon'].iloc[0]}$", part) for title, part in shown]
    sweep = in_order(_looks.tidy(shown, looks), "panel", "curve", by="epsilon")
    sweep = sweep.merge(ucb[[*setting, "ucb"]], "left", on=setting).assign(kind="epsilon")
    second = second.assign(printed=is_printed(second, results, "2"))
    shown = panels(second, first=second["printed"])
    budgets = [described({"epsilon": part["epsilon"].dropna().min()}) for _, part in shown]
    shown = [(f"Experiment 2, {title or e}", part) for (title, part), e in zip(shown, budgets, strict=True)]
    rows = pd.concat([sweep, _looks.tidy(shown, looks).assign(kind="ablation")], ignore_index=True)
    rows = with_interval(rows, "average", "average_se", normal=True)
    swept = (rows["kind"] == "epsilon") & rows["epsilon"].notna()
    rows["low"] = np.where(swept, np.maximum(rows["low"], 1e-5), rows["low"])
    rows["place"] = rows.groupby("panel")["curve"].transform(lambda c: pd.factorize(c)[0])
    grid = facets.panels(rows, looks=looks, col="panel", wrap=2, sharex=False, sharey=False, height=2.6)
    for ax, name, part in facets.parts(grid):
        if part["kind"].iloc[0] == "epsilon":
            band(ax, part, "epsilon", "average", label=name, **looks[name])
            floor = {"color": looks[name]["color"], "linewidth": 0.8, "linestyle": style.LINESTYLES[2]}
            ax.plot(part["epsilon"], part["average_if_unbiased"], **floor)
        else:
            points(ax, part, "average", "place", along="x", **looks[name])
    for panel, ax in grid.axes_dict.items():
        part = rows[rows["panel"] == panel]
        if part["kind"].iloc[0] == "epsilon":
            _bounds(ax, part)
        else:
            _ablation(ax, part, results)
    style.legend(grid.figure, columns=3)
    columns = ["panel", "policy", "variant", "epsilon", "replicates", "average", "average_se", "low", "high"]
    keys = [c for c in rows if c in ("policy", "variant", "epsilon", *setting, "curve")]
    rows = rows.assign(panel=rows["kind"])
    return grid.figure, told_apart(rows, [*columns, "average_if_unbiased", "ucb"], ("panel", *keys))


def _bounds(ax, rows: pd.DataFrame) -> None:
    """Draw Theorem 1's bound, and UCB's average of Experiment 1 where it has the same arms and horizon."""
    grid = np.geomspace(0.02, 6, 60)
    bound = bias_bound(grid, rows["mean_of_arms"].iloc[0])
    ax.plot(grid, bound, label="Theorem 1: $(e^\\varepsilon-1)\\mu$", **style.LEVEL)
    if np.isfinite(rows["ucb"].iloc[0]):
        ax.axhline(rows["ucb"].iloc[0], color=style.COLOURS[0], linewidth=1, label="UCB, Experiment 1")
    least = np.nanmin([*rows["average_if_unbiased"], 1]) / 2
    ax.set(xscale="log", yscale="log", xlabel="privacy budget $\\varepsilon$", ylim=(min(2e-5, least), 5))
    ax.set(ylabel="average |bias| over arms")


def _ablation(ax, rows: pd.DataFrame, results: Results) -> None:
    """Name the policies, and draw the published averages where the setting is the paper's."""
    facets.name_lines(ax, rows["curve"].str.replace(" (", "\n(", n=1), fontsize=7)
    ax.set(xlabel="average |bias| over arms", xlim=(0, None))
    if rows["printed"].all():
        ax.set_xlim(0, max(0.0125, ax.get_xlim()[1]))
        for whose, number in (("UCB", "experiment_2_ucb_bias"), ("private", "experiment_2_private_bias")):
            value = results.published(number)
            style.published(ax, value, f"published, {whose}: {value:g}".replace(": 0.", ": ."), axis="x")
