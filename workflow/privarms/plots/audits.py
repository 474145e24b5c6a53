"""The figure of all audits: the measured privacy loss of each, divided by the claimed loss."""

import pandas as pd
from matplotlib.figure import Figure

from privarms.audits.verdicts import NO_VIOLATION, NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE
from privarms.plots import style
from privarms.plots.facets import name_lines
from privarms.registry.modules import PolicyModule

# Ratios outside this range are drawn at its ends.
LEAST, MOST = 0.125, 32.0
TICKS = (0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32)
# "No violation" is not green, because no audit proves privacy.
COLOURS = {NOT_PRIVATE: style.COLOURS[1], NO_VIOLATION: style.COLOURS[0], NOT_CAUGHT: style.QUIET}
# column -> label, marker, area in points, filled or not
MARKS = {
    "lower_bound": ("lower bound, by counts", ">", 25, True),
    "exact": ("exact loss of the event", "D", 34, False),
    "broken_twin_lower_bound": ("lower bound, weakened control", "x", 25, True),
}
# Inches per audit: a line of text with its marks below. The figure can be read on a narrow screen.
ROW = 0.32


def draw(lines: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Return the figure and its numbers; lines: from top to bottom, as `audits.verdicts.summary` returns them."""
    lines = lines.assign(name=[name(line) for line in lines.to_dict("records")])
    shown = lines[lines["verdict"] != NOT_AUDITED].reset_index(drop=True)
    colours = shown["verdict"].map(COLOURS)
    figure, ax = style.subplots(width=style.COLUMN, height=0.5 + ROW * max(len(shown), 1))
    ax.axvspan(1, MOST * 1.3, color="#F3E9E4", zorder=0)
    ax.axvline(1, color="black", linewidth=1, label="claimed loss")
    for column, (label, marker, size, filled) in MARKS.items():
        over = (shown[column].astype(float) / shown["claimed_epsilon"].astype(float)).clip(LEAST, MOST)
        face = {"c": colours} if filled else {"facecolors": "none", "edgecolors": colours}
        ax.scatter(over, shown.index, marker=marker, s=size, linewidths=1, zorder=2, **face)
        look = {"color": "black", "markeredgecolor": "black", "markerfacecolor": "black" if filled else "none"}
        ax.plot([], [], linestyle="none", marker=marker, label=label, **look)
    for verdict in dict.fromkeys(shown["verdict"]):
        ax.plot([], [], linestyle="none", marker="s", color=COLOURS[verdict], label=verdict)
    ax.set_xscale("log", base=2)
    name_lines(ax, [""] * len(shown))
    for place, text in enumerate(shown["name"]):
        box = {"facecolor": "white", "linewidth": 0, "pad": 1}
        options = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 7, "bbox": box}
        ax.annotate(text, (0, place), (3, 5), **options)
    ax.set(xlim=(LEAST / 1.12, MOST * 1.12), xlabel="privacy loss / claimed loss")
    texts = {LEAST: f"≤ {LEAST:g}", MOST: f"≥ {MOST:g}"}
    style.ticks(ax, TICKS, [texts.get(x, f"{x:g}") for x in TICKS])
    ax.tick_params(axis="y", length=0)
    style.legend(figure, columns=2)
    return figure, lines


def name(line: dict) -> str:
    """Return the name of a line: the label of the mechanism or policy, its variant and its reading."""
    label = PolicyModule(line["subject"]).label
    words = [label, *filter(None, (line["variant"], line["reading"]))]
    return ", ".join(words).replace("_", " ")
