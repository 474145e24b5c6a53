"""Figures 1 to 6: messages, the algorithm in one run, its environment, and the effect of auxiliary data."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from privarms.environments import exponential
from privarms.jit.cache import compiled
from privarms.papers.ma2025 import _panels
from privarms.papers.ma2025._panels import BANDS
from privarms.planning.results import Results
from privarms.plots import style
from privarms.plots.curves import with_interval
from privarms.plots.facets import band, curves, panels, parts
from privarms.protocols.locally_private import expected_rewards
from privarms.registry.artifacts import figure

ARMS = 3
VARIANTS = ("as_printed", "as_released")
# The grids of study `illustration_curves`, by the auxiliary data that they have.
SETTINGS = {"none": "without auxiliary data", "effective": "effective auxiliary data", "weak": "weak auxiliary data"}


def _colours(rows: pd.DataFrame) -> dict[int, str]:
    """Return the colour of each arm of a run."""
    arms = sorted(rows["arm"].astype(int).unique())
    looks = style.looks(arms)
    return {arm: looks[arm]["color"] for arm in arms}


def _reward_curves(variant: str, dimensions: int, arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x^1 on a grid and every arm's expected reward there, float64[points, K]."""
    x = np.linspace(0, 1, 201)
    contexts = np.column_stack([x] + [np.full_like(x, 0.5)] * (dimensions - 1))
    environment = exponential.configure(arms, variant, dimensions)
    return x, compiled(expected_rewards)(environment, np.ascontiguousarray(contexts))


def _run(results: Results, figure: str) -> pd.DataFrame:
    """Return the run that a figure shows: that of the first cell of its grid."""
    runs = results.inference("partitions")
    runs = runs[[figure in names.split() for names in runs["panels"]]]
    return runs[runs["cell"] == runs["cell"].iloc[0]]


@figure("Figure 1: the learning process")
def fig1(results: Results):
    """Schematic without data. The server sends a policy. Context, arm and reward stay with the user, who sends a
    private message back. Auxiliary users send theirs first."""
    fig, ax = style.subplots(1, 1, width=style.PAGE, height=1.9)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.axis("off")
    sides = {0.2: "user $t$\n\n$X_t$, arm $\\pi_t(X_t)$,\nreward $Y_t$", 0.8: "server\n\nestimates, bins,\nactive arms"}
    for x, name in sides.items():
        box = {"boxstyle": "round,pad=0.8", "facecolor": "white", "edgecolor": "black"}
        ax.text(x, 0.5, name, ha="center", va="center", bbox=box)
    rows = [("server", "user", "policy $\\pi_t$"), ("user", "server", "private message $\\tilde{Z}_t$")]
    for y, (sender, _, what) in zip((0.7, 0.3), rows, strict=True):
        tail, head = (0.65, 0.35) if sender == "server" else (0.35, 0.65)
        ax.annotate("", (head, y), (tail, y), arrowprops={"arrowstyle": "->", "color": "black"})
        ax.text(0.5, y + 0.03, what, ha="center", va="bottom")
    return fig, pd.DataFrame(rows, columns=["sender", "receiver", "message"])


@figure("Figure 2: the steps of the algorithm", inference=["partitions"])
def fig2(results: Results):
    """Three moments of a real run in one dimension (as released, epsilon = 8): estimated reward against the context.
    Bars: the half-width of the decision. An arm whose upper end is below another's lower end is eliminated (faint); a
    bin with small radii is halved. Shaded: the panel's bin; dotted: true rewards."""
    run = _run(results, "fig2")
    colours = _colours(run)
    fig, axes = style.subplots(1, 3, width=style.PAGE, height=2.6, sharey=True)
    x, means = _reward_curves("as_released", 1, len(colours))
    drawn = []
    for ax, (title, (t, bin_)) in zip(axes, _moments(run).items(), strict=True):
        leaves = run[(run["t"] == t) & (run["refined"] == 0)]
        for arm, colour in colours.items():
            ax.plot(x, means[:, arm], color=colour, linewidth=0.9, linestyle=style.LINESTYLES[2])
        for _, row in leaves[leaves["estimate"].notna()].iterrows():
            _draw_estimate(ax, row, colours[int(row["arm"])], len(colours))
        for edge in sorted(set(leaves["x_low"]) - {0}):
            ax.axvline(edge, color=style.QUIET, linewidth=0.8, linestyle=style.LINESTYLES[1])
        marked = run[(run["t"] == t) & (run["bin"] == bin_)].iloc[0]
        ax.axvspan(marked["x_low"], marked["x_high"], color=style.QUIET, alpha=0.1, linewidth=0)
        ax.set(title=title, xlabel="context $x$", xlim=(0, 1), ylim=(-0.6, 1.6))
        ax.annotate(f"$t = {t}$", (0.02, 0.97), xycoords="axes fraction", va="top", bbox=style.PAPER)
        drawn.append(leaves.assign(panel=title))
    axes[0].set_ylabel("reward")
    handles = [axes[0].plot([], [], color=colour, label=f"arm {arm + 1}")[0] for arm, colour in colours.items()]
    handles += [axes[0].plot([], [], color=style.QUIET, linestyle=style.LINESTYLES[2], label="truth")[0]]
    fig.legend(handles=handles, loc="outside lower center", ncols=4)
    columns = ["panel", "t", "bin", "depth", "x_low", "x_high", "arm", "active", "estimate", "radius"]
    return fig, pd.concat(drawn, ignore_index=True)[columns]


def _draw_estimate(ax, row: pd.Series, colour: str, arms: int) -> None:
    """Draw an arm's estimate over its bin with the half-width max(r, 2^-s); faint if the arm is eliminated."""
    half = max(row["radius"], 2.0 ** -row["depth"])
    # Side by side, or they would hide each other.
    centre = row["x_low"] + (row["x_high"] - row["x_low"]) * (1 + row["arm"]) / (1 + arms)
    alpha = 1.0 if row["active"] else 0.35
    ax.plot([row["x_low"], row["x_high"]], [row["estimate"]] * 2, color=colour, linewidth=1.4, alpha=alpha)
    ax.errorbar([centre], [row["estimate"]], yerr=[half], color=colour, linewidth=0.9, capsize=2, alpha=alpha)


def _moments(run: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Return title -> (users, bin): first estimates below the root, first elimination, first halving after it.

    If a run is too short for one of them, its last moment is used.
    """
    halved = run["refined"] == 1
    gone = run[(run["active"] == 0) & run["estimate"].notna()]
    after = run[halved & (run["t"] > (gone["t"].iloc[0] if len(gone) else 0))]
    before = set(run.loc[halved & (run["t"] < after["t"].min()), "bin"])
    output = {
        "(a) estimates": run[(run["depth"] > 0) & run["estimate"].notna()],
        "(b) an arm is eliminated": gone,
        "(c) a bin is halved": after[~after["bin"].isin(before)],
    }
    first = {title: (rows if len(rows) else run.iloc[-1:]).iloc[0] for title, rows in output.items()}
    return {title: (int(row["t"]), int(row["bin"])) for title, row in first.items()}


@figure("Figure 3: a max-edge partition", inference=["partitions"])
def fig3(results: Results):
    """Bins of one run in two dimensions (as released, epsilon = 8, no auxiliary data) down to depth 4. Blue: those that
    contain (.33, .33)."""
    run = _run(results, "fig3")
    bins = run[(run["arm"] == 0) & (run["t"] == run["t"].max())]
    deepest = min(int(bins["depth"].max()), 4)
    shape = {"width": style.PAGE, "height": 1.75, "sharex": True, "sharey": True, "squeeze": False}
    fig, ((*axes,),) = style.subplots(1, deepest + 1, **shape)
    drawn = []
    for s, ax in enumerate(axes):
        # A bin that is not halved yet replaces its parts.
        shown = bins[(bins["depth"] == s) | ((bins["depth"] < s) & (bins["refined"] == 0))]
        drawn.append(_bins(ax, shown).assign(panel=s))
        ax.set(title=f"depth $s = {s}$", xlabel="$x^1$", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set(xticks=[0, 1], yticks=[0, 1])
        ax.grid(visible=False)
    axes[0].set_ylabel("$x^2$")
    columns = ["panel", "bin", "depth", "x_low", "x_high", "y_low", "y_high", "blue"]
    return fig, pd.concat(drawn, ignore_index=True)[columns]


def _bins(ax, shown: pd.DataFrame) -> pd.DataFrame:
    point = (0.33, 0.33)
    inside = (shown["x_low"] <= point[0]) & (point[0] < shown["x_high"])
    inside &= (shown["y_low"] <= point[1]) & (point[1] < shown["y_high"])
    for (_, row), blue in zip(shown.iterrows(), inside, strict=True):
        corner, size = (row["x_low"], row["y_low"]), (row["x_high"] - row["x_low"], row["y_high"] - row["y_low"])
        colour = style.COLOURS[0] if blue else "white"
        ax.add_patch(Rectangle(corner, *size, facecolor=colour, edgecolor="black", alpha=0.8 if blue else 1))
    return shown.assign(blue=inside)


@figure("Figure 4: reward functions")
def fig4(results: Results):
    """Mean reward of each arm against the first coordinate. Centres are k/K in the text, so the last arm is best at the
    edge,
    and k/(K + 1) in the program."""
    drawn = []
    for variant, arm in itertools.product(VARIANTS, range(ARMS)):
        x, means = _reward_curves(variant, 2, ARMS)
        drawn.append(pd.DataFrame({"variant": variant, "k": arm + 1, "x1": x, "reward": means[:, arm]}))
    rows = pd.concat(drawn, ignore_index=True)
    titles = {"as_printed": "as printed: centres $k/K$", "as_released": "as released: centres $k/(K + 1)$"}
    shown = rows.assign(curve=[f"$k = {k}$" for k in rows["k"]], panel=rows["variant"].map(titles))
    grid = curves(shown, "x1", "reward", looks=style.looks(shown["curve"]), col="panel")
    grid.set_axis_labels("first coordinate $x^1$", "expected reward $f_k(x)$")
    style.legend(grid.figure)
    return grid.figure, rows


@figure("Figure 5: marginal distributions of auxiliary contexts")
def fig5(results: Results):
    """Density of the auxiliary contexts, as printed and as released, by gamma. The program draws the radius as u^(1/(d
    (gamma + 1))), so its density is the printed one with exponent d gamma."""
    gammas, d = (0.2, 1, 2), 2
    middles = (np.arange(80) + 0.5) / 80
    x, y = np.meshgrid(middles, middles)
    away = np.maximum(abs(x - 0.5), abs(y - 0.5))
    drawn = []
    for variant, gamma in itertools.product(VARIANTS, gammas):
        exponent = gamma if variant == "as_printed" else d * gamma
        # The normalising constant of the text, 2^gamma (d + gamma) / d turned the right way up.
        density = 2**exponent * (d + exponent) / d * away**exponent
        flat = {"x1": x.ravel(), "x2": y.ravel(), "density": density.ravel()}
        drawn.append(pd.DataFrame({"variant": variant, "gamma": gamma, **flat}))
    rows = pd.concat(drawn, ignore_index=True)
    words = (rows["variant"] + ", $\\gamma = " + rows["gamma"].map("{:g}".format) + "$").str.replace("_", " ", n=1)
    grid = panels(rows.assign(panel=words), col="panel", hue=None, wrap=3, height=2.1)
    for ax, _, part in parts(grid):
        density = part["density"].to_numpy().reshape(x.shape)
        image = ax.imshow(density, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=3, rasterized=True)
        ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        ax.grid(visible=False)
    grid.set_axis_labels("$x^1$", "$x^2$")
    grid.figure.colorbar(image, ax=grid.axes, label="density", shrink=0.8)
    return grid.figure, rows


FIGURE_6 = {
    "studies": ["illustration_curves"],
    "inference": ["illustrated"],
    "card": "Figure 6: the effect of auxiliary data",
}


@figure(
    "Figure 6: the effect of auxiliary data",
    (
        "Average regret, average regret at the test point (.33, .33), and shares of arms there, against target users. "
        "The program with uniform choices, batches of 10, epsilon = 1. Effective data have eps_1 = 8, gamma = 0; weak "
        "data eps_1 = .5, gamma = 5. Black, and coloured shares: one run, as published. At the test point an arm is "
        "drawn for each user. Dashed: this run eliminates an arm there. Violet and white lines: means of "
        "all runs, from the arms' probabilities at the test point. Above the shares: the runs that eliminate the best "
        f"arm there. {BANDS}"
    ),
    name="fig6",
    tab="As released",
    arguments={"panel": "fig6", "variant": "as_released"},
    **FIGURE_6,
)
@figure(
    "Figure 6 with the caption's 1,000 target users",
    "As Figure 6 as released, except for the number of target users.",
    name="fig6_caption_size",
    tab="As released, the caption's size",
    arguments={"panel": "fig6_caption_size", "variant": "as_released"},
    **FIGURE_6,
)
@figure(
    "Figure 6, as printed, c = 2",
    "As Figure 6, but the text's algorithm with c = 2, one user at a time, and the caption's 1,000 target users.",
    name="fig6_printed",
    tab="As printed, c = 2",
    arguments={"panel": "fig6_caption_size", "variant": "as_printed", "c": 2},
    **FIGURE_6,
)
def illustration(results: Results, panel: str, variant: str, c: float | None = None):
    """Draw Figure 6: average regret overall and at a test point, and the arms there, for three kinds of auxiliary data.

    panel: one of the study's grids. Only the algorithm of `variant` and c is drawn"""
    means, run = results.cells("illustration_curves"), results.inference("illustrated")
    mine = (means["policy"] == _panels.POLICY) & (means["variant"] == variant)
    mine &= np.array([panel in names.split() for names in means["panels"]], bool)
    mine &= means["c"].isna() if c is None else means["c"] == c
    means = means[mine]
    settings = _settings(means)
    run = run[run["cell"].isin(settings)]
    means, run = (frame.assign(setting=frame["cell"].map(settings)) for frame in (means, run))
    fig, axes = style.subplots(3, len(settings), width=style.PAGE, height=5.2, sharex=True, sharey="row", squeeze=False)
    for column, cell in zip(axes.T, settings, strict=True):
        mean, one = means[means["cell"] == cell], run[run["cell"] == cell]
        for ax, measure in zip(column, ("regret", "local_regret"), strict=False):
            _draw_average(ax, mean[mean["arm"] == 0], one[one["arm"] == 0], measure)
        _draw_shares(column[2], mean, one)
        _draw_removals(column, mean, one, _best_arm(variant, one["arm"].nunique()))
        column[0].set(title=settings[cell])
        column[2].set(xlabel="target users $t$", ylim=(0, 1))
        column[2].xaxis.set_major_locator(MaxNLocator(4))
        column[2].xaxis.set_major_formatter("{x:,g}")
    axes[0, 0].set(xlim=(0, run["t"].max()))
    there = "\nat (.33, .33)"
    for row, name in zip(axes, ("average regret", f"average regret{there}", f"shares of arms{there}"), strict=True):
        row[0].set(ylabel=name)
    for ax in axes[:2, 0]:
        ax.set(ylim=(0, None))
    style.legend(fig, columns=5)
    drawn = means.merge(run.drop(columns="setting"), on=["cell", "t", "arm"])
    columns = ["setting", "t", "arm", "replicates", "regret_mean", "regret_se", "local_regret_mean", "local_regret_se",
               "share_mean", "regret", "local_regret", "share", "eliminated_after"]  # fmt: skip
    drawn = drawn[columns].assign(setting=drawn["setting"].str.replace("\n", " "))
    return fig, drawn.assign(variant=variant if c is None else f"{variant}_c{c:g}")


def _best_arm(variant: str, arms: int) -> int:
    """Return the best arm at the test point."""
    environment = exponential.configure(arms, variant)
    point = np.full((1, environment.dimensions), environment.point)
    return int(compiled(expected_rewards)(environment, point)[0].argmax())


def _draw_average(ax, mean: pd.DataFrame, one: pd.DataFrame, measure: str) -> None:
    """Draw the average of a measure up to t, in one run and as the mean of all."""
    averages = mean.assign(average=mean[f"{measure}_mean"] / mean["t"], se=mean[f"{measure}_se"] / mean["t"])
    look = {"color": style.COLOURS[3], "label": f"mean of {mean['replicates'].iloc[0]:,} runs", "marker": None}
    band(ax, with_interval(averages, "average", "se"), "t", "average", **look)
    ax.plot(one["t"], one[measure] / one["t"], label="one run", color="black", linewidth=0.9)


def _draw_shares(ax, mean: pd.DataFrame, one: pd.DataFrame) -> None:
    """Draw the arms' shares of users up to t in one run, and where they meet in the mean of all."""
    colours = _colours(one)
    shares = one.pivot(index="t", columns="arm", values="share")
    labels = [f"arm {arm + 1}" for arm in colours]
    ax.stackplot(shares.index, shares.T, colors=[*colours.values()], labels=labels, alpha=0.75, linewidth=0)
    means = mean.pivot(index="t", columns="arm", values="share_mean").cumsum(axis=1)
    ax.plot(means.index, means.iloc[:, :-1], color="white", linewidth=1.0)


def _draw_removals(column, mean: pd.DataFrame, one: pd.DataFrame, best: int) -> None:
    """Draw when the run removes arms at the test point, and write how many runs remove the best one."""

    def name(arm: int) -> str:
        return "best arm" if arm == best else f"arm {arm + 1}"

    end = one[one["t"] == one["t"].max()].set_index("arm")["eliminated_after"].sort_values()
    removed = end[end > 0]
    for place, (arm, after) in enumerate(removed.items()):
        for ax in column:
            ax.axvline(after, **style.LEVEL)
        # The first name is left of its line, so names of lines that are close do not overlap.
        side = {"ha": "right", "xytext": (-2, 3)} if place == 0 else {"ha": "left", "xytext": (2, 3)}
        where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "rotation": 90, "va": "bottom"}
        column[0].annotate(f"{name(arm)} out", (after, 0), fontsize=7, **where, **side)
    if before := [name(int(arm)) for arm, after in end.items() if after == 0]:
        where = {"xy": (0.03, 0.04), "xycoords": "axes fraction", "fontsize": 7, "bbox": style.PAPER}
        column[2].annotate(f"out before: {', '.join(before)}", **where)
    last = mean[(mean["t"] == mean["t"].max()) & (mean["arm"] == best)].iloc[0]
    out = 1 - last["eliminated_after_missing"] / last["replicates"]
    column[2].set_title(f"best arm out in {out:.0%} of runs", fontsize=7)


def _settings(means: pd.DataFrame) -> dict[str, str]:
    """Return cell -> kind of auxiliary data and the settings that distinguish it, in the order of SETTINGS."""
    cells = _panels.named(means[means["arm"] == 0])
    kinds = [next(kind for kind in SETTINGS if kind in p.split()) for p in cells["panels"]]
    cells = cells.assign(kind=kinds).sort_values("kind", key=lambda k: k.map([*SETTINGS].index), kind="stable")
    rows = cells[["cell", "kind", "also"]].itertuples(index=False)
    return {cell: ",\n".join([SETTINGS[kind], *also.split()]) for cell, kind, also in rows}
