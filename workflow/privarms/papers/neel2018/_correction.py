"""False discovery and power before and after the correction, and what the correction costs."""

import itertools
import textwrap

import numpy as np
import pandas as pd

from privarms.inference import max_information
from privarms.inference.intervals import normal_interval
from privarms.papers.neel2018 import _looks
from privarms.papers.neel2018._settings import LEVEL, described, panels, printed, told_apart
from privarms.plots import old_style as style
from privarms.studies.results import Results

# Here the ablation has the third colour.
LOOKS = (("ucb", ""), ("private_ucb", "as_printed"), ("private_ucb_noise_only", "as_printed"))
# A pair of markers for as many policies as there are colours, then the next pair.
MARKERS = (("v", "^"), ("<", ">"), ("D", "s"), ("o", "P"))
OTHER_MARKERS = ("X", "d", "p", "h", "*", "8")
NAIVE_LINES = ("-", (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2)), (0, (1, 3)), (0, (8, 2, 1, 2, 1, 2)))
# Of level lines, one for each selector.
LEVEL_LINES = ("-", (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (5, 1.5)))


def corrected_pvalues(results: Results):
    """False discovery before and after the correction, over epsilon; and the power of the corrected test.

    A panel for each set of arms; a panel of power for each private policy but the ablation, which is in the table.
    Where most tests are degenerate the few others say nothing of the selector: these rates are in the table alone.
    """
    rows = results.inference("false_discovery")
    found = _looks.curves(rows[~(rows["degenerate"] > 0.5)])
    power = results.inference("power").assign(selector="most_pulled")
    power = _looks.curves(power, (*PANEL_OF_POWER, "top", "epsilon"))
    of_arms = panels(found, ("ladder", "K", "horizon"))
    titles = _titles(found, of_arms)
    private = power[power["epsilon"].notna() & ~_looks.ablated(power)]
    of_power = [
        (look, label, title, rows)
        for look, label, own in _looks.parts(private)
        for title, rows in panels(own, PANEL_OF_POWER)
    ]
    looks = _looks.palette(found, LOOKS)
    budgets = sorted(private["epsilon"].unique())
    plain = power[power["epsilon"].isna()]
    # A few curves are named inside their panel, as many as the paper's policies make; more of them below.
    inside = len(budgets) + plain["look"].nunique() <= 6
    figure, axes = style.panels(len(of_arms) + len(of_power), height=3.3, columns=3, sharey=False)
    drawn = []
    for ax, title, (_, rows) in zip(axes, titles, of_arms, strict=False):
        _false_discovery(ax, rows, looks)
        ax.set_title(title)
        drawn.append(rows.assign(panel=title))
    style.ylabel(axes[: len(of_arms)], "false discovery at .05 (share of tests)")
    for ax, (_, label, title, rows) in zip(axes[len(of_arms) :], of_power, strict=True):
        _power(ax, rows, plain, budgets, "" if inside else "power, ")
        words = textwrap.fill(f"power, {label[:1].lower()}{label[1:]}", 26)
        ax.set(title=f"{words}\n{title}".strip(), ylabel="share of runs that find it")
        if inside:
            place = {"loc": "center right", "bbox_to_anchor": (1, 0.7)}
            ax.legend(**place, fontsize=6, handlelength=1.6, labelspacing=0.2)
    style.legend(figure, axes[: len(of_arms)] if inside else axes, columns=2, rows=5)
    columns = ["panel", "ladder", "policy", "epsilon", "selector", "top", "replicates", "level", "naive", "naive_se"]
    rows = pd.concat([*drawn, power.assign(panel="power")], ignore_index=True)
    keys = ("panel", "ladder", "policy", "epsilon", "selector", "top", "variant", "K", "horizon", "bottom", "curve")
    return figure, told_apart(rows, [*columns, "corrected", "corrected_se"], keys)


PANEL_OF_POWER = ("K", "horizon", "bottom", "spacing")


def _titles(found: pd.DataFrame, of_arms: list[tuple[str, pd.DataFrame]]) -> list[str]:
    """The arms of each panel in words; with the ladder and the horizon where these do not tell the panels apart."""
    titles = []
    for _, rows in of_arms:
        first = rows.iloc[0]
        gap = (first["top"] - first["bottom"]) / (first["K"] - 1)
        equal = first["top"] == first["bottom"]
        titles.append(f"{first['K']} equal arms" if equal else f"{first['K']} arms, {f'{gap:.3g}'.lstrip('0')} apart")
    if len(set(titles)) == len(titles) and not any(" and " in rows["ladder"].iloc[0] for _, rows in of_arms):
        return titles
    columns = [c for c in ("ladder", "K", "horizon") if found[c].nunique() > 1]
    return [described({c: rows[c].iloc[0] for c in columns}) for _, rows in of_arms]


def _false_discovery(ax, rows: pd.DataFrame, looks: style.Palette) -> None:
    """A curve for each private policy, selector and correction; a level line for each other policy and selector."""
    selectors = sorted(rows["selector"].unique())
    for place, (look, label, part) in enumerate(_looks.parts(rows)):
        colour, name = looks.colour_of(look), label[:1].lower() + label[1:]
        pair = (*MARKERS[place // len(style.COLOURS) % len(MARKERS)], *OTHER_MARKERS)
        for number, selector in enumerate(selectors):
            chosen, what = part[part["selector"] == selector], selector.replace("_", " ")
            for _, row in chosen[chosen["epsilon"].isna()].iterrows():
                line = {"color": colour, "linewidth": 1, "linestyle": LEVEL_LINES[number % len(LEVEL_LINES)]}
                if look == ("ucb", ""):
                    ax.axhline(row["naive"], label=f"UCB, {what}", **line)
                else:
                    # As far as the curves reach.
                    ends = rows["epsilon"].min(), rows["epsilon"].max()
                    ax.plot(ends, [row["naive"]] * 2, label=f"{label}, {what}", marker=pair[number % len(pair)], **line)
            curve = chosen[chosen["epsilon"].notna()].sort_values("epsilon")
            if not len(curve):
                continue
            marker = pair[number % len(pair)]
            for column, dashes, fill in (("naive", "-", colour), ("corrected", (0, (4, 1.5)), "white")):
                low, high = normal_interval(curve[column], curve[f"{column}_se"])
                line = {"color": colour, "marker": marker, "linestyle": dashes}
                line |= {"markerfacecolor": fill, "markeredgecolor": colour}
                style.band(ax, curve["epsilon"], curve[column], low, high, label=f"{name}, {what}, {column}", **line)
    ax.axhline(LEVEL, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
    ax.set(xscale="log", xlabel="privacy budget $\\varepsilon$", ylim=(-0.004, None))


def _power(ax, rows: pd.DataFrame, plain: pd.DataFrame, budgets: list[float], prefix: str) -> None:
    """Power over the better arm's mean: corrected at each budget; naive at the smallest, and without privacy.

    plain: the policies without a budget, of which those on the same arms are drawn; budgets: of all panels, so that
    each has one look
    """
    shades = style.Palette(budgets)
    names = {e: f"$\\varepsilon={n}$" for e, n in zip(budgets, _looks.shortest(budgets), strict=True)}
    for epsilon in sorted(rows["epsilon"].unique()):
        curve = rows[rows["epsilon"] == epsilon].sort_values("top")
        low, high = normal_interval(curve["corrected"], curve["corrected_se"])
        line = shades.line(epsilon)
        style.band(ax, curve["top"], curve["corrected"], low, high, label=f"{prefix}{names[epsilon]}", **line)
    for (look, label, part), linestyle in zip(_looks.parts(plain), itertools.cycle(NAIVE_LINES), strict=False):
        for column in (c for c in PANEL_OF_POWER if c in part):
            part = part[part[column] == rows[column].iloc[0]]
        named = "UCB" if look == ("ucb", "") else label
        curve = part.sort_values("top")
        ax.plot(
            curve["top"],
            curve["naive"],
            color="black",
            linewidth=1,
            linestyle=linestyle,
            label=f"{prefix}{named}, naive",
        )
    curve = rows[rows["epsilon"] == budgets[0]].sort_values("top")
    dashes = {"color": "black", "linewidth": 1, "linestyle": (0, (4, 1.5))}
    ax.plot(curve["top"], curve["naive"], label=f"{prefix}{names[budgets[0]]}, naive", **dashes)
    ax.set(xlabel="mean of the better arm")


def correction_strength(results: Results):
    """gamma(.05) at its best beta over epsilon and T; and what the authors' program takes in its place."""
    figure, (left, right) = style.subplots(1, 2, width=style.PAGE, height=2.7)
    epsilons = np.geomspace(1e-4, 1, 81)
    T_1 = int(printed(results)["horizon"]["1"])
    horizons = (100, T_1, 10_000, 100_000)
    looks = style.Palette(horizons)
    drawn = []
    for T in horizons:
        beta = max_information.best_beta(epsilons, T, LEVEL)
        gamma = max_information.corrected_level(LEVEL, epsilons, T, beta)
        line = looks.line(T) | {"marker": None}
        left.plot(epsilons, gamma, label=f"$T = {T:,}$", **line)
        mark = T**-0.5
        at = max_information.corrected_level(LEVEL, mark, T, max_information.best_beta(mark, T, LEVEL))
        left.plot([mark], [at], marker="o", color=line["color"], linestyle="none")
        numbers = {"panel": "valid", "horizon": T, "epsilon": epsilons, "beta": beta, "gamma": gamma}
        drawn.append(pd.DataFrame(numbers))
    left.axhline(LEVEL, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
    left.set(xscale="log", yscale="log", ylim=(1e-8, 0.1), xlabel="privacy budget $\\varepsilon$")
    left.set(ylabel="corrected level $\\gamma(.05)$", title="valid; dots: $\\varepsilon = 1/\\sqrt{T}$")
    left.legend(loc="lower left", fontsize=7)

    beta = max_information.best_beta(epsilons, T_1, LEVEL)
    valid = max_information.corrected_level(LEVEL, epsilons, T_1, beta)
    right.plot(epsilons, valid, color=looks.colour_of(T_1), label=f"valid, $T = {T_1}$")
    drawn.append(pd.DataFrame({"panel": "released", "horizon": T_1, "epsilon": epsilons, "beta": beta, "gamma": valid}))
    for n, dashes in ((25, (0, (4, 1.5))), (250, "-")):
        released = max_information.released_level(LEVEL, epsilons, n)
        right.plot(epsilons, released, color="black", linestyle=dashes, linewidth=1, label=f"as released, $n = {n}$")
        drawn.append(pd.DataFrame({"panel": "released", "pulls": n, "epsilon": epsilons, "gamma": released}))
    right.axhline(LEVEL, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
    right.set(xscale="log", yscale="log", ylim=(1e-8, 10), xlabel="privacy budget $\\varepsilon$")
    right.set(title="what the authors' program takes")
    right.legend(loc="lower left", fontsize=7)
    return figure, pd.concat(drawn, ignore_index=True)
