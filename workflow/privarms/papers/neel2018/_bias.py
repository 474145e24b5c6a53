"""Figures 1 to 5, bias over epsilon and Corollary 1: bias and regret of stochastic bandits."""

import numpy as np
import pandas as pd

from privarms.inference.bias import bias_bound, private_regret_order, tradeoff_epsilon
from privarms.inference.intervals import normal_interval
from privarms.papers.neel2018 import _looks
from privarms.papers.neel2018._settings import (
    ABLATIONS,
    POST_HOC,
    described,
    is_printed,
    ladders,
    panels,
    told_apart,
)
from privarms.plots import old_style as style
from privarms.plots.curves import interval
from privarms.studies.results import Results

MEASURED = ("mean", "bias", "se", "pulls", "bound", "replicates", "missing", "size", "low", "high", "curve", "look")
MEASURED += ("printed",)


def _numbers(drawn: list[pd.DataFrame], columns: list[str], measured: tuple[str, ...]) -> pd.DataFrame:
    """The plotted numbers, with what else tells their rows apart, and how many runs are missing if any are."""
    rows = pd.concat(drawn, ignore_index=True)
    found = told_apart(rows, columns, [c for c in rows if c not in measured])
    if "missing" in rows and rows["missing"].any():
        found["missing"] = rows["missing"]
    return found


def _without_post_hoc(rows: pd.DataFrame) -> pd.DataFrame:
    """Without the paper's policies on ladders that the text does not state: those are for the table and the ledger."""
    return rows[~(rows["ladder"].isin(POST_HOC) & ~_looks.joined(rows))]


def _bias_panel(ax, rows: pd.DataFrame, looks: style.Palette) -> pd.DataFrame:
    """One errorbar an arm and curve; returns the rows with their intervals."""
    ax.axhline(0, color=style.QUIET, linewidth=0.6)
    found, drawn = _looks.parts(rows), []
    apart = min(0.22, 0.8 / len(found))
    for i, (look, label, part) in enumerate(found):
        low, high = normal_interval(part["bias"], part["se"])
        shift = apart * (i - (len(found) - 1) / 2)
        line = looks.line(look) | {"linestyle": "none"}
        half = (high - low) / 2
        ax.errorbar(part["arm"] + shift, part["bias"], yerr=half, label=label, elinewidth=0.9, capsize=1.2, **line)
        drawn.append(part.assign(low=low, high=high))
    means = rows.drop_duplicates("arm").set_index("arm")["mean"].sort_index()
    step = 1 if len(means) <= 5 else -(-len(means) // 7)
    ax.set_xticks(means.index[::step], [f"{m:.2f}" for m in means.to_numpy()[::step]])
    ax.set(xlabel="mean of the arm")
    return pd.concat(drawn)


def _bias_figure(results: Results, experiment: str, policy: str, number: str, *, worst: str | None = None):
    """Bias per arm with 95% intervals, over as many replicates as published; the published averages drawn in.

    Of the paper's policies one; a policy that joins the experiment stands beside private UCB. A panel for each setting
    of the experiment.
    worst: the name of the published bias of the worst arm; "" where only the average is drawn, at one side of 0
    """
    rows = results.inference(f"bias_experiment_{experiment}")
    rows = _looks.curves(rows[rows["size"] == "published"])
    looks = _looks.palette(rows)
    chosen = rows["policy"] == policy
    if policy == "private_ucb":
        chosen |= _looks.joined(rows)
    rows = _looks.some(_without_post_hoc(rows[chosen]), f"Experiment {experiment}, {policy}")
    rows = rows.assign(printed=is_printed(rows, results, experiment))
    shown = panels(rows, first=rows["printed"])
    if len(shown) == 1:
        figure, ax = style.subplots(width=style.COLUMN, height=2.5)
        axes = [ax]
    else:
        figure, axes = style.panels(len(shown), height=2.8, columns=2, sharey=False)
    drawn = []
    for ax, (title, part) in zip(axes, shown, strict=True):
        drawn.append(_bias_panel(ax, part, looks))
        ax.set_title(title)
        if part["printed"].all() and (part["policy"] == policy).any():
            _published_bias(ax, results, number, worst, inside=bool(title))
    style.ylabel(axes, "bias of the sample mean")
    if policy == "private_ucb" or rows["look"].nunique() > 1:
        style.legend(figure, axes, columns=2, rows=1)
    columns = ["experiment", "policy", "variant", "ladder", "arm", "mean", "bias", "se", "low", "high", "replicates"]
    return figure, _numbers(drawn, columns, MEASURED)


def _published_bias(ax, results: Results, number: str, worst: str | None, *, inside: bool) -> None:
    """Draw the published averages; inside: there is a title above, where the words stand else."""
    average = results.published(number)
    if worst is None:
        # Points lie all along both lines: the words stand above them.
        for level in (average, -average):
            style.published(ax, level, "")
        note = f"dashed: published average |bias|, {average:g}"
        va = "top" if inside else "bottom"
        ax.annotate(note, (0.98, 1), xycoords="axes fraction", ha="right", va=va, color=style.QUIET)
        return
    style.published(ax, -average, f"published average: {average:g}", left=True, below=True)
    if worst:
        style.published(ax, -results.published(worst), f"published worst: {results.published(worst):g}")


def fig1(results: Results):
    """Figure 1: private UCB, Experiment 1."""
    return _bias_figure(results, "1", "private_ucb", "experiment_1_private_bias")


def fig2(results: Results):
    """Figure 2: UCB, Experiment 1."""
    return _bias_figure(results, "1", "ucb", "experiment_1_ucb_bias", worst="experiment_1_worst_bias")


def fig3(results: Results):
    """Figure 3: private UCB, Experiment 2."""
    return _bias_figure(results, "2", "private_ucb", "experiment_2_private_bias")


def fig4(results: Results):
    """Figure 4: UCB, Experiment 2."""
    return _bias_figure(results, "2", "ucb", "experiment_2_ucb_bias", worst="")


def fig5(results: Results):
    """Figure 5: average regret, Experiment 2: UCB, private UCB and whatever joined; in grey its two ablations."""
    cells = results.cells("regret_2")
    cells = _looks.curves(cells.assign(ladder=ladders(cells)), ("ladder", "K", "horizon", "epsilon", "top", "bottom"))
    looks = _looks.palette(cells, context=[look for look in _looks.LOOKS if look[0] in ABLATIONS])
    shown = panels(cells, first=is_printed(cells, results, "2"))
    if len(shown) == 1:
        figure, ax = style.subplots(width=style.COLUMN, height=3.3)
        axes = [ax]
    else:
        figure, axes = style.panels(len(shown), height=3.0, columns=2)
    drawn = []
    for ax, (title, rows) in zip(axes, shown, strict=True):
        # What is context lies below.
        for look, label, curve in sorted(_looks.parts(rows), key=lambda part: part[0][0] not in ABLATIONS):
            curve = curve.sort_values("t")
            average, error = curve["regret_mean"] / curve["t"], curve["regret_se"] / curve["t"]
            low, high = interval(average, error, curve["replicates"])
            style.band(ax, curve["t"], average, low, high, label=label, **looks.line(look))
            drawn.append(curve.assign(average_regret=average, se=error, low=low, high=high))
        ax.set(xscale="log", xlabel="round $t$", title=title, ylim=(0, None))
    style.ylabel(axes, "average regret (regret$/t$)")
    handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    ordered = [label for _, label, _ in _looks.parts(cells)]
    figure.legend([handles[x] for x in ordered], ordered, loc="outside lower center", ncols=1 if len(axes) == 1 else 2)
    columns = ["policy", "variant", "t", "replicates", "average_regret", "se", "low", "high"]
    keys = ("policy", "variant", "t", "ladder", "K", "horizon", "epsilon", "curve")
    rows = pd.concat(drawn, ignore_index=True)
    return figure, told_apart(rows, columns, keys)


SHORT = {
    ("ucb", ""): "UCB",
    ("private_ucb", "as_printed"): "private UCB\nas printed",
    ("private_ucb", "as_released"): "private UCB\nas released",
    ("private_ucb_gamma_only", ""): "bonus\nonly",
    ("private_ucb_noise_only", "as_printed"): "noise only\nas printed",
    ("private_ucb_noise_only", "as_released"): "noise only\nas released",
}


def bias_vs_epsilon(results: Results):
    """Noise without bonus over epsilon beside Theorem 1; and what the two parts do in Experiment 2."""
    every = [results.inference(f"average_bias_{s}") for s in ("experiment_1", "experiment_2", "epsilon_sweep")]
    every = [rows[rows["size"] == "all"] for rows in every]
    first, second, sweep = every[0], _looks.curves(every[1]), _looks.curves(every[2])
    second = _without_post_hoc(second)
    looks = _looks.palette(pd.concat([sweep, second]))
    plain = first[first["policy"] == "ucb"]
    second = second.assign(printed=is_printed(second, results, "2"))
    of_sweep = panels(sweep, ("ladder", "K", "horizon"), is_printed(sweep.drop(columns="epsilon"), results, "1"))
    of_second = panels(second, first=second["printed"])
    count = len(of_sweep) + len(of_second)
    figure, axes = style.panels(count, height=3.0, columns=2, sharey=False)
    drawn = []
    for ax, (title, rows) in zip(axes, of_sweep, strict=False):
        drawn += _over_epsilon(ax, rows, plain, looks)
        ax.set_title(title or f"Experiment 1's arms, $T = {rows['horizon'].iloc[0]}$")
    for ax, (title, rows) in zip(axes[len(of_sweep) :], of_second, strict=True):
        printed = bool(rows["printed"].all())
        drawn.append(_ablation(ax, rows, looks))
        if printed:
            for whose, number in (("UCB", "experiment_2_ucb_bias"), ("private", "experiment_2_private_bias")):
                value = results.published(number)
                style.published(ax, value, f"published, {whose}: {value:g}".replace(": 0.", ": ."))
        budget = described({"epsilon": rows["epsilon"].dropna().min()})
        ax.set(title=f"Experiment 2, {title or budget}", ylim=(0, max(0.0125, ax.get_ylim()[1]) if printed else None))
    for ax in axes:
        ax.set_ylabel("average |bias| over arms")
    left = axes[: len(of_sweep)]
    if max(len(ax.get_legend_handles_labels()[1]) for ax in left) <= 4:
        for ax in left:
            ax.legend(loc="lower right", fontsize=7)
    else:
        style.legend(figure, left, columns=3, rows=0)
    columns = ["panel", "policy", "variant", "epsilon", "replicates", "average", "average_se", "low", "high"]
    rows = pd.concat(drawn, ignore_index=True)
    numbers = told_apart(rows, [*columns, "average_if_unbiased", "ucb"], ("panel", *_settings_of(rows)))
    return figure, numbers


def _settings_of(rows: pd.DataFrame) -> list[str]:
    return [c for c in rows if c in ("policy", "variant", "epsilon", "ladder", "K", "horizon", "curve")]


def _over_epsilon(ax, rows: pd.DataFrame, plain: pd.DataFrame, looks: style.Palette) -> list[pd.DataFrame]:
    """Average |bias| over epsilon, a curve a policy; UCB's of Experiment 1 where it has the same arms and horizon."""
    here = rows.iloc[0]
    same = plain[(plain["ladder"] == here["ladder"]) & (plain["K"] == here["K"])]
    same = same[same["horizon"] == here["horizon"]]
    ucb = same["average"].iloc[0] if len(same) else np.nan
    drawn, unbiased = [], []
    # Without a budget: a level line as far as the curves reach.
    budgets = np.unique(rows["epsilon"].dropna()) if rows["epsilon"].notna().any() else np.array([0.02, 6.0])
    for look, label, curve in _looks.parts(rows):
        low, high = normal_interval(curve["average"], curve["average_se"])
        if curve["epsilon"].isna().all():
            level = np.full(len(budgets), curve["average"].iloc[0])
            ax.plot(budgets, level, label=label, **looks.line(look))
        else:
            curve = curve.sort_values("epsilon")
            low, high = normal_interval(curve["average"], curve["average_se"])
            low = np.maximum(low, 1e-5)
            style.band(ax, curve["epsilon"], curve["average"], low, high, label=label, **looks.line(look))
            floor = {"color": looks.colour_of(look), "linewidth": 0.8, "linestyle": (0, (1, 1))}
            ax.plot(curve["epsilon"], curve["average_if_unbiased"], **floor)
        unbiased.append(curve["average_if_unbiased"])
        drawn.append(curve.assign(panel="epsilon", low=low, high=high, ucb=ucb))
    grid = np.geomspace(0.02, 6, 60)
    bound = {"color": "black", "linewidth": 1, "linestyle": (0, (4, 2))}
    ax.plot(grid, bias_bound(grid, here["mean_of_arms"]), label="Theorem 1: $(e^\\varepsilon-1)\\mu$", **bound)
    if np.isfinite(ucb):
        ax.axhline(ucb, color=looks.colour_of(("ucb", "")), linewidth=1, label="UCB")
    ax.set(xscale="log", yscale="log", xlabel="privacy budget $\\varepsilon$")
    ax.set(ylim=(min(2e-5, np.nanmin(np.append(pd.concat(unbiased), 1)) / 2), 5))
    return drawn


def _ablation(ax, rows: pd.DataFrame, looks: style.Palette) -> pd.DataFrame:
    """Average |bias| of every policy of a setting side by side."""
    found, drawn = _looks.parts(rows), []
    for place, (look, _, row) in enumerate(found):
        low, high = normal_interval(row["average"], row["average_se"])
        line = looks.line(look) | {"linestyle": "none"}
        ax.errorbar([place] * len(row), row["average"], yerr=row["average"] - low, elinewidth=1, **line)
        drawn.append(row.assign(panel="ablation", low=low, high=high))
    names = [SHORT.get(look, label.replace(" (", "\n(", 1)) for look, label, _ in found]
    ax.set_xticks(range(len(found)), names, fontsize=7, rotation=90)
    return pd.concat(drawn).assign(ucb=np.nan)


def tradeoff(results: Results):
    """Theorem 1's bound against Theorem 2's order, Corollary 1's epsilon, and what was measured there.

    A colour for each horizon (and number of arms), a marker for each policy; beside a symbol what is not Corollary 1's.
    """
    rows = results.inference("average_bias_corollary_1")
    rows = _looks.curves(rows[rows["size"] == "all"]).sort_values(["K", "horizon"], kind="stable")
    settings = list(rows[["K", "horizon"]].drop_duplicates().itertuples(index=False, name=None))
    several = rows["K"].nunique() > 1
    looks = style.Palette(settings)
    # Circles are Corollary 1's.
    free = [m for m in style.MARKERS if m != "o"]
    markers = {look: free[i % len(free)] for i, (look, _, _) in enumerate(_looks.parts(rows))}
    figure, ax = style.subplots(width=style.COLUMN, height=3.0)
    epsilons = np.geomspace(1e-4, 1, 81)
    drawn = []
    for K, T in settings:
        line = looks.line((K, T)) | {"marker": None}
        order = private_regret_order(epsilons, K, T)
        label = f"$T = {T:,}$".replace(",", "{,}") + (f", $K = {K}$" if several else "")
        ax.plot(bias_bound(epsilons, 1.0), order, label=label, **line)
        epsilon = tradeoff_epsilon(K, T)
        at = bias_bound(epsilon, 1.0), private_regret_order(epsilon, K, T)
        ax.plot(*([v] for v in at), marker="o", color=line["color"], linestyle="none")
        bound = {"panel": "theory", "horizon": T, "epsilon": epsilons, "bias": bias_bound(epsilons, 1.0)}
        drawn.append(pd.DataFrame(bound | {"regret": order, "K": K}))
        for look, _, row in _looks.parts(rows[(rows["horizon"] == T) & (rows["K"] == K)]):
            ax.plot(row["average"], row["regret"], marker=markers[look], color=line["color"], linestyle="none")
            for _, one in row.iterrows():
                _beside(ax, one, epsilon, rows["ladder"].iloc[0])
            drawn.append(row.rename(columns={"average": "bias", "average_se": "bias_se"}).assign(panel="measured"))
    for look, label, _ in _looks.parts(rows):
        ax.plot([], [], marker=markers[look], color=style.QUIET, linestyle="none", label=f"{label}, measured")
    ax.set(xscale="log", yscale="log", xlabel="bias (bound, or measured average)", ylabel="regret")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=7)
    columns = ["panel", "horizon", "epsilon", "bias", "regret", "policy", "bias_se", "regret_se", "replicates"]
    keys = ("panel", "horizon", "epsilon", "policy", "variant", "ladder", "K", "curve")
    return figure, told_apart(pd.concat(drawn, ignore_index=True), columns, keys)


def _beside(ax, row: pd.Series, epsilon: float, ladder: str) -> None:
    """Say of a symbol what tells it from Corollary 1's setting on the ladder of the others."""
    own = {"epsilon": row["epsilon"]} if abs(row["epsilon"] / epsilon - 1) > 1e-4 else {}
    own |= {"ladder": row["ladder"]} if row["ladder"] != ladder else {}
    if own:
        at = (row["average"], row["regret"])
        ax.annotate(described(own), at, xytext=(4, 0), textcoords="offset points", va="center", fontsize=6)
