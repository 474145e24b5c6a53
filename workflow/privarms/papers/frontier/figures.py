"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Panels and curves are those of the cells, so that a policy, an instance or a budget that joins has its own.
"""

import itertools
import re

import numpy as np
import pandas as pd

from privarms.inference import lower_bounds
from privarms.plots import style
from privarms.plots.curves import described, horizon_in_words, with_interval
from privarms.plots.facets import curves, in_every, in_order, leading, parts
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

# The curves of the studies, in the order of their colours.
CURVES = ("DP-KLUCB", "AdaP-UCB", "DP-IMED", "AdaP-KLUCB", "DP-SE", "DP-IMED (first = 8)", "DP-UCB (log^2.5)")
CURVES += ("DP-UCB (log3)", "DP-UCB (chan)", "DP-UCB (exact)")
BOUNDS = {
    "bound_lai_robbins": ("bound, Lai & Robbins", style.LINESTYLES[2]),
    "bound_azize_basu": ("bound, Azize & Basu", style.LINESTYLES[3]),
    "bound_d_epsilon": ("bound, $d_\\varepsilon$", style.LINESTYLES[1]),
}
TAIL_INSTANCE = "mu2"


def _instance(name: str) -> str:
    """mu1 as mathematics; any other name as it is."""
    numbered = re.fullmatch(r"mu(\d+)", name)
    return f"$\\mu_{{{numbered[1]}}}$" if numbered else name.replace("_", " ")


def _looks(rows: pd.DataFrame) -> style.Looks:
    """Private policies in colour, the others in grey; the bounds in black."""
    private = rows.groupby("curve", sort=False)["epsilon"].transform(lambda e: e.notna().any())
    looks = style.looks(leading(rows[private], "curve", CURVES)["curve"], CURVES, rows.loc[~private, "curve"])
    return looks | {label: style.LEVEL | {"linestyle": dashes, "marker": None} for label, dashes in BOUNDS.values()}


@figure("Regret over time", studies=["over_time"])
def over_time(results: Results):
    """Mean pseudo-regret with 95% intervals, a row a budget and a column an instance; policies without privacy in grey.
    Dashed: the lower bound by d_epsilon times ln t, which is asymptotic.
    """
    cells = results.cells("over_time")
    known = described(cells).set_index("cell")[["instance", "curve", "means"]]
    cells = cells.join(known, on="cell")
    rows = in_every(with_interval(cells, "regret_mean", "regret_se", least=50), "epsilon")
    instances, label = cells["instance"].unique(), BOUNDS["bound_d_epsilon"][0]
    drawn = []
    for epsilon, instance in itertools.product(sorted(rows["panel_epsilon"].unique()), instances):
        part = rows[(rows["instance"] == instance) & (rows["panel_epsilon"] == epsilon)]
        t = np.sort(part["t"].unique())
        bound = lower_bounds.azize(part["means"].iloc[0], epsilon) * np.log(t)
        drawn.append(in_order(leading(part, "curve", CURVES), "curve"))
        drawn.append(pd.DataFrame({"instance": instance, "panel_epsilon": epsilon, "t": t, "regret_mean": bound}))
        drawn[-1]["curve"] = label
    rows = pd.concat(drawn, ignore_index=True)
    words = [f"{_instance(i)}, $\\varepsilon = {e:g}$" for i, e in rows[["instance", "panel_epsilon"]].to_numpy()]
    options = {"col": "panel", "wrap": len(instances), "height": 1.9, "log": "xy"}
    grid = curves(rows.assign(panel=words), "t", "regret_mean", looks=_looks(cells), **options)
    grid.set(xlim=(rows["t"].min(), rows["t"].max()), ylim=(5, None))
    grid.set_axis_labels("round $t$", "mean pseudo-regret")
    style.legend(grid.figure)
    columns = ["instance", "panel_epsilon", "curve", "policy", "t", "replicates"]
    return grid.figure, rows[[*columns, "regret_mean", "regret_se", "low", "high"]]


def _over_epsilon(rows: pd.DataFrame, value: str, se: str, bounds: pd.DataFrame | None = None):
    """Draw a row of panels per horizon and a column per instance: (grid, numbers).

    bounds: lower bounds to draw; without them, policies without privacy are left out
    """
    looks, rows = _looks(rows), with_interval(rows, value, se, least=50)
    if bounds is None:
        rows = rows[rows["epsilon"].notna()]
    else:
        names = bounds["bound"].map({name: label for name, (label, _) in BOUNDS.items()})
        lines = bounds.assign(curve=names).rename(columns={"value": value})
        rows = pd.concat([rows, lines[lines["epsilon"].notna()]], ignore_index=True)
    rows = leading(rows, "curve", CURVES).sort_values("horizon", kind="stable")
    rows = in_order(rows, "horizon", "instance", "curve", by="epsilon")
    words = [f"{_instance(i)}, {horizon_in_words(T)}" for i, T in rows[["instance", "horizon"]].to_numpy()]
    options = {"col": "panel", "wrap": rows["instance"].nunique(), "height": 1.8, "log": "xy"}
    grid = curves(rows.assign(panel=words), "epsilon", value, looks=looks, **options)
    for ax in grid.axes.flat:
        style.ticks(ax, [0.01, 0.1, 1])
    return grid, rows


NUMBERS = ["instance", "epsilon", "horizon", "curve", "policy", "replicates"]


@figure(
    "Regret at the horizon over epsilon, and the lower bounds",
    inference=["regret", "bounds"],
    card="Regret at the horizon, and the lower bounds",
    tab="Figure",
)
def by_epsilon(results: Results):
    """Mean pseudo-regret with 95% intervals, a row a horizon and a column an instance. Grey: the lower bounds of Lai &
    Robbins, of Azize & Basu and by d_epsilon, times ln T; they are asymptotic.
    """
    grid, numbers = _over_epsilon(results.inference("regret"), "regret", "se", results.inference("bounds"))
    grid.set_axis_labels("budget $\\varepsilon$", "mean pseudo-regret")
    style.legend(grid.figure)
    return grid.figure, numbers[[*NUMBERS, "regret", "se", "low", "high"]]


@figure("The price of the algorithm", inference=["regret"])
def price(results: Results):
    """Mean pseudo-regret over the lower bound by d_epsilon times ln T, with 95% intervals; at 1 (dashed) a policy is as
    good as any can be when T is large.
    """
    grid, numbers = _over_epsilon(results.inference("regret"), "over_bound", "over_bound_se")
    for ax in grid.axes.flat:
        ax.axhline(1, **style.LEVEL)
    grid.set_axis_labels("budget $\\varepsilon$", "regret / bound")
    style.legend(grid.figure)
    return grid.figure, numbers[[*NUMBERS, "over_bound", "over_bound_se", "low", "high"]]


@figure("Privacy regimes", inference=["regimes"])
def regimes(results: Results):
    """Mean pseudo-regret on mu5 over epsilon with 95% intervals, and the lower bound by d_epsilon times ln T. Azize &
    Basu (2022) see no dependence on epsilon right of the dashed line.
    """
    rows = results.inference("regimes")
    rows = in_order(leading(with_interval(rows, "regret", "se"), "curve", CURVES), "curve", by="epsilon")
    grid = curves(rows, "epsilon", "regret", looks=_looks(rows), log="xy", height=2.4)
    bound = rows.drop_duplicates("epsilon").sort_values("epsilon")
    label = BOUNDS["bound_d_epsilon"][0]
    grid.ax.plot(bound["epsilon"], bound["bound_d_epsilon"], label=label, **style.LEVEL)
    style.published(grid.ax, results.published("regime_epsilon"), "published", axis="x")
    grid.set_axis_labels("privacy budget $\\varepsilon$", "mean pseudo-regret")
    style.legend(grid.figure, columns=2)
    return grid.figure, rows[[*NUMBERS, "regret", "se", "low", "high", "bound_d_epsilon"]]


@figure(
    "Why DP-IMED's regret has a heavy tail, and what fixes it",
    inference=["tail"],
    card="DP-IMED's heavy tail, and what fixes it",
    tab="Figure",
)
def tail(results: Results):
    """Mean (line, with 95% intervals) and median (dotted) of the pseudo-regret on mu2. Left: over the size of the first
    batch, in units of 1 / epsilon, with ratio 2. Right: over the ratio of the batches, with and without a long first
    batch. A best arm whose noises put its mean too low by d, in d_epsilon, after n pulls is left until another has n
    exp(n d) of them. With one noise that happens in about exp(-n d) of the runs, and waiting costs little on average;
    every further noise in the sum multiplies the chance by a power of n d, and the mean follows while the median does
    not move. A long first batch, or a larger ratio, makes many noises few.
    """
    rows = results.inference("tail")
    instances = set(rows["instance"])
    rows = rows[rows["instance"] == (TAIL_INSTANCE if TAIL_INSTANCE in instances else rows["instance"].iloc[0])]
    names = rows["policy"].map({"dp_imed": "DP-IMED", "dp_klucb": "DP-KLUCB"}).fillna(rows["policy"])
    rows = with_interval(rows.assign(first=rows["first"].fillna(0.0), name=names), "regret", "se", least=50)
    setting = [f"{name}, $\\varepsilon = {e:g}$" for name, e in zip(names, rows["epsilon"], strict=True)]
    # 0 has no place on a logarithmic axis.
    first = rows.assign(along="first", x=np.maximum(rows["first"], 0.5), long="", setting=setting)
    long = np.where(rows["first"] > 0, ", first = 8", "")
    ratio = rows.assign(along="ratio", x=rows["ratio"], long=long, setting=setting)
    drawn = pd.concat([first[first["ratio"] == 2], ratio[ratio["first"].isin([0, 8])]], ignore_index=True)
    drawn = drawn.assign(curve=drawn["setting"] + drawn["long"])
    points = drawn.groupby(["along", "curve"])["x"].transform("nunique")
    drawn = pd.concat([in_order(part, "curve", by=along) for along, part in drawn[points > 1].groupby("along")])
    order = rows.assign(setting=setting).sort_values("epsilon", kind="stable")["setting"]
    looks = style.crossed(drawn, "curve", "setting", "long", firsts=order, seconds=["", ", first = 8"])
    titles = {"first": "size of the first batch", "ratio": "ratio"}
    shown = drawn.assign(panel=drawn["along"].map(titles))
    grid = curves(shown, "x", "regret", looks=looks, col="panel", sharex=False, log="xy")
    for ax, name, some in parts(grid):
        ax.plot(some["x"], some["median"], color=looks[name]["color"], linestyle=style.LINESTYLES[2], linewidth=0.9)
    batches = "first batch $\\times\\ \\varepsilon$ (ratio 2)"
    ticks = {
        "first": ([0.5, 1, 2, 4, 8, 16, 32], ["0", "1", "2", "4", "8", "16", "32"], batches),
        "ratio": ([1.1, 1.5, 2, 4], None, "ratio of the batches"),
    }
    for along, (places, texts, label) in ticks.items():
        ax = grid.axes_dict.get(titles[along])
        if ax:
            style.ticks(ax, places, texts)
            ax.set_xlabel(label)
    grid.set_ylabels("pseudo-regret at $T$")
    style.legend(grid.figure, columns=3)
    columns = ["along", "instance", "policy", "epsilon", "horizon", "ratio", "first", "replicates"]
    return grid.figure, drawn[[*columns, "regret", "se", "low", "high", "median", "q99"]]
