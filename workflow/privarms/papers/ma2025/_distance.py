"""Beyond the paper: what each deviation of the program does, which arms go wrongly, what auxiliary data save."""

from functools import cache

import numpy as np
import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._regret_figures import (
    BUDGETS,
    FREE_MARKERS,
    LOGS,
    LOGS_LABEL,
    OF_TARGET,
    PRINTED,
    facets,
    text,
    varying,
    with_interval,
    within,
)
from privarms.papers.ma2025._transfer import gains
from privarms.plots import old_style as style
from privarms.plots.curves import interval
from privarms.studies import library
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


def deviations_table(results: Results) -> pd.DataFrame:
    """Regret with each deviation changed alone: the columns of `regret` and `switches`, empty for a variant itself."""
    return panels.written(_deviations(results), "switches")


def deviations(results: Results):
    """Regret a user by n and epsilon as each deviation is changed alone, from both ends."""
    table = with_interval(_deviations(results)).assign(per_user=lambda f: f["mean_regret"] / f["n"])
    rows = _rows(table)
    table["row"] = [rows.index((w, s)) for w, s in zip(table["written"], table["switches"], strict=True)]
    settings = facets(table, ["n", *varying(table, ("n", "epsilon"))])
    of_logs = panels.logs(results)
    of_logs = of_logs[(of_logs["figure"] == "fig7a") & of_logs["n"].isin(table["n"])]
    columns = min(len(settings), 3)
    lines = -(-len(settings) // columns)
    fig, axes = style.subplots(
        lines, columns, width=style.PAGE, height=(0.22 * len(rows) + 0.7) * lines + 0.4, sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    looks = style.Palette([f"{e:g}" for e in sorted(table["epsilon"].unique())], fixed=BUDGETS)
    older = [i for i, (_, s) in enumerate(rows) if s in table.loc[table["program"] == "older", "switches"].to_numpy()]
    for ax in axes.flat[len(settings) :]:
        ax.set_visible(False)
    for ax, facet in zip(axes.flat, settings, strict=False):
        of_facet = within(table, facet)
        for epsilon, here in of_facet.groupby("epsilon"):
            error = np.array([here["mean_regret"] - here["low"], here["high"] - here["mean_regret"]]) / facet["n"]
            error[0] = np.minimum(error[0], 0.9 * here["per_user"])
            look = looks.line(f"{epsilon:g}") | {"linestyle": "none", "capsize": 0, "elinewidth": 0.8}
            ax.errorbar(here["per_user"], here["row"], xerr=error, label=text("epsilon", float(epsilon)), **look)
        theirs = within(of_logs, facet, literally=True)
        if older and len(theirs):
            y = [older[0]] * len(theirs)
            ax.plot(theirs["mean_regret"] / facet["n"], y, label=LOGS_LABEL, **LOGS)
        for place, (_, switches) in enumerate(rows):
            if not switches:
                ax.axhline(place, color=style.QUIET, linewidth=0.6, zorder=0)
        ax.set(xscale="log", title=", ".join(text(*s) for s in facet.items()), xlabel="regret a user")
        ax.grid(visible=False, axis="y")
    style.log_ticks(axes[0, 0].xaxis)
    words = {(w, s): w_ for w, s, w_ in zip(table["written"], table["switches"], _words(table), strict=True)}
    axes[0, 0].set_yticks(range(len(rows)), [words[key] for key in rows])
    axes[0, 0].set_ylim(len(rows) - 0.4, -0.6)
    style.legend(fig, columns=6)
    return fig, panels.written(table, "switches", "low", "high", "per_user").drop(columns=["figure"])


def _rows(table: pd.DataFrame) -> list[tuple[str, str]]:
    """(algorithm, switches) from top to bottom: each algorithm, then its changes; as released first."""
    found = list(dict.fromkeys(zip(table["written"], table["switches"], strict=True)))
    bases = list(dict.fromkeys(w for w, _ in found))
    return sorted(found, key=lambda key: (bases.index(key[0]), key[1] != "", found.index(key)))


def _words(table: pd.DataFrame) -> list[str]:
    plain = panels.labels(table.assign(deviation="", also="", program=""))
    return [
        name if not s else "older version" if p == "older" else s.replace("_", " ").replace("=", ": ")
        for name, s, p in zip(plain, table["switches"], table["program"], strict=True)
    ]


def elimination_correctness(results: Results):
    """How often the arm that goes was the best one in its bin, and how much of the square loses its best arm."""
    table = results.inference("eliminations")
    table = table[["quality" in str(p).split() for p in table["panels"]]]
    budgets = [f"{e:g}" for e in sorted(table["epsilon"].unique())]
    columns = varying(table, ("n", "epsilon", "n_aux", "epsilon_aux", "order"))
    columns += ["n"] if table["n"].nunique() > 1 else []
    sources = [c for c in ("n_aux", "epsilon_aux", "order") if c == "epsilon_aux" or _among_helped(table, c) > 1]
    names = []
    for _, row in table.iterrows():
        of_sources = "sources of " + ", ".join(text(c, row[c]) for c in sources if row[c] != "")
        words = [row["label"], "alone" if row["n_aux"] == 0 else of_sources]
        words += [text(c, row[c]) for c in columns if c in OF_TARGET or row["n_aux"] > 0]
        names.append(", ".join(words))
    table = table.assign(name=names)
    # Where nothing ever goes, there is nothing to be right or wrong about.
    idle = table.groupby("label")["removed"].transform("sum") == 0
    order = {name: i for i, name in enumerate(dict.fromkeys(sorted(table["label"].unique(), key=_released_first)))}
    curves = table[~idle].sort_values(["label", "n_aux"], key=lambda c: c.map(order) if c.name == "label" else c)
    fig, axes = style.subplots(1, 2, width=style.PAGE, height=3.1)
    looks = style.Palette(curves["name"].unique(), fixed=())
    for name, curve in curves.groupby("name", sort=False):
        curve = curve.sort_values("epsilon")
        x = [budgets.index(f"{e:g}") for e in curve["epsilon"]]
        for ax, column in zip(axes, ("wrong", "lost"), strict=True):
            low, high = interval(curve[column], curve[f"{column}_se"], curve["replicates"])
            style.band(ax, x, curve[column], low.clip(0, 1), high.clip(0, 1), label=name, **looks.line(name))
    axes[0].axhline(1 / 3, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)))
    where = {"xytext": (0, 3), "textcoords": "offset points", "ha": "right", "color": style.QUIET}
    axes[0].annotate("an arm at random", (len(budgets) - 1, 1 / 3), **where)
    names = ("removals that hit the best arm", "contexts without their best arm")
    for ax, name in zip(axes, names, strict=True):
        ax.set_xticks(range(len(budgets)), budgets)
        ax.set(xlabel="privacy budget $\\varepsilon$", ylabel=name, ylim=(-0.02, None))
    if idle.any():
        without = style.wrapped("nothing is removed: " + "; ".join(table.loc[idle, "label"].unique()), 42)
        axes[1].set_title(without, fontsize=8)
    style.legend(fig, columns=2)
    return fig, table.drop(columns=["name", "panels"])


def _among_helped(table: pd.DataFrame, column: str) -> int:
    return table.loc[table["n_aux"] > 0, column].nunique()


def _released_first(label: str) -> tuple:
    return (not label.startswith("as released"), label)


def transfer_gain(results: Results):
    """Regret with auxiliary data over that without, against the ratio of Theorem 3.4's rates."""
    table = gains(results)
    table = table.assign(label=panels.labels(table))
    fig, axes = style.subplots(1, 2, width=style.PAGE, height=3.2, sharex=True, sharey=True)
    names = list(dict.fromkeys(table["label"]))
    grey = [n for n in names if (table.loc[table["label"] == n, "variant"] == "as_printed").all()]
    free = (marker for marker in FREE_MARKERS * (1 + len(grey)))
    grey = {name: PRINTED.get(name) or next(free) for name in grey}
    lines = table[~table["label"].isin(grey)]
    keys = [f"{n}, {text('gamma', g)}" for n in names if n not in grey for g in sorted(lines["gamma"].unique())]
    fixed = tuple(f"as released, {text('gamma', g)}" for g in (0.0, 0.2, 2.0))
    looks = style.Palette(keys, fixed=fixed)
    for ax, environment in zip(axes, panels.STUDIES, strict=True):
        here = table[table["environment"] == environment]
        for (label, gamma), points in here[~here["label"].isin(grey)].groupby(["label", "gamma"], sort=False):
            name = f"{label}, {text('gamma', gamma)}"
            low, high = interval(points["gain"], points["gain_se"], points["replicates"])
            look = looks.line(name) | {"linestyle": "none", "capsize": 0, "elinewidth": 0.7}
            error = [np.minimum(points["gain"] - low, 0.9 * points["gain"]), high - points["gain"]]
            ax.errorbar(points["rate"], points["gain"], yerr=error, label=name, **look)
        for label, marker in grey.items():
            points = here[here["label"] == label]
            look = {"linestyle": "none", "marker": marker, "color": style.QUIET}
            ax.plot(points["rate"], points["gain"], label=label, **look)
        ends = np.array([table["rate"].min(), 1])
        ax.plot(ends, ends, color="black", linewidth=0.9, linestyle=(0, (4, 2)), label="as the rate of Theorem 3.4")
        title = f"{environment} environment"
        ax.set(xscale="log", yscale="log", title=title, xlabel="ratio of the rates, with over without")
    for axis in (axes[0].xaxis, axes[0].yaxis):
        style.log_ticks(axis)
    axes[0].set(ylabel="regret with auxiliary data over without")
    style.legend(fig, columns=3)
    return fig, panels.written(table, "gain", "gain_se", "rate", "base_error")
