"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Panels and curves are those of the cells. What the paper shows keeps its place and its look, whatever joins it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from privarms.papers.sajed2019._settings import at_horizon
from privarms.plots import style
from privarms.plots.curves import in_words, interval, labels, settings
from privarms.plots.registry import functions_of
from privarms.studies import library
from privarms.studies.results import Results

# The curves of Figure 1, in the order of their colours.
CURVES = ("DP-SE", "DP-UCB (log2.5)", "DP-UCB (log3)", "DP-UCB (chan)", "DP-UCB (exact)")
AXES = {"epsilon": "privacy budget $\\varepsilon$", "K": "number of arms $K$", "horizon": "horizon $T$"}
NOISES = {1.0: "noise as printed", 0.5: "half the noise"}
# Of Azize & Basu 2022; mu2 is linear, as in Figure 1.
INSTANCES = {"one_best": "mu1", "convex": "mu3", "concave": "mu4"}
BOUND = {"color": style.QUIET, "linestyle": (0, (4, 2)), "linewidth": 0.9}


def _numbers(drawn: list[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """The named columns of what was drawn, which may be nothing."""
    return (pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()).reindex(columns=list(columns))


def _power(horizon: float) -> str:
    exponent = int(np.log10(horizon) + 1e-9)
    factor = horizon / 10**exponent
    return f"10^{exponent}" if factor == 1 else f"{factor:g}\\times10^{exponent}"


def _values(setting: dict) -> str:
    """The values of some axes in words; without those that do not apply."""
    shown = {"epsilon": "$\\varepsilon = {:g}$", "K": "$K = {:g}$"}
    there = {k: v for k, v in setting.items() if pd.notna(v)}
    return ", ".join(f"$T = {_power(v)}$" if k == "horizon" else shown[k].format(v) for k, v in there.items())


def _ticks(ax, key: str, values) -> None:
    """Ticks at the values of a grid where they can be read."""
    values = sorted(set(values))
    if not values:
        return
    if key != "horizon" and len(values) <= 6:
        ax.set_xticks(values, [f"{value:g}" for value in values])
        ax.set_xticks([], minor=True)
    elif key != "horizon" and values[-1] <= 100 * values[0]:
        style.log_ticks(ax.xaxis)


# Figure 1


def _regret_panels(results: Results, name: str, *, further: bool):
    """Regret against the round, a panel an epsilon; policies without privacy stand in every panel.

    further: whether every epsilon that Figure 1 does not have gets a panel too
    """
    cells, printed = results.cells("figure1"), results.published_table("figure1")
    published = list(printed.loc[printed["figure"] == name, "epsilon"])
    cells = cells.assign(curve=labels(cells))
    context = cells.loc[cells["epsilon"].isna(), "curve"].unique()
    # Where there are more K, the looks are those of Figure 1 for its own.
    first = cells.sort_values("K", key=lambda K: K != 5, kind="stable")
    looks = style.Palette(first["curve"].unique(), CURVES, context)
    found = sorted(cells["epsilon"].dropna().unique())
    epsilons = [e for e in found if e in published]
    epsilons += [e for e in found if further and e not in set(printed["epsilon"])]
    figure, axes = style.panels(len(epsilons), height=3.1, columns=2)
    drawn = []
    for ax, epsilon in zip(axes, epsilons, strict=False):
        shown = cells[(cells["epsilon"] == epsilon) | cells["epsilon"].isna()]
        for label, curve in shown.groupby("curve", sort=False):
            low, high = interval(curve["regret_mean"], curve["regret_se"], curve["replicates"])
            low = np.maximum(low, curve["regret_mean"] / 50)
            style.band(ax, curve["t"], curve["regret_mean"], low, high, label=label, **looks.line(label))
            drawn.append(curve.assign(panel_epsilon=epsilon, low=low, high=high))
        added = "" if epsilon in published else " (not in the paper)"
        ax.set(xscale="log", yscale="log", xlabel="round $t$", title=f"$\\varepsilon = {epsilon:g}${added}")
        ax.set_xlim(right=cells["horizon"].max())
    style.ylabel(axes, "mean cumulative pseudo-regret")
    style.legend(figure, columns=4)
    columns = ["policy", "width", "horizon", "t", "replicates", "regret_mean", "regret_se"]
    return figure, _numbers(drawn, [*columns, "panel_epsilon", "curve", "low", "high"])


def fig1a(results: Results):
    """Figure 1a."""
    return _regret_panels(results, "fig1a", further=False)


def fig1b(results: Results):
    """Figure 1b; whatever epsilon is not in Figure 1 gets a panel beside it."""
    return _regret_panels(results, "fig1b", further=True)


# Along one axis of a grid at a time


class _Line(NamedTuple):
    """Cells of one curve that differ in one axis alone; `setting`: the values of the others."""

    axis: str
    curve: str
    setting: dict
    cells: pd.DataFrame


def _lines(cells: pd.DataFrame) -> list[_Line]:
    """Every line of two points or more through the cells; a cell on none of them stands alone on the first axis.

    A cell without an epsilon has one value for all of them.
    """
    found = []
    alone = pd.Series(True, cells.index)
    for curve, own in cells.groupby("curve", sort=False):
        for axis in AXES:
            others = [k for k in AXES if k != axis]
            for setting, line in own.groupby(others, sort=False, dropna=False):
                if line[axis].nunique() > 1:
                    alone[line.index] = False
                    found.append(_Line(axis, curve, dict(zip(others, setting, strict=True)), line.sort_values(axis)))
    longest = _longest(found).get("epsilon")
    for index, cell in cells.iterrows():
        setting = cell[["K", "horizon"]].to_dict()
        if alone[index] or (pd.isna(cell["epsilon"]) and setting == longest):
            found.append(_Line("epsilon", cell["curve"], setting, cells.loc[[index]]))
    return found


def _longest(lines: list[_Line]) -> dict[str, dict]:
    """axis -> the setting of the line with most points; the first of equals."""
    found: dict[str, _Line] = {}
    for line in lines:
        if line.axis not in found or len(line.cells) > len(found[line.axis].cells):
            found[line.axis] = line
    return {axis: found[axis].setting for axis in AXES if axis in found}


def _along_axes(cells: pd.DataFrame, value: str, se: str, fixed: Sequence[str], height: float, name: Callable = str):
    """A panel an axis with the lines along it: (figure, axis -> panel, numbers).

    The longest line's setting is the panel's title; what another line has otherwise stands in the legend.
    cells: with a column `curve`; value, se: the columns drawn; name: curve -> legend
    """
    lines = _lines(cells)
    title = _longest(lines)

    def other(line: _Line) -> str:
        return _values({k: v for k, v in line.setting.items() if v != title[line.axis][k]})

    looks = style.Palette.crossed(cells["curve"].unique(), sorted({other(line) for line in lines}), fixed)
    figure, axes = style.panels(len(title), height=height)
    panels = dict(zip(title, axes, strict=False))
    drawn = []
    for line in lines:
        ax, some, setting = panels[line.axis], line.cells, other(line)
        label = ", ".join(word for word in (name(line.curve), setting) if word)
        look = looks.line((line.curve, setting))
        low, high = interval(some[value], some[se], some["replicates"])
        if some[line.axis].isna().all():
            ax.axhline(some[value].iloc[0], label=label, linewidth=1.0, **(look | {"marker": None}))
        else:
            style.band(ax, some[line.axis], some[value], low, high, label=label, **look)
        drawn.append(some.assign(axis=line.axis, panel=list(panels).index(line.axis), low=low, high=high))
    for axis, ax in panels.items():
        ax.set(xscale="log", yscale="log", xlabel=AXES[axis], title=_values(title[axis]))
        _ticks(ax, axis, cells[axis].dropna())
    return figure, panels, drawn


def _in_order(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of Figure 1's curves, what is none of them behind."""
    known = {curve: number for number, curve in enumerate(CURVES)}
    return cells.sort_values("curve", key=lambda c: c.map(known).fillna(len(known)), kind="stable")


def _width(curve: str) -> str:
    """What stands for a curve in a legend that is about DP-UCB's width."""
    return curve.removeprefix("DP-UCB (").removesuffix(")") if curve in CURVES else curve


def dp_ucb_width(results: Results):
    """The ratio of DP-UCB's regret to DP-SE's, by width, over epsilon and over K; and of what else is private."""
    ratios = results.inference("ratios")
    ratios = ratios[ratios["study"] != "instances"]
    ratios = ratios.assign(curve=labels(ratios, tuple(AXES)))
    ratios = _in_order(ratios)
    times = results.published("at_least_times")

    figure, panels, drawn = _along_axes(ratios, "ratio", "ratio_se", CURVES, 2.9, _width)
    for number, ax in enumerate(panels.values()):
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        style.published(ax, times, "" if number else f"published: at least {times}")
    style.ylabel(panels.values(), "regret of DP-UCB / regret of DP-SE")
    style.legend(figure, columns=4, title="private width of DP-UCB")
    columns = ["width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "regret_mean_dp_se"]
    columns += ["regret_se_dp_se", "ratio", "ratio_se", "panel", "low", "high", "policy", "curve"]
    return figure, _numbers(drawn, columns)


def instances(results: Results):
    """The ratio of DP-UCB's regret to DP-SE's over epsilon, by width; a panel an instance."""
    ratios = results.inference("ratios")
    ratios = ratios.assign(curve=labels(ratios, (*AXES, "top", "bottom", "spacing")))
    spacing = ratios["spacing"] if "spacing" in ratios else pd.Series(np.nan, ratios.index)
    figure_1 = (ratios["study"] == "figure1") & (ratios["K"] == 5)
    ratios = ratios.assign(instance=spacing.map(INSTANCES).mask(figure_1, "mu2"))
    ratios = ratios[ratios["instance"].notna() & ((ratios["study"] == "instances") | figure_1)]
    ratios = _in_order(ratios)
    looks = style.Palette(ratios["curve"].unique(), CURVES)
    names = sorted(ratios["instance"].unique())
    times = results.published("at_least_times")
    figure, axes = style.panels(len(names), height=2.8, columns=4)
    drawn = []
    for number, (ax, name) in enumerate(zip(axes, names, strict=False)):
        for curve, some in ratios[ratios["instance"] == name].groupby("curve", sort=False):
            some = some.sort_values("epsilon")
            low, high = interval(some["ratio"], some["ratio_se"], some["replicates"])
            style.band(ax, some["epsilon"], some["ratio"], low, high, label=_width(curve), **looks.line(curve))
            drawn.append(some.assign(low=low, high=high))
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        style.published(ax, times, "" if number else f"published: at least {times}")
        ax.set(xscale="log", yscale="log", xlabel=AXES["epsilon"], title=f"$\\mu_{name.removeprefix('mu')}$")
        _ticks(ax, "epsilon", ratios["epsilon"])
    style.ylabel(axes, "regret of DP-UCB / regret of DP-SE")
    style.legend(figure, columns=5, title="private width of DP-UCB")
    columns = ["instance", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    columns += ["regret_mean_dp_se", "regret_se_dp_se", "ratio", "ratio_se", "low", "high", "policy", "curve"]
    return figure, _numbers(drawn, columns)


def growth(results: Results):
    """Regret over ln T against the horizon, with the power of ln T as which it grows."""
    cells = at_horizon(results.cells("growth"))
    cells = _in_order(cells.assign(curve=labels(cells, ("horizon",)), logarithm=np.log(cells["horizon"])))
    powers = results.inference("growth")
    powers = dict(zip(labels(powers, ()), powers["exponent"], strict=True))
    looks = style.Palette(cells["curve"].unique(), CURVES)
    figure, ax = style.subplots(width=style.COLUMN, height=3.3)
    drawn = []
    for curve, some in cells.groupby("curve", sort=False):
        some = some.sort_values("horizon")
        some = some.assign(
            ratio=some["regret_mean"] / some["logarithm"], ratio_se=some["regret_se"] / some["logarithm"]
        )
        low, high = interval(some["ratio"], some["ratio_se"], some["replicates"])
        power = powers.get(curve, np.nan)
        name = f"{curve}, $p = {power:.2f}$" if pd.notna(power) else curve
        style.band(ax, some["horizon"], some["ratio"], low, high, label=name, **looks.line(curve))
        drawn.append(some.assign(low=low, high=high, exponent=power))
    ax.set(xscale="log", yscale="log", xlabel=AXES["horizon"], ylabel="mean pseudo-regret / $\\ln T$")
    style.legend(figure, columns=2)
    columns = ["policy", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "ratio", "low"]
    return figure, _numbers(drawn, [*columns, "high", "exponent", "curve"])


def scaling(results: Results):
    """DP-SE's regret along epsilon, K and T beside Theorem 4.3's bound; and that of whatever else was run."""
    cells = results.inference("scaling")
    cells = cells.assign(curve=labels(cells, tuple(AXES)))
    constant = cells.loc[cells["policy"] == "dp_se", "order_ratio"].max()
    fixed = [library.attributes("policies", policy)["LABEL"] for policy in style.FIXED]
    figure, panels, drawn = _along_axes(cells, "regret_mean", "regret_se", fixed, 2.7)
    bound = f"{constant:.0f} × bound of Theorem 4.3"
    for line in _lines(cells[cells["policy"] == "dp_se"]):
        panels[line.axis].plot(line.cells[line.axis], constant * line.cells["order"], label=bound, **BOUND)
    style.ylabel(panels.values(), "mean pseudo-regret at $T$")
    style.legend(figure, columns=3)
    columns = ["axis", "policy", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    numbers = _numbers(drawn, [*columns, "order", "curve"]).rename(columns={"order": "bound"})
    return figure, numbers.assign(bound_constant=constant)


# Theorems and lemmas about DP-SE


def pulls(results: Results):
    """DP-SE's pulls of the suboptimal arms against their gap, a panel an epsilon."""
    rows = results.inference("pulls")
    # Only a beta of one's own is worth a word.
    own = rows.assign(beta=rows["beta"].where(rows["beta"] != 1 / rows["horizon"]))
    rows = rows.assign(setting=[in_words(s) for s in settings(own, ("K", "epsilon"))])
    arms, constant = sorted(rows["K"].unique()), (rows["mean"] / rows["order"]).max()
    looks = style.Palette.crossed([K for K in arms if K > 2] + [K for K in arms if K <= 2], rows["setting"].unique())
    epsilons = sorted(rows["epsilon"].unique())
    figure, axes = style.panels(len(epsilons), height=2.8, columns=3)
    for ax, epsilon in zip(axes, epsilons, strict=False):
        for (K, setting), some in rows[rows["epsilon"] == epsilon].groupby(["K", "setting"], sort=False):
            some = some.sort_values("gap")
            line = looks.line((K, setting))
            label = ", ".join(word for word in (f"mean, $K = {K}$", setting) if word)
            ax.plot(some["gap"], some["mean"], label=label, **line)
            ax.plot(some["gap"], some["largest"], marker="_", linestyle="none", color=line["color"])
        first = (rows["K"] == arms[-1]) & (rows["setting"] == rows["setting"].iloc[0])
        most = rows[first & (rows["epsilon"] == epsilon)].sort_values("gap")
        dotted = BOUND | {"linestyle": (0, (1, 1))}
        ax.plot(most["gap"], most["ceiling"], label=f"explicit ceiling, $K = {arms[-1]}$", **dotted)
        ax.plot(most["gap"], constant * most["order"], label=f"{constant:.0f} × Lemma 4.2, $K = {arms[-1]}$", **BOUND)
        ax.set(xscale="log", yscale="log", xlabel="gap $\\Delta_a$", title=f"$\\varepsilon = {epsilon:g}$")
        ax.set_xticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
        ax.set_xticks([], minor=True)
    style.ylabel(axes, "pulls of the arm by $T$")
    style.legend(figure, columns=3)
    columns = ["beta", "K", "epsilon", "arm", "gap", "replicates", "mean", "largest", "order", "ceiling", "above"]
    return figure, rows.assign(lemma_constant=constant)[[*columns, "any_above", "lemma_constant", "setting"]]


def minimax(results: Results):
    """DP-SE's regret over Theorem 4.4's expression against the gap, a panel an epsilon."""
    cells = results.inference("minimax")
    words = [in_words(s) for s in settings(cells, ("K", "epsilon", "horizon", "bottom"))]
    cells = cells.assign(setting=words)
    horizons = sorted(cells["horizon"].unique(), reverse=True)
    dashes = [(T, setting) for setting in cells["setting"].unique() for T in horizons]
    looks = style.Palette.crossed(sorted(cells["K"].unique()), dashes)
    epsilons = sorted(cells["epsilon"].unique())
    figure, axes = style.panels(len(epsilons), height=2.8)
    for ax, epsilon in zip(axes, epsilons, strict=False):
        some = cells[cells["epsilon"] == epsilon]
        for (T, K, setting), curve in some.groupby(["horizon", "K", "setting"]):
            curve = curve.sort_values("gap")
            low, high = interval(curve["ratio"], curve["ratio_se"], curve["replicates"])
            name = ", ".join(word for word in (f"$K = {K}$", f"$T = {_power(T)}$", setting) if word)
            style.band(ax, curve["gap"], curve["ratio"], low, high, label=name, **looks.line((K, (T, setting))))
        ax.set(xscale="log", xlabel="gap $\\Delta$", title=f"$\\varepsilon = {epsilon:g}$")
    style.ylabel(axes, "mean regret / expression")
    style.legend(figure, columns=3)
    columns = ["K", "epsilon", "horizon", "gap", "replicates", "regret_mean", "regret_se", "order", "ratio", "ratio_se"]
    return figure, cells[columns]


def privacy_audit(results: Results):
    """The privacy loss that each audit shows against the epsilon that is promised, by the multiple of the noise."""
    tables = [results.inference(name) for name in ("audit", "audit_dp_nas", "audit_dp_ucb")]
    figure, axes = style.panels(len(tables), height=2.9)
    drawn = []
    for ax, rows in zip(axes, tables, strict=False):
        rows = rows.assign(setting=_settings_in_words(rows))
        drawn.append(rows.drop(columns="setting"))
        curves = sorted(set(zip(-rows["noise"], rows["setting"], strict=True)))
        looks = style.Palette(curves, fixed=())
        limit = 1.15 * rows["epsilon"].max()
        ax.plot([0, limit], [0, limit], label="promised", **BOUND)
        for less, setting in curves:
            some = rows[(rows["noise"] == -less) & (rows["setting"] == setting)].sort_values("epsilon")
            name = ", ".join(word for word in (NOISES.get(-less, f"{-less:g} × the noise"), setting) if word)
            line = looks.line((less, setting))
            dash = {"marker": "_", "markersize": 9, "markeredgewidth": 1.4, "markeredgecolor": line["color"]}
            ax.plot(some["epsilon"], some["exact"], label=f"exact, {name}", **(line | dash))
            ax.plot(some["epsilon"], some["lower_bound"], label=f"95% bound, {name}", **(line | {"linestyle": "none"}))
        subject = library.attributes("policies", rows["subject"].iloc[0])["LABEL"]
        ax.set(xlabel="promised $\\varepsilon$", xlim=(0, limit), ylim=(0, None), title=subject)
    style.ylabel(axes, "privacy loss shown")
    style.legend(figure, columns=2, rows=0)
    return figure, pd.concat(drawn, ignore_index=True)


def _settings_in_words(rows: pd.DataFrame) -> list[str]:
    """Of an audit, what tells its rows apart besides epsilon and the noise."""
    measured = ("audit", "subject", "epsilon", "noise")
    keys = [k for k in rows.columns[: rows.columns.get_loc("claimed")] if k not in measured and rows[k].nunique() > 1]
    return [in_words(dict(zip(keys, r, strict=True))) for r in rows[keys].itertuples(index=False)]


# The stopping rules


def stopping_rules(results: Results):
    """Mean stopping times of the rules against mu, between the two bounds; a panel an alpha."""
    cells = results.inference("stopping")
    curve = labels(cells, ("alpha", "epsilon", "mu"))
    # On a logarithmic axis both signs stand at |mu|.
    cells = cells.assign(curve=curve.where(cells["mu"] > 0, curve + ", $\\mu < 0$"), size=cells["mu"].abs())
    context = cells.loc[cells["epsilon"].isna(), "curve"].unique()
    alphas, epsilons = (sorted(cells[k].dropna().unique()) for k in ("alpha", "epsilon"))
    rules = cells.loc[cells["epsilon"].notna(), "curve"].unique()
    looks = style.Palette.crossed(epsilons, rules, context=context)
    figure, axes = style.panels(len(alphas), height=3.2)
    drawn = []
    for ax, alpha in zip(axes, alphas, strict=False):
        shown = cells[(cells["alpha"] == alpha) | cells["alpha"].isna()]
        shown = shown.sort_values(["epsilon", "size"], kind="stable")
        for (epsilon, rule), some in shown.groupby(["epsilon", "curve"], dropna=False, sort=False):
            mean = some["stopping_time_mean"]
            low, high = interval(mean, some["stopping_time_se"], some["replicates"])
            private = pd.notna(epsilon)
            name = f"{rule}, $\\varepsilon = {epsilon:g}$" if private else rule
            style.band(
                ax, some["size"], mean, low, high, label=name, **looks.line((epsilon, rule) if private else rule)
            )
            drawn.append(some.assign(low=low, high=high))
            for bound in ("t_upper", "t_lower") if private else ():
                dots = {"color": looks.colour_of((epsilon, rule)), "linewidth": 0.7, "linestyle": (0, (1, 1.2))}
                ax.plot(some["size"], some[bound], **dots)
        ax.set(xscale="log", yscale="log", xlabel="$|\\mu|$ ($R = 1$)", title=f"$\\alpha = {alpha:g}$")
        _ticks(ax, "mu", shown["size"])
    corner = {"xycoords": "axes fraction", "fontsize": 7}
    axes[0].annotate("$t_U$ of Theorem 3.3", (0.97, 0.95), ha="right", va="top", **corner)
    axes[0].annotate("Theorem 3.4", (0.03, 0.04), ha="left", va="bottom", **corner)
    style.ylabel(axes, "stopping time (samples)")
    style.legend(figure, columns=3)
    columns = ["policy", "alpha", "mu", "epsilon", "replicates", "stopping_time_mean", "stopping_time_se"]
    return figure, _numbers(drawn, [*columns, "low", "high", "t_upper", "t_lower", "curve"])


FIGURES = functions_of(__name__)
