"""Figures 7 to 9: regret over users, auxiliary users, their exploration, their law and their order."""

import pandas as pd

from privarms.artifacts import style
from privarms.artifacts.curves import interval
from privarms.artifacts.ma2025 import logs, panels
from privarms.artifacts.results import Results

TITLES = {
    "as_released": "as released",
    "as_released_current": "as released, current constants",
    "as_printed_c2": "as printed, $c = 2$",
    "as_printed_c64": "as printed, $c = 64$",
}
POINTS = {"as_printed_c2": "s", "as_printed_c64": "^"}
LOGS = {"linestyle": "none", "marker": "D", "markersize": 3.6, "markerfacecolor": "none", "markeredgecolor": "black",
        "markeredgewidth": 0.7, "zorder": 5}  # fmt: skip
BUDGETS = ("1", "2", "4", "8", "1024")
LOGS_LABEL = "means of the authors' logs"


def budget(epsilon, name: str = "\\varepsilon") -> str:
    """A privacy budget as text for a legend."""
    return f"${name} = {epsilon:g}$" if isinstance(epsilon, int | float) else f"${name} = {epsilon}$"


def with_interval(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with the 95% interval of their mean regret, low and high."""
    low, high = interval(cells["mean_regret"], cells["se_regret"], cells["replicates"])
    return cells.assign(low=low, high=high)


def draw(ax, curve: pd.DataFrame, x: str, scale: float = 1, **line) -> None:
    """One line of regret against a column, with its interval; on a log axis the interval must not reach 0."""
    curve = curve.sort_values(x)
    low = curve["low"].clip(lower=curve["mean_regret"] / 20)
    style.band(ax, curve[x] / scale, curve["mean_regret"], low, curve["high"], **line)


def drawn_logs(cells: pd.DataFrame, figure: str, environment: str) -> pd.DataFrame:
    """The authors' means for a panel at our sizes; none for the second environment."""
    found = logs.read()
    mine = (found["figure"] == figure) & found["n"].isin(cells["n"]) & found["n_aux"].isin(cells["n_aux"])
    return found[mine & (environment == "exponential")]


def numbers(cells: pd.DataFrame, of_logs: pd.DataFrame) -> pd.DataFrame:
    """What a figure draws: our cells, then the authors' under the variant `authors_logs`."""
    return pd.concat([cells, of_logs.assign(variant="authors_logs")], ignore_index=True)[
        [*cells.columns.drop(["figure"])]
    ]


def over_users(results: Results, figure: str, environment: str):
    """Figure 7: regret against target users, a line per budget, a panel per variant."""
    cells = with_interval(panels.panel(results, figure, environment))
    of_logs = drawn_logs(cells, figure, environment)
    variants = [v for v in TITLES if v in set(cells["variant"])]
    columns = 2 if len(variants) == 4 else 3
    rows = -(-len(variants) // columns)
    fig, axes = style.subplots(rows, columns, width=style.PAGE, height=2.3 * rows + 0.4, sharex=True, squeeze=False)
    looks = style.Palette(BUDGETS, fixed=())
    for ax, variant in zip(axes.flat, variants, strict=True):
        shown = cells[cells["variant"] == variant]
        for epsilon, curve in shown.groupby("epsilon"):
            draw(ax, curve, "n", 1e3, label=budget(epsilon), **looks.line(f"{epsilon:g}"))
        if variant == "as_released" and len(of_logs):
            ax.plot(of_logs["n"] / 1e3, of_logs["mean_regret"], label=LOGS_LABEL, **LOGS)
        ax.set(title=TITLES[variant])
    for ax in axes[-1]:
        ax.set(xlabel="target users $n_P$ (thousands)")
    for ax in axes[:, 0]:
        ax.set(ylabel="cumulative regret")
    for ax in axes.flat:
        ax.set_ylim(bottom=0)
    fig.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return fig, numbers(cells, of_logs)


def over_sources(results: Results, figure: str, environment: str):
    """A panel of Figure 8: regret against auxiliary users a source, a line per auxiliary budget."""
    cells = with_interval(panels.panel(results, figure, environment))
    of_logs = drawn_logs(cells, figure, environment)
    fig, ax = style.subplots(width=style.COLUMN, height=3.1)
    released = cells[cells["variant"] == "as_released"]
    alone = released["n_aux"] == 0
    looks = style.Palette(BUDGETS, fixed=())
    for epsilon_aux, curve in sorted(released[~alone].groupby("epsilon_aux"), key=lambda pair: float(pair[0])):
        curve = pd.concat([released[alone], curve])
        draw(ax, curve, "n_aux", 1e3, label=budget(epsilon_aux, "\\varepsilon_m"), **looks.line(epsilon_aux))
    if len(of_logs):
        ax.plot(of_logs["n_aux"] / 1e3, of_logs["mean_regret"], label=LOGS_LABEL, **LOGS)
    _draw_printed(ax, cells, "n_aux", 1e3)
    epsilon, gamma = panels.FIGURE_8[figure]
    ax.set(yscale="log", title=f"$\\gamma = {gamma:g}$, $\\varepsilon = {epsilon:g}$",
           xlabel="auxiliary users a source $n_Q$ (thousands)", ylabel="cumulative regret")  # fmt: skip
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig, numbers(cells, of_logs)


def _draw_printed(ax, cells: pd.DataFrame, x: str, scale: float = 1) -> None:
    for variant, marker in POINTS.items():
        for _, cell in cells[cells["variant"] == variant].iterrows():
            error = [[cell["mean_regret"] - cell["low"]], [cell["high"] - cell["mean_regret"]]]
            look = {"linestyle": "none", "marker": marker, "color": style.QUIET, "markersize": 5}
            name = None if any(h.get_label() == TITLES[variant] for h in ax.containers) else TITLES[variant]
            ax.errorbar([cell[x] / scale], [cell["mean_regret"]], yerr=error, label=name, **look)


def over_quality(results: Results, figure: str, environment: str):
    """Figures 9(a) and (b): regret against kappa or gamma, a line per number of auxiliary users."""
    column, symbol, budgets = {"fig9a": ("kappa", "\\kappa", ("1", "8")), "fig9b": ("gamma", "\\gamma", ("2", "8"))}[
        figure
    ]
    everything = with_interval(panels.panel(results, figure, environment))
    alone = everything["n_aux"] == 0
    fig, axes = style.subplots(1, 2, width=style.PAGE, height=3.0, sharey=True)
    users = sorted(everything.loc[~alone & (everything["variant"] == "as_released"), "n_aux"].unique())
    looks = style.Palette(["0", *map(str, users)], fixed=())
    drawn, of_logs = [], drawn_logs(everything, figure, environment)
    of_logs = of_logs[of_logs["epsilon_aux"].isin(budgets)]
    for ax, epsilon_aux in zip(axes, budgets, strict=True):
        cells = everything[alone | (everything["epsilon_aux"] == epsilon_aux)]
        released = cells[cells["variant"] == "as_released"]
        base = released[released["n_aux"] == 0]
        span = released.loc[released["n_aux"] > 0, column]
        level = pd.concat([base.assign(**{column: end}) for end in (span.min(), span.max())])
        line = looks.line("0") | {"marker": None}
        draw(ax, level, column, label="$n_Q = 0$", **line)
        for n_aux in users:
            curve = released[released["n_aux"] == n_aux]
            draw(ax, curve, column, label=f"$n_Q = {n_aux:,}$".replace(",", "{,}"), **looks.line(str(n_aux)))
        theirs = of_logs[of_logs["epsilon_aux"] == epsilon_aux]
        if len(theirs):
            ax.plot(theirs[column], theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        _draw_printed(ax, cells, column)
        ax.set(yscale="log", title=f"$\\varepsilon_m = {epsilon_aux}$", xlabel=f"${symbol}$")
        drawn.append(cells.assign(panel=f"epsilon_aux = {epsilon_aux}"))
    style.log_ticks(axes[0].yaxis)
    axes[0].set(ylabel="cumulative regret")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    of_logs = of_logs.assign(panel="epsilon_aux = " + of_logs["epsilon_aux"])
    return fig, numbers(pd.concat(drawn, ignore_index=True), of_logs)


def over_order(results: Results, figure: str, environment: str):
    """Figure 9(c): regret against auxiliary users, by which source comes first, for epsilon 1 and 2."""
    cells = with_interval(panels.panel(results, figure, environment))
    cells = cells[cells["epsilon"].isin((1, 2))]
    of_logs = drawn_logs(cells, figure, environment)
    of_logs = of_logs[of_logs["epsilon"].isin((1, 2))]
    sizes = sorted(cells["n"].unique())
    fig, axes = style.subplots(1, len(sizes), width=style.PAGE, height=3.0)
    names = {"low_first(2,8)": "low quality first", "high_first(8,2)": "high quality first"}
    looks = style.Palette([f"{e:g} {o}" for e in (1, 2) for o in names], fixed=())
    for ax, n in zip(axes, sizes, strict=True):
        here = cells[(cells["n"] == n) & (cells["variant"] == "as_released")]
        for epsilon in (1, 2):
            for order, name in names.items():
                mine = here[here["epsilon"] == epsilon]
                curve = mine[(mine["order"] == order) | (mine["n_aux"] == 0)]
                draw(ax, curve, "n_aux", 1e3, label=f"{budget(epsilon)}, {name}", **looks.line(f"{epsilon:g} {order}"))
        theirs = of_logs[of_logs["n"] == n]
        if len(theirs):
            ax.plot(theirs["n_aux"] / 1e3, theirs["mean_regret"], label=LOGS_LABEL, **LOGS)
        _draw_printed(ax, cells[cells["n"] == n], "n_aux", 1e3)
        ax.set(
            yscale="log",
            title=f"$n_P = {n:,}$".replace(",", "{,}"),
            xlabel="auxiliary users a source $n_Q$ (thousands)",
        )
        style.log_ticks(ax.yaxis)
    axes[0].set(ylabel="cumulative regret")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig, numbers(cells, of_logs)
