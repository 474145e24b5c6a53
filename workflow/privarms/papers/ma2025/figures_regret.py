"""Figures 7 to 9: regret by users, auxiliary users, their exploration, their distribution and their order.

Every panel draws its cells: a column per algorithm, and a row per value of other settings that vary. At a place of a
published curve an added cell is only in the CSV file.
"""

from typing import Any

import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import Panels, curves
from privarms.registry.artifacts import figure

# A ring around our point: both are visible where they agree.
LOGS = {"linestyle": "none", "marker": "o", "markersize": 5.5, "markerfacecolor": "none", "markeredgecolor": "black",
        "markeredgewidth": 0.6, "zorder": 5}  # fmt: skip
LOGS_LABEL = "authors' logs"
SYMBOLS = {
    "n": "n_P", "epsilon": "\\varepsilon", "n_aux": "n_Q", "epsilon_aux": "\\varepsilon_m", "gamma": "\\gamma",
    "kappa": "\\kappa", "M": "M", "K": "K",
}  # fmt: skip
# The look of cells without auxiliary data where curves are by the sources' settings.
NO_SOURCE = {"color": "black", "linewidth": 0.9, "marker": None, "linestyle": "-", "zorder": 1.5}
ORDERS = {panels.LOW_FIRST: "low quality first", panels.HIGH_FIRST: "high quality first"}
# The axes of cells without auxiliary data.
OF_TARGET = ("n", "epsilon", "M", "K")
# The horizontal axis of a figure, and the columns that distinguish its lines.
LAYOUTS = {
    "fig7": ("n", ["epsilon"]),
    "fig8": ("n_aux", ["epsilon_aux", "order"]),
    "fig9a": ("kappa", ["n_aux"]),
    "fig9b": ("gamma", ["n_aux"]),
    "fig9c": ("n_aux", ["order", "epsilon"]),
}
NAMES = {"n": "target users $n_P$ (thousands)", "n_aux": "users per source $n_Q$ (thousands)"}
UNIFORM_NOTE = "grey: uniform play\n($c \\geq 64$)"


def text(column: str, value: Any) -> str:
    """Return a setting for a legend or a title."""
    if column == "order":
        return str(ORDERS.get(value, value))
    shown = f"{int(value):,}".replace(",", "{,}") if column in ("n", "n_aux") else value
    return f"${SYMBOLS[column]} = {shown:g}$" if isinstance(shown, int | float) else f"${SYMBOLS[column]} = {shown}$"


def texts(rows: pd.DataFrame, columns: list[str]) -> list[str]:
    """Return the settings of each row in some columns, for legends and titles."""
    return [", ".join(text(str(c), v) for c, v in row.items() if v != "") for row in rows[columns].to_dict("records")]


def of_logs(results: Results, cells: pd.DataFrame, environment: str) -> pd.DataFrame:
    """Return the authors' means at the settings of a panel's cells; none for the second environment."""
    logs = panels.logs(results)
    if environment != "exponential":
        return logs.iloc[:0]
    # The logs list a cell of several panels in one of them.
    theirs = panels.of_authors(cells).assign(figure=lambda rows: rows["panels"].str.split()).explode("figure")
    theirs = theirs.loc[theirs["K"] == 3, panels.LOGS_KEY].drop_duplicates()
    return logs.merge(theirs, on=panels.LOGS_KEY)


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
    "exponential": "Algorithms: the authors' program, the program with the noise from every user that privacy needs, "
    "and the text's algorithm with c = 2. Grey: the text's algorithm with c = 64, which plays uniformly. The text has "
    "its own reward functions and auxiliary contexts. Rings: means of the authors' logs, where our sizes are theirs.",
    "symmetric": "Algorithms: the authors' program, the program with the noise from every user that privacy needs, "
    "and the text's algorithm with c = 2. We take the program's second environment for the supplement's alternative "
    "setting, which is not available.",
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
OVER_USERS = "Cumulative regret against target users n_P, one curve per budget epsilon"
CAPTIONS = {
    "fig7a": f"{OVER_USERS}, without auxiliary data. Each row has its own vertical axis.",
    "fig7b": f"{OVER_USERS}, with one source of eps_1 = 8. Each row has its own vertical axis.",
    "fig8": "Cumulative regret against users per source n_Q, one curve per budget eps_m of the two sources. At n_Q = 0 "
    "there are no auxiliary data. Panels (a) to (f) have one vertical axis.",
    "fig9a": "Cumulative regret against kappa, one curve per number n_Q of users per source; epsilon = 2, gamma = .2, "
    "two sources. Rows: the sources' budget eps_m.",
    "fig9b": "Cumulative regret against gamma, one curve per number n_Q of users per source; epsilon = 2, kappa = 1, "
    "two sources. Rows: the sources' budget eps_m.",
    "fig9c": "Cumulative regret against users per source n_Q. Of the two sources one has eps_m = 2 (low quality), the "
    "other 8, in either order; gamma = 0. Rows: target users n_P.",
}
# Only in the first environment.
NOTES = {
    "fig7a": " The older program, which drew the published figure, differs in two constants.",
    "fig8": " The text's algorithm runs at one size and budget of the sources, and at gamma = 0 also at the ends of "
    "both axes.",
    "fig9a": " The text's algorithm runs at one n_Q and three kappa.",
    "fig9b": " The text's algorithm runs at one n_Q and three gamma.",
    "fig9c": " The text's algorithm runs at one n_Q.",
}


def _panel(name: str, environment: str):
    """Return the decorator that registers a panel."""
    symmetric = environment == "symmetric"
    key = name if name in CAPTIONS else name[:4]
    note = "" if symmetric else NOTES.get(key, "")
    return figure(
        f"{TITLES[name]}, second environment" if symmetric else TITLES[name],
        f"{CAPTIONS[key]} {ALGORITHMS[environment]}{note} {panels.BANDS}",
        name=f"{name}_symmetric" if symmetric else name,
        arguments={"name": name, "environment": environment},
        card=CARDS[name[:4]],
        **ENVIRONMENTS[environment],
    )


def regret_panel(results: Results, name: str, environment: str):
    """Draw one panel of Figures 7 to 9."""
    x, lines = LAYOUTS.get(name) or LAYOUTS[name[:4]]
    cells = with_interval(panels.panel(results, name, environment), "mean_regret", "se_regret")
    # On a logarithmic axis an interval must not reach 0.
    cells = cells.assign(low=cells["low"].clip(lower=cells["mean_regret"] / 20), algorithm=algorithms(cells))
    helped = cells[cells["n_aux"] > 0]
    helped = cells if helped.empty else helped
    apart = [a for a in panels.AXES if a not in (x, *lines) and helped[a].nunique() > 1]
    facets = _facets(helped, apart)
    rows, logs = _placed(cells, facets, apart), _placed(of_logs(results, cells, environment).assign(K=3), facets, apart)
    ours = panels.written(rows, "low", "high", *(["panel"] if apart else []))
    numbers = pd.concat([ours, logs.assign(variant="authors_logs")], ignore_index=True)[[*ours.columns.drop("figure")]]

    scale = 1e3 if x in NAMES else 1
    rows, logs = _with_first_points(rows, lines) if x == "n_aux" else rows, logs.assign(x=logs[x] / scale)
    alone = rows["n_aux"].eq(0) & ~pd.Series(x in NAMES, rows.index)
    rows = rows.assign(x=(rows[x] / scale).mask(alone))
    rows = _sorted(rows, lines).assign(line=lambda shown: texts(shown, lines))
    rows = _one_per_place(rows)
    text_runs = [a for a in cells["algorithm"] if a.startswith("text") and a != panels.UNIFORM]
    uniform = rows[rows["algorithm"] == panels.UNIFORM] if text_runs else rows.iloc[:0]
    shown = _arranged(rows.drop(uniform.index), cells, by_size=x == "n")
    # Other numbers of target users have other sizes of regret.
    options = {"sharey": "row" if x == "n" or "n" in apart else True, "log": "" if x == "n" else "y"}
    options |= {"row": "row", "col": "column", "hue": "line", "height": 2.2 if len(facets) == 1 else 1.8}
    grid = curves(shown, "x", "mean_regret", looks=_looks(rows, lines), width=style.PAGE, **options)
    grid.set_axis_labels(NAMES.get(x, f"${SYMBOLS[x]}$"), "").set_titles("")
    of_authors = cells.loc[panels.of_authors(cells).index[0], "algorithm"]
    about = shown.groupby(["row", "column"])[["title", "algorithm"]].first()
    for place, title, algorithm in about.itertuples():
        ax = grid.axes_dict[place]
        if x == "n" or ax in grid.axes[0]:
            ax.set_title(algorithm)
        theirs = logs[logs["title"] == title] if algorithm == of_authors else logs.iloc[:0]
        if len(theirs):
            ax.plot(theirs["x"], theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        if len(uniform) and algorithm == text_runs[0]:
            _draw_uniform(ax, uniform[uniform["title"] == title], x)
        if ax in grid.axes[:, 0]:
            ax.set_ylabel(f"{title}\ncumulative regret" if title else "cumulative regret")
    if name.startswith("fig8"):
        regret = panels.figure_8(results, environment)["mean_regret"]
        grid.set(ylim=(regret.min() / 1.5, 1.5 * regret.max()))
    _finish(grid, x, [ax for place, ax in grid.axes_dict.items() if place not in about.index])
    return grid.figure, numbers


def algorithms(cells: pd.DataFrame) -> list[str]:
    """Return the algorithm of each cell as the ledger names it, with other settings that vary."""
    names = []
    rows = cells[["policy", "variant", "c", "deviation", "also"]].itertuples(index=False)
    for (policy, variant, c, deviation, also), words in zip(rows, panels.words(cells["written"]), strict=True):
        name = panels.algorithm(variant, c, deviation) if policy == panels.POLICY else ""
        if variant == "as_printed" and c >= panels.UNIFORM_FROM and not deviation:
            name = panels.UNIFORM
        names.append(f"{name} {also}".strip() if name else words)
    return names


def _facets(helped: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the rows of a figure, one per combination of the columns, with their name and title."""
    facets = helped[columns].drop_duplicates().sort_values(columns) if columns else pd.DataFrame(index=[0])
    names = ["; ".join(f"{k} = {v}" for k, v in row.items()) for row in facets.to_dict("records")]
    return facets.assign(place=range(len(facets)), panel=names, title=texts(facets, columns))


def _placed(cells: pd.DataFrame, facets: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return cells in their rows of the figure; those without auxiliary data are in each row of their target."""
    alone = (cells["n_aux"] == 0) & bool(set(columns) - set(OF_TARGET))
    parts = []
    for own, keys in ((cells[~alone], columns), (cells[alone], [c for c in columns if c in OF_TARGET])):
        about = facets.drop(columns=[c for c in columns if c not in keys])
        own = own.reset_index()
        parts.append(own.merge(about, on=keys) if keys else own.merge(about, how="cross"))
    return pd.concat(parts).sort_values(["place", "index"], ignore_index=True)


def _with_first_points(rows: pd.DataFrame, lines: list[str]) -> pd.DataFrame:
    """Return the rows; those without auxiliary data are the first point of each line of their algorithm."""
    of_sources = [c for c in lines if c not in OF_TARGET]
    keys = ["title", "algorithm", *(c for c in lines if c in OF_TARGET)]
    helped, alone = rows[rows["n_aux"] > 0], rows[rows["n_aux"] == 0]
    own = helped[[*keys, *of_sources]].drop_duplicates()
    return pd.concat([alone.drop(columns=of_sources).merge(own, on=keys), helped], ignore_index=True)


def _one_per_place(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a tag, and of additions the first one at each place of a curve that has no such row."""
    places = rows.sort_values("tagged", ascending=False, kind="stable")
    first = ~places.duplicated(["title", "algorithm", "line", "x"])
    return rows[rows["tagged"] | first.reindex(rows.index)].reset_index(drop=True)


def _sorted(rows: pd.DataFrame, lines: list[str]) -> pd.DataFrame:
    """Return the rows in the order of their lines' settings."""
    orders: list = [*ORDERS]

    def number(column: pd.Series) -> pd.Series:
        if column.name == "order":
            return column.map(lambda name: orders.index(name) if name in orders else len(orders))
        return column.map(lambda value: float(str(value).split("|")[-1]))

    return rows.sort_values(lines, key=number, kind="stable", ignore_index=True)


def _arranged(rows: pd.DataFrame, cells: pd.DataFrame, by_size: bool) -> pd.DataFrame:
    """Return the rows with their place in the figure: `row`, `column`.

    A column per algorithm, in the order of the studies. by_size: on a linear axis the program, which has less regret,
    has a row of its own
    """
    order = {algorithm: place for place, algorithm in enumerate(cells["algorithm"].unique())}
    rows = rows.assign(row=rows["place"], column=rows["algorithm"].map(order))
    if by_size:
        rows = rows.assign(row=2 * rows["place"] + ~rows["algorithm"].isin([panels.OLDER_PROGRAM, panels.PROGRAM]))
    column = rows.groupby("row")["column"].rank("dense")
    return rows.assign(column=column.astype(int)).sort_values(["row", "column"], kind="stable", ignore_index=True)


def _looks(rows: pd.DataFrame, lines: list[str]) -> style.Looks:
    """Return the looks of lines: colours in sequence, but by order and dashes by epsilon in Figure 9(c)."""
    if lines[0] == "order":
        return style.crossed(rows, "line", *lines)
    alone = rows.loc[rows["x"].isna(), "line"].unique()
    helped = (name for name in rows["line"].unique() if name not in alone)
    return dict.fromkeys(alone, NO_SOURCE) | style.in_sequence(helped)


def _draw_uniform(ax, rows: pd.DataFrame, x: str) -> None:
    """Draw the regret of uniform play, which does not depend on epsilon or the sources; of cells with a tag, if any."""
    rows = rows[rows["tagged"]] if rows["tagged"].any() else rows
    if x == "n":
        means = rows.groupby("x")["mean_regret"].mean()
        ax.plot(means.index, means, **(style.GUIDE | {"zorder": 3}))
    else:
        ax.axhline(rows["mean_regret"].mean(), **style.GUIDE)
    ax.annotate(UNIFORM_NOTE, (0.97, 0.04), xycoords="axes fraction", ha="right", color=style.QUIET, fontsize=7)


def _finish(grid: Panels, x: str, empty: list) -> None:
    """Set the axes of a panel, and name its curves: at their ends, and in a legend if their names are long."""
    for ax in empty:
        ax.set_axis_off()
    for ax in grid.axes.flat:
        if x == "n":
            ax.set_ylim(0, None)
            ax.yaxis.set_major_formatter("{x:,g}")
        else:
            style.log_ticks(ax.yaxis)
    short = x == "n" or len(grid.row_names) == 1
    for ax in grid.axes.flat if short else ():
        style.name_ends(ax, grid.hue_names)
    names = {name for ax in grid.axes.flat for name in ax.get_legend_handles_labels()[1]}
    style.legend(grid.figure, columns=-(-len(names) // 2), named=grid.hue_names or () if short else ())


for _environment in reversed(ENVIRONMENTS):
    for _name in reversed(TITLES):
        _panel(_name, _environment)(regret_panel)
