"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Whatever value or policy joins a grid gets a panel, or a curve with a look and an entry of its own; what a figure
leaves out it names.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

import numpy as np
import pandas as pd

from privarms.inference.intervals import normal_interval
from privarms.papers.li2024 import _rows
from privarms.plots import curves
from privarms.plots import old_style as style
from privarms.plots.registry import functions_of
from privarms.studies import library
from privarms.studies.results import Results

N = 1_000_000
THEORY = {"color": "black", "linewidth": 1.2}
GUIDE = {"color": style.QUIET, "linewidth": 0.9, "linestyle": (0, (4, 2))}
# These look the same in every figure.
PUBLISHED = (
    *(("conse_se", math.nan), ("conse_exp3e", math.nan)),
    *(("dp_conse", epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0)),
)
# What an interval of nominal 95% covers with half of the variance: 2 Phi(z / sqrt 2) - 1.
HALF_VARIANCE = math.erf(NormalDist().inv_cdf(0.975) / 2)


def _entry(label: str, epsilon: float) -> str:
    return label if math.isnan(epsilon) else f"{label}, $\\varepsilon = {epsilon:g}$"


def _named(rows: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """The rows with the legend entry `curve`: LABEL, settings other than the axes, and epsilon."""
    labels = curves.labels(rows, apart_from=(*axes, "epsilon"))
    return rows.assign(curve=[_entry(*pair) for pair in zip(labels, rows["epsilon"], strict=True)])


def _published(policy: str, epsilon: float) -> str:
    return _entry(library.attributes("policies", policy)["LABEL"], epsilon)


def _looks(names: Iterable[str]) -> style.Palette:
    """The looks of legend entries, those of the published algorithms as ever."""
    return style.Palette(names, fixed=[_published(*one) for one in PUBLISHED])


def _without(rows: pd.DataFrame, *algorithms: tuple[str, float], **left_out: tuple) -> pd.DataFrame:
    """The rows without some published algorithms and some values, an axis a name; an axis that has no others stays
    whole."""
    for axis, values in {"curve": [_published(*one) for one in algorithms], **left_out}.items():
        others = ~rows[axis].isin(values)
        rows = rows[others] if others.any() else rows
    return rows


def _over_alpha(ax, curve: pd.DataFrame, *columns: str, **line) -> None:
    """A curve or band against alpha; a policy without alpha is a level line."""
    curve = curve.sort_values("alpha")
    if curve["alpha"].isna().all():
        curve = pd.concat([curve.iloc[:1].assign(alpha=0.0), curve.iloc[:1].assign(alpha=1.0)])
    if len(columns) == 1:
        ax.plot(curve["alpha"], curve[columns[0]], **line)
    else:
        style.band(ax, curve["alpha"], *(curve[c] for c in columns), **line)


def _curve(M: int, least_T: float, most_T: float) -> pd.DataFrame:
    """The points (M T, 1 / T) of the Pareto curve between two lengths of the trial."""
    T = np.geomspace(least_T, most_T, 50)
    return pd.DataFrame({"regret": M * T, "error": 1 / T})


def _draw_curve(ax, curve: pd.DataFrame, ends: tuple[str, str], **line) -> None:
    ax.plot(curve["regret"], curve["error"], **line)
    marks = {"linestyle": "none", "marker": "o", "color": line.get("color", "black")}
    first, last = curve.iloc[0], curve.iloc[-1]
    ax.plot([first["regret"], last["regret"]], [first["error"], last["error"]], **marks)
    offset = {"textcoords": "offset points", "fontsize": 7}
    ax.annotate(ends[0], (first["regret"], first["error"]), xytext=(6, 2), **offset)
    ax.annotate(ends[1], (last["regret"], last["error"]), xytext=(-6, -3), ha="right", va="top", **offset)
    ax.set(xscale="log", yscale="log", xlabel="regret $R$")


def fig1(results: Results):
    """Figure 1: the curve and its ends, alpha = 0 and alpha = 1."""
    M = 2
    curve = _curve(M, math.log(N), N / M)
    figure, ax = style.subplots(width=style.COLUMN, height=2.5)
    ends = ("$\\alpha = 1$: $(M\\log n,\\ 1/\\log n)$", "$\\alpha = 0$: $(M f_{\\min},\\ 1/f_{\\min})$")
    _draw_curve(ax, curve, ends, **THEORY)
    ax.set(ylabel="error $e$", xlim=(10, 3e6), ylim=(5e-7, 0.5))
    return figure, curve.assign(M=M, n=N)


def fig2(results: Results):
    """Figure 2: the same with privacy."""
    M = 2
    figure, ax = style.subplots(width=style.COLUMN, height=2.7)
    drawn = []
    colours = ("black", style.COLOURS[4], style.COLOURS[2], style.COLOURS[1])
    moved = ((math.inf, 1.0), (1.0, 1.25), (0.1, 1.6), (0.01, 2.0))
    for (epsilon, shift), colour in zip(moved, colours, strict=True):
        least = math.log(N) / min(epsilon, 1.0)
        curve = _curve(M, least, N / M)
        # The curves lie on each other: each is moved up a little so that it can be seen.
        label = "no privacy" if math.isinf(epsilon) else f"$\\varepsilon = {epsilon:g}$"
        ax.plot(curve["regret"], curve["error"] * shift, color=colour, label=label)
        ax.plot(curve["regret"].iloc[:1], curve["error"].iloc[:1] * shift, color=colour, marker="o")
        drawn.append(curve.assign(M=M, n=N, epsilon=epsilon, drawn_error=curve["error"] * shift))
    ax.annotate("$(M\\log n/\\varepsilon,\\ \\varepsilon/\\log n)$", (4e3, 2e-3), fontsize=7)
    ax.set(xscale="log", yscale="log", xlabel="regret $R$", ylabel="error $e$ (curves moved apart)")
    ax.legend(loc="lower left", fontsize=7)
    return figure, pd.concat(drawn, ignore_index=True).replace(math.inf, np.nan)


def fig3(results: Results):
    """Figure 3: the curve where the rarest feature comes n / M, n^0.6 or log(n)^2 times."""
    M = 2
    scenarios = (
        ("$f_{\\min} = \\Theta(n)$", N / M),
        ("$f_{\\min} = n^{0.6}$", N**0.6),
        ("$f_{\\min} = \\log^2 n$", math.log(N) ** 2),
    )
    figure, axes = style.subplots(1, 3, width=style.PAGE, height=2.4, sharex=True, sharey=True)
    drawn = []
    for ax, (title, most) in zip(axes, scenarios, strict=True):
        curve = _curve(M, math.log(N), most)
        right = np.array([*curve["regret"], 3e6])
        low = np.array([*curve["error"], curve["error"].iloc[-1]])
        ax.fill_between(right, low, 0.5, color="#56B4E9", alpha=0.25, linewidth=0)
        ends = ("$\\alpha = 1$", "$\\alpha = 0$")
        _draw_curve(ax, curve, ends, **THEORY)
        ax.set(title=title, xlim=(10, 3e6), ylim=(5e-7, 0.5))
        drawn.append(curve.assign(scenario=title, f_min=most, M=M, n=N))
    axes[0].set_ylabel("error $e$")
    return figure, pd.concat(drawn, ignore_index=True)


def _stationary(results: Results) -> pd.DataFrame:
    cells = _named(results.inference("pareto"), _rows.PARETO)
    return cells[cells["arrivals"] == "stationary"]


def pareto_empirical(results: Results):
    """Measured points and the theory's curve, a panel an n and M."""
    cells = _stationary(results)
    shown = _without(cells, ("dp_conse", 0.5), ("dp_conse", 2.0))
    ns, Ms = sorted(shown["horizon"].unique()), sorted(shown["M"].unique())
    looks = _looks(shown["curve"])
    wide = max(style.PAGE, 1.6 * len(Ms))
    options = {"sharex": True, "sharey": True, "squeeze": False}
    figure, axes = style.subplots(len(ns), len(Ms), width=wide, height=1.6 * len(ns) + 0.7, **options)
    for row, n in zip(axes, ns, strict=True):
        for ax, M in zip(row, Ms, strict=True):
            some = shown[(shown["horizon"] == n) & (shown["M"] == M)]
            curve = _curve(M, math.log(n), n / M)
            ax.plot(curve["regret"], curve["error"], **GUIDE)
            for name, points in some.groupby("curve", sort=False):
                points = points.sort_values("alpha")
                line = looks.line(name) | {"linestyle": "none", "markersize": 2.4}
                low, high = normal_interval(points["mse"], points["mse_se"].fillna(0))
                # An axis of powers has no place for an end below 0.
                low = np.maximum(low, 0.1 * points["mse"])
                ends = [points["mse"] - low, high - points["mse"]]
                # EXP3E's estimate is not a mean difference.
                if points["policy"].iloc[0] != "conse_exp3e":
                    ax.plot(points["regret"], points["expected_mse"], color=line["color"], linewidth=0.6)
                ax.errorbar(points["regret"], points["mse"], yerr=ends, label=name, elinewidth=0.5, **line)
                last = points.iloc[-1]
                ax.plot([last["regret"]], [last["mse"]], **(line | {"markersize": 4.5}))
            ax.set(xscale="log", yscale="log")
            ax.set_title(f"n = {n:,}, M = {M}", fontsize=7)
    for ax in axes[-1]:
        ax.set_xlabel("regret")
    style.ylabel(figure.axes, "error")
    style.legend(figure, columns=4, title="dashed: regret × error = M")
    return figure, _rows.pareto(results.inference("pareto")).query("arrivals == 'stationary'")


def _points(names: Iterable[str], ns: Sequence[int]) -> dict:
    """(curve, n) -> colour and marker: the colour tells the curve, the marker n, as long as there are enough."""
    looks, taken, found = _looks(names), set(), {}
    for name in dict.fromkeys(names):
        for place, n in enumerate(ns):
            markers = style.MARKERS[place % len(style.MARKERS) :] + style.MARKERS[: place % len(style.MARKERS)]
            wanted = [(c, m) for c in (looks.colour_of(name), *style.COLOURS) for m in markers]
            pair = next((w for w in wanted if w not in taken), wanted[0])
            taken.add(pair)
            found[name, n] = dict(zip(("color", "marker"), pair, strict=True))
    return found


def privacy_cost(results: Results):
    """The ratio of errors against epsilon^2 T_min, and of regrets against alpha; a row of panels an M."""
    rows = _named(results.inference("privacy_cost"), _rows.PARETO)
    everything = _without(rows[rows["arrivals"] == "stationary"], M=(1, 5, 10))
    rows = _without(everything, ("dp_conse", 0.5), ("dp_conse", 2.0))
    ns, Ms = sorted(rows["horizon"].unique()), sorted(rows["M"].unique())
    looks = _points(rows.sort_values("epsilon", kind="stable")["curve"], ns)
    figure, axes = style.subplots(len(Ms), 2, width=style.PAGE, height=0.7 + 2.2 * len(Ms), squeeze=False)
    grid = np.geomspace(0.05, 1e6, 100)
    for (left, right), M in zip(axes, Ms, strict=True):
        for (name, n), look in looks.items():
            curve = rows[(rows["M"] == M) & (rows["curve"] == name) & (rows["horizon"] == n)]
            if curve.empty:
                continue
            low, high = normal_interval(curve["noise_ratio"], curve["noise_ratio_se"].fillna(0))
            points = look | {"linestyle": "none", "elinewidth": 0.6}
            left.errorbar(curve["eps2_T"], curve["noise_ratio"], yerr=(high - low) / 2, **points)
            low, high = normal_interval(curve["regret_ratio"], curve["regret_ratio_se"].fillna(0))
            label = f"{name}, n = {n:,}"
            line = look | {"linestyle": "-", "linewidth": 0.8, "label": label}
            _over_alpha(right, curve.assign(low=low, high=high), "regret_ratio", "low", "high", **line)
        # s0^2 + s1^2 of the first feature, whose means are .3 and, but for M = 1, .6.
        formula = "$1 + 8/(\\varepsilon^2 T_{\\min}\\,2(s_0^2+s_1^2))$"
        left.plot(grid, 1 + 8 / (grid * 2 * (0.21 + (0.24 if M > 1 else 0.21))), **GUIDE)
        left.annotate(formula, (1, 1), xycoords="axes fraction", ha="right", va="top", fontsize=7, color=style.QUIET)
        left.axhline(1, color=style.QUIET, linewidth=0.6)
        left.set(xscale="log", yscale="log", xlabel="$\\varepsilon^2 T_{\\min}$", ylabel="error / error without noise")
        right.axhline(1, color=style.QUIET, linewidth=0.6)
        right.set(xlabel="$\\alpha$", ylabel="regret / ConSE's regret", yscale="log")
        style.log_ticks(right.yaxis)
        for ax in (left, right) if len(Ms) > 1 else ():
            ax.set_title(f"M = {M}", fontsize=8)
    style.legend(figure, columns=3, rows=4)
    return figure, everything.drop(columns="curve")


def elimination(results: Results):
    """Share of features that lose an arm in the first half, against n; a panel an M."""
    rows = _named(results.inference("elimination"), ("horizon", "M"))
    Ms, looks = sorted(rows["M"].unique()), _looks(rows["curve"])
    figure, axes = style.panels(len(Ms), height=2.9, sharex=True)
    for ax, M in zip(axes, Ms, strict=True):
        for name, curve in rows[rows["M"] == M].groupby("curve", sort=False):
            curve = curve.sort_values("horizon")
            band = (curve[c] for c in ("horizon", "eliminated_fraction", "low", "high"))
            style.band(ax, *band, label=name, **looks.line(name))
        ax.set(xscale="log", xlabel="patients $n$", title=f"M = {M}", ylim=(-0.03, 1.03))
        ax.tick_params(axis="x", which="minor", labelbottom=False)
    style.ylabel(axes, "share of features eliminated")
    style.legend(figure, columns=4)
    return figure, rows.drop(columns="curve")


def normality(results: Results):
    """QQ plots of the standardised estimate with the printed and the corrected variance."""
    rows = _named(results.inference("normality"), ("horizon", "M", "alpha"))
    rows = _without(rows, ("dp_conse", 1.0), M=(2,), horizon=(20_000,), alpha=(0.1, 0.3))
    looks = style.Palette(rows["interval"], fixed=("printed", "corrected", "corrected_laplace"))
    setting = rows[["M", "horizon"]].drop_duplicates()
    keys = ["M", "horizon", "curve", "alpha"]
    panels = rows[keys].drop_duplicates().sort_values(["M", "horizon"], kind="stable")
    figure, axes = style.panels(len(panels), height=2.5)
    for ax, (M, n, name, alpha) in zip(axes, panels.itertuples(index=False), strict=True):
        some = rows.merge(pd.DataFrame([(M, n, name, alpha)], columns=keys), on=keys)
        ax.plot([-3, 3], [-3, 3], color="black", linewidth=0.8)
        for interval, curve in some.groupby("interval", sort=False):
            line = looks.line(interval) | {"linestyle": "none", "markersize": 2}
            ax.plot(curve["normal"], curve["measured"], label=interval.replace("_", " + "), **line)
        title = name if math.isnan(alpha) else f"{name}\n$\\alpha = {alpha:g}$"
        ax.set(xlabel="normal quantile", xlim=(-3, 3), ylim=(-6, 6))
        ax.set_title(f"{title}\nn = {n:,}, M = {M}" if len(setting) > 1 else title, fontsize=7)
    style.ylabel(axes, "standardised error")
    style.legend(figure, columns=3, title="standardised by the variance")
    return figure, rows.drop(columns="curve")


def coverage_intervals(results: Results):
    """Coverage of the three intervals against alpha, a panel an algorithm."""
    everything = results.inference("coverage")
    rows = _without(_named(everything, ("horizon", "M", "alpha")), M=(2,))
    ns = sorted(rows["horizon"].unique(), key=lambda n: (n not in (20_000, N), -n))
    looks = style.Palette.crossed(rows["interval"], ns)
    panels = list(rows.groupby(["M", "curve"], sort=False))
    figure, axes = style.panels(len(panels), height=2.7, columns=3)
    for ax, ((M, name), some) in zip(axes, panels, strict=True):
        for (interval, n), curve in some.groupby(["interval", "horizon"], sort=False):
            low, high = curves.interval(curve["coverage"], curve["se"], curve["replicates"])
            label = f"{interval.replace('_', ' + ')}, n = {n:,}"
            line = looks.line((interval, n)) | {"label": label}
            _over_alpha(ax, curve.assign(low=low, high=high), "coverage", "low", "high", **line)
        style.published(ax, results.published("coverage"), "")
        ax.axhline(HALF_VARIANCE, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
        ax.set(xlabel="$\\alpha$", ylim=(0, 1.02))
        ax.set_title(name if rows["M"].nunique() == 1 else f"{name}, M = {M}", fontsize=8)
    style.ylabel(axes, "coverage of 95% intervals")
    style.legend(figure, columns=3)
    return figure, everything[everything["M"].isin(rows["M"])]


def audit(results: Results):
    """Privacy loss over epsilon against M, a panel a release."""
    rows = results.inference("audit")
    titles = {
        "lengths": "lengths of the trials",
        "estimate": "estimates",
        "lengths_from_actions": "lengths, from actions",
        "first_half": "first half, epoch 1",
        "experiment": "whole experiment",
    }
    titles |= {f"{name} (budget total)": f"{title},\ntotal budget" for name, title in titles.items()}
    rows = rows.assign(release=_rows.releases(rows))
    budgets, releases = sorted(rows["epsilon"].unique()), list(rows["release"].unique())
    looks = style.Palette(budgets)
    shifts = np.linspace(-0.12, 0.12, len(budgets)) if len(budgets) > 1 else [0.0]
    figure, axes = style.panels(len(releases), height=2.8, columns=3)
    for ax, release in zip(axes, releases, strict=True):
        own = rows[rows["release"] == release]
        for shift, epsilon in zip(shifts, budgets, strict=True):
            curve = own[own["epsilon"] == epsilon].sort_values("M")
            line = looks.line(epsilon)
            ax.plot(curve["M"], curve["exact"] / epsilon, **(line | {"marker": None, "linewidth": 0.8}))
            bound = (curve["lower_bound"] / epsilon).replace(-math.inf, math.nan)
            label = f"$\\varepsilon = {epsilon:g}$"
            ax.plot(curve["M"] + shift, bound, label=label, **(line | {"linestyle": "none"}))
        if not release.startswith("experiment"):
            style.published(ax, (own["claimed"] / own["epsilon"]).iloc[0], "")
        style.published(ax, results.published("privacy_loss"), "")
        ax.set(xlabel="features $M$", title=titles.get(release, release.replace("_", " ")))
        ax.set_ylim(0, max(5.4, 1.08 * (rows["exact"] / rows["epsilon"]).max()))
        ax.set_xticks(sorted(rows["M"].unique()))
    style.ylabel(axes, "privacy loss / $\\varepsilon$")
    title = (
        "line: exact; points: lower bounds that hold together with 95%; dashed: the theorem's loss, the proof's half"
    )
    style.legend(figure, columns=8, title=title)
    return figure, _rows.audit(results.inference("audit"))


def product(results: Results):
    """Regret times error over M against alpha, a panel an n."""
    cells = _stationary(results)
    if "budget" in cells:
        cells = cells[cells["budget"].isna()]
    cells = _without(cells, ("conse_exp3e", math.nan), *(("dp_conse", epsilon) for epsilon in (0.1, 0.5, 2.0)))
    ns, Ms = sorted(cells["horizon"].unique()), sorted(cells["M"].unique())
    looks = style.Palette.crossed(Ms, cells["curve"])
    figure, axes = style.panels(len(ns), height=2.9, columns=3)
    for ax, n in zip(axes, ns, strict=True):
        for (name, M), curve in cells[cells["horizon"] == n].groupby(["curve", "M"], sort=False):
            _over_alpha(ax, curve, "product", label=f"{name}, $M = {M}$", **looks.line((M, name)))
        ax.set(yscale="log", xlabel="$\\alpha$", title=f"n = {n:,}")
    style.ylabel(axes, "regret × error / $M$")
    style.legend(figure, columns=4)
    columns = ["policy", "horizon", "M", "alpha", "epsilon", "replicates", "regret", "regret_se", "mse", "mse_se"]
    columns += ["product", "eliminated_fraction", "missing_fraction"]
    return figure, cells.assign(policy=_rows.algorithms(cells, _rows.PARETO))[columns]


FIGURES = functions_of(__name__)
