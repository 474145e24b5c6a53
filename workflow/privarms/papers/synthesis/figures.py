"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privarms.inference.proportions import clopper_pearson
from privarms.inference.rows import as_frame
from privarms.papers.synthesis import _advice
from privarms.papers.synthesis._validity import ALPHA, PROCEDURES
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import interval
from privarms.plots.facets import curves, in_order, leading, name_lines, place_of, points
from privarms.registry.artifacts import figure

# The policies of the studies, in the order of their colours.
POLICIES = ("dp_imed", "dp_klucb", "adap_klucb", "adap_ucb", "dp_se", "dp_ucb", "private_ucb", "private_ucb_noise_only")
# Measure, summary over the instances, and label of the axis.
ROWS = (
    ("over_bound", "mean", "regret /\n$d_\\varepsilon$ bound"),
    ("bias", "max", "largest |bias|\nof an arm"),
    ("naive_error", "max", "type I error,\nnaive test"),
    ("naive_coverage", "min", "coverage,\nnaive interval"),
)
TEXTS = {measure: text for measure, _, text in ROWS}
# Shares of fewer runs are too noisy, and their largest even more so: they are not drawn.
FEWEST = 100
LEVELS = {"over_bound": 1.0, "naive_error": ALPHA, "naive_coverage": 1 - ALPHA, "error": ALPHA}
LEVELS["mean_coverage"] = 1 - ALPHA
LOGARITHMIC = ("over_bound", "bias", "mean_width")


def one_setting(runs: pd.DataFrame) -> list[str]:
    """Return the curves to draw: for each policy and variant the setting with the smallest mean ln regret."""
    rows = runs[runs["bound"] > 0]
    rows = rows.assign(log=np.log(np.maximum(rows["regret"], 1e-9)))
    means = rows.groupby(["policy", "variant", "curve"], sort=False)["log"].mean().reset_index()
    return means.loc[means.groupby(["policy", "variant"], sort=False)["log"].idxmin(), "curve"].tolist()


def _measures(runs: pd.DataFrame, tests: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield rows of curve, horizon, epsilon, measure, instance, value, low, high; one per cell and measure."""
    keys = ["curve", "claims", "horizon", "epsilon", "instance"]

    def made(rows, measure, value, low, high):
        return rows[keys].assign(measure=measure, value=value, low=low, high=high)

    private = runs[runs["claims"]]
    for measure, rows, column, least in (("over_bound", private, "over_bound", 50), ("bias", runs, "worst_bias", 3)):
        rows = rows[rows[column].notna()]
        size = rows[column].abs()
        low, high = interval(size, rows[f"{column}_se"], rows["replicates"])
        yield made(rows, measure, size, np.maximum(low, size / least), high)
    for measure, events in (("naive_error", "errors"), ("naive_coverage", "mean_held")):
        rows = tests[(tests["procedure"] == "naive") & tests[events].notna() & (tests["trials"] >= FEWEST)]
        low, high = clopper_pearson(rows[events], rows["trials"])
        yield made(rows, measure, rows[events] / rows["trials"], low, high)


def _over_instances(rows: pd.DataFrame, how: str) -> pd.DataFrame:
    """Return means over the instances, of interval ends only if all exist; or the rows of the extreme values."""
    keys = ["curve", "claims", "horizon", "epsilon"]
    if how == "mean":
        groups = rows.groupby([*keys, "measure"], sort=False, dropna=False)[["value", "low", "high"]]
        complete = groups.count()
        return groups.mean().where(complete.eq(complete["value"], axis=0)).reset_index()
    groups = rows.groupby(keys, sort=False, dropna=False)["value"]
    return rows.loc[groups.idxmax() if how == "max" else groups.idxmin()]


def _by_measure(rows: pd.DataFrame, texts: dict[str, str], looks: style.Looks, **options):
    """Draw values against epsilon, one row of panels per measure and one column per horizon.

    rows: with measure, horizon, epsilon, curve, value, low and high; texts: measure -> label of its axis
    """
    titles = [f"$T = {int(T):,}$".replace(",", "{,}") for T in rows["horizon"]]
    shown = rows.assign(column=titles)
    order = list(dict.fromkeys(shown.sort_values("horizon", kind="stable")["column"]))
    measures = [measure for measure in texts if measure in set(rows["measure"])]
    options |= {"sharey": "row", "log": "x", "col_order": order, "row_order": measures}
    grid = curves(shown, "epsilon", "value", looks=looks, row="measure", col="column", **options)
    for (measure, title), ax in grid.axes_dict.items():
        ax.set_title(title if place_of(ax).is_first_row() else "")
        if place_of(ax).is_first_col():
            ax.set_ylabel(texts[measure])
        if measure in LEVELS:
            ax.axhline(LEVELS[measure], **style.LEVEL)
        if measure in LOGARITHMIC:
            ax.set_yscale("log")
    grid.set_xlabels("privacy budget $\\varepsilon$")
    return grid


@figure(
    "Regret and validity on the same runs",
    inference=["runs", "tests", "privacy"],
    card="Regret, validity and width on the same runs",
    tab="Figure",
    front=True,
)
def overview(results: Results):
    """Four measures per policy, in colours by epsilon. Upper panels: the shortest horizon; lower panels: the longest.
    Each policy has its setting with the smallest regret. Behind the name: the privacy loss that the policy's audit
    shows. First column: regret over the bound by d_epsilon times ln T, mean over the instances with a better arm.
    Second: the largest |bias| of an arm's mean over all instances. Third: the largest type I error of the naive test of
    the arm that looks best. Fourth: the smallest coverage of the naive 95% interval for the mean of the most pulled
    arm. Dashed: bound, level and nominal coverage. Dotted: Theorem 1's bound on the bias for each epsilon, at most 1.
    It does not hold if some run never pulls an arm, as at small epsilon. Bars: 95% intervals of a cell, or their means.
    Hollow: all runs agree. Rates of fewer than 100 runs are not drawn. The CSV file has every horizon."""
    runs, tests, privacy = (results.inference(name) for name in ("runs", "tests", "privacy"))
    shown = one_setting(runs)
    runs, tests = runs[runs["curve"].isin(shown)], tests[tests["curve"].isin(shown)]
    every = pd.concat(list(_measures(runs, tests)), ignore_index=True)
    place = list(runs["curve"].unique()).index
    drawn = []
    for measure, how, _ in ROWS:
        part = _over_instances(every[every["measure"] == measure], how)
        part = part.sort_values(["horizon", "curve"], key=lambda c: c.map(place) if c.name == "curve" else c)
        drawn.append(in_order(part, "horizon", "curve", by="epsilon"))
    rows = pd.concat(drawn)
    columns = ["measure", "horizon", "curve", "epsilon", "instance", "value", "low", "high"]
    return _drawn_overview(rows, runs, _with_loss(runs, privacy)), rows[columns].reset_index(drop=True)


WITHOUT = "no privacy"


def _budget(epsilon: float) -> str:
    """Return a budget for a legend."""
    return f"$\\varepsilon = {epsilon:g}$"


def _drawn_overview(rows: pd.DataFrame, runs: pd.DataFrame, names: dict[str, str]) -> Figure:
    """Draw one line per policy, private ones first, and one point per epsilon, at the shortest and longest horizon.

    rows: with measure, horizon, curve, claims, epsilon, value, low and high; names: curve -> its text
    """
    rows = rows[rows["horizon"].isin([rows["horizon"].min(), rows["horizon"].max()])]
    private, first = rows["claims"].astype(bool), runs.drop_duplicates("curve")
    order = [*leading(first[first["claims"]], "policy", POLICIES)["curve"], *first.loc[~first["claims"], "curve"]]
    looks = style.in_sequence(_budget(epsilon) for epsilon in np.sort(rows.loc[private, "epsilon"].unique()))
    looks[WITHOUT] = {"color": style.QUIET, "marker": "X"}
    name = rows["epsilon"].map(_budget).where(private, WITHOUT)
    shift = name.map({budget: (place + 1) / len(looks) - 0.5 for place, budget in enumerate(looks)}).where(private, 0.0)
    shown = rows.assign(name=name, place=rows["curve"].map(order.index) + 0.8 * shift)
    height = 0.3 + 0.19 * len(order)
    options = {"col": "measure", "row": "horizon", "sharex": "col", "col_order": [measure for measure, *_ in ROWS]}
    grid = curves(shown, "value", "place", hue="name", looks=looks, draw=_along_x, height=height, **options)
    for (horizon, measure), ax in grid.axes_dict.items():
        title = f"$T = {int(horizon):,}$".replace(",", "{,}")
        name_lines(ax, [names[curve] for curve in order], fontsize=style.SMALL)
        ax.set_title(title if measure == ROWS[0][0] else "")
        ax.set(xlabel=TEXTS[measure], ylabel="")
        if measure in LOGARITHMIC:
            ax.set_xscale("log")
        if measure in LEVELS:
            ax.axvline(LEVELS[measure], **style.LEVEL)
        if measure == "bias":
            claimed = runs[(runs["horizon"] == horizon) & runs["claims"]]
            for epsilon, bound in claimed.groupby("epsilon")["theorem"].max().items():
                color = looks.get(_budget(epsilon), {}).get("color", style.QUIET)
                look = {"color": color, "linestyle": style.LINESTYLES[2], "linewidth": 0.9}
                ax.axvline(min(bound, 1.0), **look)
    style.legend(grid.figure, columns=6)
    return grid.figure


def _along_x(ax: Axes, rows: pd.DataFrame, x: str, y: str, **look) -> None:
    """Draw points with intervals along the x axis."""
    points(ax, rows, x, y, along="x", **(look | {"markersize": 3}))


def _with_loss(runs: pd.DataFrame, privacy: pd.DataFrame) -> dict[str, str]:
    """Return the names of the curves in the legend, with the audited loss in units of epsilon."""
    names = {}
    for _, row in runs.drop_duplicates("curve").iterrows():
        loss = _advice.shown_loss(row, privacy)
        known = pd.notna(loss["loss_exact"])
        value = f"{loss['loss_exact']:.2f} ε" if known else f"≥ {loss['loss_shown']:.2f} ε"
        more = f": {value if loss['audits'] else 'no audit'}" if row["claims"] else ""
        names[row["curve"]] = f"{row['curve']}{more}"
    return names


MEASURES = (
    ("error", "max", "type I error,\nlargest"),
    ("power", "mean", "power,\nmean"),
    ("mean_coverage", "min", "coverage (mean),\nleast"),
    ("mean_width", "mean", "width (mean),\nmean"),
)


@figure(
    "Which tests and intervals keep their level, and their cost",
    inference=["tests"],
    card="Tests and intervals: level and cost",
    tab="Figure",
)
def tests(results: Results):
    """Four measures per procedure against epsilon, over all instances and all policies that claim a budget, whether
    they keep it or not. Rows: the largest type I error among cells of at least 100 runs (with the 95%
    Clopper-Pearson interval of that cell); the mean power; the smallest coverage of the 95% interval for the mean of
    the most pulled arm; its mean width. Dashed: nominal levels. Sample splitting needs twice the users."""
    rows = _advice.rates(results.inference("tests"))
    # A small test run may have no cell of this size: then the cells with the most runs count.
    rows = rows[rows["claims"] & (rows["trials"] >= min(FEWEST, rows["trials"].max()))]
    drawn = []
    horizons = sorted(rows["horizon"].unique())
    for (measure, how, _), horizon, procedure in itertools.product(MEASURES, horizons, PROCEDURES):
        own = rows[(rows["horizon"] == horizon) & (rows["procedure"] == procedure) & rows[measure].notna()]
        if len(own):
            points = _by_epsilon(own, measure, how)
            drawn.append(points.assign(measure=measure, horizon=horizon, procedure=procedure))
    rows = pd.concat(drawn, ignore_index=True)
    looks = style.looks(PROCEDURES.values())
    names = rows["procedure"].map(PROCEDURES)
    texts = {measure: text for measure, _, text in MEASURES}
    grid = _by_measure(rows.assign(name=names), texts, looks, hue="name", height=1.45)
    style.legend(grid.figure, columns=3)
    columns = ["measure", "horizon", "procedure", "epsilon", "curve", "instance", "value", "low", "high"]
    return grid.figure, rows.reindex(columns=columns)


EVENTS = {"error": "errors", "power": "powers", "mean_coverage": "mean_held"}


@as_frame
def _by_epsilon(rows: pd.DataFrame, measure: str, how: str) -> Iterator[dict]:
    """Yield the mean over policies and instances, or the extreme with its Clopper-Pearson interval, per epsilon."""
    for epsilon, part in rows.groupby("epsilon", sort=True):
        if how == "mean":
            value, share = part[measure].mean(), part[measure]
            squares = part["mean_width_se"] ** 2 if measure == "mean_width" else share * (1 - share) / part["trials"]
            low, high = interval(value, np.sqrt(squares.sum()) / len(part), part["trials"].sum())
            yield {"epsilon": epsilon, "value": value, "low": low, "high": high}
            continue
        row = part.iloc[int(part[measure].argmax() if how == "max" else part[measure].argmin())]
        low, high = clopper_pearson(row[EVENTS[measure]], row["trials"])
        about = {"curve": row["curve"], "instance": row["instance"]}
        yield {"epsilon": epsilon, "value": row[measure], "low": low, "high": high, **about}
