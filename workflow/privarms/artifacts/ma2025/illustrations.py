"""Figures 2 to 6: what the algorithm does in one run, its environment, and what auxiliary data change."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

from privarms.artifacts import style
from privarms.artifacts.curves import interval
from privarms.artifacts.results import Results
from privarms.environments import exponential
from privarms.protocols.locally_private import expected_rewards

ARMS = ("0", "1", "2")
VARIANTS = ("as_printed", "as_released")
SETTINGS = ("without auxiliary data", "effective auxiliary data", "weak auxiliary data")


def _looks() -> style.Palette:
    return style.Palette(ARMS, fixed=())


def _reward_curves(variant: str, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """x^1 on a grid and every arm's expected reward there, float64[points, K]."""
    x = np.linspace(0, 1, 201)
    contexts = np.column_stack([x] + [np.full_like(x, 0.5)] * (dimensions - 1))
    return x, expected_rewards(exponential.configure(3, variant, dimensions), np.ascontiguousarray(contexts))


def fig2(results: Results):
    """Figure 2 from a real run in one dimension: estimates, an elimination, a refinement."""
    run = results.replicates("partitions")
    run = run[run["dimensions"] == 1]
    moments = _moments(run)
    fig, axes = style.subplots(1, len(moments), width=style.PAGE, height=2.6, sharey=True)
    x, means = _reward_curves("as_released", 1)
    looks, drawn = _looks(), []
    for ax, (title, (t, bin_)) in zip(axes, moments.items(), strict=True):
        leaves = run[(run["t"] == t) & (run["refined"] == 0)]
        for arm in ARMS:
            ax.plot(x, means[:, int(arm)], color=looks.colour_of(arm), linewidth=0.9, linestyle=(0, (1, 1)))
        for _, row in leaves[leaves["estimate"].notna()].iterrows():
            _draw_estimate(ax, row, looks.colour_of(f"{row['arm']:g}"))
        for edge in sorted(set(leaves["x_low"]) - {0}):
            ax.axvline(edge, color=style.QUIET, linewidth=0.8, linestyle=(0, (4, 2)))
        marked = run[(run["t"] == t) & (run["bin"] == bin_)].iloc[0]
        ax.axvspan(marked["x_low"], marked["x_high"], color=style.QUIET, alpha=0.1, linewidth=0)
        ax.set(title=title, xlabel="context $x$", xlim=(0, 1), ylim=(-0.6, 1.6))
        ax.annotate(f"$t = {t}$", (0.02, 0.97), xycoords="axes fraction", va="top")
        drawn.append(leaves.assign(panel=title))
    axes[0].set(ylabel="reward")
    handles = [axes[0].plot([], [], color=looks.colour_of(a), label=f"arm {int(a) + 1}")[0] for a in ARMS]
    handles += [axes[0].plot([], [], color=style.QUIET, linestyle=(0, (1, 1)), label="truth")[0]]
    fig.legend(handles=handles, loc="outside lower center", ncols=4)
    columns = ["panel", "t", "bin", "depth", "x_low", "x_high", "arm", "active", "estimate", "radius"]
    return fig, pd.concat(drawn, ignore_index=True)[columns]


def _draw_estimate(ax, row: pd.Series, colour: str) -> None:
    """An arm's estimate over its bin with the half-width that decides, max(r, 2^-s); faint where the arm is gone."""
    half = max(row["radius"], 2.0 ** -row["depth"])
    # Side by side, or the three would hide each other.
    centre = row["x_low"] + (row["x_high"] - row["x_low"]) * (0.25 + 0.25 * row["arm"])
    alpha = 1.0 if row["active"] else 0.35
    ax.plot([row["x_low"], row["x_high"]], [row["estimate"]] * 2, color=colour, linewidth=1.4, alpha=alpha)
    ax.errorbar([centre], [row["estimate"]], yerr=[half], color=colour, linewidth=0.9, capsize=2, alpha=alpha)


def _moments(run: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """title -> (users, bin): the first estimates below the root, the first arm to go, the first halving after it.

    Of a run that is too short for one of them, its last moment stands there.
    """
    halved = run["refined"] == 1
    gone = run[(run["active"] == 0) & run["estimate"].notna()]
    after = run[halved & (run["t"] > (gone["t"].iloc[0] if len(gone) else 0))]
    before = set(run.loc[halved & (run["t"] < after["t"].min()), "bin"])
    found = {
        "(a) estimates": run[(run["depth"] > 0) & run["estimate"].notna()],
        "(b) an arm goes": gone,
        "(c) a bin is halved": after[~after["bin"].isin(before)],
    }
    first = {title: (rows if len(rows) else run.iloc[-1:]).iloc[0] for title, rows in found.items()}
    return {title: (int(row["t"]), int(row["bin"])) for title, row in first.items()}


def fig3(results: Results):
    """Figure 3: the bins of depth 0 to 4 of one run in two dimensions; blue, those that hold one point."""
    run = results.replicates("partitions")
    run = run[(run["dimensions"] == 2) & (run["arm"] == 0)]
    bins = run[run["t"] == run["t"].max()]
    deepest = min(int(bins["depth"].max()), 4)
    fig, axes = style.subplots(1, deepest + 1, width=style.PAGE, height=1.75, sharex=True, sharey=True)
    point = (0.33, 0.33)
    drawn = []
    for s, ax in enumerate(axes):
        # A bin that is not halved yet stands in for its parts.
        shown = bins[(bins["depth"] == s) | ((bins["depth"] < s) & (bins["refined"] == 0))]
        inside = (shown["x_low"] <= point[0]) & (point[0] < shown["x_high"])
        inside &= (shown["y_low"] <= point[1]) & (point[1] < shown["y_high"])
        for (_, row), blue in zip(shown.iterrows(), inside, strict=True):
            corner, size = (row["x_low"], row["y_low"]), (row["x_high"] - row["x_low"], row["y_high"] - row["y_low"])
            colour = style.COLOURS[0] if blue else "white"
            ax.add_patch(Rectangle(corner, *size, facecolor=colour, edgecolor="black", alpha=0.8 if blue else 1))
        ax.set(
            title=f"depth $s = {s}$",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
            xlabel="$x^1$",
            xticks=[0, 1],
            yticks=[0, 1],
        )
        ax.grid(visible=False)
        drawn.append(shown.assign(panel=s, blue=inside))
    axes[0].set(ylabel="$x^2$")
    columns = ["panel", "bin", "depth", "x_low", "x_high", "y_low", "y_high", "blue"]
    return fig, pd.concat(drawn, ignore_index=True)[columns]


def fig4(results: Results):
    """Figure 4: the reward functions along the first coordinate, as printed and as released."""
    fig, axes = style.subplots(1, 2, width=style.PAGE, height=2.4, sharey=True)
    looks, drawn = _looks(), []
    for ax, variant in zip(axes, VARIANTS, strict=True):
        x, means = _reward_curves(variant, 2)
        for arm in ARMS:
            line = looks.line(arm) | {"markevery": (10 + 6 * int(arm), 40)}
            ax.plot(x, means[:, int(arm)], label=f"$k = {int(arm) + 1}$", **line)
            drawn.append(pd.DataFrame({"variant": variant, "k": int(arm) + 1, "x1": x, "reward": means[:, int(arm)]}))
        centres = "$k/K$" if variant == "as_printed" else "$k/(K + 1)$"
        ax.set(title=f"{variant.replace('_', ' ')}: centres {centres}", xlabel="first coordinate $x^1$")
    axes[0].set(ylabel="expected reward $f_k(x)$")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig, pd.concat(drawn, ignore_index=True)


def fig5(results: Results):
    """Figure 5: the sources' marginal density for gamma .2, 1 and 2, as printed and as released."""
    gammas, d = (0.2, 1, 2), 2
    fig, axes = style.subplots(2, 3, width=style.PAGE, height=4.4, sharex=True, sharey=True)
    middles = (np.arange(80) + 0.5) / 80
    x, y = np.meshgrid(middles, middles)
    away = np.maximum(abs(x - 0.5), abs(y - 0.5))
    drawn = []
    for row, variant in zip(axes, VARIANTS, strict=True):
        for ax, gamma in zip(row, gammas, strict=True):
            exponent = gamma if variant == "as_printed" else d * gamma
            # The normalising constant of the text, 2^gamma (d + gamma) / d turned the right way up.
            density = 2**exponent * (d + exponent) / d * away**exponent
            image = ax.imshow(density, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=3, rasterized=True)
            ax.set(title=f"{variant.replace('_', ' ')}, $\\gamma = {gamma:g}$", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
            ax.grid(visible=False)
            flat = {"x1": x.ravel(), "x2": y.ravel(), "density": density.ravel()}
            drawn.append(pd.DataFrame({"variant": variant, "gamma": gamma, **flat}))
    for ax in axes[-1]:
        ax.set(xlabel="$x^1$")
    for ax in axes[:, 0]:
        ax.set(ylabel="$x^2$")
    fig.colorbar(image, ax=axes, label="density", shrink=0.8)
    return fig, pd.concat(drawn, ignore_index=True)


def setting_of(cells: pd.DataFrame) -> pd.Series:
    """Which of SETTINGS a cell of study `illustration` has."""
    return pd.Series(
        np.where(cells["n_aux"] == 0, SETTINGS[0], np.where(cells["gamma"] == 0, SETTINGS[1], SETTINGS[2])), cells.index
    )


def illustration(results: Results, variant: str, c: float | None = None, size: str = "max"):
    """Figure 6: average regret overall and at a test point, and the arms there, for three kinds of auxiliary data.

    size: of the study's numbers of target users the largest, max, or the smallest, min
    """
    cells, runs = results.cells("illustration"), results.replicates("illustration")
    horizon = cells["horizon"].agg(size)

    def chosen(frame):
        mine = (frame["variant"] == variant) & (frame["horizon"] == horizon)
        mine &= frame["c"].isna() if c is None else frame["c"] == c
        return frame[mine].assign(setting=setting_of)

    means, run = chosen(cells), chosen(runs[runs["replicate"] == 0])
    fig, axes = style.subplots(3, 3, width=style.PAGE, height=5.4, sharex=True, sharey="row")
    looks = _looks()
    single = {"color": "black", "linewidth": 0.9}
    for column, setting in enumerate(SETTINGS):
        mean = means[(means["setting"] == setting) & (means["arm"] == 0)]
        one = run[run["setting"] == setting]
        last = one[one["t"] == one["t"].max()].set_index("arm")["eliminated_after"]
        for row, measure in enumerate(("regret", "local_regret")):
            ax = axes[row, column]
            average, se = (mean[f"{measure}_{s}"] / mean["t"] for s in ("mean", "se"))
            low, high = interval(average, se, mean["replicates"])
            style.band(
                ax,
                mean["t"],
                average,
                low,
                high,
                color=style.COLOURS[3],
                label=f"mean of {mean['replicates'].iloc[0]} runs",
            )
            first = one[one["arm"] == 0]
            ax.plot(first["t"], first[measure] / first["t"], label="one run", **single)
        shares = [one.loc[one["arm"] == int(arm), "share"].to_numpy() for arm in ARMS]
        t = one.loc[one["arm"] == 0, "t"]
        axes[2, column].stackplot(t, shares, colors=[looks.colour_of(a) for a in ARMS], alpha=0.75,
                                  labels=[f"arm {int(a) + 1}" for a in ARMS], linewidth=0)  # fmt: skip
        for row in range(3):
            for after in last:
                if after > 0:
                    axes[row, column].axvline(after, color="black", linewidth=0.9, linestyle=(0, (4, 2)))
        before = [f"{int(arm) + 1}" for arm, after in last.items() if after == 0]
        if before:
            text = f"arm{'s' if len(before) > 1 else ''} {', '.join(before)} gone before"
            axes[2, column].annotate(
                text,
                (0.03, 0.04),
                xycoords="axes fraction",
                bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "alpha": 0.8, "linewidth": 0},
            )
        axes[0, column].set(title=setting)
        axes[2, column].set(xlabel="target users $t$", ylim=(0, 1), xscale="log", xlim=(t.min(), horizon))
        axes[2, column].xaxis.set_minor_formatter(NullFormatter())
    for row, name in enumerate(("average regret", "average regret at (.33, .33)", "shares of arms there")):
        axes[row, 0].set(ylabel=name)
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set_ylim(bottom=0)
    handles = [axes[0, 0].get_legend_handles_labels(), axes[2, 0].get_legend_handles_labels()]
    fig.legend(*(a + b for a, b in zip(*handles, strict=True)), loc="outside lower center", ncols=5)
    drawn = means.merge(
        run[["cell", "t", "arm", "regret", "local_regret", "share", "eliminated_after"]], on=["cell", "t", "arm"]
    )
    columns = ["setting", "t", "arm", "replicates", "regret_mean", "regret_se", "local_regret_mean", "local_regret_se",
               "share_mean", "regret", "local_regret", "share", "eliminated_after"]  # fmt: skip
    return fig, drawn[columns].assign(variant=variant if c is None else f"{variant}_c{c:g}")


fig6 = partial(illustration, variant="as_released")
fig6_caption_size = partial(illustration, variant="as_released", size="min")
fig6_printed = partial(illustration, variant="as_printed", c=2)
fig6_printed_c64 = partial(illustration, variant="as_printed", c=64)
