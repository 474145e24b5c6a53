"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Panels and curves are those of the cells. What the paper shows keeps its place and its look, whatever joins it.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from privarms.papers.sajed2019._settings import FIGURE_1, FIVE_TIMES, PRIVACY, STOPPING, at_horizon
from privarms.plots import style
from privarms.plots.curves import horizon_in_words, in_words, labels, settings, with_interval
from privarms.plots.facets import band, curves, in_every, in_order, leading, panels, parts
from privarms.studies import library
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

# The curves of Figure 1, in the order of their colours.
CURVES = ("DP-SE", "DP-UCB (log^2.5)", "DP-UCB (log^3)", "DP-UCB (chan)", "DP-UCB (exact)")
CURVES += ("DP-UCB (Mishra & Thakurta)", "DP-UCB (exact, printed counter)", "DP-UCB (ln^2.5)", "DP-UCB (ln^3)")
AXES = {"epsilon": "privacy budget $\\varepsilon$", "K": "number of arms $K$", "horizon": "horizon $T$"}
NOISES = {1.0: "noise as printed", 0.5: "half the noise"}
# Of Azize & Basu 2022; mu2 is linear, as in Figure 1.
INSTANCES = {"one_best": "mu1", "convex": "mu3", "concave": "mu4"}


def _values(setting: dict) -> str:
    """The values of some axes in words; without those that do not apply."""
    shown = {"epsilon": "$\\varepsilon = {:g}$", "K": "$K = {:g}$"}
    there = {k: v for k, v in setting.items() if pd.notna(v)}
    return ", ".join(horizon_in_words(v) if k == "horizon" else shown[k].format(v) for k, v in there.items())


def _ticks(ax, values) -> None:
    """Set ticks at the values of a grid where they can be read."""
    values = sorted(set(values))
    if len(values) <= 6:
        style.ticks(ax, values)
    elif values[-1] <= 100 * values[0]:
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
    epsilons = sorted(cells["epsilon"].dropna().unique())
    chosen = [e for e in epsilons if e in published]
    chosen += [e for e in epsilons if further and e not in set(printed["epsilon"])]
    rows = with_interval(cells, "regret_mean", "regret_se", least=50)
    few = rows[["cell", "t"]].merge(results.inference("thirty_runs"), on=["cell", "t"], how="left").set_axis(rows.index)
    rows = in_every(rows.assign(**{end: few[end].fillna(rows[end]) for end in ("low", "high")}), "epsilon", chosen)
    titles = {e: f"$\\varepsilon = {e:g}$" + ("" if e in published else " (not in the paper)") for e in chosen}
    rows = in_order(rows.assign(panel=rows["panel_epsilon"].map(titles)), "panel", "curve")
    looks = style.looks(first["curve"], CURVES, context)
    grid = curves(rows, "t", "regret_mean", looks=looks, col="panel", wrap=2, height=2.3, log="y")
    banded = set(results.inference("thirty_runs")["cell"])
    for ax, name, some in parts(grid):
        if set(some["cell"]) <= banded:
            ax.plot(some["t"], some["regret_p50"], color=looks[name]["color"], linewidth=0.8, linestyle=(0, (1, 1)))
    grid.set_axis_labels("round $t$", "mean cumulative pseudo-regret")
    grid.set(xlim=(0, cells["horizon"].max()), ylim=(100, None))
    style.legend(grid.figure)
    columns = ["policy", "width", "counter", "horizon", "t", "replicates", "regret_mean", "regret_se", "regret_p50"]
    return grid.figure, rows.reindex(columns=[*columns, "panel_epsilon", "curve", "low", "high"])


@figure(
    "Figure 1a: regret at epsilon = 0.1 and 0.25",
    studies=["figure1"],
    inference=["thirty_runs"],
    card=FIGURE_1,
    tab="epsilon = 0.1 and 0.25",
)
def fig1a(results: Results):
    """Mean pseudo-regret of DP-SE and DP-UCB, with 95% intervals of the mean; grey: policies without privacy. DP-UCB's
    width is of order log^2.5 or log^3, Mishra and Thakurta's, that of Chan, Shi and Song (chan), or the exact quantile
    of its noise (exact), also with the counter that section 1 prints. Where more than 30 runs were made, dots are the
    median and the band has 95% of the means of 30 runs. The published figure has no printed numbers.
    """
    return _regret_panels(results, "fig1a", further=False)


@figure(
    "Figure 1b: regret at epsilon = 0.5 and 1",
    studies=["figure1"],
    inference=["thirty_runs"],
    card=FIGURE_1,
    tab="epsilon = 0.5 and 1",
)
def fig1b(results: Results):
    """As Figure 1a. An epsilon that is in neither has a panel here."""
    return _regret_panels(results, "fig1b", further=True)


# Along one axis of a grid at a time


def _along_axes(cells: pd.DataFrame, value: str, se: str, fixed: Sequence[str], name: Callable = str):
    """Draw a panel per axis with the lines of two points or more along it: (grid with a panel per axis, numbers).

    The longest line's setting is the panel's title; what another line has otherwise stands in the legend. A cell on no
    line, and one without an epsilon that has the title's K and T, stands alone on the first axis.
    cells: with a column `curve`; value, se: the columns drawn; name: curve -> legend
    """
    lines, title, alone = [], {}, pd.Series(True, cells.index)
    for axis in AXES:
        others = [k for k in AXES if k != axis]
        points = cells.groupby(["curve", *others], dropna=False)[axis].transform("nunique")
        along = cells[points > 1]
        lines.append(along.assign(axis=axis, x=along[axis]))
        alone &= points <= 1
        if len(along):
            title[axis] = cells.loc[points.idxmax(), others].to_dict()
    if "epsilon" in title:
        setting = title["epsilon"]
        alone |= cells["epsilon"].isna() & (cells["K"] == setting["K"]) & (cells["horizon"] == setting["horizon"])
    elif alone.any():
        title = {"epsilon": cells.loc[alone, ["K", "horizon"]].iloc[0].to_dict()} | title
    lines.append(cells[alone].assign(axis="epsilon", x=cells.loc[alone, "epsilon"]))
    rows = pd.concat(lines, ignore_index=True)
    other, label = [], []
    for row in rows.to_dict("records"):
        axis = row["axis"]
        other.append(_values({k: row[k] for k, v in title[axis].items() if row[k] != v}))
        label.append(", ".join(filter(None, (name(row["curve"]), other[-1]))))
    rows = rows.assign(other=other, name=label, panel=rows["axis"].map(list(title).index))
    on_line = rows.index < len(rows) - alone.sum()
    rows = pd.concat([in_order(rows[on_line], "curve", "axis", "other", by="x"), rows[~on_line]], ignore_index=True)
    rows = with_interval(rows, value, se)
    seconds = sorted(rows["other"].unique())
    looks = style.crossed(rows, "name", "curve", "other", firsts=fixed, seconds=seconds)
    options = {"hue": "name", "col_order": list(title), "sharex": False, "height": 2.2, "log": "xy"}
    grid = curves(rows, "x", value, looks=looks, col="axis", **options)
    for axis, ax in grid.axes_dict.items():
        ax.set(xlabel=AXES[axis], title=_values(title[axis]))
        if axis != "horizon":
            _ticks(ax, cells[axis].dropna())
    return grid, rows


def _width(curve: str) -> str:
    """What stands for a curve in a legend that is about DP-UCB's width."""
    return curve.removeprefix("DP-UCB (").removesuffix(")") if curve in CURVES else curve


@figure(
    "How much more regret DP-UCB has, by its private width",
    inference=["ratios"],
    card=FIVE_TIMES,
    tab="The paper's settings",
)
def dp_ucb_width(results: Results):
    """Mean regret of DP-UCB over mean regret of DP-SE at the horizon, with 95% intervals. The paper's statement is that
    every ratio is at least 5 (dashed). Left: K = 5; right: other K at epsilon = 0.25; claims use all epsilon. Width
    of order log^2.5 or log^3, with base e throughout ln^2.5 or ln^3, that of Mishra and Thakurta or of Chan, Shi and
    Song (chan), or the exact quantile of the noise.
    """
    ratios = results.inference("ratios")
    ratios = ratios[(ratios["study"] != "instances") & ((ratios["K"] == 5) | (ratios["epsilon"] == 0.25))]
    ratios = leading(ratios.assign(curve=labels(ratios, tuple(AXES))), "curve", CURVES)
    grid, numbers = _along_axes(ratios, "ratio", "ratio_se", CURVES, _width)
    _finish_ratios(grid, results)
    columns = ["width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "regret_mean_dp_se"]
    columns += ["regret_se_dp_se", "ratio", "ratio_se", "panel", "low", "high", "policy", "curve"]
    return grid.figure, numbers.reindex(columns=columns)


def _finish_ratios(grid, results: Results) -> None:
    """Draw the published ratio and the legend."""
    times = results.published("at_least_times")
    for number, ax in enumerate(grid.axes.flat):
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        style.published(ax, times, "" if number else f"published: at least {times}")
    grid.set_ylabels("regret of DP-UCB / regret of DP-SE")
    style.legend(grid.figure, columns=5, title="private width of DP-UCB")


@figure("The same on four instances", inference=["ratios"], card=FIVE_TIMES, tab="Four instances")
def instances(results: Results):
    """Mean regret of DP-UCB over mean regret of DP-SE at the horizon, with 95% intervals, on the instances mu1 to mu4
    of Azize and Basu (2022); mu2 is that of Figure 1. The paper's statement is that every ratio is at least 5 (dashed).
    K = 5; claims use K = 3, 10 and 20 too. Widths as in the other figure.
    """
    ratios = results.inference("ratios")
    ratios = ratios.assign(curve=labels(ratios, (*AXES, "top", "bottom", "spacing")))
    spacing = ratios["spacing"] if "spacing" in ratios else pd.Series(np.nan, ratios.index)
    figure_1 = (ratios["study"] != "instances") & (ratios["K"] == 5)
    ratios = ratios.assign(instance=spacing.map(INSTANCES).mask(figure_1, "mu2"))
    ratios = ratios[ratios["instance"].notna() & (ratios["K"] == 5)]
    ratios = leading(with_interval(ratios, "ratio", "ratio_se"), "curve", CURVES).sort_values("instance", kind="stable")
    rows = in_order(ratios, "instance", "curve", by="epsilon")
    names = rows["curve"].map(_width)
    rows = rows.assign(name=names, panel="$\\mu_" + rows["instance"].str.removeprefix("mu") + "$")
    looks = {_width(curve): look for curve, look in style.looks(ratios["curve"], CURVES).items()}
    grid = curves(rows, "epsilon", "ratio", looks=looks, col="panel", hue="name", log="xy", height=2.3)
    grid.set_xlabels(AXES["epsilon"])
    for ax in grid.axes.flat:
        _ticks(ax, ratios["epsilon"])
    _finish_ratios(grid, results)
    columns = ["instance", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    columns += ["regret_mean_dp_se", "regret_se_dp_se", "ratio", "ratio_se", "low", "high", "policy", "curve"]
    return grid.figure, rows.reindex(columns=columns)


@figure("How regret grows with the horizon", studies=["growth"], inference=["growth"])
def growth(results: Results):
    """Mean regret at the horizon T over ln T, against T, with 95% intervals: level where regret is of order log T. In
    the legend p, for which it grows like ln(T)^p from the first horizon to the last.
    """
    cells = at_horizon(results.cells("growth"))
    cells = leading(cells.assign(curve=labels(cells, ("horizon",))), "curve", CURVES)
    powers = results.inference("growth")
    powers = dict(zip(labels(powers, ()), powers["exponent"], strict=True))
    logarithm = np.log(cells["horizon"])
    cells = cells.assign(ratio=cells["regret_mean"] / logarithm, ratio_se=cells["regret_se"] / logarithm)
    rows = in_order(with_interval(cells, "ratio", "ratio_se"), "curve", by="horizon")
    names = {curve: f"{curve}, $p = {p:.2f}$" if pd.notna(p) else curve for curve, p in powers.items()}
    names = {curve: names.get(curve, curve) for curve in cells["curve"]}
    rows = rows.assign(exponent=rows["curve"].map(powers), name=rows["curve"].map(names))
    looks = {names[curve]: look for curve, look in style.looks(cells["curve"], CURVES).items()}
    grid = curves(rows, "horizon", "ratio", looks=looks, hue="name", log="xy", width=style.COLUMN, height=2.3)
    grid.set_axis_labels(AXES["horizon"], "mean pseudo-regret / $\\ln T$")
    style.legend(grid.figure, columns=2)
    columns = ["policy", "width", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se", "ratio", "low"]
    return grid.figure, rows.reindex(columns=[*columns, "high", "exponent", "curve"])


@figure("DP-SE against Theorem 4.3", inference=["scaling"])
def scaling(results: Results):
    """Mean regret of DP-SE (95% intervals are narrower than the line) along epsilon, K and T, beside the bound of
    Theorem 4.3 with the constant that makes it touch the largest ratio, and Algorithm 3 without noise.
    """
    cells = results.inference("scaling")
    cells = cells.assign(curve=labels(cells, tuple(AXES)))
    constant = cells.loc[cells["policy"] == "dp_se", "order_ratio"].max()
    fixed = [library.attributes("policies", policy)["LABEL"] for policy in style.FIXED]
    grid, numbers = _along_axes(cells, "regret_mean", "regret_se", fixed)
    bound = f"{constant:.0f} × bound of Theorem 4.3"
    for ax, _, line in parts(grid):
        if line["policy"].iloc[0] == "dp_se":
            ax.plot(line["x"], constant * line["order"], label=bound, **style.GUIDE)
    grid.set_ylabels("mean pseudo-regret at $T$")
    style.legend(grid.figure, columns=3)
    columns = ["axis", "policy", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    numbers = numbers.reindex(columns=[*columns, "order", "curve"]).rename(columns={"order": "bound"})
    return grid.figure, numbers.assign(bound_constant=constant)


# Theorems and lemmas about DP-SE


@figure("Pulls of the suboptimal arms (Lemma 4.2)", inference=["pulls"])
def pulls(results: Results):
    """How often DP-SE, and no other policy, pulls an arm, against the arm's gap: mean (line) and largest of all runs
    (tick), with beta = 1/T and with a beta of its own, the explicit ceiling by which the arm must have left, and the
    expression of Lemma 4.2 with the smallest constant that lies above every mean.
    """
    rows = results.inference("pulls")
    # Only a beta of one's own is worth a word.
    own = rows.assign(beta=rows["beta"].where(rows["beta"] != 1 / rows["horizon"]))
    rows = rows.assign(setting=[in_words(s) for s in settings(own, ("K", "epsilon"))])
    arms, constant = sorted(rows["K"].unique()), (rows["mean"] / rows["order"]).max()
    names = [", ".join(filter(None, (f"mean, $K = {K}$", s))) for K, s in zip(rows["K"], rows["setting"], strict=True)]
    drawn = rows.assign(curve=names, panel=_panel_of("epsilon", rows)).sort_values("epsilon", kind="stable")
    firsts = [K for K in arms if K > 2]
    looks = style.crossed(drawn, "curve", "K", "setting", firsts=firsts, seconds=rows["setting"])
    grid = curves(drawn, "gap", "mean", looks=looks, col="panel", wrap=3, log="xy")
    for ax, name, some in parts(grid):
        ax.plot(some["gap"], some["largest"], marker="_", linestyle="none", color=looks[name]["color"], mec="auto")
    first = drawn[(drawn["K"] == arms[-1]) & (drawn["setting"] == rows["setting"].iloc[0])]
    for panel, most in first.sort_values("gap").groupby("panel"):
        ax, dotted = grid.axes_dict[panel], style.GUIDE | {"linestyle": (0, (1, 1))}
        ax.plot(most["gap"], most["ceiling"], label=f"explicit ceiling, $K = {arms[-1]}$", **dotted)
        label = f"{constant:.0f} × Lemma 4.2, $K = {arms[-1]}$"
        ax.plot(most["gap"], constant * most["order"], label=label, **style.GUIDE)
    grid.set_axis_labels("gap $\\Delta_a$", "pulls of the arm by $T$")
    for ax in grid.axes.flat:
        style.ticks(ax, [0.03, 0.1, 0.3])
    style.legend(grid.figure, columns=3)
    columns = ["beta", "K", "epsilon", "arm", "gap", "replicates", "mean", "largest", "order", "ceiling", "above"]
    return grid.figure, rows.assign(lemma_constant=constant)[[*columns, "any_above", "lemma_constant", "setting"]]


def _panel_of(axis: str, rows: pd.DataFrame) -> list[str]:
    """The title of the panel of each row, one per value of an axis."""
    return [_values({axis: value}) for value in rows[axis]]


@figure("The worst gap (Theorem 4.4)", inference=["minimax"])
def minimax(results: Results):
    """Mean regret of DP-SE, and of no other policy, with one best arm and K - 1 equal ones, over Theorem 4.4's
    expression, against the gap.
    """
    cells = results.inference("minimax")
    words = [in_words(s) for s in settings(cells, ("K", "epsilon", "horizon", "bottom"))]
    cells = with_interval(cells.assign(setting=words), "ratio", "ratio_se")
    rows = cells.sort_values(["epsilon", "horizon", "K"], kind="stable").assign(
        curve=lambda f: [
            ", ".join(filter(None, (f"$K = {K}$", horizon_in_words(T), setting)))
            for K, T, setting in zip(f["K"], f["horizon"], f["setting"], strict=True)
        ],
        panel=lambda f: _panel_of("epsilon", f),
        dash=lambda f: list(zip(f["setting"], -f["horizon"], strict=True)),
    )
    firsts, seconds = sorted(cells["K"].unique()), sorted(rows["dash"].unique())
    looks = style.crossed(rows, "curve", "K", "dash", firsts=firsts, seconds=seconds)
    grid = curves(rows, "gap", "ratio", looks=looks, col="panel", log="x")
    grid.set_axis_labels("gap $\\Delta$", "mean regret / expression")
    style.legend(grid.figure, columns=3)
    columns = ["K", "epsilon", "horizon", "gap", "replicates", "regret_mean", "regret_se", "order", "ratio", "ratio_se"]
    return grid.figure, cells[columns]


@figure(
    "Are DP-SE, DP-NAS and DP-UCB private? (Theorems 4.1 and 3.1)",
    inference=["audit", "audit_dp_nas", "audit_dp_ucb"],
    card=PRIVACY,
    tab="Audits",
)
def privacy_audit(results: Results):
    """Privacy loss that can be shown on two streams which differ in one reward or sample: exact, and the 95% lower
    bound from simulated counts, with the noise as printed and with half of it. Above the diagonal epsilon is refuted.
    """
    tables = [results.inference(name) for name in ("audit", "audit_dp_nas", "audit_dp_ucb")]
    numbers = pd.concat(tables, ignore_index=True)
    rows = numbers.assign(
        setting=[words for rows in tables for words in _settings_in_words(rows)],
        panel=[library.attributes("policies", subject)["LABEL"] for subject in numbers["subject"]],
    )
    rows = rows.sort_values("noise", ascending=False, kind="stable")
    names = [NOISES.get(noise, f"{noise:g} × the noise") for noise in rows["noise"]]
    rows["curve"] = [", ".join(filter(None, pair)) for pair in zip(names, rows["setting"], strict=True)]
    looks = style.looks(rows["curve"])
    order = list(dict.fromkeys(rows.sort_index()["panel"]))
    grid = panels(rows, looks=looks, col="panel", col_order=order, sharex=False)
    for panel, own in rows.groupby("panel"):
        limit = 1.15 * own["epsilon"].max()
        grid.axes_dict[panel].plot([0, limit], [0, limit], label="promised", **style.GUIDE)
        grid.axes_dict[panel].set(xlim=(0, limit))
    for ax, name, some in parts(grid):
        dash = {"marker": "_", "markersize": 9, "markeredgewidth": 1.4, "markeredgecolor": looks[name]["color"]}
        band(ax, some, "epsilon", "exact", label=f"exact, {name}", **(looks[name] | dash))
        points = looks[name] | {"linestyle": "none"}
        ax.plot(some["epsilon"], some["lower_bound"], label=f"95% bound, {name}", **points)
    grid.set(ylim=(0, None)).set_axis_labels("promised $\\varepsilon$", "privacy loss shown")
    style.legend(grid.figure, columns=2)
    return grid.figure, numbers


def _settings_in_words(rows: pd.DataFrame) -> list[str]:
    """Of an audit, what tells its rows apart besides epsilon and the noise."""
    measured = ("audit", "subject", "epsilon", "noise")
    keys = [k for k in rows.columns[: rows.columns.get_loc("claimed")] if k not in measured and rows[k].nunique() > 1]
    return [in_words(dict(zip(keys, r, strict=True))) for r in rows[keys].itertuples(index=False)]


# The stopping rules


@figure("The private stopping rules", inference=["stopping"], card=STOPPING, tab="Stopping times")
def stopping_rules(results: Results):
    """Mean stopping time of DP-NAS (Algorithm 1) and of DP exponential NAS (Algorithm 2) against |mu|, by alpha and
    epsilon, between the lower bound in Theorem 3.4's proof and t_U of Theorem 3.3.
    """
    cells = results.inference("stopping")
    rule = labels(cells, ("alpha", "epsilon", "mu"))
    # On a logarithmic axis both signs stand at |mu|.
    rule = rule.where(cells["mu"] > 0, rule + ", $\\mu < 0$")
    private = cells["epsilon"].notna()
    cells = cells.assign(curve=rule, size=cells["mu"].abs(), private=private)
    cells["name"] = rule.where(~private, rule + [f", $\\varepsilon = {e:g}$" for e in cells["epsilon"]])
    rows = with_interval(in_every(cells, "alpha"), "stopping_time_mean", "stopping_time_se")
    rows = rows.sort_values(["panel_alpha", "epsilon", "size"], kind="stable")
    rows = in_order(rows.assign(panel=[f"$\\alpha = {a:g}$" for a in rows["panel_alpha"]]), "panel", "epsilon", "curve")
    firsts = sorted(cells["epsilon"].dropna().unique())
    looks = style.crossed(cells[private], "name", "epsilon", "curve", firsts=firsts)
    looks |= style.looks((), context=cells.loc[~private, "name"])
    grid = curves(rows, "size", "stopping_time_mean", looks=looks, col="panel", hue="name", height=2.3, log="xy")
    for ax, name, some in parts(grid):
        for bound in ("t_upper", "t_lower") if some["private"].all() else ():
            ax.plot(some["size"], some[bound], color=looks[name]["color"], linewidth=0.7, linestyle=(0, (1, 1.2)))
        _ticks(ax, rows["size"])
    corner = {"xycoords": "axes fraction", "fontsize": 7}
    first = grid.axes.flat[0]
    first.annotate("$t_U$ of Theorem 3.3", (0.97, 0.95), ha="right", va="top", **corner)
    first.annotate("Theorem 3.4", (0.03, 0.04), ha="left", va="bottom", **corner)
    grid.set_axis_labels("$|\\mu|$ ($R = 1$)", "stopping time (samples)")
    style.legend(grid.figure, columns=3)
    columns = ["policy", "alpha", "mu", "epsilon", "replicates", "stopping_time_mean", "stopping_time_se"]
    return grid.figure, rows.reindex(columns=[*columns, "low", "high", "t_upper", "t_lower", "curve"])
