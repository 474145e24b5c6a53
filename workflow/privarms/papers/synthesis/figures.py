"""The figures: each function takes the results and returns the figure and the numbers that it draws.

Curves and panels are those of the cells, so that a policy, a budget or a horizon that joins has its own.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference.proportions import clopper_pearson
from privarms.papers.synthesis import _advice
from privarms.papers.synthesis._validity import ALPHA, PROCEDURES
from privarms.plots import old_style as style
from privarms.plots.curves import interval
from privarms.studies.results import Results

# The policies of the studies, in the order of their colours.
POLICIES = ("dp_imed", "dp_klucb", "adap_klucb", "adap_ucb", "dp_se", "dp_ucb", "private_ucb", "private_ucb_noise_only")
# Of what is drawn for each policy: column, what is taken over the instances, and what the axis says.
ROWS = (
    ("over_bound", "mean", "regret /\n$d_\\varepsilon$ bound"),
    ("bias", "max", "largest |bias|\nof an arm"),
    ("naive_error", "max", "type I error,\nnaive test"),
    ("power", "mean", "power,\ne-value"),
    ("naive_coverage", "min", "coverage,\nnaive interval"),
    ("gap_width", "mean", "width, always-\nvalid gap"),
)
# A share of fewer runs says little, and the largest of many such shares less: it is not drawn.
FEWEST = 100
LEVEL = {"color": "black", "linewidth": 0.9, "linestyle": (0, (5, 1.5)), "zorder": 1.5}


def one_setting(runs: pd.DataFrame) -> list[str]:
    """The curves to be drawn: of each policy and variant the setting of the least mean ln regret."""
    rows = runs[runs["bound"] > 0]
    rows = rows.assign(log=np.log(np.maximum(rows["regret"], 1e-9)), variant=_advice.variants(rows))
    means = rows.groupby(["policy", "variant", "curve"], sort=False)["log"].mean().reset_index()
    return means.loc[means.groupby(["policy", "variant"], sort=False)["log"].idxmin(), "curve"].tolist()


def _measures(runs: pd.DataFrame, tests: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Rows of curve, horizon, epsilon, measure, instance, value, low, high; one a cell and measure."""
    keys = ["curve", "claims", "horizon", "epsilon", "instance"]

    def made(rows, measure, value, low, high):
        return rows[keys].assign(measure=measure, value=value, low=low, high=high)

    rows = runs[runs["claims"] & runs["over_bound"].notna()]
    low, high = interval(rows["over_bound"], rows["over_bound_se"], rows["replicates"])
    yield made(rows, "over_bound", rows["over_bound"], np.maximum(low, rows["over_bound"] / 50), high)
    rows = runs[runs["worst_bias"].notna()]
    size = rows["worst_bias"].abs()
    low, high = interval(size, rows["worst_bias_se"], rows["replicates"])
    yield made(rows, "bias", size, np.maximum(low, size / 3), high)
    for measure, procedure, events in (
        ("naive_error", "naive", "errors"),
        ("power", "e_value", "powers"),
        ("naive_coverage", "naive", "mean_held"),
    ):
        rows = tests[(tests["procedure"] == procedure) & tests[events].notna() & (tests["trials"] >= FEWEST)]
        low, high = clopper_pearson(rows[events], rows["trials"])
        yield made(rows, measure, rows[events] / rows["trials"], low, high)
    rows = tests[(tests["procedure"] == "confidence_sequence") & tests["gap_width"].notna()]
    low, high = interval(rows["gap_width"], rows["gap_width_se"], rows["trials"])
    yield made(rows, "gap_width", rows["gap_width"], low, high)


def _over_instances(rows: pd.DataFrame, how: str) -> pd.DataFrame:
    """The mean over the instances, of the ends too; or the row of the largest or the smallest."""
    keys = ["curve", "claims", "horizon", "epsilon"]
    if how == "mean":
        means = rows.groupby([*keys, "measure"], sort=False, dropna=False)[["value", "low", "high"]].mean()
        return means.reset_index()
    groups = rows.groupby(keys, sort=False, dropna=False)["value"]
    return rows.loc[groups.idxmax() if how == "max" else groups.idxmin()]


def overview(results: Results):
    """Regret, validity and width over epsilon; a row of panels a measure, a column a horizon."""
    runs, tests, privacy = (results.inference(name) for name in ("runs", "tests", "privacy"))
    shown = one_setting(runs)
    runs, tests = runs[runs["curve"].isin(shown)], tests[tests["curve"].isin(shown)]
    every = pd.concat(list(_measures(runs, tests)), ignore_index=True)
    looks, names = _looks(runs), _with_loss(runs, privacy)
    horizons = sorted(runs["horizon"].unique())
    size = {"width": style.PAGE, "height": 1.35 * len(ROWS) + 1.2, "sharex": True, "squeeze": False}
    figure, axes = style.subplots(len(ROWS), len(horizons), **size)
    drawn = []
    for line, (measure, how, label) in enumerate(ROWS):
        rows = _over_instances(every[every["measure"] == measure], how)
        for ax, horizon in zip(axes[line], horizons, strict=True):
            here = rows[rows["horizon"] == horizon]
            for curve in _ordered(here, runs):
                points = here[here["curve"] == curve].sort_values("epsilon")
                if points["claims"].iloc[0]:
                    ends = points["value"], points["low"], points["high"]
                    style.band(ax, points["epsilon"], *ends, label=names[curve], **looks.line(curve))
                else:
                    ax.axhline(points["value"].iloc[0], label=names[curve], **(looks.line(curve) | {"marker": None}))
                drawn.append(points)
            _level(ax, measure, runs[(runs["horizon"] == horizon) & runs["claims"]])
            ax.set_xscale("log")
            if line == 0:
                ax.set_title(f"$T = {int(horizon):,}$".replace(",", "{,}"))
            if measure in ("over_bound", "bias"):
                ax.set_yscale("log")
        _share(axes[line])
        axes[line][0].set_ylabel(label)
    for ax in axes[-1]:
        ax.set_xlabel("privacy budget $\\varepsilon$")
    style.legend(figure, columns=3, rows=5)
    columns = ["measure", "horizon", "curve", "epsilon", "instance", "value", "low", "high"]
    return figure, pd.concat(drawn, ignore_index=True)[columns]


def _share(axes) -> None:
    """The same ends of the y axis in a row of panels."""
    ends = [ax.get_ylim() for ax in axes]
    for ax in axes:
        ax.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
        if ax is not axes[0]:
            ax.tick_params(labelleft=False)


def _ordered(rows: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    there = set(rows["curve"])
    return [curve for curve in runs["curve"].unique() if curve in there]


def _looks(runs: pd.DataFrame) -> style.Palette:
    """Policies that claim privacy in colour, in the order of POLICIES, the others in grey."""
    first = runs.drop_duplicates("curve")
    place = {policy: i for i, policy in enumerate(POLICIES)}
    private = first[first["claims"]]
    order = sorted(private["curve"], key=lambda c: place.get(_policy(first, c), len(place)))
    return style.Palette(order, order, first.loc[~first["claims"], "curve"])


def _policy(first: pd.DataFrame, curve: str) -> str:
    return first.loc[first["curve"] == curve, "policy"].iloc[0]


def _with_loss(runs: pd.DataFrame, privacy: pd.DataFrame) -> dict[str, str]:
    """The curves as the legend has them: with what an audit shows of their loss, in epsilons."""
    names = {}
    for _, row in runs.drop_duplicates("curve").iterrows():
        loss = _advice.shown_loss(row, privacy)
        more = ""
        if row["claims"]:
            exact = loss["loss_exact"] == loss["loss_exact"]
            value = loss["loss_exact"] if exact else loss["loss_shown"]
            more = f": {'' if exact else '≥ '}{value:.2f} ε" if loss["audits"] else ": no audit"
        names[row["curve"]] = f"{row['curve']}{more}"
    return names


def _level(ax, measure: str, rows: pd.DataFrame) -> None:
    levels = {"over_bound": 1.0, "naive_error": ALPHA, "naive_coverage": 1 - ALPHA}
    if measure in levels:
        ax.axhline(levels[measure], **LEVEL)
    if measure == "bias":
        bound = rows.groupby("epsilon")["theorem"].max()
        ax.plot(bound.index, np.minimum(bound, 1.0), label="Theorem 1's bound, 1 at most", **LEVEL)


def tests(results: Results):
    """Type I error, power, coverage and width by procedure; a row of panels a measure, a column a horizon."""
    rows = _advice.rates(results.inference("tests"))
    # Where nothing was run as often, at a size for tests, what was run most.
    rows = rows[rows["claims"] & (rows["trials"] >= min(FEWEST, rows["trials"].max()))]
    horizons = sorted(rows["horizon"].unique())
    measures = (
        ("error", "max", "type I error,\nlargest"),
        ("power", "mean", "power,\nmean"),
        ("mean_coverage", "min", "coverage (mean),\nleast"),
        ("mean_width", "mean", "width (mean),\nmean"),
    )
    looks = style.Palette(PROCEDURES)
    size = {"width": style.PAGE, "height": 1.45 * len(measures) + 0.9, "sharex": True, "squeeze": False}
    figure, axes = style.subplots(len(measures), len(horizons), **size)
    drawn = []
    for line, (measure, how, label) in enumerate(measures):
        for ax, horizon in zip(axes[line], horizons, strict=True):
            here = rows[(rows["horizon"] == horizon) & rows[measure].notna()]
            for procedure in PROCEDURES:
                own = here[here["procedure"] == procedure]
                if not len(own):
                    continue
                points = _by_epsilon(own, measure, how)
                ends = points["value"], points["low"], points["high"]
                style.band(ax, points["epsilon"], *ends, label=PROCEDURES[procedure], **looks.line(procedure))
                drawn.append(points.assign(measure=measure, horizon=horizon, procedure=procedure))
            level = {"error": ALPHA, "mean_coverage": 1 - ALPHA}.get(measure)
            if level:
                ax.axhline(level, **LEVEL)
            ax.set_xscale("log")
            if measure == "mean_width":
                ax.set_yscale("log")
            if line == 0:
                ax.set_title(f"$T = {int(horizon):,}$".replace(",", "{,}"))
        _share(axes[line])
        axes[line][0].set_ylabel(label)
    for ax in axes[-1]:
        ax.set_xlabel("privacy budget $\\varepsilon$")
    style.legend(figure, columns=3)
    columns = ["measure", "horizon", "procedure", "epsilon", "curve", "instance", "value", "low", "high"]
    return figure, pd.concat(drawn, ignore_index=True).reindex(columns=columns)


EVENTS = {"error": "errors", "power": "powers", "mean_coverage": "mean_held"}


def _by_epsilon(rows: pd.DataFrame, measure: str, how: str) -> pd.DataFrame:
    """Over policies and instances: the mean with its interval, or the extreme with Clopper and Pearson's."""
    points = []
    for epsilon, part in rows.groupby("epsilon", sort=True):
        if how == "mean":
            value = part[measure].mean()
            squares = (
                part["mean_width_se"] ** 2 if measure == "mean_width" else _variance(part[measure], part["trials"])
            )
            low, high = interval(value, np.sqrt(squares.sum()) / len(part), part["trials"].sum())
            points.append({"epsilon": epsilon, "value": value, "low": low, "high": high})
            continue
        row = part.loc[part[measure].idxmax() if how == "max" else part[measure].idxmin()]
        low, high = clopper_pearson(row[EVENTS[measure]], row["trials"])
        about = {"curve": row["curve"], "instance": row["instance"]}
        points.append({"epsilon": epsilon, "value": row[measure], "low": low, "high": high, **about})
    return pd.DataFrame(points)


def _variance(share: pd.Series, trials: pd.Series) -> pd.Series:
    return share * (1 - share) / trials


LOCAL = (
    ("of_uniform", "regret / that of\nuniform choices"),
    ("reward_per_user", "reward a user"),
    ("missed", "looks outside\nthe radius"),
    ("lost", "users whose best\narm is gone"),
    ("in_parts", "users whose bin\nis named"),
)


def local(results: Results):
    """Locally private policies over epsilon, at the most users: regret by environment, then validity and privacy."""
    rows = results.inference("local")
    rows = rows[rows["horizon"] == rows.groupby("instance")["horizon"].transform("max")]
    with_regret = rows[rows["of_uniform"].notna()]["instance"].unique()
    data = [i for i in rows["instance"].unique() if i not in with_regret]
    n = rows["horizon"]
    rows = rows.assign(reward_per_user=rows["reward"] / n, reward_per_user_se=rows["reward_se"] / n)
    places = [("of_uniform", i) for i in with_regret] + [("reward_per_user", i) for i in data]
    places += [(m, None) for m in ("missed", "lost", "in_parts") if rows[m].notna().any()]
    learning = rows[rows["epsilon"].notna()]
    looks = style.Palette(learning["curve"].unique(), (), rows.loc[rows["epsilon"].isna(), "curve"].unique())
    figure, axes = style.panels(len(places), height=2.9, columns=3, sharey=False)
    texts, drawn = dict(LOCAL), []
    for ax, (measure, instance) in zip(axes, places, strict=True):
        here = rows[rows[measure].notna() & ((rows["instance"] == instance) | (instance is None))]
        for curve, points in here.groupby("curve", sort=False):
            if points["epsilon"].isna().all():
                # Of several settings the best.
                ax.axhline(points[measure].max(), label=curve, **(looks.line(curve) | {"marker": None}))
                drawn.append(points.assign(measure=measure, value=points[measure]))
                continue
            # Of several environments that of the largest.
            points = points.loc[points.groupby("epsilon")[measure].idxmax()].sort_values("epsilon")
            low, high = interval(points[measure], points[f"{measure}_se"], points["replicates"])
            style.band(ax, points["epsilon"], points[measure], low, high, label=curve, **looks.line(curve))
            drawn.append(points.assign(measure=measure, value=points[measure], low=low, high=high))
        ax.set(xscale="log", xlabel="privacy budget $\\varepsilon$", ylabel=texts[measure], title=instance or "largest")
        budgets = sorted(learning["epsilon"].unique())
        ax.set_xticks(budgets, [f"{e:g}" for e in budgets])
        ax.set_xticks([], minor=True)
        if measure == "of_uniform":
            ax.axhline(1.0, **LEVEL)
        if measure == "missed":
            ax.axhline(0.05, **LEVEL)
    style.legend(figure, columns=3, rows=2)
    columns = ["measure", "instance", "horizon", "curve", "epsilon", "replicates", "value", "low", "high"]
    return figure, pd.concat(drawn, ignore_index=True)[columns]


FIGURES = {"local": local, "overview": overview, "tests": tests}
