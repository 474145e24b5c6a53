"""Figures of section 4.2: ABSE on Adult, learning curves on real data, and what Adult's entries hang on."""

import itertools

import numpy as np
import pandas as pd

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
from privarms.papers.ma2025.inference_adult import ADULT
from privarms.plots import style
from privarms.plots.curves import labels, with_interval
from privarms.plots.facets import curves, dodged, in_order, name_lines, panels, parts, points
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

TIME_TITLES = {"quarter": "$t = n_P/4$", "full": "$t = n_P$"}
SYMBOLS = (r"$\epsilon$", r"$\epsilon_m$")
# So many panels stand on the width of a page; more make a figure wider.
PANELS = 6
# Grey, what the paper's text would earn.
PRINTED = ("ldp_mab", "as_printed")


@figure(
    "ABSE on Adult",
    studies=["real_data_reference"],
    card="Learning on real data",
    tab="ABSE on Adult",
    dataset="adult",
)
def adult_absse(results: Results):
    """Average reward up to t, the mean over replicates, of ABSE, of uniform play and of the best constant arm; dark
    band: 95% interval of the mean, light band: 5% to 95% of the runs.
    """
    cells = results.cells("real_data_reference")
    cells = cells[cells["dataset"] == ADULT]
    constant = cells["policy"] == "constant"
    best = cells[constant & (cells["t"] == cells["horizon"])].nlargest(1, "reward_mean")
    shown = cells[~constant | cells["cell"].isin(best["cell"])]
    curve = labels(shown).where(shown["policy"] != "constant", "best constant arm (" + shown["arm"].map("{:g})".format))
    shown = in_order(shown.assign(curve=curve), "curve")
    # The first curve of a policy looks as the policy does everywhere.
    first = ~shown.drop_duplicates("curve")["policy"].duplicated()
    firsts = dict(shown.drop_duplicates("curve")[first][["policy", "curve"]].itertuples(index=False))
    looks = style.looks(shown["curve"], [firsts.get(policy, policy) for policy in style.FIXED])
    measured = {"reward_mean": "average_reward", "reward_se": "se", "reward_p05": "p05", "reward_p95": "p95"}
    rows = shown.assign(**{name: shown[column] / shown["t"] for column, name in measured.items()})
    rows = with_interval(rows, "average_reward", "se")
    grid = curves(rows, "t", "average_reward", looks=looks, log="x", height=2.4)
    for ax, name, some in parts(grid):
        ax.fill_between(some["t"], some["p05"], some["p95"], color=looks[name]["color"], alpha=0.1, linewidth=0)
    ends = [min(0.4, rows["p05"].min()), max(0.9, rows["p95"].max())]
    grid.set(ylim=ends).set_axis_labels("users $t$", "average reward up to $t$")
    style.legend(grid.figure, columns=2)
    rows = rows.assign(policy=[_said(*pair) for pair in zip(rows["curve"], rows["policy"], strict=True)])
    return grid.figure, rows[["policy", "arm", "t", "replicates", *measured.values(), "low", "high"]]


def _said(label: str, policy: str) -> str:
    """A policy's name with what its curve's label has behind it."""
    return policy if policy == "constant" or " (" not in label else f"{policy} ({label.split(' (', 1)[1]}"


@figure(
    "Learning on real data",
    studies=["real_data", "real_data_reference"],
    card="Learning on real data",
    tab="All datasets",
)
def real_learning_curves(results: Results):
    """Average reward up to t, mean and 95% interval; dashed, without auxiliary data. LDPMAB as released unless it says
    as printed (c = 64). Dotted, what the best constant arm earns. ABSE is neither private nor transferred to.
    """
    cells = repeated(named(results.cells("real_data")))
    base = named(results.cells("real_data_reference"))
    base = base[~base["method"].isin(("uniform", "constant"))].assign(auxiliary="")
    places = pd.concat([cells, base], ignore_index=True)[["dataset", "horizon"]].drop_duplicates()
    places["place"] = place_of(places)
    cells, base = (f.merge(places).assign(method=called) for f in (cells, base))
    pairs, datasets = pairs_of(cells), cells.drop_duplicates("place").set_index("place")["dataset"]
    drawn, keys = [], ["variant", "method", "auxiliary"]
    for (place, _), pair in itertools.product(datasets.items(), pairs):
        of_dataset = cells[cells["place"] == place]
        own = of_dataset[in_pair(of_dataset, pair)]
        if len(own):
            name = f"{place}, synthetic stand-in" if (of_dataset["data"] == "stand-in").any() else place
            groups = pd.concat([own, base[base["place"] == place]]).groupby(keys, sort=False)
            rows = pd.concat([part for _, part in groups])
            column = ", ".join(pair_text(*pair, symbols=SYMBOLS))
            drawn.append(rows.assign(epsilon=pair[0], epsilon_aux=pair[1], row=name, column=column))
    rows = pd.concat(drawn, ignore_index=True)
    rows = rows.assign(average_reward=rows["reward_mean"] / rows["t"], se=rows["reward_se"] / rows["t"])
    rows = with_interval(rows, "average_reward", "se")
    # Few runs have wide intervals, but a reward is 0 or 1.
    rows = rows.assign(low=rows["low"].clip(0, 1), high=rows["high"].clip(0, 1))
    rows["name"] = [_label(*key) for key in rows[["method", "variant", "auxiliary"]].itertuples(index=False)]
    options = {"row": "row", "col": "column", "hue": "name", "sharex": "row", "sharey": "row", "log": "x"}
    options |= {"width": style.PAGE * max(1, len(pairs) / PANELS), "height": 1.55}
    grid = curves(rows, "t", "average_reward", looks=_looks(rows), **options)
    shown = rows.drop_duplicates("row").set_index("row")["place"]
    for (name, column), ax in grid.axes_dict.items():
        ax.set(title=column if ax.get_subplotspec().is_first_row() else "")
        ax.axhline(best_constant(results, datasets[shown[name]]), **(style.GUIDE | {"linestyle": style.LINESTYLES[2]}))
        if not ((rows["row"] == name) & (rows["column"] == column)).any():
            ax.set_axis_off()
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel(f"{name}\naverage reward")
    grid.set_xlabels("target users $t$")
    style.legend(grid.figure, columns=6)
    columns = ["dataset", "data", "t", "replicates", "average_reward", "se", "low", "high", "method", "variant"]
    return grid.figure, rows.assign(dataset=rows["place"])[[*columns, "auxiliary", "epsilon", "epsilon_aux"]]


def _looks(rows: pd.DataFrame) -> style.Looks:
    """The look of each curve: a colour a method, dashed without auxiliary data; grey as printed."""
    printed = (rows["method"] == PRINTED[0]) & (rows["variant"] == PRINTED[1])
    # As released or without variants a method is what it is called.
    method = rows["method"].where(rows["variant"] != "as_printed", rows["method"] + " printed")
    ours = rows.assign(who=method, auxiliary=rows["auxiliary"].replace("", "with"))[~printed]
    looks = style.crossed(ours, "name", "who", "auxiliary", firsts=style.FIXED, seconds=["with", "without"])
    if ours["who"].nunique() <= len(style.COLOURS):
        looks = {name: look | {"marker": None} for name, look in looks.items()}
    dashes = {"with": style.LINESTYLES[0], "without": style.LINESTYLES[1]}
    for name, auxiliary in rows.loc[printed, ["name", "auxiliary"]].drop_duplicates().itertuples(index=False):
        looks[name] = {"color": style.QUIET, "marker": None, "linestyle": dashes[auxiliary], "linewidth": 0.9}
    return looks


def _label(method: str, variant: str, auxiliary: str) -> str:
    words = [
        label_of(method),
        "printed" if variant == "as_printed" else "",
        {"with": "w", "without": "wo"}.get(auxiliary),
    ]
    return " ".join(filter(None, words))


@figure(
    "What Adult's entries of Table 2 hang on",
    inference=["adult_alternatives"],
    card="Learning on real data",
    tab="Adult's open choices",
    dataset="adult",
)
def adult_sensitivity(results: Results):
    """The ratio to ABSE with one open choice changed at a time, 95% intervals; hollow, as published. LDPMAB as
    released.
    """
    table = results.inference("adult_alternatives")
    names = list(dict.fromkeys(table["alternative"]))
    theirs = results.published_table("table2")
    theirs = theirs[theirs["dataset"] == ADULT].assign(alternative="published", replicates=1, se=0.0)
    both, pairs = pd.concat([theirs, table], ignore_index=True), pairs_of(table)
    drawn = [both[in_pair(both, p)].assign(pair=", ".join(pair_text(*p, symbols=SYMBOLS))) for p in pairs]
    rows = with_interval(pd.concat(drawn, ignore_index=True), "ratio", "se")
    rows = rows.assign(
        place=dodged(rows["alternative"].map(["published", *names].index), rows["pair"]),
        column=[f"{label_of(m)}\n{auxiliary}" for m, auxiliary in zip(rows["method"], rows["auxiliary"], strict=True)],
    )
    ours = rows[rows["alternative"] != "published"].sort_values("auxiliary", kind="stable")
    order = list(dict.fromkeys(in_order(ours, "method")["column"]))
    looks = style.looks(rows["pair"])
    small = {"markersize": 2.6, "markeredgewidth": 0, "elinewidth": 0.6, "capsize": 0}
    # A line of text for each marker, so that none hides another one of the same value.
    height = 0.05 * max(len(pairs), 3) * (len(names) + 1) + 0.45
    options = {"row": "time", "col": "column", "hue": "pair", "row_order": list(TIME_TITLES), "col_order": order}
    grid = panels(rows, looks=looks, width=style.PAGE * max(1, len(order) / PANELS), height=height, **options)
    for ax, pair, some in parts(grid):
        ours, published = (some[(some["alternative"] == "published") == which] for which in (False, True))
        points(ax, ours, "ratio", "place", along="x", label=pair, **(looks[pair] | small))
        hollow = {"markersize": 3, "markerfacecolor": "none", "markeredgecolor": looks[pair]["color"]}
        ax.plot(published["ratio"], published["place"], **(looks[pair] | hollow | {"linestyle": "none", "mew": 0.8}))
    name_lines(grid.axes[0, 0], ["published", *names], fontsize=7)
    for (time, column), ax in grid.axes_dict.items():
        ax.axvline(1, color=style.QUIET, linewidth=0.6)
        ax.set_title(column if ax.get_subplotspec().is_first_row() else "", fontsize=8)
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel(TIME_TITLES[time])
        # Lines between the alternatives, not through them: what belongs together stands together.
        ax.set_yticks(np.arange(len(names)) + 0.5, minor=True)
        ax.grid(visible=False, axis="y", which="major")
        ax.grid(visible=True, axis="y", which="minor")
        ax.tick_params(axis="y", which="both", length=0)
    grid.set_xlabels("ratio to ABSE")
    style.legend(grid.figure)
    return grid.figure, table
