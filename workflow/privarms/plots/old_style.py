"""How every figure looks, and how it is written: the same style, the same colours, the same bytes each time."""

import re
import textwrap
from collections.abc import Hashable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from privarms.data import STAND_IN
from privarms.files.whole import whole
from privarms.plots.tables import write_csv

COLUMN = 3.4
"""Width in inches of a figure that fills one column of a two-column page."""
PAGE = 6.8
"""Width in inches of a figure that fills the page."""

# Okabe and Ito's colours for every kind of colour vision, without their yellow, which vanishes on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
LINESTYLES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)))
QUIET = "#5A5A5A"
# What a figure shows for context only is grey, without markers as long as the dashes last.
GREYS = (QUIET, "#A0A0A0")
GREY_LINESTYLES = ((0, (1, 1)), (0, (5, 1.5)), "-", (0, (5, 1.2, 1, 1.2)))
# Bars have no line: these tell apart what shares a colour.
HATCHES = ("", "////", "....", "xxxx", "----", "++++", "||||", "oooo", "\\\\\\\\")
COMBINATIONS = len(COLOURS) * len(MARKERS) * len(LINESTYLES)
"""How many looks there are."""
MOST_ENTRIES = 150
"""As many entries of a legend as a figure shows."""

# These look the same in every figure. A name that is not here needs no entry: it takes the next look that is free.
FIXED = ("dp_se", "dp_ucb", "epoch_se", "successive_elimination", "absse", "uniform", "ucb1")

STYLE = {
    "figure.figsize": (COLUMN, 2.4),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    # Full width as asked for: a tight box would make figures of different widths.
    "savefig.bbox": None,
    # Comes with matplotlib, so that text is as wide on every machine.
    "font.family": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "figure.titlesize": 9,
    "figure.labelsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "text.usetex": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.linewidth": 0.6,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlepad": 5,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-4, 5),
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "lines.markeredgecolor": "white",
    "lines.markeredgewidth": 0.4,
    "patch.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "errorbar.capsize": 2,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.borderaxespad": 0.3,
    "image.cmap": "cividis",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "privarms",
}


def use_style() -> None:
    """Set matplotlib's defaults to this style, whatever the user's own matplotlibrc says."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)


def subplots(nrows: int = 1, ncols: int = 1, *, width: float = COLUMN, height: float | None = None, **options):
    """(figure, axes) like pyplot's, without pyplot's import, windows and memory of open figures; sizes in inches.

    `height` defaults to panels of about 10 : 7; `options` go to `Figure.subplots` (sharex, squeeze, ...).
    """
    if height is None:
        height = 0.7 * width / ncols * nrows
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(nrows, ncols, **options)


class Look(NamedTuple):
    """How one name is drawn; two names of a figure differ in colour, line style or marker."""

    colour: str
    linestyle: str | tuple
    marker: str | None
    hatch: str = ""
    linewidth: float | None = None


def _look(place: int) -> Look:
    """The looks in order: colours and markers turn together; solid until the colours run out, then dashed and so on.
    They repeat after COMBINATIONS."""
    rounds = place // len(COLOURS)
    dashes, hatch = LINESTYLES[rounds % len(LINESTYLES)], HATCHES[rounds % len(HATCHES)]
    return Look(COLOURS[place % len(COLOURS)], dashes, MARKERS[place % len(MARKERS)], hatch)


def _grey(place: int) -> Look:
    """The looks of context: thin grey dashes, with a marker when these run out."""
    rounds, marked = place // len(GREY_LINESTYLES), place // (len(GREY_LINESTYLES) * len(GREYS))
    marker = MARKERS[(marked - 1) % len(MARKERS)] if marked else None
    dashes, hatch = GREY_LINESTYLES[place % len(GREY_LINESTYLES)], HATCHES[rounds % len(HATCHES)]
    return Look(GREYS[rounds % len(GREYS)], dashes, marker, hatch, 1.0)


class Palette:
    """The look of each name in one figure, so that no two lines look alike or differ in colour alone.

    Names may be any hashable values. Names in `fixed` keep their place in it; any other takes the first place that is
    free, in the order of `names`, and so does a name that was not announced when it is first asked for. Names in
    `context` are drawn in grey, in places of their own: what a figure is not about.
    """

    def __init__(
        self, names: Iterable[Hashable] = (), fixed: Sequence[Hashable] = FIXED, context: Iterable[Hashable] = ()
    ):
        self._looks: dict[Hashable, Look] = {}
        self._taken: set[tuple] = set()
        for place, name in enumerate(dict.fromkeys(context)):
            self._give(name, _grey(place))
        ordered, known = [name for name in dict.fromkeys(names) if name not in self._looks], list(fixed)
        for name in ordered:
            if name in known:
                self._give(name, _look(known.index(name)))
        for name in ordered:
            self.look(name)

    @classmethod
    def crossed(
        cls,
        colours: Iterable[Hashable],
        dashes: Iterable[Hashable],
        fixed: Sequence[Hashable] = (),
        context: Iterable[Hashable] = (),
    ) -> "Palette":
        """The looks of pairs: colour and marker tell the first, the line style the second, while they last; then the
        markers move on. Names in `context` are no pairs."""
        palette, first = cls(context=context), cls(colours, fixed)
        for number, second in enumerate(dict.fromkeys(dashes)):
            dashed, hatch = LINESTYLES[number % len(LINESTYLES)], HATCHES[number % len(HATCHES)]
            for name, look in first._looks.items():
                after = MARKERS.index(look.marker)
                markers = MARKERS[after:] + MARKERS[:after]
                wanted = (Look(look.colour, dashed, marker, hatch) for marker in markers)
                free = next((w for w in wanted if w[:3] not in palette._taken), None)
                if free:
                    palette._give((name, second), free)
        return palette

    def look(self, name: Hashable) -> Look:
        """The look of a name; the next one that is free for a name that has none."""
        if name not in self._looks:
            free = (_look(place) for place in range(COMBINATIONS))
            last = _look(len(self._looks))
            self._give(name, next((look for look in free if look[:3] not in self._taken), last))
        return self._looks[name]

    def _give(self, name: Hashable, look: Look) -> None:
        self._looks[name] = look
        self._taken.add(look[:3])

    def colour_of(self, name: Hashable) -> str:
        """A hexadecimal colour. There are seven: what is told by colour alone is told apart that long only."""
        return self.look(name).colour

    def line(self, name: Hashable) -> dict:
        """Keyword arguments for `band` and for `Axes.plot`."""
        look = self.look(name)
        line = {"color": look.colour, "marker": look.marker, "linestyle": look.linestyle}
        return line if look.linewidth is None else line | {"linewidth": look.linewidth}

    def patch(self, name: Hashable) -> dict:
        """Keyword arguments for bars and areas: colour, and a hatch when the colours have run out."""
        look = self.look(name)
        return {"facecolor": look.colour, "edgecolor": "white", "hatch": look.hatch or None}


def panels(count: int, *, width: float = PAGE, height: float = 2.8, columns: int = 4, **options):
    """(figure, list of `count` axes) for a panel a value: up to `columns` in a row, as many rows as it takes.

    height: of one row with the legend, in inches; a further row adds a panel's height. options: as for `subplots`.
    """
    count, columns = max(count, 1), min(max(count, 1), columns)
    rows = -(-count // columns)
    # A PDF page is at most 200 inches high, and a picture 65,536 pixels.
    total = min(height + (rows - 1) * (height - 0.5), 120)
    figure, grid = subplots(rows, columns, width=width, height=total, squeeze=False, **({"sharey": True} | options))
    axes = list(grid.flat)
    for ax in axes[count:]:
        ax.remove()
    # Above a place without a panel the ticks would be missing.
    for ax in axes[max(count - columns, 0) : count]:
        ax.xaxis.set_tick_params(labelbottom=True)
    return figure, axes[:count]


def ylabel(axes: Iterable[Axes], text: str) -> None:
    """Label the y axis of the first panel of every row."""
    for ax in axes:
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel(text)


def wrapped(label: str, letters: int) -> str:
    """A label in lines of at most so many letters, broken at blanks that are not within a formula."""
    kept = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", "\u00a0"), label)
    lines = textwrap.fill(kept, letters, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\u00a0", " ")


def legend(
    figure: Figure,
    axes: Iterable[Axes] | None = None,
    *,
    columns: int = 6,
    rows: int = 2,
    title: str | None = None,
) -> Legend | None:
    """One legend below the panels with every label that stands in any of `axes` (by default all), each once.

    columns: at most so many; fewer where they would be wider than the figure
    rows: for how many rows the figure's height was chosen; it grows with each further one
    """
    entries: dict[str, Artist] = {}
    for ax in figure.axes if axes is None else axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if not entries:
        return None
    labels, handles = list(entries), list(entries.values())
    if len(labels) > MOST_ENTRIES:
        further = len(labels) - MOST_ENTRIES
        labels[MOST_ENTRIES:] = [f"and {further} more, in the CSV file"]
        handles[MOST_ENTRIES:] = [Line2D([], [], linestyle="none")]
    size = 8 if len(labels) <= 16 else 7
    renderer = FigureCanvasAgg(figure).get_renderer()
    for ncols in range(min(columns, len(labels)), 0, -1):
        options = {"ncols": ncols, "title": title, "fontsize": size, "handlelength": 3.2 if len(labels) > 8 else None}
        drawn = figure.legend(handles, labels, loc="outside lower center", **options)
        if ncols == 1 or drawn.get_window_extent(renderer).width <= figure.bbox.width:
            break
        drawn.remove()
    further = -(-len(labels) // ncols) - rows
    if further > 0:
        # A row takes a line of text and half a line between two.
        figure.set_figheight(figure.get_figheight() + further * 1.5 * size / 72)
    return drawn


def band(ax: Axes, x, mean, low, high, *, label: str | None = None, alpha: float = 0.2, **line) -> Line2D:
    """Draw `mean` against `x` with the area from `low` to `high`; all of one length. Returns the line.

    `line`: as from `Palette.line`. Long curves get a marker now and then, short ones at every point.
    """
    x, mean, low, high = (np.asarray(values, dtype=float) for values in (x, mean, low, high))
    if not x.shape == mean.shape == low.shape == high.shape or x.ndim != 1:
        raise ValueError(
            f"x, mean, low, high must be of one length, got {x.shape}, {mean.shape}, {low.shape}, {high.shape}"
        )
    if np.any(low > high):
        raise ValueError("low must not lie above high")
    line = {"markevery": 0.12 if x.size > 12 else None} | line
    (drawn,) = ax.plot(x, mean, label=label, **line)
    ax.fill_between(x, low, high, color=drawn.get_color(), alpha=alpha, linewidth=0, zorder=drawn.get_zorder() - 0.5)
    return drawn


def published(
    ax: Axes,
    value: float,
    text: str,
    *,
    axis: str = "y",
    at: float | None = None,
    left: bool = False,
    below: bool = False,
) -> None:
    """Draw a published value: a dashed line across the axes, or a hollow diamond where `at` gives the other coordinate.

    `axis` is the axis on which the value is read, "x" or "y". The text of a level line stands above its right end, or
    at its left one, or below it.
    """
    if axis not in ("x", "y"):
        raise ValueError(f"axis must be 'x' or 'y', got {axis!r}")
    if not np.isfinite(value):
        raise ValueError(f"a published value must be finite, got {value}")
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
    if at is not None:
        x, y = (at, value) if axis == "y" else (value, at)
        hollow = {"markerfacecolor": "none", "markeredgecolor": "black", "markeredgewidth": 1}
        ax.plot([x], [y], marker="D", markersize=6, linestyle="none", **hollow)
        ax.annotate(text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", bbox=paper)
    elif axis == "y":
        ax.axhline(value, color=QUIET, linewidth=0.9, linestyle=(0, (4, 2)))
        offset = (2 if left else -2, -3 if below else 3)
        where = {"xycoords": ("axes fraction", "data"), "xytext": offset, "textcoords": "offset points"}
        ha, va = "left" if left else "right", "top" if below else "bottom"
        ax.annotate(text, (0 if left else 1, value), ha=ha, va=va, color=QUIET, bbox=paper, **where)
    else:
        ax.axvline(value, color=QUIET, linewidth=0.9, linestyle=(0, (4, 2)))
        where = {"xycoords": ("data", "axes fraction"), "xytext": (-3, -2), "textcoords": "offset points"}
        ax.annotate(text, (value, 1), ha="right", va="top", rotation=90, color=QUIET, bbox=paper, **where)


def log_ticks(axis) -> None:
    """Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, written out: for axes of two decades or fewer."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def watermark(fig: Figure, text: str = STAND_IN) -> None:
    """Write `text` across the whole figure, above everything that is drawn."""
    width, height = fig.get_size_inches()
    angle = np.degrees(np.arctan2(height, width))
    # Fits the diagonal: a letter of this font is about 0.6 of its size wide, and a point is 1/72 inch.
    size = min(0.8 * np.hypot(width, height) * 72 / (0.6 * len(text)), 40)
    placed = fig.text(0.5, 0.5, text, rotation=angle, ha="center", va="center", fontsize=size)
    placed.set(color="#B00020", alpha=0.24, fontweight="bold", zorder=1000, in_layout=False)


def settle(fig: Figure) -> None:
    """Make a logarithmic axis without a single value a linear one, which can be drawn."""
    for ax in fig.axes:
        for name in ("x", "y"):
            axis = getattr(ax, f"{name}axis")
            if axis.get_scale() == "log" and not np.isfinite(axis.get_minpos()):
                ax.set(**{f"{name}scale": "linear"})


def save(fig: Figure, numbers: pd.DataFrame, stem: Path) -> dict[str, Path]:
    """Write `stem`.pdf, .png (200 dpi), .svg and .csv, the last with the numbers that the figure draws.

    The bytes depend on the figure and the numbers alone. The layout is settled here: what is added to the figure later
    does not move it any more. Returns the four paths by suffix; raises PrivarmsError where they cannot be written.
    """
    paths = {suffix: stem.with_name(f"{stem.name}.{suffix}") for suffix in ("pdf", "png", "svg", "csv")}
    with matplotlib.rc_context(STYLE), ExitStack() as stack:
        pdf, png, svg, csv = (stack.enter_context(whole(path)) for path in paths.values())
        settle(fig)
        # Laid out once: every further draw would move the axes a little, and differently in each format.
        if fig.axes and (engine := fig.get_layout_engine()) is not None:
            # As matplotlib draws: a layout that cannot be is none.
            with suppress(ValueError):
                engine.execute(fig)
        # With "none" an engine would stay that does nothing, for which each format is drawn twice; with None one comes
        # back at every format if the settings say so.
        matplotlib.rcParams["figure.constrained_layout.use"] = False
        fig.set_layout_engine(None)
        fig.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Producer": None, "Creator": "privarms"})
        fig.savefig(png, format="png", metadata={"Software": None})
        fig.savefig(svg, format="svg", metadata={"Date": None, "Creator": "privarms"})
        write_csv(numbers, csv)
    return paths
