"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import itertools

import numpy as np
import pandas as pd

from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import horizon_in_words, with_interval
from privarms.plots.facets import curves, in_every, in_order, leading, parts, place_of
from privarms.registry.artifacts import figure

# The curves of the studies, in the order of their colours; DP-UCB's widths are in sequence, from narrow to wide.
CURVES = ("DP-KLUCB", "AdaP-UCB", "DP-IMED", "AdaP-KLUCB", "DP-SE", "DP-IMED (first = 8)")
WIDTHS = ("DP-UCB (exact)", "DP-UCB (chan)", "DP-UCB (log^2.5)", "DP-UCB (log^3)")
# Policy -> the row of panels that shows it.
FAMILIES = {
    **dict.fromkeys(("dp_imed", "dp_klucb"), "DP-IMED, DP-KLUCB"),
    **dict.fromkeys(("adap_ucb", "adap_klucb", "dp_se"), "AdaP, DP-SE"),
    "dp_ucb": "DP-UCB by width",
}
OTHERS = "other policies"
BOUNDS = {
    "bound_lai_robbins": ("bound, Lai & Robbins", style.LINESTYLES[2]),
    "bound_azize_basu": ("bound, Azize & Basu", style.LINESTYLES[3]),
    "bound_d_epsilon": ("bound, $d_\\varepsilon$", style.LINESTYLES[1]),
}
TAIL_INSTANCE = "mu2"


def _looks(rows: pd.DataFrame) -> style.Looks:
    """Return the looks: private policies in colour, the others in grey, the bounds in black."""
    private = rows.groupby("curve", sort=False)["epsilon"].transform(lambda e: e.notna().any())
    named = leading(rows[private], "curve", (*CURVES, *WIDTHS))["curve"]
    looks = style.looks(named[~named.isin(WIDTHS)], CURVES, rows.loc[~private, "curve"])
    # Solid and below the bounds, whose dashes stay visible where both are equal.
    public = zip(rows.loc[~private, "curve"].unique(), ("#8C8C8C", "#C4C4C4"), strict=False)
    looks |= {curve: looks[curve] | {"color": grey, "linestyle": "-", "zorder": 1.4} for curve, grey in public}
    looks |= style.in_sequence([width for width in WIDTHS if width in set(named)], "flare")
    return looks | {label: style.LEVEL | {"linestyle": dashes, "marker": None} for label, dashes in BOUNDS.values()}


NUMBERS = ["instance", "epsilon", "horizon", "curve", "policy", "replicates"]


@figure(
    "Regret at the horizon over epsilon, and the lower bounds",
    inference=["regret", "bounds"],
    card="Regret at the horizon, and the lower bounds",
    tab="Figure",
)
def by_epsilon(results: Results):
    """Mean pseudo-regret at the longest horizon against epsilon, with 95% intervals (of at least 5 runs); one column
    per instance, one row per group of policies. Light to dark: DP-UCB from its narrowest private width to its widest.
    Grey: policies without privacy. Black: the asymptotic lower bounds of Lai & Robbins, of Azize & Basu and by
    d_epsilon, times ln T. The CSV file has the other horizons."""
    cells, bounds = results.inference("regret"), results.inference("bounds")
    rows = with_interval(cells, "regret", "se", least=50)
    names = bounds["bound"].map({name: label for name, (label, _) in BOUNDS.items()})
    lines = bounds.assign(curve=names).rename(columns={"value": "regret"})
    rows = pd.concat([rows, lines[lines["epsilon"].notna()]], ignore_index=True)
    rows = leading(rows, "curve", (*CURVES, *WIDTHS)).sort_values("horizon", kind="stable")
    rows = in_order(rows, "horizon", "instance", "curve", by="epsilon")
    longest = rows["horizon"].max()
    looks = _looks(cells)
    private = [curve for curve in looks if curve in set(cells.loc[cells["epsilon"].notna(), "curve"])]
    family = rows["policy"].map(FAMILIES).fillna(OTHERS).where(rows["curve"].isin(private))
    order = [name for name in dict.fromkeys((*FAMILIES.values(), OTHERS)) if name in set(family)]
    shown = in_every(rows.assign(family=family)[rows["horizon"] == longest], "family", order)
    options = {"col": "instance", "row": "panel_family", "row_order": order, "height": 1.8, "log": "xy"}
    grid = curves(shown, "epsilon", "regret", looks=looks, **options)
    for (name, instance), ax in grid.axes_dict.items():
        style.ticks(ax, [0.01, 0.1, 1])
        ax.set_title(f"{instance}, {horizon_in_words(longest)}" if place_of(ax).is_first_row() else "")
        if place_of(ax).is_first_col():
            ax.set_ylabel(f"{name}\nmean pseudo-regret")
    grid.set_xlabels("budget $\\varepsilon$")
    style.legend(grid.figure, columns=5, named=private)
    for ax in grid.axes[:, -1]:
        style.name_ends(ax, private)
    return grid.figure, rows[[*NUMBERS, "regret", "se", "low", "high"]]


@figure("Privacy regimes", inference=["regimes"])
def regimes(results: Results):
    """Mean pseudo-regret on mu5 against epsilon, with 95% intervals. Black: the lower bound by d_epsilon times ln T.
    Azize & Basu (2022) report no dependence on epsilon right of the dashed line."""
    rows = results.inference("regimes")
    rows = in_order(leading(with_interval(rows, "regret", "se"), "curve", CURVES), "curve", by="epsilon")
    grid = curves(rows, "epsilon", "regret", looks=_looks(rows), log="xy", height=2.4)
    bound = rows.drop_duplicates("epsilon").sort_values("epsilon")
    label = BOUNDS["bound_d_epsilon"][0]
    grid.ax.plot(bound["epsilon"], bound["bound_d_epsilon"], label=label, **style.LEVEL)
    style.published(grid.ax, results.published("regime_epsilon"), "published: level from here", axis="x")
    grid.set_axis_labels("privacy budget $\\varepsilon$", "mean pseudo-regret")
    style.legend(grid.figure, columns=2)
    return grid.figure, rows[[*NUMBERS, "regret", "se", "low", "high", "bound_d_epsilon"]]


@figure("DP-IMED's heavy tail and its remedy", inference=["tail"])
def tail(results: Results):
    """Mean (line, with 95% intervals) and median (dotted) of the pseudo-regret on mu2; one column per epsilon. Upper
    row: against the size of the first batch, in units of 1 / epsilon, with ratio 2. Lower row: against the ratio of the
    batches, with and without a long first batch. If noise makes the best arm look too bad by d (in d_epsilon) after n
    pulls, DP-IMED abandons it until another arm has n exp(n d) pulls. With one noise term this happens in about
    exp(-n d) of the runs and costs little on average. Each further term in the sum multiplies the probability by a
    power of n d; the mean grows, but the median does not. A long first batch or a larger ratio reduces the number of
    terms."""
    rows = results.inference("tail")
    rows = rows[rows["instance"] == TAIL_INSTANCE].assign(first=lambda f: f["first"].fillna(0.0))
    rows = with_interval(rows, "regret", "se", least=50).sort_values("epsilon", kind="stable")
    names = rows["policy"].map({"dp_imed": "DP-IMED", "dp_klucb": "DP-KLUCB"}).fillna(rows["policy"])
    rows = rows.assign(name=names, panel=[f"$\\varepsilon = {epsilon:g}$" for epsilon in rows["epsilon"]])
    first = rows[rows["ratio"] == 2].assign(along="first", long="")
    ratio = rows[rows["first"].isin([0, 8])].assign(along="ratio")
    ratio = ratio.assign(long=np.where(ratio["first"] > 0, ", first = 8", ""))
    ratio = ratio[ratio.groupby(["name", "panel", "long"])["ratio"].transform("nunique") > 1]
    drawn = pd.concat([first, ratio], ignore_index=True)
    # A logarithmic axis cannot show 0.
    x = pd.Series(np.maximum(drawn["first"], 0.5)).where(drawn["along"] == "first", drawn["ratio"])
    drawn = in_order(drawn.assign(curve=drawn["name"] + drawn["long"], x=x), "along", "panel", "curve", by="x")
    looks = style.crossed(drawn, "curve", "name", "long", seconds=["", ", first = 8"])
    options = {"col": "panel", "row": "along", "sharex": "row", "height": 1.8, "log": "xy"}
    grid = curves(drawn, "x", "regret", looks=looks, **options)
    for ax, name, some in parts(grid):
        ax.plot(some["x"], some["median"], color=looks[name]["color"], linestyle=style.LINESTYLES[2], linewidth=0.9)
    texts = {"first": "first batch $\\times\\ \\varepsilon$ (0 at .5)", "ratio": "ratio of the batches"}
    for (along, epsilon), ax in grid.axes_dict.items():
        ax.set(title=epsilon if place_of(ax).is_first_row() else "", xlabel=texts[along])
        values = sorted(drawn.loc[drawn["along"] == along, "x"].unique())
        # A text that would touch the one before is left out.
        near = [False, *(second < 1.15 * first for first, second in itertools.pairwise(values))]
        style.ticks(ax, values, ["" if close else f"{x:g}" for x, close in zip(values, near, strict=True)])
    grid.set_ylabels("pseudo-regret at $T$")
    style.legend(grid.figure, columns=3)
    columns = ["along", "instance", "policy", "epsilon", "horizon", "ratio", "first", "replicates"]
    return grid.figure, drawn[[*columns, "regret", "se", "low", "high", "median", "q99"]]
