"""Figures 7 to 9: regret by users, auxiliary users, their exploration, their distribution and their order.

Every panel draws all of its cells. Other varying settings than those of the published figure get their own axes, and
every algorithm gets its own lines or axes.
"""

import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

LOGS = {"linestyle": "none", "marker": "D", "markersize": 3.6, "markerfacecolor": "none", "markeredgecolor": "black",
        "markeredgewidth": 0.7, "zorder": 5}  # fmt: skip
LOGS_LABEL = "means of the authors' logs"
SYMBOLS = {
    "n": "n_P", "epsilon": "\\varepsilon", "n_aux": "n_Q", "epsilon_aux": "\\varepsilon_m", "gamma": "\\gamma",
    "kappa": "\\kappa", "M": "M", "K": "K",
}  # fmt: skip
ORDERS = {panels.LOW_FIRST: "low quality first", panels.HIGH_FIRST: "high quality first"}
# The axes of cells without auxiliary data.
OF_TARGET = ("n", "epsilon", "M", "K")
# The horizontal axis of a figure, and the columns that distinguish its lines.
LAYOUTS = {
    "fig7": ("n", ["epsilon"]),
    "fig8": ("n_aux", ["epsilon_aux", "order"]),
    "fig9a": ("kappa", ["n_aux"]),
    "fig9b": ("gamma", ["n_aux"]),
    "fig9c": ("n_aux", ["epsilon", "order"]),
}
NAMES = {"n": "target users $n_P$ (thousands)", "n_aux": "auxiliary users per source $n_Q$ (thousands)"}


def text(column: str, value) -> str:
    """Return a setting for a legend or a title."""
    if column == "order":
        return ORDERS.get(value, value)
    shown = f"{int(value):,}".replace(",", "{,}") if column in ("n", "n_aux") else value
    return f"${SYMBOLS[column]} = {shown:g}$" if isinstance(shown, int | float) else f"${SYMBOLS[column]} = {shown}$"


def texts(rows: pd.DataFrame, columns: list[str]) -> list[str]:
    """Return the settings of each row in some columns, for legends and titles."""
    return [", ".join(text(c, v) for c, v in row.items() if v != "") for row in rows[columns].to_dict("records")]


def of_logs(results: Results, cells: pd.DataFrame, figure: str, environment: str) -> pd.DataFrame:
    """Return the authors' means at the settings of a panel's cells; none for the second environment."""
    output = panels.logs(results)
    mine = (output["figure"] == figure) & (environment == "exponential")
    theirs = panels.of_authors(cells)
    for column in set(panels.AXES) & set(output.columns):
        mine &= output[column].isin(theirs[column])
    return output[mine]


# Every panel of Figures 7 to 9 shows the cells of the grids that carry its name, in both environments.
CARDS = {
    "fig7": "Figure 7: regret over target users",
    "fig8": "Figure 8: regret by quality, size and budget of auxiliary data",
    "fig9": "Figure 9: behaviour policy, shift and order of sources",
}
ENVIRONMENTS = {
    "exponential": {"studies": ["regret", "regret_printed"], "tab": "Exponential environment"},
    "symmetric": {"studies": ["regret_symmetric"], "tab": "Second environment"},
}
ALGORITHMS = {
    "exponential": "As released, with noise from every user (`+ noise`), and as printed. As printed has the text's "
    "reward functions and auxiliary contexts, the others the program's. Diamonds: means of the authors' logs.",
    "symmetric": "As released, with noise from every user (`+ noise`), and as printed. We take the program's second "
    "environment for the supplement's alternative setting, which is not available.",
}
TITLES = {
    "fig7a": "Figure 7(a): regret over target users",
    "fig7b": "Figure 7(b): regret with auxiliary data",
    "fig8a": "Figure 8(a): gamma = 0, epsilon = 1",
    "fig8b": "Figure 8(b): gamma = 0.2, epsilon = 1",
    "fig8c": "Figure 8(c): gamma = 2, epsilon = 1",
    "fig8d": "Figure 8(d): gamma = 0, epsilon = 2",
    "fig8e": "Figure 8(e): gamma = 0.2, epsilon = 2",
    "fig8f": "Figure 8(f): gamma = 2, epsilon = 2",
    "fig9a": "Figure 9(a): regret over kappa",
    "fig9b": "Figure 9(b): regret over gamma",
    "fig9c": "Figure 9(c): which source comes first",
}
LEVEL = "95% intervals of the mean. Level lines: without auxiliary data."
CAPTIONS = {
    "fig7a": "Regret against target users. 95% intervals of the mean; every panel has its own scale.",
    "fig7b": "Regret against target users with auxiliary data, eps_1 = 8. 95% intervals of the mean; every panel has "
    "its own scale.",
    "fig8": f"Regret against auxiliary users, two sources. {LEVEL}",
    "fig9a": f"Regret against kappa; epsilon = 2, gamma = .2, two sources. {LEVEL}",
    "fig9b": f"Regret against gamma; epsilon = 2, kappa = 1, two sources. {LEVEL}",
    "fig9c": f"Two sources, eps_m = 2 and 8, in either order; gamma = 0. {LEVEL}",
}
# Only in the first environment.
NOTES = {
    "fig7a": " The current program is the released one; an older version drew the figure in the paper.",
    "fig8": " As printed has n_Q = 50,000 and eps_m = 8, and at gamma = 0 the ends of both axes.",
    "fig9a": " As printed has n_Q = 50,000 and three kappa.",
    "fig9b": " As printed has n_Q = 50,000 and three gamma.",
    "fig9c": " As printed has n_Q = 50,000.",
}


def _panel(name: str, environment: str):
    """Return the decorator that registers a panel."""
    symmetric = environment == "symmetric"
    key = name if name in CAPTIONS else name[:4]
    return figure(
        f"{TITLES[name]}, second environment" if symmetric else TITLES[name],
        f"{CAPTIONS[key]} {ALGORITHMS[environment]}{'' if symmetric else NOTES.get(key, '')}",
        name=f"{name}_symmetric" if symmetric else name,
        arguments={"name": name, "environment": environment},
        card=CARDS[name[:4]],
        **ENVIRONMENTS[environment],
    )


def regret_panel(results: Results, name: str, environment: str):
    """Draw one panel of Figures 7 to 9."""
    x, lines = LAYOUTS.get(name) or LAYOUTS[name[:4]]
    cells = with_interval(panels.panel(results, name, environment), "mean_regret", "se_regret")
    logs = of_logs(results, cells, name, environment)
    helped = cells[cells["n_aux"] > 0]
    helped = cells if helped.empty else helped
    apart = [a for a in panels.AXES if a not in (x, *lines) and helped[a].nunique() > 1]
    rows = _in_panels(helped, cells.drop(helped.index), apart)
    ours = panels.written(rows, "low", "high", *(["panel"] if apart else []))
    # The authors' cells have three arms.
    settings = logs.assign(K=3)[apart]
    theirs = logs.assign(variant="authors_logs", panel=_panel_names(settings, apart))
    numbers = pd.concat([ours, theirs], ignore_index=True)
    # Without auxiliary data nothing varies along the axis: a level line.
    alone = rows["n_aux"].eq(0) & (x != "n")
    scale = 1e3 if x in NAMES else 1
    line = pd.Series(texts(rows, lines), rows.index).mask(alone, "$n_Q = 0$")
    if "epsilon" in lines:
        line = line.mask(alone, line + ", " + pd.Series(texts(rows, ["epsilon"]), rows.index))
    algorithm = panels.words(rows["written"])
    rows = rows.assign(x=(rows[x] / scale).mask(alone), line=line, algorithm=algorithm)
    logs = logs.assign(title=texts(settings, apart))
    # On a logarithmic axis an interval must not reach 0.
    rows = rows.assign(low=rows["low"].clip(lower=rows["mean_regret"] / 20))
    if x == "n":
        of_authors, end = algorithm[panels.of_authors(cells).index[0]], ", " if apart else ""
        rows = rows.assign(title=rows["algorithm"] + end + rows["title"], name=rows["line"])
        rows = rows.sort_values("epsilon", kind="stable")
        logs = logs.assign(title=[of_authors + end + t for t in logs["title"]])
        looks, options = style.looks(rows["name"]), {"sharey": False}
    else:
        rows = rows.assign(name=rows["algorithm"] + ", " + rows["line"])
        looks, options = _looks(rows), {"log": "y", "height": 2.4}
    grid = curves(rows, "x", "mean_regret", looks=looks, hue="name", col="title", wrap=3, **options)
    for title, ax in grid.axes_dict.items():
        theirs = logs[logs["title"] == title]
        if len(theirs):
            ax.plot(theirs[x] / scale, theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        if x == "n":
            ax.set_ylim(0, None)
        else:
            style.log_ticks(ax.yaxis)
    grid.set_axis_labels(NAMES.get(x, f"${SYMBOLS[x]}$"), "cumulative regret")
    style.legend(grid.figure, columns=6 if x == "n" else 3)
    return grid.figure, numbers[[*ours.columns.drop("figure")]]


def _in_panels(helped: pd.DataFrame, base: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return cells with the name and title of their panel; those without auxiliary data are in each panel of their
    target."""
    facets = helped[columns].drop_duplicates().sort_values(columns) if columns else pd.DataFrame(index=[0])
    facets = facets.assign(place=range(len(facets)), panel=_panel_names(facets, columns), title=texts(facets, columns))
    shared = [c for c in columns if c in OF_TARGET]
    parts = []
    for cells, keys in ((helped, columns), (base, shared)):
        own = facets.drop(columns=[c for c in columns if c not in keys])
        cells = cells.reset_index()
        parts.append(cells.merge(own, on=keys) if keys else cells.merge(own, how="cross"))
    return pd.concat(parts).sort_values(["place", "index"], ignore_index=True)


def _panel_names(rows: pd.DataFrame, columns: list[str]) -> list[str]:
    return ["; ".join(f"{k} = {v}" for k, v in row.items()) for row in rows[columns].to_dict("records")]


def _looks(rows: pd.DataFrame) -> style.Looks:
    """Return the looks: colours distinguish the lines, markers and dashes the algorithms."""
    colours, algorithms = style.looks(rows["line"]), list(rows["algorithm"].unique())
    looks = {}
    for name, line, algorithm in rows[["name", "line", "algorithm"]].itertuples(index=False):
        place = algorithms.index(algorithm)
        looks[name] = colours[line] | {"marker": style.MARKERS[place % len(style.MARKERS)]}
        looks[name] |= {"linestyle": style.LINESTYLES[place % len(style.LINESTYLES)]}
    return looks


for _environment in reversed(ENVIRONMENTS):
    for _name in reversed(TITLES):
        _panel(_name, _environment)(regret_panel)
