"""The picture of all audits: what each shows, over what is claimed."""

import pandas as pd
from matplotlib.figure import Figure

from privarms.audits.verdicts import NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE, PRIVATE
from privarms.plots import style
from privarms.plots.facets import name_lines
from privarms.studies import library

# Losses over the claim beyond these lie on the edge.
LEAST, MOST = 0.125, 32.0
TICKS = (0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32)
# An audit proves no privacy.
SAID = {PRIVATE: "no excess shown"}
COLOURS = {
    NOT_PRIVATE: style.COLOURS[1],
    PRIVATE: style.COLOURS[0],
    NOT_CAUGHT: style.QUIET,
    NOT_AUDITED: style.QUIET,
}
# column -> what the legend says, marker, area in points, whether it is filled
MARKS = {
    "lower_bound": ("at least, by counts", ">", 25, True),
    "exact": ("exactly, of the event", "D", 34, False),
    "broken_twin_lower_bound": ("at least, of the broken twin", "x", 25, True),
}
ROW = 0.21


def draw(lines: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """The figure, and the numbers that it draws.

    lines: as `audits.verdicts.summary` gives them; the first stands on top
    """
    lines = lines.assign(name=[name(line) for line in lines.to_dict("records")])
    shown = lines[lines["verdict"] != NOT_AUDITED].reset_index(drop=True)
    colours = shown["verdict"].map(COLOURS)
    figure, ax = style.subplots(width=style.PAGE, height=0.5 + ROW * max(len(shown), 1))
    ax.axvspan(1, MOST * 1.3, color="#F3E9E4", zorder=0)
    ax.axvline(1, color="black", linewidth=1, label="what is claimed")
    for column, (label, marker, size, filled) in MARKS.items():
        over = (shown[column].astype(float) / shown["claimed_epsilon"].astype(float)).clip(LEAST, MOST)
        face = {"c": colours} if filled else {"facecolors": "none", "edgecolors": colours}
        ax.scatter(over, shown.index, marker=marker, s=size, linewidths=1, zorder=2, **face)
        look = {"color": "black", "markeredgecolor": "black", "markerfacecolor": "black" if filled else "none"}
        ax.plot([], [], linestyle="none", marker=marker, label=label, **look)
    for verdict in dict.fromkeys(shown["verdict"]):
        ax.plot([], [], linestyle="none", marker="s", color=COLOURS[verdict], label=SAID.get(verdict, verdict))
    ax.set_xscale("log", base=2)
    name_lines(ax, shown["name"])
    ax.set(xlim=(LEAST / 1.12, MOST * 1.12), xlabel="privacy loss over what is claimed")
    texts = {LEAST: f"≤ {LEAST:g}", MOST: f"≥ {MOST:g}"}
    style.ticks(ax, TICKS, [texts.get(x, f"{x:g}") for x in TICKS])
    style.legend(figure)
    return figure, lines


def name(line: dict) -> str:
    """What a line is about, in words: the label of the mechanism or policy, its variant and its reading."""
    label = library.attributes("policies", line["subject"])["LABEL"]
    words = [label, *filter(None, (line["variant"], line["reading"]))]
    return ", ".join(words).replace("_", " ")
