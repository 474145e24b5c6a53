"""Beyond the paper: the effect of each deviation of the program, and wrongly eliminated arms."""

from functools import partial

import numpy as np
import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025.figures_regret import LOGS, LOGS_LABEL, NO_SOURCE, algorithms, texts
from privarms.planning.labels import assigned
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves, in_order, leading, name_lines, place_of, points
from privarms.registry.artifacts import figure, table
from privarms.registry.modules import PolicyModule

ALONE = "without auxiliary data"


def _deviations(results: Results) -> pd.DataFrame:
    """Return the cells of study `deviations`, as `named`, with `switches`, empty for an algorithm itself."""
    # Each point in which the two variants differ: as printed, as released.
    differ = PolicyModule(panels.POLICY).deviations
    cells = results.cells("deviations")
    # The program's default batch is not named.
    cells = cells.assign(batch=cells["batch"].where(cells["batch"] != differ["batch"][1]))
    table = panels.named(cells).assign(figure="deviations")
    switches = []
    for variant, deviation, also in table[["variant", "deviation", "also"]].itertuples(index=False):
        changed = [name for name in differ if name in deviation.split()]
        values = {name: differ[name][variant == "as_printed"] for name in changed}
        # The environment's reward functions, and other added settings.
        switches.append(f"{assigned(values)} {also}".strip())
    plain = table.assign(deviation="", also="", program="")
    return table.assign(switches=switches, written=panels.written_variant(plain))


@table(
    "The distance between text and program",
    studies=["deviations"],
    card="The distance between text and program",
    tab="Table",
    file="deviations",
)
def deviations_table(results: Results) -> pd.DataFrame:
    """Regret with one deviation changed at a time; `switches` names it with the other variant's value, and is empty for
    the variant itself."""
    return panels.written(_deviations(results), "switches")


@figure(
    "The distance between text and program",
    studies=["deviations"],
    card="The distance between text and program",
    tab="Figure",
)
def deviations(results: Results):
    """Regret per user with one deviation changed at a time, from the program to the text (upper block) and from the
    text, c = 2, to the program, with 95% intervals of the mean. A point of fewer than five runs is hollow and has no
    interval. The text's algorithm also has larger constants. Uniform play costs .414 per user with the program's reward
    functions and .437 with the printed ones ("centres"). Rings: the authors' logs, at the older version of the program
    that made them."""
    table = with_interval(_deviations(results), "mean_regret", "se_regret")
    table = table.assign(per_user=table["mean_regret"] / table["n"], title=texts(table, ["n"]))
    table = table.assign(name=texts(table, ["epsilon"]), changed=table["switches"] != "")
    # Each algorithm, then its changes; the text's constants in their order.
    lines = table.drop_duplicates(["written", "switches"]).sort_values("c", kind="stable", na_position="first")
    lines = lines.sort_values("changed", kind="stable")
    lines = in_order(lines, "written")[["written", "switches", "changed", "program"]]
    drawn = table.merge(lines.assign(place=lines.index)[["written", "switches", "place"]], on=["written", "switches"])
    low = np.maximum(drawn["low"], 0.1 * drawn["mean_regret"])
    drawn = drawn.assign(low=low / drawn["n"], high=drawn["high"] / drawn["n"]).sort_values(["n", "epsilon"])
    options = {"hue": "name", "col": "title", "wrap": 3, "log": "x", "height": 0.2 * len(lines) + 0.5}
    draw = partial(points, along="x")
    grid = curves(drawn, "per_user", "place", looks=style.in_sequence(drawn["name"]), draw=draw, **options)
    logs = panels.logs(results)
    logs = logs[logs["figure"] == "fig7a"]
    logs = logs.assign(title=texts(logs, ["n"]))
    for title, ax in grid.axes_dict.items():
        theirs = logs[logs["title"] == title]
        for place in lines.index[lines["program"] == "older"]:
            ax.plot(theirs["mean_regret"] / theirs["n"], [place] * len(theirs), label=LOGS_LABEL, **LOGS)
        for place in lines.index[~lines["changed"]]:
            ax.axhline(place, color=style.QUIET, linewidth=0.6, zorder=0)
        ax.grid(visible=False, axis="y")
    style.log_ticks(grid.axes.flat[0].xaxis)
    names = lines["switches"].str.replace("_", " ").str.replace("=", ": ")
    names = names.where(lines["changed"], panels.words(lines["written"]))
    name_lines(grid.axes.flat[0], names.where(lines["program"] != "older", "older version"))
    grid.set_axis_labels("regret per user", "")
    style.legend(grid.figure, columns=6)
    return grid.figure, panels.written(table, "switches", "low", "high", "per_user").drop(columns=["figure"])


@figure("Is the eliminated arm the best one?", inference=["eliminations"])
def elimination_correctness(results: Results):
    """Upper row: share of eliminated arms that are best; lower row: share of contexts without their best arm; against
    epsilon. One column per algorithm; exponential environment. Black: without auxiliary data. Colours: two sources of
    half as many users as the target, by their budget eps_m. An arm is best in a bin if it is best in its middle.
    Dashed: random elimination. A setting that eliminates nothing has no curve. Bands: 95% intervals of at least five
    runs."""
    table = results.inference("eliminations")
    table = table[["quality" in str(p).split() for p in table["panels"]]]
    budgets = pd.Series(texts(table, ["epsilon_aux"]), table.index).where(table["n_aux"] > 0, ALONE)
    names = algorithms(table.assign(program="", written=panels.written_variant(table.assign(program=""))))
    titles = {"wrong": "eliminated arms\nthat are best", "lost": "contexts without\ntheir best arm"}
    shown = table.assign(name=budgets, algorithm=names)
    parts = [with_interval(shown.assign(y=table[c], share=title), c, f"{c}_se") for c, title in titles.items()]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows[rows.groupby(["algorithm", "name"])["removed"].transform("sum") > 0]
    rows = leading(rows.assign(low=rows["low"].clip(0, 1), high=rows["high"].clip(0, 1)), "algorithm", [panels.PROGRAM])
    # Two sources of different budgets are named like "2|8".
    order = rows.sort_values("epsilon_aux", key=lambda e: e.str.split("|").str[-1].astype(float))["name"].unique()
    # A share may exist at one epsilon only, so it needs a marker.
    looks = {ALONE: NO_SOURCE | {"marker": "X"}} | style.in_sequence(name for name in order if name != ALONE)
    options = {"row": "share", "col": "algorithm", "hue": "name", "row_order": [*titles.values()], "sharey": "row"}
    grid = curves(rows, "epsilon", "y", looks=looks, log="x", height=1.8, **options)
    for (share, algorithm), ax in grid.axes_dict.items():
        ax.set_title(algorithm if place_of(ax).is_first_row() else "")
        ax.set_ylabel(f"share of {share}" if place_of(ax).is_first_col() else "")
        if share == titles["wrong"]:
            ax.axhline(1 / 3, **style.GUIDE)
    style.log_ticks(grid.axes.flat[0].xaxis)
    grid.set(ylim=(-0.02, None)).set_xlabels("privacy budget $\\varepsilon$")
    style.legend(grid.figure)
    return grid.figure, table.drop(columns=["panels"])
