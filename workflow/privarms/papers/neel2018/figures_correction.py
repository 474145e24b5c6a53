"""False discovery and power before and after the correction, and what the correction costs."""

import numpy as np
import pandas as pd

from privarms.inference import max_information
from privarms.papers.neel2018 import _looks
from privarms.papers.neel2018._settings import CORRECTION, LEVEL, PANEL, described, panels, printed, told_apart
from privarms.plots import style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import curves
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

# Here the ablation has the third colour.
LOOKS = (("ucb", ""), ("private_ucb", "as_printed"), ("private_ucb_noise_only", "as_printed"))
PANEL_OF_POWER = ("K", "horizon", "bottom", "spacing")


@figure(
    "False discovery before and after the correction",
    inference=["false_discovery", "power"],
    card=CORRECTION,
    tab="False discovery",
)
def corrected_pvalues(results: Results):
    """Share of tests that reject a true null at .05 when the arm is chosen by its pulls, T = 500 (tests of an arm of
    mean 1, which test nothing, are left out, and so are selectors of which most tests are such): naively, and at
    gamma(.05) for private data. Right: how often the better of 5 arms (others at 0.5) is the most-pulled one and the
    corrected test says so; at small epsilon private UCB pulls all arms alike, so that one in five is the most there is.
    """
    rows = results.inference("false_discovery")
    rows = rows[~(rows["degenerate"] > 0.5)]
    rows = rows.assign(curve=labels(rows, PANEL))
    power = results.inference("power").assign(selector="most_pulled")
    power = power.assign(curve=labels(power, (*PANEL, *PANEL_OF_POWER, "top")))
    of_arms = panels(rows, ("ladder", "K", "horizon"))
    of_arms = list(zip(_titles(rows, of_arms), (part for _, part in of_arms), strict=True))
    order = _looks.looks(rows, LOOKS)
    drawn = _false_discovery(_looks.tidy(of_arms, order))
    looks = style.crossed(drawn, "name", "curve", "what", firsts=list(order))
    for name in drawn.loc[drawn["test"] == "corrected", "name"].unique():
        looks[name] |= {"markerfacecolor": "white", "markeredgecolor": looks[name]["color"]}
    of_power, more = _power(power)
    looks |= more
    shown = pd.concat([drawn.assign(kind="false discovery"), of_power.assign(kind="power")], ignore_index=True)
    grid = curves(shown, "x", "y", hue="name", looks=looks, col="panel", wrap=3, sharex=False, sharey=False)
    for panel, ax in grid.axes_dict.items():
        if (shown.loc[shown["panel"] == panel, "kind"] == "power").all():
            ax.set(xlabel="mean of the better arm", ylabel="share of runs that find it")
            continue
        ax.axhline(LEVEL, **(style.LEVEL | {"linestyle": style.LINESTYLES[2]}))
        ax.set(xscale="log", xlabel="privacy budget $\\varepsilon$", ylim=(-0.004, None))
        ax.set(ylabel="false discovery at .05\n(share of tests)")
    style.legend(grid.figure, columns=2)
    columns = ["panel", "ladder", "policy", "epsilon", "selector", "top", "replicates", "level", "naive", "naive_se"]
    parts = [part.assign(panel=title) for title, part in of_arms]
    rows = pd.concat([*parts, power.assign(panel="power")], ignore_index=True)
    keys = ("panel", "ladder", "policy", "epsilon", "selector", "top", "variant", "K", "horizon", "bottom", "curve")
    return grid.figure, told_apart(rows, [*columns, "corrected", "corrected_se"], keys)


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


def _tested(rows: pd.DataFrame, test: str) -> pd.DataFrame:
    """The rates of one test as y, with their interval."""
    return with_interval(rows.assign(test=test, y=rows[test]), test, f"{test}_se", normal=True)


def _false_discovery(rows: pd.DataFrame) -> pd.DataFrame:
    """The curves of both tests over epsilon; of a policy without a budget a level of the naive test alone."""
    both = pd.concat([_tested(rows, "naive"), _tested(rows[rows["epsilon"].notna()], "corrected")], ignore_index=True)
    what = [
        f"{test}, {selector.replace('_', ' ')}" for test, selector in zip(both["test"], both["selector"], strict=True)
    ]
    both = both.assign(what=what, x=both["epsilon"])
    return both.assign(name=both["curve"] + ", " + both["what"])


def _power(power: pd.DataFrame) -> tuple[pd.DataFrame, style.Looks]:
    """Power over the better arm's mean: corrected at each budget; naive at the smallest, and without privacy."""
    private = power[power["epsilon"].notna() & ~_looks.ablated(power)]
    plain = power[power["epsilon"].isna()]
    budgets = sorted(private["epsilon"].unique())
    names = {e: f"power, $\\varepsilon={n}$" for e, n in zip(budgets, _looks.shortest(budgets), strict=True)}
    looks = {names[e]: look for e, look in style.looks(budgets).items()}
    drawn = [private.iloc[:0].assign(panel="", name="", test="", x=0.0, y=0.0, low=0.0, high=0.0)]
    for label, own in private.groupby("curve", sort=False):
        for title, rows in panels(own, PANEL_OF_POWER):
            panel = f"{style.wrapped(f'power, {label[:1].lower()}{label[1:]}', 26)}\n{title}".strip()
            same = [c for c in PANEL_OF_POWER if c in plain]
            without = plain.merge(rows[same].drop_duplicates(), on=same) if len(plain) else plain
            least = rows[rows["epsilon"] == budgets[0]]
            drawn += [
                _tested(rows, "corrected").assign(name=rows["epsilon"].map(names), panel=panel),
                _tested(without, "naive").assign(name="power, " + without["curve"] + ", naive", panel=panel),
                _tested(least, "naive").assign(name=f"{names[budgets[0]]}, naive", panel=panel),
            ]
    rows = pd.concat(drawn, ignore_index=True)
    grey = style.looks((), context=rows.loc[~rows["name"].isin(looks), "name"])
    return rows.assign(x=rows["top"]), looks | grey


@figure("What the correction costs", card=CORRECTION, tab="What it costs")
def correction_strength(results: Results):
    """gamma(.05) of Theorem 3 with its best beta over epsilon, and alpha/(e x') of the authors' program, x' = epsilon^2
    n/2 + epsilon sqrt(n ln 2), which can lie above .05 and takes the pulls n of the tested arm for T. Dotted, .05.
    """
    epsilons = np.geomspace(1e-4, 1, 81)
    T_1 = int(printed(results)["horizon"]["1"])

    def valid(T: int, at) -> tuple:
        beta = max_information.best_beta(at, T, LEVEL)
        return beta, max_information.corrected_level(LEVEL, at, T, beta)

    drawn = []
    for panel, T in [*(("valid", T) for T in (100, T_1, 10_000, 100_000)), ("released", T_1)]:
        beta, gamma = valid(T, epsilons)
        numbers = {"panel": panel, "horizon": T, "epsilon": epsilons, "beta": beta, "gamma": gamma}
        drawn.append(pd.DataFrame(numbers | {"curve": f"valid, $T = {T:,.0f}$"}))
    for n in (25, 250):
        numbers = {"panel": "released", "pulls": n, "epsilon": epsilons}
        gamma = max_information.released_level(LEVEL, epsilons, n)
        drawn.append(pd.DataFrame(numbers | {"gamma": gamma, "curve": f"as released, $n = {n}$"}))
    rows = pd.concat(drawn, ignore_index=True)
    lines = rows["curve"].str.startswith("as released")
    looks = style.looks(rows.loc[~lines, "curve"], context=rows.loc[lines, "curve"])
    looks = {name: look | {"marker": None} for name, look in looks.items()}
    titles = {"valid": "valid; dots: $\\varepsilon = 1/\\sqrt{T}$", "released": "what the authors' program takes"}
    shown = rows.assign(title=rows["panel"].map(titles))
    grid = curves(shown, "epsilon", "gamma", looks=looks, col="title", log="xy")
    for T in rows["horizon"].dropna().unique():
        grid.axes.flat[0].plot(T**-0.5, valid(T, T**-0.5)[1], marker="o", color="black")
    for ax in grid.axes.flat:
        ax.axhline(LEVEL, **(style.LEVEL | {"linestyle": style.LINESTYLES[2]}))
    grid.set(ylim=(1e-8, 10)).set_axis_labels("privacy budget $\\varepsilon$", "corrected level $\\gamma(.05)$")
    style.legend(grid.figure, columns=3)
    return grid.figure, rows.drop(columns="curve")
