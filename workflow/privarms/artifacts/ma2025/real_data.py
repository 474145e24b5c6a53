"""Figures of section 4.2: learning curves on real data, and what Adult's entries hang on."""

from functools import cache

import numpy as np
import pandas as pd

from privarms.artifacts import style
from privarms.artifacts.curves import interval, ratio
from privarms.artifacts.ma2025.table2 import at_times, label_of, published, reference, repeated
from privarms.artifacts.results import Results

LOOKS = ("ldp_mab", "ldp_linear", "ldp_nn")
ALTERNATIVES = {
    "adultmarital": "sources by marital status",
    "adultone": "one source",
    "adultcopies": "seven copies of the rows",
    "adultall": "reduction fitted on all rows",
}
MAIN = "as in Table 2"
PAIRS = ((1, 1), (1, 4), (2, 1), (2, 4))
TIME_TITLES = {"quarter": "$t = n_P/4$", "full": "$t = n_P$"}


def real_learning_curves(results: Results):
    """Average reward up to t: a row of panels a dataset, a panel a pair of budgets."""
    cells = results.cells("real_data").rename(columns={"policy": "method"})
    cells = repeated(cells.assign(auxiliary=cells["auxiliary"].astype(object).fillna("with")))
    cells["variant"] = cells["variant"].astype(object).fillna("")
    base = results.cells("real_data_reference").rename(columns={"policy": "method"})
    datasets = list(cells["dataset"].unique())
    pairs = sorted(set(cells[["epsilon", "epsilon_aux"]].fillna(0).itertuples(index=False, name=None)))
    figure, axes = style.subplots(
        len(datasets),
        len(pairs),
        width=style.PAGE,
        height=1.55 * len(datasets) + 0.6,
        sharex="row",
        sharey="row",
        squeeze=False,
    )
    looks = style.Palette(["absse", *cells["method"].unique()])
    drawn = []
    for i, dataset in enumerate(datasets):
        of_dataset = cells[cells["dataset"] == dataset]
        name = f"{dataset}, synthetic stand-in" if (of_dataset["data"] == "stand-in").any() else dataset
        for j, (epsilon, epsilon_aux) in enumerate(pairs):
            ax = axes[i, j]
            own = (of_dataset["epsilon"] == epsilon) & (of_dataset["epsilon_aux"].fillna(0) == epsilon_aux)
            lines = list(of_dataset[own].groupby(["variant", "method", "auxiliary"], sort=False))
            if not lines:
                ax.set_axis_off()
                continue
            absse = base[(base["dataset"] == dataset) & (base["method"] == "absse")]
            for (variant, method, auxiliary), curve in [*lines, (("", "absse", ""), absse)]:
                drawn.append(
                    _curve(ax, curve, variant, method, auxiliary, looks).assign(
                        epsilon=epsilon, epsilon_aux=epsilon_aux
                    )
                )
            ax.axhline(best_constant(results, dataset), color=style.QUIET, linewidth=0.7, linestyle=(0, (1, 1.5)))
            ax.set(xscale="log")
            if i == 0:
                ax.set_title(
                    rf"$\epsilon = {epsilon:g}$" + (rf", $\epsilon_m = {epsilon_aux:g}$" if epsilon_aux else "")
                )
            if j == 0:
                ax.set_ylabel(f"{name}\naverage reward")
    for ax in axes[-1]:
        ax.set_xlabel("target users $t$")
    # A panel of a dataset without sources has few of the lines, or none.
    found = {name: line for ax in axes.flat for line, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    # A column a method: with auxiliary data above, without below.
    names = sorted(found, key=lambda name: (name == "ABSE", name.rsplit(" ", 1)))
    figure.legend([found[n] for n in names], names, loc="outside lower center", ncols=(len(names) + 1) // 2)
    return figure, pd.concat(drawn, ignore_index=True)


def best_constant(results: Results, dataset: str) -> float:
    """What the best constant arm earns a user: the share of the target's most frequent label."""
    facts = results.dataset(dataset)
    return max(facts["target_label_counts"]) / facts["n_target"]


def _curve(ax, curve: pd.DataFrame, variant: str, method: str, auxiliary: str, looks: style.Palette) -> pd.DataFrame:
    average = curve[["reward_mean", "reward_se"]].div(curve["t"], axis=0)
    # Few runs have wide intervals, but a reward is 0 or 1.
    low, high = np.clip(interval(average["reward_mean"], average["reward_se"], curve["replicates"]), 0, 1)
    words = [
        label_of(method),
        "printed" if variant == "as_printed" else "",
        {"with": "w", "without": "wo"}.get(auxiliary),
    ]
    label = " ".join(filter(None, words))
    colour = style.QUIET if variant == "as_printed" else looks.colour_of(method)
    dashes = "-" if auxiliary in ("with", "") else (0, (4, 1.5))
    width = 0.9 if variant == "as_printed" else 1.3
    style.band(
        ax,
        curve["t"],
        average["reward_mean"],
        low,
        high,
        label=label,
        color=colour,
        linestyle=dashes,
        linewidth=width,
        marker="",
    )
    numbers = pd.DataFrame(
        {"average_reward": average["reward_mean"], "se": average["reward_se"], "low": low, "high": high}
    )
    return (
        curve[["dataset", "data", "t", "replicates"]]
        .join(numbers)
        .assign(method=method, variant=variant, auxiliary=auxiliary)
    )


@cache
def alternatives(results: Results) -> pd.DataFrame:
    """Adult's entries under each alternative: alternative, the keys of an entry, ratio, se, replicates."""
    base = reference(results)
    base = base[base["dataset"] == "adult"]
    main = results.cells("real_data")
    main = main[(main["dataset"] == "adult") & (main["variant"] != "as_printed")]
    parts = [_entries(main, base, MAIN)]
    others = reference(results, "adult_sensitivity_reference")
    cells = results.cells("adult_sensitivity")
    for dataset, title in ALTERNATIVES.items():
        chosen = cells[cells["dataset"] == dataset]
        if not chosen.empty:
            parts.append(_entries(chosen, others[others["dataset"] == dataset], title))
    settings = results.cells("adult_settings")
    for column, title in (("batch", "batches of {:g}"), ("rate", "rate {:g}"), ("learnt", "{} source alone")):
        normal = {"batch": (100, np.nan), "rate": (0.1, np.nan), "learnt": (np.nan, None)}[column]
        changed = settings[settings[column].notna() & ~settings[column].isin(normal)]
        for value, chosen in changed.groupby(column, sort=True, observed=True):
            parts.append(_entries(chosen, base, title.format(value)))
    for column, title in (("lipschitz", "ABSE: L = {:g}"), ("smoothness", "ABSE: smoothness {:g}")):
        for value, changed in others[others[column].notna()].groupby(column):
            parts.append(_entries(main, changed, title.format(value)))
    return pd.concat(parts, ignore_index=True)


def _entries(cells: pd.DataFrame, base: pd.DataFrame, alternative: str) -> pd.DataFrame:
    found = repeated(at_times(cells)).merge(base[["t", "base", "base_se"]], on="t", validate="many_to_one")
    found["ratio"], found["se"] = ratio(found["reward_mean"], found["reward_se"], found["base"], found["base_se"])
    keys = ["data", "epsilon", "epsilon_aux", "time", "method", "auxiliary"]
    return found[[*keys, "ratio", "se", "replicates"]].assign(alternative=alternative)


def adult_sensitivity(results: Results):
    """Adult's entries under each alternative: a row of panels a time, a panel a method, a marker a pair of budgets."""
    table = alternatives(results)
    names = list(dict.fromkeys(table["alternative"]))
    columns = [(m, a) for m in LOOKS for a in ("with", "without")]
    theirs = published()
    theirs = theirs[theirs["dataset"] == "adult"]
    height = 2 * (0.13 * (len(names) + 1) + 0.45) + 0.5
    figure, axes = style.subplots(2, len(columns), width=style.PAGE, height=height, sharex=True, sharey=True)
    looks = style.Palette([f"{pair}" for pair in PAIRS], fixed=())
    offsets = np.linspace(-0.27, 0.27, len(PAIRS))
    for i, (time, time_title) in enumerate(TIME_TITLES.items()):
        for j, (method, auxiliary) in enumerate(columns):
            ax = axes[i, j]
            ax.axvline(1, color=style.QUIET, linewidth=0.6)
            for pair, offset in zip(PAIRS, offsets, strict=True):
                own = (table["time"] == time) & (table["method"] == method) & (table["auxiliary"] == auxiliary)
                own &= (table["epsilon"] == pair[0]) & (table["epsilon_aux"] == pair[1])
                shown = table[own]
                at = [names.index(a) + 1 + offset for a in shown["alternative"]]
                low, high = interval(shown["ratio"], shown["se"], shown["replicates"])
                look = {"color": looks.colour_of(f"{pair}"), "marker": looks.marker_of(f"{pair}")}
                errors = [shown["ratio"] - low, high - shown["ratio"]]
                ax.errorbar(
                    shown["ratio"],
                    at,
                    xerr=errors,
                    linestyle="none",
                    markersize=2.6,
                    elinewidth=0.6,
                    capsize=0,
                    label=_pair(pair),
                    **look,
                )
                entry = theirs[
                    (theirs["time"] == time) & (theirs["method"] == method) & (theirs["auxiliary"] == auxiliary)
                ]
                entry = entry[(entry["epsilon"] == pair[0]) & (entry["epsilon_aux"] == pair[1])]
                ax.plot(
                    entry["ratio"],
                    [offset],
                    marker=look["marker"],
                    markersize=3.4,
                    markerfacecolor="none",
                    markeredgecolor=look["color"],
                    markeredgewidth=0.8,
                    linestyle="none",
                )
            if i == 0:
                ax.set_title(f"{label_of(method)}\n{auxiliary}", fontsize=8)
            ax.tick_params(axis="y", length=0)
        axes[i, 0].set_ylabel(time_title)
    for ax in axes[:, 0]:
        ax.set_yticks(range(len(names) + 1), ["published", *names], fontsize=7)
    axes[0, 0].set_ylim(len(names) + 0.6, -0.6)
    for ax in axes[1]:
        ax.set_xlabel("ratio to ABSE")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, handlelength=1)
    return figure, table


def _pair(pair: tuple[float, float]) -> str:
    return rf"$\epsilon = {pair[0]}, \epsilon_m = {pair[1]}$"
