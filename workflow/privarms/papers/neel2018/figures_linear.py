"""Figure 6, where its 76% comes from, and the selection bias: linear bandits."""

from functools import partial
from typing import NamedTuple

import pandas as pd

from privarms.inference.proportions import clopper_pearson
from privarms.papers.neel2018 import _looks
from privarms.papers.neel2018._settings import FIGURE_6, LEVEL, described, is_printed, told_apart
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import curves, name_lines, panels, parts, points
from privarms.studies import library
from privarms.studies.artifacts import figure
from privarms.studies.results import Results

POLICIES = ("oful", "linear_ucb_as_released", "uniform", "private_linear_ucb")
# The sixth look is that of arms at random in other figures too.
LOOKS = ("oful", "linear_ucb_as_released", "private_linear_ucb", None, None, "uniform")
TEST = ("standard_error", "coordinate", "estimator")
# What is no setting of a cell.
MEASURED = (*TEST, "low", "high", "count", "replicates", "missing", "below_level", "ks", "panel", "bias", "se")
MEASURED += ("pulls", "regret", "regret_se", "shown", "printed", "title")


class Test(NamedTuple):
    """One histogram: its title, the policy and which z-test."""

    title: str
    policy: str
    standard_error: str
    coordinate: str
    estimator: str


def _settings(rows: pd.DataFrame) -> list[str]:
    return [c for c in rows if c not in MEASURED]


def _panels(results: Results, tests: list[Test], other: Test) -> list[tuple[Test, str, pd.DataFrame]]:
    """(test, title, rows) of each panel: every setting of the policies that are asked for, the printed one first, and
    `other` of every policy that joined the study."""
    rows = results.inference("histograms")
    distances = results.inference("rejections")
    distances = distances[[c for c in distances if c in rows and c not in ("replicates",)] + ["ks"]]
    rows = rows.merge(distances, on=[c for c in distances if c != "ks"], how="left", validate="many_to_one")
    rows = rows.assign(printed=is_printed(rows, results, "linear"))
    strangers = [policy for policy in rows["policy"].unique() if policy not in POLICIES]
    labels = {policy: library.attributes("policies", policy)["LABEL"] for policy in strangers}
    found = []
    for test in [*tests, *(other._replace(title=f"{labels[p]}: {other.title}", policy=p) for p in strangers)]:
        chosen = rows[rows["policy"] == test.policy]
        for column in TEST:
            chosen = chosen[chosen[column] == getattr(test, column)]
        columns = _settings(chosen)
        chosen = pd.concat([chosen[chosen["printed"]], chosen[~chosen["printed"]]])
        differing = [c for c in columns if chosen[c].nunique(dropna=False) > 1]
        alone = len(chosen.loc[chosen["printed"], columns].drop_duplicates()) == 1
        for _, part in chosen.groupby(columns, sort=False, dropna=False, observed=True):
            first = part.iloc[0]
            plain = test in tests and bool(part["printed"].all()) and alone
            words = "" if plain else described({c: first[c] for c in differing})
            found.append((test, f"{test.title}\n{words}".strip(), part))
    return found


def _draw(ax, rows: pd.DataFrame, colour: str) -> None:
    """Draw one histogram, with what is below the level and the distance from uniform in words."""
    runs = rows["replicates"].iloc[0]
    where = {"xycoords": "axes fraction", "ha": "right", "va": "top", "fontsize": 8}
    if not runs:
        ax.annotate("no run has an estimate", (0.97, 0.72), **where)
        return
    share, width = rows["count"] / runs, rows["high"] - rows["low"]
    low, high = clopper_pearson(rows["count"].to_numpy(), runs)
    error = {"yerr": [share - low, high - share], "error_kw": {"elinewidth": 0.6, "capsize": 0, "ecolor": style.QUIET}}
    ax.bar(rows["low"], share, width=width, align="edge", color=colour, edgecolor="white", **error)
    ax.axhline(width.iloc[0], **(style.LEVEL | {"linestyle": style.LINESTYLES[2]}))
    ax.axvline(LEVEL, **style.LEVEL)
    ax.annotate(f"{rows['below_level'].iloc[0]:.1%} below .05", (0.97, 0.72), **where)
    ax.annotate(f"distance from\nuniform {rows['ks'].iloc[0]:.3f}", (0.97, 0.6), **where)


def _histograms(results: Results, tests: list[Test], other: Test):
    looks = style.looks(["correct", "variance", "uniform"])
    shown = _panels(results, tests, other)
    _looks.some(pd.DataFrame(shown), "linear")
    rows = pd.concat([part.assign(title=title) for _, title, part in shown], ignore_index=True)
    grid = panels(rows, col="title", hue="title", wrap=max(len(tests), 2))
    for ax, _, part in parts(grid):
        first = part.iloc[0]
        _draw(ax, part, looks["uniform" if first["policy"] == "uniform" else first["standard_error"]]["color"])
        if first["standard_error"] == "variance" and part["printed"].all():
            value = results.published("figure_6_below_level")
            style.published(ax, value, f"published: {value:.0%} below .05", below=True)
            ax.set_ylim(0, 0.82)
    grid.set(xlim=(0, 1)).set_axis_labels("p-value", "share of the runs")
    columns = ["panel", "policy", *TEST, "low", "high", "count", "replicates", "ks"]
    rows = rows.assign(panel=rows["title"].str.replace("\n", " "))
    return grid.figure, told_apart(rows, columns, ("panel", *_settings(rows), *TEST, "low"))


@figure("Figure 6: p-values of the z-test in linear bandits", inference=["histograms", "rejections"])
def fig6(results: Results):
    """At most 1,000 runs are drawn, as many as published; the verdicts rest on all runs, whose shares below .05 differ
    a little from those of the drawn ones. K = d = 5, T = 500, most-pulled arm; bars with 95% intervals, alpha = .05
    dashed. Left, what the text says: OFUL, the coordinate that is 0, estimate over its standard error. Right, what the
    authors' program does: its own data and estimate, the largest coordinate, divided by the variance. Dotted, the
    uniform law.
    """
    released = "as released: divided by the\nvariance, largest coordinate"
    tests = [
        Test("as printed: z-test of the\nzero coordinate", "oful", "correct", "zero", "ols"),
        Test(released, "linear_ucb_as_released", "variance", "largest", "policy"),
    ]
    return _histograms(results, tests, Test("z-test\nof the zero coordinate", "", "correct", "zero", "ols"))


@figure(
    "Where the 76% comes from: three histograms of p-values",
    inference=["histograms", "rejections"],
    card=FIGURE_6,
    tab="Three histograms",
)
def pvalues(results: Results):
    """At most 1,000 runs each, largest coordinate. Left, the authors' program: its data and estimate, the error divided
    by the variance. Middle, the z-test on the same runs: least squares, divided by the root. Right, the z-test where
    arms are chosen at random. The left score also rejects two thirds of the latter, so that it says nothing of
    adaptivity.
    """
    released = "linear_ucb_as_released"
    random = "correct z-test, arms chosen\nat random (no adaptivity)"
    tests = [
        Test("divided by the variance\n(published construction)", released, "variance", "largest", "policy"),
        Test("same runs, divided by its\nroot (correct z-test)", released, "correct", "largest", "ols"),
        Test(random, "uniform", "correct", "largest", "ols"),
    ]
    return _histograms(results, tests, Test("correct\nz-test", "", "correct", "largest", "ols"))


# (policy, estimator) -> its name.
SHORT = {
    ("oful", "ols"): "OFUL",
    ("linear_ucb_as_released", "ols"): "linear UCB\nas released",
    ("linear_ucb_as_released", "policy"): "the same, its\nown estimate",
    ("uniform", "ols"): "arms at\nrandom",
    ("private_linear_ucb", "ols"): "ours",
}


@figure("The adaptivity is real", inference=["selection"])
def selection_bias(results: Results):
    """Mean error of ordinary least squares on the largest coefficient of the most-pulled arm, signed so that up is away
    from 0, with 95% intervals. The released program's own estimate, which its shared list shrinks, has the other sign.
    "ours" is private_linear_ucb, which is not in the paper.
    """
    rows = results.inference("selection")
    rows = rows[rows["coordinate"] == "largest"]
    columns = _settings(rows)
    keys = list(rows[["policy", "estimator"]].itertuples(index=False, name=None))
    order = dict.fromkeys([*(key for key in SHORT if key in keys), *keys])
    found = []
    for policy, estimator in order:
        part = rows[(rows["policy"] == policy) & (rows["estimator"] == estimator)]
        if policy == "private_linear_ucb":
            part = part.astype({"bonus": float}).sort_values(["bonus", "epsilon"], ascending=[False, True])
            part = rows.loc[part.index]
        differing = [c for c in columns if part[c].nunique(dropna=False) > 1]
        name = SHORT.get((policy, estimator)) or library.attributes("policies", policy)["LABEL"]
        found.append(part.assign(shown=[_named(name, dict(own)) for _, own in part[differing].iterrows()]))
    rows = pd.concat(found, ignore_index=True)
    rows = with_interval(rows, "bias", "se", normal=True)
    rows = rows.assign(shown=rows["shown"].str.replace("\n", " "), place=rows.index)
    looks = style.looks(rows["policy"], LOOKS)
    height = 0.17 * len(rows) + 0.5
    draw = partial(points, along="x")
    grid = curves(rows, "bias", "place", hue="policy", looks=looks, draw=draw, width=4.6, height=height)
    name_lines(grid.ax, rows["shown"], fontsize=7)
    grid.ax.axvline(0, color=style.QUIET, linewidth=0.6)
    grid.set_axis_labels("signed error of the largest coefficient, away from 0", "")
    written = ["shown", "policy", "epsilon", "bonus", "replicates", "bias", "se", "low", "high", "standard_error"]
    numbers = [c for c in (*written, "pulls") if c in rows]
    return grid.figure, told_apart(rows, numbers, ("shown", *columns, "estimator"))


def _named(name: str, own: dict) -> str:
    """A place's name with what tells it from others of its policy."""
    bonus = own.pop("bonus", None)
    rest = described(own)
    text = f"{name}, {rest}" if rest else name
    return text if bonus is None or pd.isna(bonus) or bonus else f"{text},\nno bonus"
