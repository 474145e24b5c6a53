"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Panels and curves are those of the cells, so that a policy, an instance or a budget that joins has its own.
"""

import re

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from privarms.inference import lower_bounds
from privarms.papers.frontier._cells import described
from privarms.plots import old_style as style
from privarms.plots.curves import interval
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

# The curves of the studies, in the order of their colours.
CURVES = ("DP-KLUCB", "AdaP-UCB", "DP-IMED", "AdaP-KLUCB", "DP-SE", "DP-IMED (first = 8)", "DP-UCB (log2.5)")
CURVES += ("DP-UCB (log3)", "DP-UCB (chan)", "DP-UCB (exact)")
BOUNDS = {
    "bound_lai_robbins": ("bound, Lai & Robbins", {"linestyle": (0, (1, 1))}),
    "bound_azize_basu": ("bound, Azize & Basu", {"linestyle": (0, (5, 1.2, 1, 1.2))}),
    "bound_d_epsilon": ("bound, $d_\\varepsilon$", {"linestyle": (0, (5, 1.5))}),
}
LINE = {"color": "black", "linewidth": 0.9, "zorder": 1.5}
COLUMNS = 5
QUANTILES_AT = 0.25
TAIL_INSTANCE = "mu2"


def _instance(name: str) -> str:
    """mu1 as mathematics; any other name as it is."""
    numbered = re.fullmatch(r"mu(\d+)", name)
    return f"$\\mu_{{{numbered[1]}}}$" if numbered else name.replace("_", " ")


def _power(horizon: float) -> str:
    exponent = int(np.log10(horizon) + 1e-9)
    factor = horizon / 10**exponent
    return f"$T = 10^{exponent}$" if factor == 1 else f"$T = {factor:g}\\times10^{exponent}$"


def _looks(cells: pd.DataFrame) -> style.Palette:
    """Private policies in colour, the others in grey."""
    private = cells.groupby("curve", sort=False)["epsilon"].apply(lambda e: e.notna().any())
    known = {curve: place for place, curve in enumerate(CURVES)}
    ordered = sorted(private.index[private], key=lambda curve: known.get(curve, len(known)))
    return style.Palette(ordered, CURVES, private.index[~private])


def _in_order(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The curves of a panel, each with its rows, in the order of their colours."""
    known = {curve: place for place, curve in enumerate(CURVES)}
    parts = dict(list(rows.groupby("curve", sort=False)))
    return [(curve, parts[curve]) for curve in sorted(parts, key=lambda c: known.get(c, len(known)))]


def over_time(results: Results):
    """Regret against the round; a row of panels a budget, a column an instance."""
    cells = results.cells("over_time")
    known = described(cells).set_index("cell")[["instance", "curve", "means"]]
    cells = cells.join(known, on="cell")
    looks = _looks(cells)
    instances, epsilons = cells["instance"].unique(), sorted(cells["epsilon"].dropna().unique())
    figure, axes = style.panels(len(instances) * len(epsilons), height=2.6, columns=len(instances), sharex=True)
    drawn = []
    places = [(epsilon, instance) for epsilon in epsilons for instance in instances]
    for ax, (epsilon, instance) in zip(axes, places, strict=True):
        shown = cells[(cells["instance"] == instance) & ((cells["epsilon"] == epsilon) | cells["epsilon"].isna())]
        for label, curve in _in_order(shown):
            low, high = interval(curve["regret_mean"], curve["regret_se"], curve["replicates"])
            low = np.maximum(low, curve["regret_mean"] / 50)
            line = looks.line(label) | {"markevery": 0.25}
            style.band(ax, curve["t"], curve["regret_mean"], low, high, label=label, **line)
            drawn.append(curve.assign(panel_epsilon=epsilon, low=low, high=high))
        rounds = np.sort(shown["t"].unique())
        name, dashes = BOUNDS["bound_d_epsilon"]
        bound = lower_bounds.azize(shown["means"].iloc[0], epsilon) * np.log(rounds)
        ax.plot(rounds, bound, label=name, **(LINE | dashes))
        drawn.append(
            pd.DataFrame(
                {"instance": instance, "panel_epsilon": epsilon, "t": rounds, "regret_mean": bound, "curve": name}
            )
        )
        ax.set(xscale="log", yscale="log", title=f"{_instance(instance)}, $\\varepsilon = {epsilon:g}$")
        ax.set_xlim(rounds[0], rounds[-1])
        ax.set_ylim(bottom=5)
    for ax in axes[-len(instances) :]:
        ax.set_xlabel("round $t$")
    style.ylabel(axes, "mean pseudo-regret")
    style.legend(figure, columns=4)
    columns = ["instance", "panel_epsilon", "curve", "policy", "t", "replicates"]
    columns += ["regret_mean", "regret_se", "low", "high"]
    return figure, pd.concat(drawn, ignore_index=True)[columns]


def _over_epsilon(rows: pd.DataFrame, value: str, se: str, bounds: pd.DataFrame | None, *, context: bool):
    """A row of panels a horizon, a column an instance; (figure, axes, numbers).

    bounds: what to draw in grey; context: whether policies without privacy stand as level lines
    """
    looks = _looks(rows)
    instances, horizons = rows["instance"].unique(), sorted(rows["horizon"].unique())
    figure, axes = style.panels(len(instances) * len(horizons), height=2.4, columns=len(instances), sharex=True)
    places = [(horizon, instance) for horizon in horizons for instance in instances]
    drawn = []
    for ax, (horizon, instance) in zip(axes, places, strict=True):
        shown = rows[(rows["instance"] == instance) & (rows["horizon"] == horizon)]
        for label, curve in _in_order(shown):
            curve = curve.sort_values("epsilon")
            low, high = interval(curve[value], curve[se], curve["replicates"])
            low = np.maximum(low, curve[value] / 50)
            if curve["epsilon"].notna().any():
                style.band(ax, curve["epsilon"], curve[value], low, high, label=label, **looks.line(label))
            elif context:
                ax.axhline(curve[value].iloc[0], label=label, **(looks.line(label) | {"marker": None}))
            else:
                continue
            drawn.append(curve.assign(low=low, high=high))
        if bounds is not None:
            here = bounds[(bounds["instance"] == instance) & (bounds["horizon"] == horizon) & bounds["epsilon"].notna()]
            for name, (label, dashes) in BOUNDS.items():
                line = here[here["bound"] == name].sort_values("epsilon")
                ax.plot(line["epsilon"], line["value"], label=label, **(LINE | dashes))
                drawn.append(line.drop(columns="bound").rename(columns={"value": value}).assign(curve=label))
        ax.set(xscale="log", yscale="log", title=f"{_instance(instance)}, {_power(horizon)}")
        ax.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    for ax in axes[-len(instances) :]:
        ax.set_xlabel("budget $\\varepsilon$")
    return figure, axes, pd.concat(drawn, ignore_index=True)


NUMBERS = ["instance", "epsilon", "horizon", "curve", "policy", "replicates"]


def by_epsilon(results: Results):
    """Regret at the horizon over epsilon, with the lower bounds."""
    bounds = results.inference("bounds")
    figure, axes, numbers = _over_epsilon(results.inference("regret"), "regret", "se", bounds, context=True)
    style.ylabel(axes, "mean pseudo-regret")
    style.legend(figure, columns=4)
    return figure, numbers[[*NUMBERS, "regret", "se", "low", "high"]]


def price(results: Results):
    """Regret over the bound by d_epsilon."""
    figure, axes, numbers = _over_epsilon(
        results.inference("regret"), "over_bound", "over_bound_se", None, context=False
    )
    for ax in axes:
        ax.axhline(1, **(LINE | BOUNDS["bound_d_epsilon"][1]))
    style.ylabel(axes, "regret / bound")
    style.legend(figure, columns=4)
    return figure, numbers[[*NUMBERS, "over_bound", "over_bound_se", "low", "high"]]


def quantiles(results: Results):
    """Median, quantiles and mean of the regret of what runs often enough, at one budget and horizon."""
    rows = results.inference("regret")
    horizons = sorted(rows["horizon"].unique())
    rows = rows[rows["horizon"] == horizons[max(len(horizons) - 2, 0)]]
    rows = rows[rows["replicates"] >= min(100, rows["replicates"].max())]
    budgets = rows["epsilon"].dropna().unique()
    epsilon = budgets[np.abs(np.log(budgets / QUANTILES_AT)).argmin()]
    rows = rows[rows["epsilon"] == epsilon]
    looks = _looks(rows)
    curves = [curve for curve, _ in _in_order(rows)]
    instances = rows["instance"].unique()
    figure, axes = style.panels(len(instances), height=2.3, columns=COLUMNS, sharex=True)
    for ax, instance in zip(axes, instances, strict=True):
        for place, curve in enumerate(curves):
            some = rows[(rows["instance"] == instance) & (rows["curve"] == curve)]
            for row in some.itertuples():
                colour = looks.colour_of(curve)
                ax.plot([row.median, row.q99], [place, place], color=colour, linewidth=1)
                ax.plot([row.median, row.q90], [place, place], color=colour, linewidth=4, solid_capstyle="butt")
                ax.plot(row.median, place, marker="|", color=colour, markersize=10, markeredgewidth=1.5)
                ax.plot(row.regret, place, marker="D", color=colour, markeredgecolor="black", markersize=4.5)
        ax.set(xscale="log", xlabel="pseudo-regret", title=_instance(instance))
        ax.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set_yticks(range(len(curves)), curves)
    axes[0].invert_yaxis()
    figure.suptitle(f"$\\varepsilon = {epsilon:g}$, {_power(rows['horizon'].iloc[0])}")
    columns = ["instance", "epsilon", "horizon", "curve", "replicates", "median", "regret", "q90", "q99"]
    return figure, rows[columns].reset_index(drop=True)


def regimes(results: Results):
    """Regret over many epsilon, beside the bound and the epsilon of which the paper speaks."""
    rows = results.inference("regimes")
    looks = _looks(rows)
    figure, ax = style.subplots(height=3.0)
    drawn = []
    for label, curve in _in_order(rows):
        curve = curve.sort_values("epsilon")
        low, high = interval(curve["regret"], curve["se"], curve["replicates"])
        style.band(ax, curve["epsilon"], curve["regret"], low, high, label=label, **looks.line(label))
        drawn.append(curve.assign(low=low, high=high))
    bound = rows.drop_duplicates("epsilon").sort_values("epsilon")
    name, dashes = BOUNDS["bound_d_epsilon"]
    ax.plot(bound["epsilon"], bound["bound_d_epsilon"], label=name, **(LINE | dashes))
    style.published(ax, results.published("regime_epsilon"), "published", axis="x")
    ax.set(xscale="log", yscale="log", xlabel="privacy budget $\\varepsilon$", ylabel="mean pseudo-regret")
    style.legend(figure, columns=2, rows=1)
    columns = [*NUMBERS, "regret", "se", "low", "high", "bound_d_epsilon"]
    return figure, pd.concat(drawn, ignore_index=True)[columns]


def tail(results: Results):
    """Mean and median over the first batch and over the ratio."""
    rows = results.inference("tail")
    rows = rows[
        rows["instance"] == (TAIL_INSTANCE if TAIL_INSTANCE in set(rows["instance"]) else rows["instance"].iloc[0])
    ]
    rows = rows.assign(
        first=rows["first"].fillna(0.0), name=rows["policy"].map({"dp_imed": "DP-IMED", "dp_klucb": "DP-KLUCB"})
    )
    rows["name"] = rows["name"].fillna(rows["policy"])
    epsilons = sorted(rows["epsilon"].unique())
    looks = style.Palette.crossed([(name, e) for name in rows["name"].unique() for e in epsilons], ["", "long"])
    figure, axes = style.panels(2, height=3.2, columns=2)
    drawn = []
    for panel, ax in enumerate(axes):
        along, fixed = ("first", "ratio") if panel == 0 else ("ratio", "first")
        for (name, epsilon, other), curve in rows.groupby(["name", "epsilon", fixed], sort=False):
            if (panel == 0 and other != 2) or curve[along].nunique() < 2 or (panel == 1 and other not in (0, 8)):
                continue
            curve = curve.sort_values(along)
            long = "long" if panel == 1 and other > 0 else ""
            label = f"{name}, $\\varepsilon = {epsilon:g}$" + (", first = 8" if long else "")
            # 0 has no place on a logarithmic axis.
            x = np.maximum(curve[along], 0.5) if panel == 0 else curve[along]
            low, high = interval(curve["regret"], curve["se"], curve["replicates"])
            low = np.maximum(low, curve["regret"] / 50)
            line = looks.line(((name, epsilon), long))
            style.band(ax, x, curve["regret"], low, high, label=label, **line)
            ax.plot(x, curve["median"], color=line["color"], linestyle=(0, (1, 1)), linewidth=0.9)
            drawn.append(curve.assign(along=along, low=low, high=high))
        ax.set(xscale="log", yscale="log")
    axes[0].set(xlabel="first batch $\\times\\ \\varepsilon$ (ratio 2)", title="size of the first batch")
    axes[0].set_xticks([0.5, 1, 2, 4, 8, 16, 32], ["0", "1", "2", "4", "8", "16", "32"])
    axes[1].set(xlabel="ratio of the batches", title="ratio")
    axes[1].set_xticks([1.1, 1.5, 2, 4], ["1.1", "1.5", "2", "4"])
    for ax in axes:
        ax.set_xticks([], minor=True)
    style.ylabel(axes, "pseudo-regret at $T$")
    style.legend(figure, columns=3, rows=1)
    columns = ["along", "instance", "policy", "epsilon", "horizon", "ratio", "first", "replicates"]
    columns += ["regret", "se", "low", "high", "median", "q99"]
    return figure, pd.concat(drawn, ignore_index=True)[columns]


FIGURES = functions_of(__name__)
