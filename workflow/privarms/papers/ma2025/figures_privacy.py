"""The figure of the audit of the locally private mechanism, as printed and as released."""

from typing import Literal

import numpy as np
import pandas as pd
import scipy

from privarms.audits.events import neighbouring_users
from privarms.papers.ma2025.inference import SETTING
from privarms.planning.labels import assigned
from privarms.planning.results import Results
from privarms.plots import style
from privarms.registry.artifacts import figure

# Epsilon of the example with two contexts.
EPSILON = 1.0
# Only for the drawing: the height of an atom and the ends of arrows.
STEM, UNBOUNDED = 0.17, 40
# The columns of the table, without those of added parameters.
NAMED = {*SETTING, "exact", "lower_bound", "confidence", "trials", "cells", "loss"}


@figure(
    "Is the mechanism locally private?",
    inference=["privacy"],
    card="Is the mechanism locally private?",
    tab="What messages show",
)
def privacy_as_released(results: Results):
    """Left and middle: density of the server's noisy count in the second bin after one user, by the bin of the user's
    context, epsilon = 1. As released no noise is drawn for a bin without users. Right: privacy loss for two users who
    differ in context or arm, against epsilon. Line: exact loss (arrows: no finite bound); points: 99.9% Clopper-Pearson
    lower bounds from simulated messages. As released the arm costs epsilon, and the context has no finite epsilon."""
    rows = results.inference("privacy")
    figure, axes = style.subplots(1, 3, width=style.PAGE, height=3.1, width_ratios=(1, 1, 1.1))
    parts = [_law(axes[0], "as_released", "released"), _law(axes[1], "as_printed", "printed"), _loss(axes[2], rows)]
    axes[0].set_ylabel(f"density, $\\varepsilon = {EPSILON:g}$")
    axes[1].tick_params(labelleft=False)
    laws, losses = axes[1].get_legend_handles_labels(), axes[2].get_legend_handles_labels()
    figure.legend(*laws, loc="outside lower left", title="the user's context is in")
    title = f"points: lower bounds ({rows['confidence'].iloc[0]:.1%} each)"
    figure.legend(*losses, loc="outside lower right", ncols=2, fontsize=7, title=title)
    return figure, pd.concat(parts, ignore_index=True)


def _law(ax, variant: str, name: str) -> pd.DataFrame:
    """Draw the noisy count of arm 0 in the second bin after one user; an atom if no noise is drawn."""
    scale = neighbouring_users.noise_scale(EPSILON)
    bins = ("the first bin", "the second bin")
    looks = style.looks(bins)
    counts = np.linspace(-10, 11, 211)
    parts = []
    users: tuple[Literal[0, 1], ...] = (0, 1)
    for user, place in zip(users, bins, strict=True):
        look = {"color": looks[place]["color"], "linestyle": "-" if user == 0 else (0, (4, 1.5))}
        inputs = neighbouring_users.configure(2, "context", "quadrant", user)
        if neighbouring_users.noise_draws(variant == "as_printed", inputs)[1] == 0:
            # Not a density: its height has no meaning.
            ax.plot([0, 0], [0, STEM], marker="o", markevery=[1], **look)
            ax.annotate("exactly 0,\nprobability 1", (0, STEM), xytext=(6, 0), textcoords="offset points", va="center")
            part = pd.DataFrame({"count": [0.0], "probability": [1.0]})
        else:
            density = scipy.stats.laplace.pdf(counts, loc=user, scale=scale)
            ax.plot(counts, density, label=place, **look)
            part = pd.DataFrame({"count": counts, "density": density})
        parts.append(part.assign(panel=name, user=user, epsilon=EPSILON))
    ax.set(title=f"{name}: the second bin", xlabel="noisy count $\\tilde{U}$", xlim=(-10, 11), ylim=(0, STEM + 0.02))
    ax.set_xticks([-8, -4, 0, 4, 8])
    return pd.concat(parts, ignore_index=True)


def _loss(ax, rows: pd.DataFrame) -> pd.DataFrame:
    """Draw the privacy loss against epsilon, exact and bounded from counts, by variant and difference."""
    variants, users = rows["variant"].str.removeprefix("as_"), rows["batch"].map(lambda n: f"{n:,} user{'s' * (n > 1)}")
    added = rows[[name for name in rows if name not in NAMED]]
    further = [assigned(dict(row.dropna())) for _, row in added.iterrows()]
    names = variants + ", " + rows["differ"] + ", " + rows["event"] + ", " + users
    rows = rows.assign(name=[f"{name}, {more}" if more else name for name, more in zip(names, further, strict=True)])
    # An event that is impossible with either user shows nothing.
    shown = rows[rows["lower_bound"] > 0].sort_values("epsilon", kind="stable")
    looks = style.looks(shown["name"])
    for name, curve in shown.groupby("name", sort=False):
        # Points coincide: hollow markers show each other.
        hollow = {"markerfacecolor": "none", "markeredgecolor": looks[name]["color"], "markeredgewidth": 1}
        ax.plot(curve["epsilon"], curve["lower_bound"], label=name, **(looks[name] | hollow | {"linestyle": "none"}))
        for row in curve[np.isinf(curve["exact"])].itertuples():
            arrow = {"arrowstyle": "->", "color": style.QUIET, "shrinkA": 4, "shrinkB": 0}
            ax.annotate("", (row.epsilon, UNBOUNDED), xytext=(row.epsilon, row.lower_bound), arrowprops=arrow)
    numbers = rows.drop(columns="name").assign(panel="loss")
    budgets = sorted(numbers["epsilon"].unique())
    exact = numbers[np.isfinite(numbers["exact"])].drop_duplicates("epsilon").sort_values("epsilon")
    ax.plot(exact["epsilon"], exact["exact"], color=style.QUIET, linewidth=0.9, zorder=1.5)
    ax.annotate("exact: $\\varepsilon$", (2, 2), xytext=(6, -9), textcoords="offset points", color=style.QUIET)
    ax.annotate("exact: no bound", (budgets[0] * 0.9, UNBOUNDED * 1.1), color=style.QUIET)
    ax.set(xscale="log", yscale="log", xlabel="$\\varepsilon$", ylabel="privacy loss", title="privacy loss")
    ax.set(xlim=(0.8 * budgets[0], 1.25 * budgets[-1]), ylim=(0.6 * budgets[0], 2 * UNBOUNDED))
    style.ticks(ax, budgets)
    style.log_ticks(ax.yaxis)
    return numbers
