"""Figures of section 4.2: ABSE on Adult, learning curves on real data, and what Adult's entries hang on."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from privarms.papers.ma2025._adult import ADULT
from privarms.papers.ma2025._table2 import (
    best_constant,
    called,
    in_pair,
    label_of,
    named,
    pair_text,
    pairs_of,
    place_of,
    repeated,
)
from privarms.plots import old_style as style
from privarms.plots.curves import curves, interval
from privarms.studies.results import Results

TIME_TITLES = {"quarter": "$t = n_P/4$", "full": "$t = n_P$"}
SYMBOLS = (r"$\epsilon$", r"$\epsilon_m$")
# So many panels stand on the width of a page; more make a figure wider.
PANELS = 6
# Grey, what the paper's text would earn.
PRINTED = ("ldp_mab", "as_printed")


def adult_absse(results: Results):
    """Average reward against t on Adult; of the constant arms only the best one is drawn."""
    cells = results.cells("real_data_reference")
    cells = cells[cells["dataset"] == ADULT]
    constant = cells["policy"] == "constant"
    best = cells[constant & (cells["t"] == cells["horizon"])].nlargest(1, "reward_mean")
    shown = cells[~constant | cells["cell"].isin(best["cell"])]
    found = curves(shown)
    # The first curve of a policy looks as the policy does everywhere.
    policies = {label: curve["policy"].iloc[0] for label, curve in found.items()}
    firsts = {policy: label for label, policy in reversed(policies.items())}
    names = {label: policy if firsts[policy] == label else label for label, policy in policies.items()}
    looks = style.Palette(names.values())
    figure, ax = style.subplots(width=style.COLUMN, height=2.8)
    drawn = []
    for label, curve in found.items():
        average = curve[["reward_mean", "reward_se", "reward_p05", "reward_p95"]].div(curve["t"], axis=0)
        low, high = interval(average["reward_mean"], average["reward_se"], curve["replicates"])
        name = f"best constant arm ({curve['arm'].iloc[0]:g})" if policies[label] == "constant" else label
        line = style.band(ax, curve["t"], average["reward_mean"], low, high, label=name, **looks.line(names[label]))
        light = {"color": line.get_color(), "alpha": 0.1, "linewidth": 0}
        ax.fill_between(curve["t"], average["reward_p05"], average["reward_p95"], **light)
        numbers = average.set_axis(["average_reward", "se", "p05", "p95"], axis=1)
        keys = curve.reindex(columns=["policy", "arm", "t", "replicates"]).assign(policy=_said(label, policies[label]))
        drawn.append(keys.join(numbers.assign(low=low, high=high)))
    ax.set(xscale="log", xlabel="users $t$", ylabel="average reward up to $t$", ylim=(0.4, 0.9))
    low, high = ax.dataLim.intervaly
    ax.set_ylim(min(0.4, low), max(0.9, high))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, pd.concat(drawn, ignore_index=True)


def _said(label: str, policy: str) -> str:
    """A policy's name with what its curve's label has behind it."""
    return policy if policy == "constant" or " (" not in label else f"{policy} ({label.split(' (', 1)[1]}"


def real_learning_curves(results: Results):
    """Average reward up to t: a row of panels a dataset, a panel a pair of budgets."""
    cells = repeated(named(results.cells("real_data")))
    base = named(results.cells("real_data_reference"))
    base = base[~base["method"].isin(("uniform", "constant"))].assign(auxiliary="")
    places = pd.concat([cells, base], ignore_index=True)[["dataset", "horizon"]].drop_duplicates()
    places["place"] = place_of(places)
    cells, base = (f.merge(places).assign(method=called) for f in (cells, base))
    pairs, datasets = pairs_of(cells), cells.drop_duplicates("place").set_index("place")["dataset"]
    figure, axes = style.subplots(
        len(datasets),
        len(pairs),
        width=style.PAGE * max(1, len(pairs) / PANELS),
        height=1.55 * len(datasets) + 0.6,
        sharex="row",
        sharey="row",
        squeeze=False,
    )
    looks = _looks(cells, base)
    drawn = []
    for i, (place, dataset) in enumerate(datasets.items()):
        of_dataset = cells[cells["place"] == place]
        name = f"{place}, synthetic stand-in" if (of_dataset["data"] == "stand-in").any() else place
        lines = {pair: of_dataset[in_pair(of_dataset, pair)] for pair in pairs}
        first = next(j for j, pair in enumerate(pairs) if not lines[pair].empty)
        for j, pair in enumerate(pairs):
            ax = axes[i, j]
            if i == 0:
                ax.set_title(", ".join(pair_text(*pair, symbols=SYMBOLS)))
            if lines[pair].empty:
                ax.set_axis_off()
                continue
            shown = pd.concat([lines[pair], base[base["place"] == place]])
            for (variant, method, auxiliary), curve in shown.groupby(["variant", "method", "auxiliary"], sort=False):
                look = looks[method, variant, auxiliary]
                numbers = _curve(ax, curve, _label(method, variant, auxiliary), look)
                drawn.append(numbers.assign(epsilon=pair[0], epsilon_aux=pair[1]))
            ax.axhline(best_constant(results, dataset), color=style.QUIET, linewidth=0.7, linestyle=(0, (1, 1.5)))
            ax.set(xscale="log")
            if j == first:
                ax.set_ylabel(f"{name}\naverage reward")
                ax.tick_params(labelleft=True)
    for ax in axes[-1]:
        ax.set_xlabel("target users $t$")
    # A panel of a dataset without sources has few of the lines, or none.
    found = {name: line for ax in axes.flat for line, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    alone = {_label(method, variant, "") for method, variant in base[["method", "variant"]].itertuples(index=False)}
    # A column a method: with auxiliary data above, without below.
    names = sorted(found, key=lambda name: (name in alone, name.rsplit(" ", 1)))
    rows = 2 * math.ceil(len(names) / 12)
    columns = math.ceil(len(names) / rows)
    figure.legend([found[n] for n in names], names, loc="outside lower center", ncols=columns)
    return figure, pd.concat(drawn, ignore_index=True)


def _looks(cells: pd.DataFrame, base: pd.DataFrame) -> dict[tuple, dict]:
    """The look of each method, variant and auxiliary: a colour a method, dashed without auxiliary data."""
    keys = ["method", "variant", "auxiliary"]
    every = list(pd.concat([cells, base])[keys].drop_duplicates().itertuples(index=False, name=None))
    ours = [key for key in every if key[:2] != PRINTED]
    # As released or without variants a method is what it is called.
    names = {key: key[0] if key[1] != "as_printed" else key[:2] for key in ours}
    firsts = [names[key] for key in ours if key in set(base[keys].itertuples(index=False, name=None))]
    dashes = ["with", "without"]
    palette = style.Palette.crossed([*firsts, *names.values()], dashes, fixed=style.FIXED)
    looks = {}
    for key in ours:
        line = palette.line((names[key], key[2] or "with"))
        looks[key] = line | {"marker": "" if _plain(looks.values(), line) else line["marker"], "linewidth": 1.3}
    grey = {"with": "-", "without": (0, (4, 1.5))}
    for key in every:
        if key[:2] == PRINTED:
            looks[key] = {"color": style.QUIET, "marker": "", "linestyle": grey[key[2]], "linewidth": 0.9}
    return looks


def _plain(others: Iterable[dict], line: dict) -> bool:
    """Whether colour and line style alone tell a line from the others."""
    return all((line["color"], line["linestyle"]) != (o["color"], o["linestyle"]) for o in others)


def _label(method: str, variant: str, auxiliary: str) -> str:
    words = [
        label_of(method),
        "printed" if variant == "as_printed" else "",
        {"with": "w", "without": "wo"}.get(auxiliary),
    ]
    return " ".join(filter(None, words))


def _curve(ax, curve: pd.DataFrame, label: str, look: dict) -> pd.DataFrame:
    average = curve[["reward_mean", "reward_se"]].div(curve["t"], axis=0)
    # Few runs have wide intervals, but a reward is 0 or 1.
    low, high = np.clip(interval(average["reward_mean"], average["reward_se"], curve["replicates"]), 0, 1)
    style.band(ax, curve["t"], average["reward_mean"], low, high, label=label, **look)
    numbers = {"average_reward": average["reward_mean"], "se": average["reward_se"], "low": low, "high": high}
    keys = ["method", "variant", "auxiliary"]
    own = curve[["place", "data", "t", "replicates"]].rename(columns={"place": "dataset"})
    return own.join(pd.DataFrame(numbers)).join(curve[keys])


def adult_sensitivity(results: Results):
    """Adult's entries under each alternative: a row of panels a time, a panel a method, a marker a pair of budgets."""
    table = results.inference("adult_alternatives")
    names = list(dict.fromkeys(table["alternative"]))
    columns = list(table[["method", "auxiliary"]].drop_duplicates().itertuples(index=False, name=None))
    columns = sorted(columns, key=lambda one: ([m for m, _ in columns].index(one[0]), one[1]))
    theirs = results.published_table("table2")
    theirs = theirs[theirs["dataset"] == ADULT]
    pairs = pairs_of(table)
    # A line of text for each marker, so that none hides another one of the same value.
    step = 0.05 * max(len(pairs), 3)
    figure, axes = style.subplots(
        len(TIME_TITLES),
        len(columns),
        width=style.PAGE * max(1, len(columns) / PANELS),
        height=2 * (step * (len(names) + 1) + 0.45) + 0.5,
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    looks = style.Palette(pairs, fixed=())
    offsets = np.linspace(-0.36, 0.36, len(pairs)) if len(pairs) > 1 else [0.0]
    for i, (time, time_title) in enumerate(TIME_TITLES.items()):
        for j, (method, auxiliary) in enumerate(columns):
            ax = axes[i, j]
            ax.axvline(1, color=style.QUIET, linewidth=0.6)
            for pair, offset in zip(pairs, offsets, strict=True):
                shown, entry = (_of(f, time, method, auxiliary, pair) for f in (table, theirs))
                at = [names.index(a) + 1 + offset for a in shown["alternative"]]
                _markers(ax, shown, at, entry, offset, looks.look(pair), ", ".join(pair_text(*pair, symbols=SYMBOLS)))
            if i == 0:
                ax.set_title(f"{label_of(method)}\n{auxiliary}", fontsize=8)
            ax.tick_params(axis="y", length=0)
            # Lines between the alternatives, not through them: what belongs together stands together.
            ax.set_yticks(np.arange(len(names)) + 0.5, minor=True)
            ax.grid(visible=False, axis="y", which="major")
            ax.grid(visible=True, axis="y", which="minor")
            ax.tick_params(axis="y", which="minor", length=0)
        axes[i, 0].set_ylabel(time_title)
    for ax in axes[:, 0]:
        ax.set_yticks(range(len(names) + 1), ["published", *names], fontsize=7)
    axes[0, 0].set_ylim(len(names) + 0.6, -0.6)
    for ax in axes[-1]:
        ax.set_xlabel("ratio to ABSE")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, handlelength=1)
    return figure, table


def _of(table: pd.DataFrame, time: str, method: str, auxiliary: str, pair: tuple) -> pd.DataFrame:
    own = (table["time"] == time) & (table["method"] == method) & (table["auxiliary"] == auxiliary)
    return table[own & in_pair(table, pair)]


def _markers(
    ax, shown: pd.DataFrame, at: list, entry: pd.DataFrame, offset: float, look: style.Look, label: str
) -> None:
    """The entries of one pair of budgets, and hollow the published one above them."""
    low, high = interval(shown["ratio"], shown["se"], shown["replicates"])
    ax.errorbar(
        shown["ratio"],
        at,
        xerr=[shown["ratio"] - low, high - shown["ratio"]],
        linestyle="none",
        color=look.colour,
        marker=look.marker,
        markersize=2.6,
        markeredgewidth=0,
        elinewidth=0.6,
        capsize=0,
        label=label,
    )
    ax.plot(
        entry["ratio"],
        [offset] * len(entry),
        marker=look.marker,
        markersize=3,
        markerfacecolor="none",
        markeredgecolor=look.colour,
        markeredgewidth=0.8,
        linestyle="none",
    )
