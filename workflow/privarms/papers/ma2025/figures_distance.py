"""Beyond the paper: what each deviation of the program does, which arms go wrongly, what auxiliary data save."""

from functools import cache, partial

import numpy as np
import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._transfer import gains
from privarms.papers.ma2025.figures_regret import (
    BUDGETS,
    LOGS,
    LOGS_LABEL,
    OF_TARGET,
    grey_markers,
    settings,
    text,
    varying,
    with_regret,
    within,
)
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves, in_order, name_lines, points
from privarms.studies import library
from privarms.studies.artifacts import figure, table
from privarms.studies.results import Results


@cache
def _points() -> dict[str, tuple]:
    """Each point in which the two variants differ: as printed, as released."""
    return library.attributes("policies", panels.POLICY)["DEVIATIONS"]


def _deviations(results: Results) -> pd.DataFrame:
    """The cells of study `deviations`: those of `named`, and `switches`, empty for an algorithm itself."""
    cells = results.cells("deviations")
    # The batch that the program has by default is not told.
    if "batch" in cells:
        cells = cells.assign(batch=cells["batch"].where(cells["batch"] != _points()["batch"][1]))
    table = panels.named(cells).assign(figure="deviations")
    table["switches"] = [_switches(row) for _, row in table.iterrows()]
    plain = table.assign(deviation="", also="", program="")
    return table.assign(written=panels.written_variant(plain))


def _switches(row: pd.Series) -> str:
    other = row["variant"] == "as_printed"
    changed = [name for name in _points() if name in row["deviation"].split()]
    values = [(name, _points()[name][other]) for name in changed]
    texts = [f"{name}={value}" if isinstance(value, str) else f"{name}={value:g}" for name, value in values]
    # The environment's reward functions, and whatever else was added.
    return " ".join([*texts, *([row["also"]] if row["also"] else [])])


@table(
    "The distance between text and program",
    studies=["deviations"],
    card="The distance between text and program",
    tab="Table",
    file="deviations",
)
def deviations_table(results: Results) -> pd.DataFrame:
    """Regret as each deviation is changed alone; `switches` says which, with the other variant's value, and is empty
    for the variant itself.
    """
    return panels.written(_deviations(results), "switches")


@figure(
    "The distance between text and program",
    studies=["deviations"],
    card="The distance between text and program",
    tab="Figure",
)
def deviations(results: Results):
    """Regret a user as each deviation is changed alone, from the program towards the text (upper block) and from the
    text, c = 2, towards the program. 95% intervals of the mean; as printed also with larger constants. Uniform play
    costs .414 a user with the program's reward functions and .437 with the printed ones ("centres"). Diamonds, the
    authors' logs, beside the older version of the program that made them.
    """
    table = with_regret(_deviations(results)).assign(per_user=lambda f: f["mean_regret"] / f["n"])
    key = ["written", "switches"]
    lines = table.assign(words=_words(table), changed=table["switches"] != "").drop_duplicates(key)
    # Each algorithm, then its changes.
    lines = in_order(lines.sort_values("changed", kind="stable"), "written")
    shown = settings(table, ["n", *varying(table, ("n", "epsilon"))])
    titles = [", ".join(text(*s) for s in facet.items()) for facet in shown]
    drawn = table.merge(lines[key].assign(place=lines.index), how="left", on=key)
    drawn = drawn.assign(name=[text("epsilon", e) for e in table["epsilon"]])
    drawn = pd.concat([within(drawn, f).assign(title=t, n_P=f["n"]) for f, t in zip(shown, titles, strict=True)])
    low = np.maximum(drawn["low"], 0.1 * drawn["mean_regret"])
    drawn = drawn.assign(low=low / drawn["n_P"], high=drawn["high"] / drawn["n_P"])
    drawn = drawn.sort_values("epsilon", kind="stable")
    looks = style.looks(drawn["name"], [text("epsilon", float(budget)) for budget in BUDGETS])
    options = {"hue": "name", "col": "title", "col_order": titles, "wrap": 3, "log": "x"}
    draw = partial(points, along="x")
    height = 0.2 * len(lines) + 0.5
    grid = curves(drawn, "per_user", "place", looks=looks, draw=draw, height=height, **options)
    older = lines.index[lines["program"] == "older"]
    of_logs = panels.logs(results)
    of_logs = of_logs[(of_logs["figure"] == "fig7a") & of_logs["n"].isin(table["n"])]
    for title, facet in zip(titles, shown, strict=True):
        ax, theirs = grid.axes_dict[title], within(of_logs, facet, literally=True)
        if len(older) and len(theirs):
            ax.plot(theirs["mean_regret"] / facet["n"], [older[0]] * len(theirs), label=LOGS_LABEL, **LOGS)
        for place in lines.index[~lines["changed"]]:
            ax.axhline(place, color=style.QUIET, linewidth=0.6, zorder=0)
        ax.grid(visible=False, axis="y")
    style.log_ticks(grid.axes.flat[0].xaxis)
    name_lines(grid.axes.flat[0], lines["words"])
    grid.set_axis_labels("regret a user", "")
    style.legend(grid.figure, columns=6)
    return grid.figure, panels.written(table, "switches", "low", "high", "per_user").drop(columns=["figure"])


def _words(table: pd.DataFrame) -> list[str]:
    plain = panels.labels(table.assign(deviation="", also="", program=""))
    return [
        name if not s else "older version" if p == "older" else s.replace("_", " ").replace("=", ": ")
        for name, s, p in zip(plain, table["switches"], table["program"], strict=True)
    ]


@figure("Is the arm that goes the best one?", inference=["eliminations"])
def elimination_correctness(results: Results):
    """40,000 target users, exponential environment; two sources of 20,000 users where there are some. An arm is best in
    a bin if it is best in its middle. An algorithm that never removes anything has no curves.
    """
    table = results.inference("eliminations")
    table = table[["quality" in str(p).split() for p in table["panels"]]]
    budgets = [f"{e:g}" for e in sorted(table["epsilon"].unique())]
    columns = varying(table, ("epsilon",))
    names = []
    for _, row in table.iterrows():
        helped = row["n_aux"] > 0
        words = [text(c, row[c]) for c in columns if c in OF_TARGET or (helped and row[c] != "")]
        names.append(", ".join([row["label"], "with sources" if helped else "alone", *words]))
    table = table.assign(name=names)
    # Where nothing ever goes, there is nothing to be right or wrong about.
    idle = table.groupby("label")["removed"].transform("sum") == 0
    released_first = table.assign(printed=~table["label"].str.startswith("as released"))
    lines = released_first[~idle].sort_values(["printed", "label", "n_aux"])
    titles = {"wrong": "removals that hit the best arm", "lost": "contexts without their best arm"}
    parts = []
    for column, title in titles.items():
        part = with_interval(lines.assign(y=lines[column], title=title), column, f"{column}_se")
        parts.append(part.assign(low=part["low"].clip(0, 1), high=part["high"].clip(0, 1)))
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(x=[budgets.index(f"{e:g}") for e in rows["epsilon"]])
    grid = curves(rows, "x", "y", looks=style.looks(rows["name"]), hue="name", col="title", sharey=False, height=2.4)
    grid.axes.flat[0].axhline(1 / 3, label="an arm at random", **style.GUIDE)
    for ax in grid.axes.flat:
        style.ticks(ax, range(len(budgets)), budgets)
    grid.set(ylim=(-0.02, None)).set_axis_labels("privacy budget $\\varepsilon$", "share")
    without = "nothing is removed: " + "; ".join(table.loc[idle, "label"].unique())
    style.legend(grid.figure, columns=2, title=without if idle.any() else None)
    return grid.figure, table.drop(columns=["name", "panels"])


@figure(
    "What auxiliary data save, and what the rate promises",
    studies=["regret", "regret_printed", "regret_symmetric", "regret_printed_symmetric"],
)
def transfer_gain(results: Results):
    """The cells of Figure 8: regret with auxiliary data over that without, against the same ratio of the rate of
    Theorem 3.4 (transfer exponent 2 gamma as released). 95% intervals as released; grey, as printed, 10 runs a cell or
    more.
    """
    table = gains(results)
    table = table.assign(label=panels.labels(table))
    printed = table.groupby("label")["variant"].transform(lambda v: (v == "as_printed").all())
    names = [f"{label}, {text('gamma', gamma)}" for label, gamma in zip(table["label"], table["gamma"], strict=True)]
    rows = table.assign(name=table["label"].where(printed, names), title=table["environment"] + " environment")
    rows = with_interval(rows, "gain", "gain_se", least=10)
    fixed = tuple(f"as released, {text('gamma', g)}" for g in (0.0, 0.2, 2.0))
    looks = style.looks(rows.loc[~printed, "name"].sort_values(kind="stable"), fixed)
    for name, marker in grey_markers(list(rows.loc[printed, "name"])).items():
        looks[name] = {"marker": marker, "color": style.QUIET, "linestyle": "none"}
    looks = {name: look | {"capsize": 0, "elinewidth": 0.7} for name, look in looks.items()}
    grid = curves(rows, "rate", "gain", looks=looks, hue="name", col="title", draw=points, log="xy", height=2.7)
    ends = np.array([table["rate"].min(), 1])
    for ax in grid.axes.flat:
        ax.plot(ends, ends, label="as the rate of Theorem 3.4", **style.LEVEL)
        style.log_ticks(ax.xaxis)
        style.log_ticks(ax.yaxis)
    grid.set_axis_labels("ratio of the rates, with over without", "regret with auxiliary data\nover without")
    style.legend(grid.figure, columns=3)
    return grid.figure, panels.written(table, "gain", "gain_se", "rate", "base_error")
