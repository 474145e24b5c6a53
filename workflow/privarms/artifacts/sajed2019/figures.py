"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import numpy as np
import pandas as pd

from privarms.artifacts import style
from privarms.artifacts.curves import curves, interval
from privarms.artifacts.results import Results
from privarms.artifacts.sajed2019.ratios import minimax_ratios
from privarms.inference import bounds
from privarms.studies import library

BETA = 0.05
DASHES = ((0, (1, 1)), (0, (5, 1.5)), "-")


def _regret_panels(results: Results, epsilons: tuple[float, ...]):
    """Regret against the round, a panel an epsilon; policies without privacy stand in every panel."""
    cells = results.cells("figure1")
    looks = style.Palette(curves(cells[cells["epsilon"].notna()]))
    context = list(curves(cells[cells["epsilon"].isna()]))
    figure, axes = style.subplots(1, len(epsilons), width=style.PAGE, height=3.1, sharey=True)
    drawn = []
    for ax, epsilon in zip(axes, epsilons, strict=True):
        shown = cells[(cells["epsilon"] == epsilon) | cells["epsilon"].isna()]
        for label, curve in curves(shown).items():
            low, high = interval(curve["regret_mean"], curve["regret_se"], curve["replicates"])
            low = np.maximum(low, curve["regret_mean"] / 50)
            if label in context:
                line = {"color": style.QUIET, "linestyle": DASHES[context.index(label) % len(DASHES)], "linewidth": 1}
            else:
                line = looks.line(label)
            style.band(ax, curve["t"], curve["regret_mean"], low, high, label=label, **line)
            columns = ["policy", "width", "horizon", "t", "replicates", "regret_mean", "regret_se"]
            numbers = curve[columns].assign(panel_epsilon=epsilon, curve=label, low=low, high=high)
            drawn.append(numbers)
        ax.set(xscale="log", yscale="log", xlabel="round $t$", title=f"$\\varepsilon = {epsilon:g}$")
        ax.set_xlim(right=cells["horizon"].max())
    axes[0].set_ylabel("mean cumulative pseudo-regret")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure, pd.concat(drawn, ignore_index=True)


def fig1a(results: Results):
    """Figure 1a."""
    return _regret_panels(results, (0.1, 0.25))


def fig1b(results: Results):
    """Figure 1b."""
    return _regret_panels(results, (0.5, 1.0))


def dp_ucb_width(results: Results):
    """The ratio of DP-UCB's regret to DP-SE's, by width, over epsilon and over K."""
    ratios = results.inference("ratios")
    looks = style.Palette(curves(results.cells("figure1")))
    figure, axes = style.subplots(1, 2, width=style.PAGE, height=2.9, sharey=True)
    panels = (
        (axes[0], ratios[ratios["K"] == 5], "epsilon", "privacy budget $\\varepsilon$", "$K = 5$"),
        (axes[1], ratios[ratios["epsilon"] == 0.25], "K", "number of arms $K$", "$\\varepsilon = 0.25$"),
    )
    drawn = []
    for panel, (ax, rows, key, label, title) in enumerate(panels):
        for width in results.cells("figure1")["width"].dropna().unique():
            curve = rows[rows["width"] == width].sort_values(key)
            low, high = interval(curve["ratio"], curve["ratio_se"], curve["replicates"])
            style.band(ax, curve[key], curve["ratio"], low, high, label=width, **looks.line(f"DP-UCB ({width})"))
            drawn.append(curve.assign(panel=panel, low=low, high=high))
        ax.axhline(1, color=style.QUIET, linewidth=0.6)
        ax.set(xscale="log", yscale="log", xlabel=label, title=title)
        ticks = sorted(rows[key].unique())
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_xticks([], minor=True)
        style.published(ax, 5, "" if panel else "published: at least 5")
    axes[0].set_ylabel("regret of DP-UCB / regret of DP-SE")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, title="private width of DP-UCB")
    return figure, pd.concat(drawn, ignore_index=True)


def scaling(results: Results):
    """DP-SE's regret along epsilon, K and T beside Theorem 4.3's bound."""
    cells = results.cells("scaling").assign(epsilon=lambda c: c["epsilon"].fillna(np.inf))
    cells["bound"] = [
        bounds.regret_order(row.top - np.linspace(row.top, row.bottom, int(row.K)), row.horizon, row.epsilon)
        for row in cells.itertuples()
    ]
    private = cells["policy"] == "dp_se"
    constant = (cells["regret_mean"] / cells["bound"])[private].max()
    horizon = cells["horizon"].mode()[0]
    base = (cells["K"] == 5) & (cells["horizon"] == horizon)
    panels = (
        ("epsilon", base, "privacy budget $\\varepsilon$", f"$K = 5$, $T = {_power(horizon)}$"),
        (
            "K",
            cells["epsilon"].isin([0.25, np.inf]) & (cells["horizon"] == horizon),
            "number of arms $K$",
            f"$\\varepsilon = 0.25$, $T = {_power(horizon)}$",
        ),
        (
            "horizon",
            cells["epsilon"].isin([0.25, np.inf]) & (cells["K"] == 5),
            "horizon $T$",
            "$K = 5$, $\\varepsilon = 0.25$",
        ),
    )
    figure, axes = style.subplots(1, 3, width=style.PAGE, height=2.7, sharey=True)
    looks = style.Palette(["dp_se", "epoch_se"])
    drawn = []
    for ax, (key, chosen, label, title) in zip(axes, panels, strict=True):
        for policy in ("dp_se", "epoch_se"):
            curve = cells[chosen & (cells["policy"] == policy)].sort_values(key)
            name = library.literals("policies", policy)["LABEL"]
            if policy == "epoch_se" and key == "epsilon":
                line = {"color": looks.colour_of(policy), "linewidth": 1.0}
                ax.axhline(curve["regret_mean"].iloc[0], label=name, **line)
            else:
                low, high = interval(curve["regret_mean"], curve["regret_se"], curve["replicates"])
                style.band(ax, curve[key], curve["regret_mean"], low, high, label=name, **looks.line(policy))
            if policy == "dp_se":
                bound = constant * curve["bound"]
                line = {"color": style.QUIET, "linestyle": (0, (4, 2)), "linewidth": 0.9}
                ax.plot(curve[key], bound, label=f"{constant:.0f} × bound of Theorem 4.3", **line)
            drawn.append(curve.assign(axis=key, bound_constant=constant))
        ax.set(xscale="log", yscale="log", xlabel=label, title=title)
    axes[1].set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
    axes[1].set_xticks([], minor=True)
    axes[0].set_ylabel("mean pseudo-regret at $T$")
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    columns = ["axis", "policy", "K", "epsilon", "horizon", "replicates", "regret_mean", "regret_se"]
    numbers = pd.concat(drawn, ignore_index=True)[[*columns, "bound", "bound_constant"]]
    return figure, numbers.assign(epsilon=numbers["epsilon"].replace(np.inf, np.nan))


def stopping_rules(results: Results):
    """Mean stopping times of both rules against mu, between the two bounds; a panel an alpha."""
    cells = results.cells("stopping")
    alphas, epsilons = sorted(cells["alpha"].unique()), sorted(cells["epsilon"].unique())
    colours = style.Palette([f"epsilon {e}" for e in epsilons])
    figure, axes = style.subplots(1, len(alphas), width=style.PAGE, height=3.2, sharey=True)
    drawn = []
    for ax, alpha in zip(axes, alphas, strict=True):
        for epsilon in epsilons:
            colour = colours.colour_of(f"epsilon {epsilon}")
            for policy, dashes in (("dp_nas", "-"), ("dp_exponential_nas", (0, (4, 1.5)))):
                chosen = (cells["alpha"] == alpha) & (cells["epsilon"] == epsilon) & (cells["policy"] == policy)
                curve = cells[chosen].sort_values("mu")
                mean = curve["stopping_time_mean"]
                low, high = interval(mean, curve["stopping_time_se"], curve["replicates"])
                name = f"{library.literals('policies', policy)['LABEL']}, $\\varepsilon = {epsilon:g}$"
                line = {"color": colour, "linestyle": dashes, "marker": "o" if policy == "dp_nas" else "s"}
                style.band(ax, curve["mu"], mean, low, high, label=name, **line)
                drawn.append(curve.assign(low=low, high=high))
            mu = curve["mu"].to_numpy()
            for bound in (_upper, _lower):
                values = [bound(alpha, m, epsilon) for m in mu]
                ax.plot(mu, values, color=colour, linewidth=0.7, linestyle=(0, (1, 1.2)))
        ax.set(xscale="log", yscale="log", xlabel="$|\\mu|$ ($R = 1$)", title=f"$\\alpha = {alpha:g}$")
        ax.set_xticks(mu, [f"{m:g}" for m in mu])
        ax.set_xticks([], minor=True)
    axes[0].set_ylabel("stopping time (samples)")
    axes[0].annotate("$t_U$ of Theorem 3.3", (0.97, 0.95), xycoords="axes fraction", ha="right", va="top", fontsize=7)
    axes[0].annotate("Theorem 3.4", (0.03, 0.04), xycoords="axes fraction", ha="left", va="bottom", fontsize=7)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    columns = ["policy", "alpha", "mu", "epsilon", "replicates", "stopping_time_mean", "stopping_time_se"]
    numbers = pd.concat(drawn, ignore_index=True)[[*columns, "low", "high"]]
    bounds = [(_upper(r.alpha, r.mu, r.epsilon), _lower(r.alpha, r.mu, r.epsilon)) for r in numbers.itertuples()]
    numbers[["t_upper", "t_lower"]] = bounds
    return figure, numbers


def _upper(alpha: float, mu: float, epsilon: float) -> float:
    return bounds.halting_time(epsilon, alpha, BETA, mu)


def _lower(alpha: float, mu: float, epsilon: float) -> float:
    return bounds.private_samples(epsilon, alpha, BETA, mu)


def pulls(results: Results):
    """Pulls of the suboptimal arms against their gap, a panel an epsilon."""
    rows = results.inference("pulls")
    epsilons = [0.01, 0.25, 10]
    rows = rows[rows["epsilon"].isin(epsilons) & (rows["beta"] == rows["beta"].min()) & (rows["K"] > 2)]
    looks = style.Palette([f"K {K}" for K in sorted(rows["K"].unique())])
    figure, axes = style.subplots(1, len(epsilons), width=style.PAGE, height=2.8, sharey=True)
    constant = (rows["mean"] / rows["order"]).max()
    for ax, epsilon in zip(axes, epsilons, strict=True):
        for K, arms in rows[rows["epsilon"] == epsilon].groupby("K"):
            arms = arms.sort_values("gap")
            line = looks.line(f"K {K}")
            ax.plot(arms["gap"], arms["mean"], label=f"mean, $K = {K}$", **line)
            ax.plot(arms["gap"], arms["largest"], marker="_", linestyle="none", color=line["color"])
            if rows["K"].max() == K:
                quiet = {"color": style.QUIET, "linewidth": 0.9}
                ax.plot(
                    arms["gap"], arms["ceiling"], linestyle=(0, (1, 1)), label="explicit ceiling, $K = 20$", **quiet
                )
                bound = constant * arms["order"]
                name = f"{constant:.0f} × Lemma 4.2, $K = 20$"
                ax.plot(arms["gap"], bound, linestyle=(0, (4, 2)), label=name, **quiet)
        ax.set(xscale="log", yscale="log", xlabel="gap $\\Delta_a$", title=f"$\\varepsilon = {epsilon:g}$")
        ax.set_xticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
        ax.set_xticks([], minor=True)
    axes[0].set_ylabel("pulls of the arm by $T$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure, rows.assign(lemma_constant=constant)


def minimax(results: Results):
    """Regret over Theorem 4.4's expression against the gap, a panel an epsilon."""
    cells = minimax_ratios(results)
    epsilons, horizons = sorted(cells["epsilon"].unique()), sorted(cells["horizon"].unique())
    looks = style.Palette([f"K {K}" for K in sorted(cells["K"].unique())])
    figure, axes = style.subplots(1, len(epsilons), width=style.PAGE, height=2.8, sharey=True)
    for ax, epsilon in zip(axes, epsilons, strict=True):
        for horizon in horizons:
            for K, curve in cells[(cells["epsilon"] == epsilon) & (cells["horizon"] == horizon)].groupby("K"):
                curve = curve.sort_values("gap")
                low, high = interval(curve["ratio"], curve["ratio_se"], curve["replicates"])
                line = looks.line(f"K {K}") | {"linestyle": "-" if horizon == horizons[-1] else (0, (4, 1.5))}
                name = f"$K = {K}$, $T = {_power(horizon)}$"
                style.band(ax, curve["gap"], curve["ratio"], low, high, label=name, **line)
        ax.set(xscale="log", xlabel="gap $\\Delta$", title=f"$\\varepsilon = {epsilon:g}$")
    axes[0].set_ylabel("mean regret / expression")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    columns = ["K", "epsilon", "horizon", "gap", "replicates", "regret_mean", "regret_se", "order", "ratio", "ratio_se"]
    return figure, cells[columns]


def _power(horizon: int) -> str:
    exponent = int(np.log10(horizon))
    factor = horizon / 10**exponent
    return f"10^{exponent}" if factor == 1 else f"{factor:g}\\times10^{exponent}"


def privacy_audit(results: Results):
    """The privacy loss that the audit shows against the epsilon that is promised."""
    rows = results.inference("audit")
    figure, ax = style.subplots(width=style.COLUMN, height=2.7)
    looks = style.Palette(["noise 1.0", "noise 0.5"])
    limit = 1.15 * rows["epsilon"].max()
    ax.plot([0, limit], [0, limit], color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)), label="promised")
    for noise, name in ((1.0, "noise as printed"), (0.5, "half the noise")):
        some = rows[rows["noise"] == noise]
        line = looks.line(f"noise {noise}")
        ax.plot(some["epsilon"], some["exact"], label=f"exact, {name}", **(line | {"marker": None}))
        ax.plot(some["epsilon"], some["lower_bound"], label=f"95% bound, {name}", **(line | {"linestyle": "none"}))
    ax.set(xlabel="promised $\\varepsilon$", ylabel="privacy loss shown", xlim=(0, limit), ylim=(0, None))
    ax.legend(loc="upper left", fontsize=7)
    return figure, rows


FIGURES = {
    "pulls": pulls,
    "minimax": minimax,
    "privacy_audit": privacy_audit,
    "fig1a": fig1a,
    "fig1b": fig1b,
    "dp_ucb_width": dp_ucb_width,
    "scaling": scaling,
    "stopping_rules": stopping_rules,
}
