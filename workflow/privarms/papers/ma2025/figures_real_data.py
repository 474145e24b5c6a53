"""Figures of section 4.2: learning curves on real data, and the sensitivity of Adult's entries."""

from functools import partial
from typing import Any

import pandas as pd

from privarms.papers.ma2025._table2 import (
    REFERENCE,
    best_constant,
    called,
    label_of,
    main_cells,
    named,
    pair_text,
    repeated,
)
from privarms.papers.ma2025.inference_table2 import ADULT
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves, dodged, in_order, name_lines, points
from privarms.registry.artifacts import figure

SYMBOLS = (r"$\epsilon$", r"$\epsilon_m$")


def _pairs(rows: pd.DataFrame) -> list[str]:
    return [pair_text(*pair, symbols=SYMBOLS) for pair in zip(rows["epsilon"], rows["epsilon_aux"], strict=True)]


@figure(
    "Learning on real data",
    studies=["real_data", "real_data_reference"],
    card="Learning on real data",
    tab="All datasets",
)
def real_learning_curves(results: Results):
    """Average reward up to t against the target users t, with 95% intervals of at least five runs; one row per dataset,
    one column per pair of budgets. Dashed: without auxiliary data; dotted: the best constant arm. Thin: a method in
    another setting, such as Linear and NN with the rate .1; the CSV file names the setting. LDPMAB is as released,
    except where marked as printed (c = 64). ABSE is not private and uses no auxiliary data."""
    cells = repeated(named(results.cells("real_data"), main_cells(results, "real_data"))).assign(method=called)
    base = named(results.cells(REFERENCE), main_cells(results, REFERENCE))
    base = base[base["method"] == "absse"].assign(auxiliary="", method=called)
    pairs = cells[["dataset", "epsilon", "epsilon_aux"]].drop_duplicates()
    base = base.drop(columns=["epsilon", "epsilon_aux"]).merge(pairs, on="dataset")
    rows = pd.concat([cells, base], ignore_index=True)
    rows = rows.assign(average_reward=rows["reward_mean"] / rows["t"], se=rows["reward_se"] / rows["t"])
    rows = with_interval(rows, "average_reward", "se")
    # Few runs have wide intervals, but a reward is 0 or 1.
    rows = rows.assign(low=rows["low"].clip(0, 1), high=rows["high"].clip(0, 1), pair=_pairs(rows))
    plain = rows["method"].str.split(" (", regex=False).str[0].map(label_of)
    rows = rows.assign(who=plain + rows["variant"].map({"as_printed": " printed"}).fillna(""))
    rows = rows.assign(name=rows["who"] + ", " + rows["auxiliary"] + ", " + rows["setting"])
    rows = in_order(rows, "dataset", "pair", "name")
    looks, texts = _curves(rows)
    rows = rows.assign(name=rows["name"].map(texts))
    options: dict[str, Any] = {"row": "dataset", "col": "pair", "hue": "name"}
    options |= {"sharex": "row", "sharey": "row", "log": "x"}
    grid = curves(rows, "t", "average_reward", looks=looks, width=style.PAGE, height=1.55, **options)
    dotted: dict[str, Any] = style.GUIDE | {"linestyle": style.LINESTYLES[2]}
    stand_ins = set(rows.loc[rows["data"] == "stand-in", "dataset"])
    for (dataset, pair), ax in grid.axes_dict.items():
        ax.set_title(f"{dataset}{', stand-in' if dataset in stand_ins else ''}\n{pair}", fontsize=7)
        # The number of users may follow the dataset's name.
        constant = best_constant(results, dataset.split(" (")[0])
        ax.axhline(constant, **dotted)
    for ax in grid.axes[:, 0]:
        low, high = ax.get_xlim()
        # A short axis needs more numbers than its power of ten, but a panel is narrow.
        style.log_ticks(ax.xaxis, (1, 3) if high < 50 * low else (1,))
    grid.set_axis_labels("target users $t$", "average reward")
    style.legend(grid.figure, columns=6, title="dashed: without auxiliary data; thin: another setting")
    columns = ["dataset", "data", "t", "replicates", "average_reward", "se", "low", "high", "method", "variant"]
    return grid.figure, rows[[*columns, "auxiliary", "epsilon", "epsilon_aux"]]


def _curves(rows: pd.DataFrame) -> tuple[style.Looks, dict[str, str]]:
    """Return the looks of curves, and name -> label; one curve per method has a label that the legend shows.

    Colours and markers are by method (`who`), grey without budgets; dashes by auxiliary data, thin in another setting
    """
    columns = ["name", "who", "auxiliary", "setting"]
    own = style.looks(rows.loc[rows["auxiliary"] != "", "who"])
    public = {"color": style.QUIET, "marker": "X"}
    looks, texts = {}, {}
    for name, who, auxiliary, setting in rows.drop_duplicates("name")[columns].itertuples(index=False):
        texts[name] = who if who not in looks else f"_{name}"
        dashes = {"linestyle": style.LINESTYLES[1 if auxiliary == "without" else 0]}
        looks[texts[name]] = own.get(who, public) | dashes | ({"linewidth": 0.7, "marker": None} if setting else {})
    return looks, texts


@figure(
    "Sensitivity of the Adult entries of Table 2",
    inference=["adult_alternatives"],
    card="Learning on real data",
    tab="Adult's open choices",
    dataset="adult",
)
def adult_sensitivity(results: Results):
    """Ratio to ABSE's reward with one open choice changed at a time, with 95% intervals; the top line has the published
    ratios. LDPMAB is as released. A point without an interval, such as one of fewer than five runs, is hollow."""
    table = results.inference("adult_alternatives")
    theirs = results.published_table("table2")
    theirs = theirs[theirs["dataset"] == ADULT].assign(alternative="published", replicates=1, se=0.0)
    rows = with_interval(pd.concat([theirs, table], ignore_index=True), "ratio", "se")
    names = list(dict.fromkeys(rows["alternative"]))
    rows = rows.assign(
        pair=_pairs(rows),
        method=[f"{label_of(m)} {auxiliary}" for m, auxiliary in zip(rows["method"], rows["auxiliary"], strict=True)],
        time=rows["time"].map({"quarter": "$t = n_P/4$", "full": "$t = n_P$"}),
    )
    rows = rows.assign(place=dodged(rows["alternative"].map(names.index), rows["pair"]))
    looks = {pair: look | {"markersize": 2.6, "capsize": 0} for pair, look in style.looks(rows["pair"]).items()}
    options = {"row": "time", "col": "method", "hue": "pair", "draw": partial(points, along="x")}
    grid = curves(rows, "ratio", "place", looks=looks, width=style.PAGE, height=0.2 * len(names) + 0.5, **options)
    grid.set_titles("{col_name}\n{row_name}", size=7)
    for ax in grid.axes[:, 0]:
        name_lines(ax, names, fontsize=7)
    for ax in grid.axes.flat:
        ax.axvline(1, color=style.QUIET, linewidth=0.6)
    grid.set_axis_labels("ratio to ABSE", "")
    style.legend(grid.figure)
    return grid.figure, table
