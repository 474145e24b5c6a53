"""The picture of all audits: what each shows, over what is claimed."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from privarms.audits.verdicts import NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE, PRIVATE
from privarms.plots import old_style as style
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
MARKS = {
    "lower_bound": ("at least, by counts", {"marker": ">", "markersize": 5, "markeredgewidth": 0}),
    "exact": (
        "exactly, of the event",
        {"marker": "D", "markersize": 6, "markerfacecolor": "none", "markeredgewidth": 0.9},
    ),
    "broken_twin_lower_bound": (
        "at least, of the broken twin",
        {"marker": "x", "markersize": 5, "markeredgewidth": 1.1},
    ),
}
ROW = 0.21


def draw(lines: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """The figure, and the numbers that it draws.

    lines: as `audits.verdicts.summary` gives them; the first stands on top
    """
    lines = lines.assign(name=[name(line) for line in lines.to_dict("records")])
    shown = lines[lines["verdict"] != NOT_AUDITED].reset_index(drop=True)
    figure, ax = style.subplots(width=style.PAGE, height=1.1 + ROW * max(len(shown), 1))
    ax.axvspan(1, MOST * 1.3, color="#F3E9E4", zorder=0)
    ax.axvline(1, color="black", linewidth=1, label="what is claimed")
    for column, (label, look) in MARKS.items():
        over = shown[column].astype(float) / shown["claimed_epsilon"].astype(float)
        at = over.clip(LEAST, MOST)
        for verdict in dict.fromkeys(shown["verdict"]):
            those, colour = (shown["verdict"] == verdict) & over.notna(), COLOURS[verdict]
            ax.plot(at[those], shown.index[those], linestyle="none", color=colour, markeredgecolor=colour, **look)
        ax.plot([], [], linestyle="none", color="black", markeredgecolor="black", label=label, **look)
    for verdict in dict.fromkeys(shown["verdict"]):
        ax.plot([], [], linestyle="none", marker="s", color=COLOURS[verdict], label=SAID.get(verdict, verdict))
    ax.set_xscale("log", base=2)
    ax.set(xlim=(LEAST / 1.12, MOST * 1.12), ylim=(len(shown) - 0.4, -0.6), yticks=np.arange(len(shown)))
    ax.set_yticklabels(shown["name"])
    ax.xaxis.set_major_locator(FixedLocator(TICKS))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(_tick))
    ax.grid(axis="y", linewidth=0.4, color="#DDDDDD")
    ax.set_axisbelow(True)
    ax.set_xlabel("privacy loss over what is claimed")
    style.legend(figure, columns=4)
    return figure, lines


def name(line: dict) -> str:
    """What a line is about, in words: the label of the mechanism or policy, its variant and its reading."""
    label = library.attributes("policies", line["subject"])["LABEL"]
    words = [label, *filter(None, (line["variant"], line["reading"]))]
    return ", ".join(words).replace("_", " ")


def _tick(x: float, _) -> str:
    texts = {LEAST: f"≤ {LEAST:g}", MOST: f"≥ {MOST:g}"}
    return texts.get(x, f"{x:g}")
