"""Figures 7 to 9: regret over users, auxiliary users, their exploration, their law and their order.

Every panel draws all of its cells: what varies beside the axes and the lines of the published figure gets axes of its
own, and every algorithm lines or axes with its name.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from privarms.papers.ma2025 import _panels as panels
from privarms.plots import old_style as style
from privarms.plots.curves import interval
from privarms.studies.results import Results

LOGS = {"linestyle": "none", "marker": "D", "markersize": 3.6, "markerfacecolor": "none", "markeredgecolor": "black",
        "markeredgewidth": 0.7, "zorder": 5}  # fmt: skip
LOGS_LABEL = "means of the authors' logs"
# Looks that are the same in every figure.
BUDGETS = ("1", "2", "4", "8", "1024")
PRINTED = {"as printed, $c = 2$": "s", "as printed, $c = 64$": "^"}
FREE_MARKERS = ("v", "P", "X", "<", ">", "*", "h", "p", "d", "8")
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


def with_interval(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the 95% interval of their mean regret, low and high, and the label of their algorithm."""
    low, high = interval(cells["mean_regret"], cells["se_regret"], cells["replicates"])
    return cells.assign(low=low, high=high, label=panels.labels(cells))


def draw(ax, curve: pd.DataFrame, x: str, **line) -> None:
    """One line of regret against a column, with its interval; on a log axis the interval must not reach 0."""
    curve = curve[curve["mean_regret"].notna()].sort_values(x)
    low = curve["low"].clip(lower=curve["mean_regret"] / 20)
    style.band(ax, curve[x] / _scale(x), curve["mean_regret"], low, curve["high"], **line)


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


def facets(cells: pd.DataFrame, columns: list[str]) -> list[dict]:
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


def panel_figure(figure: str, environment: str = "exponential"):
    """The function that draws one panel of Figures 7 to 9."""
    layout = LAYOUTS.get(figure) or LAYOUTS[figure[:4]]
    over = _algorithms_apart if layout.x == "n" else _algorithms_together

    def drawn(results: Results):
        cells = with_interval(panels.panel(results, figure, environment))
        return over(layout, cells, of_logs(results, cells, figure, environment))

    return drawn


def _grid(count: int, columns: int, height: float, **options):
    rows = -(-count // columns)
    fig, axes = style.subplots(rows, columns, width=style.PAGE, height=height * rows + 0.4, squeeze=False, **options)
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    return fig, axes


def _algorithms_apart(layout: Layout, cells: pd.DataFrame, logs: pd.DataFrame):
    """Figure 7: regret against target users, a line per budget, axes per algorithm."""
    columns = varying(cells, (layout.x, *layout.lines))
    shown = [(name, facet) for name in dict.fromkeys(cells["label"]) for facet in facets(cells, columns)]
    shown = [(n, f) for n, f in shown if len(within(cells[cells["label"] == n], f, literally=True))]
    fig, axes = _grid(len(shown), 2 if len(shown) in (2, 4) else 3, 2.3, sharex=True)
    looks = style.Palette([f"{e:g}" for e in sorted(cells["epsilon"].unique())], fixed=BUDGETS)
    authors = set(panels.of_authors(cells)["label"])
    for ax, (name, facet) in zip(axes.flat, shown, strict=False):
        here = within(cells[cells["label"] == name], facet, literally=True)
        for epsilon, curve in here.groupby("epsilon"):
            draw(ax, curve, layout.x, label=text("epsilon", epsilon), **looks.line(f"{epsilon:g}"))
        theirs = within(logs, facet, literally=True)
        if name in authors and len(theirs):
            ax.plot(theirs["n"] / 1e3, theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        ax.set(title=style.wrapped(", ".join([name, *(text(*one) for one in facet.items())]), 25))
        ax.set_ylim(bottom=0)
        ax.tick_params(labelbottom=True)
    for ax in axes[-1]:
        ax.set(xlabel=NAMES[layout.x])
    for ax in axes[:, 0]:
        ax.set(ylabel="cumulative regret")
    style.legend(fig, columns=6)
    return fig, numbers(cells, logs)


class Line(NamedTuple):
    """A line of a figure whose algorithms share their axes; `grey` for points as printed; `like` is the line of the
    authors' program that it has its colour from, with the noise that theirs leaves out."""

    axes: int
    name: str
    cells: pd.DataFrame
    grey: bool
    level: bool = False
    like: str = ""


def _lines(layout: Layout, cells: pd.DataFrame, settings: list[dict]) -> list[Line]:
    """Every line of Figures 8 and 9, which together hold every cell."""
    authors = set(panels.of_authors(cells)["label"])
    found = []
    for place, facet in enumerate(settings):
        here = within(cells, facet)
        span = _helped(here)[layout.x]
        for label, mine in here.groupby("label", sort=False):
            base, helped = mine[mine["n_aux"] == 0], mine[mine["n_aux"] > 0]
            own = [] if label in authors else [label]
            grey = mine["policy"].iloc[0] == panels.POLICY and mine["variant"].iloc[0] == "as_printed"
            private = not grey and panels.is_private(mine.iloc[0])
            of_target = [c for c in layout.lines if c in OF_TARGET]
            if layout.x != "n_aux" and len(base):
                level = pd.concat([base.assign(**{layout.x: end}) for end in (span.min(), span.max())])
                words = text("n_aux", 0)
                found.append(Line(place, ", ".join([*own, words]), level, grey, True, words if private else ""))
                base = base.iloc[:0]
            everywhere = cells[(cells["label"] == label) & (cells["n_aux"] > 0)]
            told = [c for c in layout.lines if not own or everywhere[c].nunique() > 1]
            used = base.index[:0]
            for values, curve in sorted(
                helped.groupby(list(layout.lines)), key=lambda pair: [_sortable(v) for v in pair[0]]
            ):
                setting = dict(zip(layout.lines, values, strict=True))
                start = within(base, {c: setting[c] for c in of_target})
                used = used.union(start.index)
                words = [text(c, setting[c]) for c in told if setting[c] != ""]
                like = ", ".join(words) if private else ""
                found.append(Line(place, ", ".join([*own, *words]), pd.concat([start, curve]), grey, like=like))
            # What no line starts from is a point of its own.
            for _, start in base.drop(used).iterrows():
                words = [text(c, start[c]) for c in (*of_target, "n_aux")]
                found.append(Line(place, ", ".join([*own, *words]), start.to_frame().T.infer_objects(), grey))
    return found


def _algorithms_together(layout: Layout, cells: pd.DataFrame, logs: pd.DataFrame):
    """Figures 8 and 9: axes per setting; as released as lines, as printed in grey, other algorithms as lines."""
    settings = facets(cells, varying(cells, (layout.x, *layout.lines)))
    one = len(settings) == 1
    fig, axes = _grid(len(settings), min(len(settings), 3), 2.6, sharey=layout.x != "n_aux")
    if one:
        fig.set_size_inches(style.COLUMN, 3.1)
    lines = _lines(layout, cells, settings)
    drawn_as = {line.name: line.name for line in lines if not line.grey}
    drawn_as |= {line.name: line.like for line in lines if line.like in drawn_as}
    looks = style.Palette(list(dict.fromkeys(drawn_as.values())), fixed=_fixed(layout))
    grey = _grey_markers([line.name for line in lines if line.grey])
    for line in lines:
        ax = axes.flat[line.axes]
        if line.grey:
            _draw_grey(ax, line.cells, layout.x, label=line.name, marker=None if line.level else grey[line.name])
        else:
            look = looks.line(drawn_as[line.name]) | ({"marker": None} if line.level else {})
            if drawn_as[line.name] != line.name:
                look |= {
                    "linestyle": (0, (4, 2)),
                    "linewidth": 1.0,
                    "markerfacecolor": "white",
                    "markeredgecolor": look["color"],
                }
            draw(ax, line.cells, layout.x, label=line.name, **look)
    drawn, panel = [], pd.Series("", logs.index)
    for ax, facet in zip(axes.flat, settings, strict=False):
        here, theirs = within(cells, facet), within(logs, facet, literally=True)
        if len(theirs):
            ax.plot(theirs[layout.x] / _scale(layout.x), theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        said = {c: _helped(here)[c].iloc[0] for c in layout.titles if c not in facet} | facet
        ax.set(yscale="log", title=", ".join(text(*setting) for setting in said.items()))
        ax.set(xlabel=NAMES.get(layout.x, f"${SYMBOLS[layout.x]}$"))
        style.log_ticks(ax.yaxis)
        name = "; ".join(f"{k} = {v}" for k, v in facet.items())
        panel[theirs.index] = name
        drawn.append(here if one else here.assign(panel=name))
    for ax in axes[:, 0]:
        ax.set(ylabel="cumulative regret")
    style.legend(fig, columns=2 if layout.x == "n_aux" else 4)
    return fig, numbers(pd.concat(drawn, ignore_index=True), logs if one else logs.assign(panel=panel))


def _fixed(layout: Layout) -> tuple[str, ...]:
    """The names whose looks are the same in every figure of a layout."""
    if layout.lines == ("epsilon_aux", "order"):
        return tuple(text("epsilon_aux", budget) for budget in BUDGETS)
    if layout.lines == ("epsilon", "order"):
        return tuple(f"{text('epsilon', e)}, {name}" for e in (1, 2) for name in ORDERS.values())
    return ()


def _grey_markers(names: list[str]) -> dict[str, str]:
    free = (marker for marker in FREE_MARKERS * (1 + len(names)))
    return {name: PRINTED.get(name) or next(free) for name in dict.fromkeys(names)}


def _draw_grey(ax, curve: pd.DataFrame, x: str, **look) -> None:
    curve = curve[curve["mean_regret"].notna()].sort_values(x)
    below = np.minimum(curve["mean_regret"] - curve["low"], 0.95 * curve["mean_regret"])
    look |= {"linestyle": "none" if len(curve) == 1 else ":", "color": style.QUIET, "markersize": 5}
    error = [below, curve["high"] - curve["mean_regret"]]
    ax.errorbar(curve[x] / _scale(x), curve["mean_regret"], yerr=error, **look)
