"""Figures 7 to 9: regret over users, auxiliary users, their exploration, their law and their order.

Every panel draws all of its cells: what varies beside the axes and the lines of the published figure gets axes of its
own, and every algorithm lines or axes with its name.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.plots import curves, facets, style
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

LOGS = {"linestyle": "none", "marker": "D", "markersize": 3.6, "markerfacecolor": "none", "markeredgecolor": "black",
        "markeredgewidth": 0.7, "zorder": 5}  # fmt: skip
LOGS_LABEL = "means of the authors' logs"
# Looks that are the same in every figure.
BUDGETS = ("1", "2", "4", "8", "1024")
GREY_MARKERS = ("s", "^", "v", "P", "X", "<", ">", "*", "h", "p", "d", "8")
SYMBOLS = {
    "n": "n_P", "epsilon": "\\varepsilon", "n_aux": "n_Q", "epsilon_aux": "\\varepsilon_m", "gamma": "\\gamma",
    "kappa": "\\kappa", "M": "M", "K": "K",
}  # fmt: skip
ORDERS = {panels.LOW_FIRST: "low quality first", panels.HIGH_FIRST: "high quality first"}
# What cells without auxiliary data have of the axes.
OF_TARGET = ("n", "epsilon", "M", "K")


class Layout(NamedTuple):
    """What a figure has on its horizontal axis, what tells its lines apart, and what its titles always say."""

    x: str
    lines: tuple[str, ...]
    titles: tuple[str, ...]


LAYOUTS = {
    "fig7": Layout("n", ("epsilon",), ()),
    "fig8": Layout("n_aux", ("epsilon_aux", "order"), ("gamma", "epsilon")),
    "fig9a": Layout("kappa", ("n_aux",), ("epsilon_aux",)),
    "fig9b": Layout("gamma", ("n_aux",), ("epsilon_aux",)),
    "fig9c": Layout("n_aux", ("epsilon", "order"), ("n",)),
}
NAMES = {"n": "target users $n_P$ (thousands)", "n_aux": "auxiliary users a source $n_Q$ (thousands)"}


def text(column: str, value) -> str:
    """A setting for a legend or a title."""
    if column == "order":
        return ORDERS.get(value, str(value).replace("_", " ").replace("(", " ("))
    shown = f"{int(value):,}".replace(",", "{,}") if column in ("n", "n_aux") else value
    return f"${SYMBOLS[column]} = {shown:g}$" if isinstance(shown, int | float) else f"${SYMBOLS[column]} = {shown}$"


def with_regret(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the 95% interval of their mean regret, low and high, and the label of their algorithm."""
    return curves.with_interval(cells, "mean_regret", "se_regret").assign(label=panels.labels(cells))


def _draw(rows: pd.DataFrame, x: str, looks: style.Looks, **options):
    """Draw regret against a column; on a logarithmic axis an interval must not reach 0."""
    rows = rows[rows["mean_regret"].notna()]
    rows = rows.assign(x=rows[x] / _scale(x), low=rows["low"].clip(lower=rows["mean_regret"] / 20))
    grid = facets.curves(rows, "x", "mean_regret", looks=looks, hue="name", col="title", **options)
    return grid.set_axis_labels(NAMES.get(x, f"${SYMBOLS[x]}$"), "cumulative regret")


def _scale(x: str) -> float:
    return 1e3 if x in NAMES else 1


def varying(cells: pd.DataFrame, apart_from: tuple[str, ...]) -> list[str]:
    """The axes in which cells differ beside some; without auxiliary data only those of the target count."""
    helped = _helped(cells)
    return [a for a in panels.AXES if a not in apart_from and (cells if a in OF_TARGET else helped)[a].nunique() > 1]


def _helped(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with auxiliary data; all of a figure that has none."""
    helped = cells[cells["n_aux"] > 0]
    return cells if helped.empty else helped


def settings(cells: pd.DataFrame, columns: list[str]) -> list[dict]:
    """The settings of the axes of a figure, in their order; every cell is within one."""
    found = _helped(cells)[columns].drop_duplicates().to_dict("records") if columns else [{}]
    rest = cells.drop([i for facet in found for i in within(cells, facet).index])
    found += rest[columns].drop_duplicates().to_dict("records")
    return sorted(found, key=lambda facet: [_sortable(v) for v in facet.values()])


def _sortable(value) -> tuple:
    """Numbers by size, whether they are texts or not; then the orders of sources, low quality first; then texts."""
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, [*ORDERS, value].index(value), str(value))


def within(cells: pd.DataFrame, facet: dict, *, literally: bool = False) -> pd.DataFrame:
    """The cells of one facet; those without auxiliary data stand in each that has their target."""
    chosen = np.ones(len(cells), bool)
    for column, value in facet.items():
        if column in cells:
            same = cells[column] == value
            chosen &= same if literally or column in OF_TARGET else same | (cells["n_aux"] == 0)
    return cells[chosen]


def of_logs(results: Results, cells: pd.DataFrame, figure: str, environment: str) -> pd.DataFrame:
    """The authors' means at the settings of a panel's cells; none for the second environment."""
    found = panels.logs(results)
    mine = (found["figure"] == figure) & (environment == "exponential")
    theirs = panels.of_authors(cells)
    for column in set(panels.AXES) & set(found.columns):
        mine &= found[column].isin(theirs[column])
    return found[mine]


def numbers(cells: pd.DataFrame, logs: pd.DataFrame) -> pd.DataFrame:
    """What a figure draws: our cells, then the authors' under the variant `authors_logs`."""
    ours = panels.written(cells, "low", "high", *(["panel"] if "panel" in cells else []))
    return pd.concat([ours, logs.assign(variant="authors_logs")], ignore_index=True)[[*ours.columns.drop(["figure"])]]


# Every panel of Figures 7 to 9 shows the cells of the grids that carry its name, in both environments.
CARDS = {
    "fig7": "Figure 7: regret over target users",
    "fig8": "Figure 8: regret by quality, size and budget of auxiliary data",
    "fig9": "Figure 9: behaviour policy, shift and order of sources",
}
ENVIRONMENTS = {
    "exponential": {"studies": ["regret", "regret_printed"], "tab": "Exponential environment"},
    "symmetric": {"studies": ["regret_symmetric", "regret_printed_symmetric"], "tab": "Second environment"},
}
OTHER_WORLD = (
    "As printed has the text's auxiliary contexts and, in the first environment, reward functions; the others have the "
    "program's."
)
OWN_SCALE = (
    f"95% intervals of the mean; every panel has its own scale. {OTHER_WORLD} Diamonds, means of the authors' logs."
)
LINES = (
    "Lines, as released and with noise from every user, with 95% intervals of the mean; grey, {} as printed. "
    f"{OTHER_WORLD} Diamonds, means of the authors' logs of the first environment."
)
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
CAPTIONS = {
    "fig7a": "As drawn by the authors, with the constants of an older version of their program; with those of the "
    f"released version; with noise from every user; and as printed. {OWN_SCALE}",
    "fig7b": f"As released (the released constants) and as printed, after auxiliary users of eps_1 = 8. {OWN_SCALE}",
    "fig8": f"Two sources. {LINES.format('one cell')}",
    "fig9a": f"epsilon = 2, gamma = .2, two sources. {LINES.format('one cell')}",
    "fig9b": f"epsilon = 2, kappa = 1, two sources. {LINES.format('one cell')}",
    "fig9c": f"Two sources, eps_m = 2 and 8, in either order; gamma = 0. {LINES.format('one cell of each order')}",
}


def _panel(name: str, environment: str):
    """Return the decorator that registers a panel."""
    symmetric = environment == "symmetric"
    return figure(
        f"{TITLES[name]}, second environment" if symmetric else TITLES[name],
        CAPTIONS.get(name) or CAPTIONS[name[:4]],
        name=f"{name}_symmetric" if symmetric else name,
        arguments={"name": name, "environment": environment},
        card=CARDS[name[:4]],
        **ENVIRONMENTS[environment],
    )


def regret_panel(results: Results, name: str, environment: str):
    """Draw one panel of Figures 7 to 9."""
    layout = LAYOUTS.get(name) or LAYOUTS[name[:4]]
    over = _algorithms_apart if layout.x == "n" else _algorithms_together
    cells = with_regret(panels.panel(results, name, environment))
    return over(layout, cells, of_logs(results, cells, name, environment))


for _environment in reversed(ENVIRONMENTS):
    for _name in reversed(TITLES):
        _panel(_name, _environment)(regret_panel)


def _algorithms_apart(layout: Layout, cells: pd.DataFrame, logs: pd.DataFrame):
    """Figure 7: regret against target users, a line per budget, axes per algorithm."""
    columns = varying(cells, (layout.x, *layout.lines))
    authors = set(panels.of_authors(cells)["label"])
    drawn, theirs = [], {}
    for name, facet in itertools.product(dict.fromkeys(cells["label"]), settings(cells, columns)):
        here = within(cells[cells["label"] == name], facet, literally=True)
        if len(here):
            title = style.wrapped(", ".join([name, *(text(*one) for one in facet.items())]), 25)
            drawn.append(here.assign(title=title, name=[text("epsilon", e) for e in here["epsilon"]]))
            theirs[title] = within(logs, facet, literally=True) if name in authors else logs.iloc[:0]
    rows = pd.concat(drawn).sort_values("epsilon", kind="stable")
    looks = style.looks(rows["name"], [text("epsilon", float(budget)) for budget in BUDGETS])
    options = {"wrap": 2 if len(drawn) in (2, 4) else 3, "sharey": False, "col_order": list(theirs)}
    grid = _draw(rows, layout.x, looks, **options)
    for title, points in theirs.items():
        if len(points):
            grid.axes_dict[title].plot(points["n"] / 1e3, points["mean_regret"], label=LOGS_LABEL, **LOGS)
    grid.set(ylim=(0, None))
    style.legend(grid.figure, columns=6)
    return grid.figure, numbers(cells, logs)


def _lines(layout: Layout, cells: pd.DataFrame) -> pd.DataFrame:
    """Cells, line by line. name: of the line; grey: as printed; like: of a line with local privacy, the line of the
    authors' program that it has its colour from."""
    authors = set(panels.of_authors(cells)["label"])
    alone = ["n_aux"] if layout.x != "n_aux" else [*_of_target(layout), "n_aux"]
    parts = []
    for label, mine in cells.groupby("label", sort=False):
        helped, first = mine["n_aux"] > 0, mine.iloc[0]
        order = sorted(mine.index, key=lambda i: [bool(helped[i]), *(_sortable(mine.at[i, c]) for c in layout.lines)])
        mine = mine.loc[order]
        varies = [c for c in layout.lines if label in authors or mine.loc[helped, c].nunique() > 1]
        words = [
            [text(c, cell[c]) for c in (varies if cell["n_aux"] > 0 else alone) if cell[c] != ""]
            for _, cell in mine.iterrows()
        ]
        part = mine.assign(
            name=[", ".join(own if label in authors else [label, *own]) for own in words],
            grey=first["policy"] == panels.POLICY and first["variant"] == "as_printed",
            like=[", ".join(own) if panels.is_private(first) else "" for own in words],
        )
        parts.append(part)
    return pd.concat(parts)


def _of_target(layout: Layout) -> list[str]:
    return [c for c in layout.lines if c in OF_TARGET]


def _in_panel(layout: Layout, lines: pd.DataFrame) -> pd.DataFrame:
    """The points of one panel: without auxiliary users every line over these starts, others are level lines."""
    if layout.x != "n_aux":
        return lines.assign(**{layout.x: lines[layout.x].where(lines["n_aux"] > 0)})
    base, helped = lines[lines["n_aux"] == 0], lines[lines["n_aux"] > 0]
    keys = ["label", *_of_target(layout)]
    # What no line starts from is a point of its own.
    base = base.merge(helped[[*keys, "name"]].drop_duplicates(), on=keys, how="left", suffixes=("_alone", ""))
    return pd.concat([helped, base.assign(name=base["name"].fillna(base["name_alone"]))])


def _algorithms_together(layout: Layout, cells: pd.DataFrame, logs: pd.DataFrame):
    """Figures 8 and 9: axes per setting; as released as lines, as printed in grey, other algorithms as lines."""
    shown = settings(cells, varying(cells, (layout.x, *layout.lines)))
    one = len(shown) == 1
    titles, drawn, panel = [], [], pd.Series("", logs.index)
    for facet in shown:
        here = within(cells, facet)
        always = {c: _helped(here)[c].iloc[0] for c in layout.titles if c not in facet} | facet
        titles.append(", ".join(text(*setting) for setting in always.items()))
        name = "; ".join(f"{k} = {v}" for k, v in facet.items())
        panel[within(logs, facet, literally=True).index] = name
        drawn.append(here if one else here.assign(panel=name))
    lines = _lines(layout, cells)
    rows = pd.concat(
        [_in_panel(layout, within(lines, f)).assign(title=t) for t, f in zip(titles, shown, strict=True)],
        ignore_index=True,
    )
    options = {"wrap": 3, "sharey": layout.x != "n_aux", "col_order": titles, "log": "y", "height": 2.4}
    grid = _draw(rows, layout.x, _looks(rows), **options)
    for title, facet in zip(titles, shown, strict=True):
        ax, theirs = grid.axes_dict[title], within(logs, facet, literally=True)
        if len(theirs):
            ax.plot(theirs[layout.x] / _scale(layout.x), theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        style.log_ticks(ax.yaxis)
    style.legend(grid.figure, columns=2 if layout.x == "n_aux" else 4)
    return grid.figure, numbers(pd.concat(drawn, ignore_index=True), logs if one else logs.assign(panel=panel))


def _looks(rows: pd.DataFrame) -> style.Looks:
    """Grey for what is as printed; dashed in the colour of the authors' line for the same with local privacy."""
    lines = rows.drop_duplicates("name").set_index("name")
    ours = lines[~lines["grey"]]
    drawn_as = ours["like"].where(ours["like"].isin(ours.index), ours.index)
    colours = style.looks(drawn_as)
    markers = grey_markers(list(lines.index[lines["grey"]]))
    looks = {}
    for name in lines.index:
        if name in markers:
            looks[name] = {"color": style.QUIET, "linestyle": ":", "marker": markers[name], "markersize": 5}
        else:
            look = looks[name] = dict(colours[drawn_as[name]])
            if drawn_as[name] != name:
                look |= {"linestyle": style.LINESTYLES[1], "linewidth": 1.0, "markerfacecolor": "white"}
                look["markeredgecolor"] = look["color"]
    return looks


def grey_markers(names: list[str]) -> dict[str, str]:
    """Return a marker per algorithm as printed."""
    return dict(zip(dict.fromkeys(names), itertools.cycle(GREY_MARKERS), strict=False))
