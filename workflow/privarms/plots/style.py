"""The style of all figures, and functions that write their files reproducibly, byte for byte."""

import itertools
import re
import textwrap
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import seaborn
from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from scipy.optimize import isotonic_regression

from privarms.data import STAND_IN
from privarms.files.whole import whole
from privarms.plots.tables import write_csv

# Widths in inches of a figure that fills one column of a two-column page, or the whole page.
COLUMN, PAGE = 3.4, 6.8

# seaborn's colour-blind palette without pink and yellow (weak on white) and grey (used for context).
COLOURS = tuple(seaborn.color_palette("colorblind").as_hex()[place] for place in (0, 3, 2, 4, 1, 9, 5))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
LINESTYLES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)))
QUIET = "#5A5A5A"
ZONE: dict[str, Any] = {"color": "#F6E3C5", "alpha": 0.6, "linewidth": 0, "zorder": 0}
"""Look of a zone in which a published statement puts a value."""
SMALL = 7
"""Font size of texts inside panels, in points."""
LEVEL: dict[str, Any] = {"color": "black", "linewidth": 0.9, "linestyle": (0, (5, 1.5)), "zorder": 1.5}
"""Line style of bounds and nominal levels."""
GUIDE: dict[str, Any] = {"color": QUIET, "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 1.5}
"""Line style of published values and guides for the eye."""
MOST_ENTRIES = 150
"""The largest number of entries in a legend."""
PAPER = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0}

RC = {
    "figure.facecolor": "white",
    "savefig.dpi": 200,
    "font.size": 8,
    "mathtext.fontset": "dejavusans",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-4, 5),
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in (("color", QUIET), ("labelcolor", "black"))},
    **{f"{axis}tick.{size}.size": length for axis in "xy" for size, length in (("major", 3), ("minor", 1.5))},
    "lines.markersize": 4,
    "lines.markeredgewidth": 0.4,
    "lines.markeredgecolor": "white",
    "errorbar.capsize": 2,
    "legend.frameon": False,
    "image.cmap": "cividis",
    "pdf.fonttype": 42,
    "svg.hashsalt": "privarms",
}


def use_style() -> None:
    """Use the style from now on, and draw to files only; for processes that do nothing else, such as jobs."""
    matplotlib.use("agg")
    _set_theme()


@contextmanager
def styled() -> Iterator[None]:
    """Use the style for a while; the settings of matplotlib are the same afterwards."""
    with matplotlib.rc_context():
        _set_theme()
        yield


def _set_theme() -> None:
    """Set seaborn's theme for figures on paper, and ignore the user's matplotlibrc."""
    matplotlib.rcdefaults()
    seaborn.set_theme("paper", "ticks", COLOURS, font="DejaVu Sans", font_scale=0.85, rc=RC)


def subplots(nrows: int = 1, ncols: int = 1, *, width: float, height: float, **options) -> tuple[Figure, Any]:
    """Return (figure, axes) like pyplot's, without registering the figure in pyplot; sizes in inches.

    `options` are passed to `Figure.subplots` (sharex, squeeze, ...). Several axes are an array.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(nrows, ncols, **options)


Looks = dict[Hashable, dict]
"""Name of a curve -> keyword arguments of its line."""


def looks(names: Iterable[Hashable], fixed: Sequence[Hashable] = (), context: Iterable[Hashable] = ()) -> Looks:
    """Return one look per name: colours and markers change together; line styles change when colours run out.

    names : any hashable values; the first 252, the number of different looks, get different ones
    fixed : names whose look depends only on their place in this list; other names get the unused looks
    context : names that are drawn in grey without markers, below the others
    """
    grey = {name: _grey(place) for place, name in enumerate(dict.fromkeys(context))}
    places = _places((name for name in names if name not in grey), fixed)
    return {name: _look(place, place, place // len(COLOURS)) for name, place in places.items()} | grey


def _places(names: Iterable[Hashable], fixed: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the place of each name: its place in `fixed`, or the next free place."""
    names, fixed = dict.fromkeys(names), list(dict.fromkeys(fixed))
    places = {name: place for place, name in enumerate(fixed) if name in names}
    free = (place for place in itertools.count() if place not in set(places.values()))
    return places | {name: next(free) for name in names if name not in places}


def crossed(
    rows: pd.DataFrame,
    name: str,
    first: str,
    second: str,
    *,
    firsts: Sequence[Hashable] = (),
    seconds: Sequence[Hashable] = (),
) -> Looks:
    """Return one look per value of `name`: colour and marker show `first`, the line style shows `second`."""
    colours, dashes = _places(rows[first], firsts), _places(rows[second], seconds)
    result = {}
    for label, one, other in rows[[name, first, second]].itertuples(index=False):
        # When the line styles run out, the markers move on.
        result[label] = _look(colours[one], colours[one] + dashes[other] // len(LINESTYLES), dashes[other])
    return result


def in_sequence(names: Iterable[Hashable], palette: str = "viridis") -> Looks:
    """Return one look per name, for names that have an order: colours in sequence, and their own markers.

    palette : a colour map of seaborn; "viridis" goes from dark to light, "flare" from light to dark
    """
    names = list(dict.fromkeys(names))
    # The light end of a colour map is weak on white.
    ends = (0.15, 1) if palette == "flare" else (0, 0.85)
    colours = seaborn.color_palette(palette, as_cmap=True)(np.linspace(*ends, len(names)))
    markers = itertools.cycle(MARKERS)
    return {
        name: {"color": to_hex(colour), "marker": marker, "linestyle": "-"}
        for name, colour, marker in zip(names, colours, markers, strict=False)
    }


def _look(colour: int, marker: int, dash: int) -> dict:
    line = {"color": COLOURS[colour % len(COLOURS)], "marker": MARKERS[marker % len(MARKERS)]}
    return line | {"linestyle": LINESTYLES[dash % len(LINESTYLES)]}


def _grey(place: int) -> dict:
    rounds, dash = divmod(place, len(LINESTYLES))
    marker = MARKERS[rounds // 2 - 1] if rounds > 1 else None
    colour = (QUIET, "#A0A0A0")[rounds % 2]
    line = {"color": colour, "marker": marker, "linestyle": LINESTYLES[(2, 1, 0, 3)[dash]]}
    return line | {"linewidth": 1.0, "zorder": 1.8}


def legend(
    figure: Figure, *, columns: int = 4, title: str | None = None, named: Iterable[Hashable] = ()
) -> Legend | None:
    """Draw one legend below the panels, with every label once; the figure grows by the height of the legend.

    named : labels that the legend leaves out, because the panels name their curves
    """
    entries: dict[str, Artist] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            if label not in named:
                entries.setdefault(label, handle)
    if not entries:
        return None
    labels, handles = list(entries), list(entries.values())
    if len(labels) > MOST_ENTRIES:
        labels[MOST_ENTRIES:] = [f"and {len(labels) - MOST_ENTRIES} more, in the CSV file"]
        handles[MOST_ENTRIES:] = [Line2D([], [], linestyle="none")]
    renderer = FigureCanvasAgg(figure).get_renderer()
    size = 8 if len(labels) <= 16 else 7
    for ncols in range(min(columns, len(labels)), 0, -1):
        options = {"ncols": ncols, "title": title, "fontsize": size, "handlelength": 3.2 if len(labels) > 8 else None}
        drawn = figure.legend(handles, labels, loc="outside lower center", **options)
        box = drawn.get_window_extent(renderer)
        if ncols == 1 or box.width <= figure.bbox.width:
            break
        drawn.remove()
    figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)
    return drawn


def name_ends(ax: Axes, names: Iterable[Hashable] | None = None) -> list[Annotation]:
    """Write the label of each curve right of its end, in the order of the ends from bottom to top; return the texts.

    names : the labels to write (default: all). Set the limits of the axes and draw everything else first
    """
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    lines = [line for line in lines if names is None or line.get_label() in names]
    ends = [ax.transAxes.inverted().transform(line.get_transform().transform(_end(line))) for line in lines]
    drawn = sorted(zip(ends, lines, strict=True), key=lambda pair: pair[0][1])
    if not drawn:
        return []
    figure = ax.get_figure(root=True)
    if figure is not None and (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    places = _spread([np.clip(y, 0, 1) for (_, y), _ in drawn], 1.25 * SMALL / height)
    texts = []
    for ((x, y), line), place in zip(drawn, places, strict=True):
        pointer = {"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.5, "shrinkA": 0, "shrinkB": 1}
        pointer |= {"relpos": (0, 0.5)}
        where = {"xycoords": "axes fraction", "textcoords": "axes fraction", "arrowprops": pointer}
        where |= {"va": "center", "fontsize": SMALL, "color": line.get_color(), "annotation_clip": False}
        texts.append(ax.annotate(str(line.get_label()), (x, np.clip(y, 0, 1)), (1.04, place), **where))
    return texts


def _end(line: Line2D) -> np.ndarray:
    """Return the last point of a line that is drawn."""
    points = np.asarray(line.get_xydata(), float)
    return points[np.isfinite(points).all(axis=1)][-1]


def _spread(places: Sequence[float], gap: float) -> np.ndarray:
    """Return increasing places in [0, 1] that are at least `gap` apart, as close to the given ones as possible."""
    steps = gap * np.arange(len(places))
    free = isotonic_regression(np.asarray(places, float) - steps).x
    return steps + np.clip(free, 0, max(1 - steps[-1], 0))


def published(ax: Axes, value: float, text: str = "", *, axis: str = "y", below: bool = False) -> None:
    """Draw a published value as a dashed line across the axes.

    `axis` is the axis of the value, "x" or "y". The text is above the right end of a horizontal line, or below it with
    `below`. It is right of the upper end of a vertical line.
    """
    where = {"textcoords": "offset points", "color": QUIET, "bbox": PAPER, "fontsize": 8}
    if axis == "y":
        ax.axhline(value, **GUIDE)
        where |= {"xytext": (-2, -3 if below else 3), "xycoords": ("axes fraction", "data")}
        ax.annotate(text, (1, value), ha="right", va="top" if below else "bottom", **where)
    else:
        ax.axvline(value, **GUIDE)
        where |= {"xytext": (3, -2), "xycoords": ("data", "axes fraction")}
        ax.annotate(text, (value, 1), ha="left", va="top", **where)


def log_ticks(axis, subs: Sequence[float] = (1, 2, 5)) -> None:
    """Set ticks of a logarithmic axis at powers of ten times `subs`, without exponents.

    Where the axis has more than two and a half decades, only the powers of ten are named. Set its limits before.
    """
    low, high = axis.get_view_interval()
    narrow = high <= 300 * low
    axis.set_major_locator(LogLocator(subs=subs if narrow else (1,)))
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_locator(NullLocator() if narrow else LogLocator(subs=(2, 5)))
    axis.set_minor_formatter(NullFormatter())


def ticks(ax: Axes, values: Iterable[float], texts: Sequence[str] | None = None) -> None:
    """Set ticks of the x axis at only these values, without exponents."""
    values = list(values)
    ax.set_xticks(values, [f"{value:g}" for value in values] if texts is None else texts)
    ax.set_xticks([], minor=True)


def watermark(fig: Figure) -> None:
    """Write the mark of synthetic data across the whole figure, on top of everything else."""
    width, height = fig.get_size_inches()
    angle = np.degrees(np.arctan2(height, width))
    # The text must fit the diagonal. A letter is about 0.6 of the font size wide, and a point is 1/72 inch.
    size = min(0.8 * np.hypot(width, height) * 72 / (0.6 * len(STAND_IN)), 40)
    placed = fig.text(0.5, 0.5, STAND_IN, rotation=angle, ha="center", va="center", fontsize=size)
    placed.set(color="#B00020", alpha=0.24, fontweight="bold", zorder=1000, in_layout=False)


def warn(fig: Figure, text: str) -> None:
    width, height = fig.get_size_inches()
    fig.set_size_inches(width, height + 0.2)
    # No line ends in a formula.
    kept = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", "\u00a0"), text)
    lines = textwrap.fill(kept, int(16 * width), break_long_words=False, break_on_hyphens=False)
    fig.suptitle(lines.replace("\u00a0", " "), fontsize=7, color="#B00020")


def settle(fig: Figure) -> None:
    """Make a logarithmic axis without positive values linear, because matplotlib cannot draw it."""
    for ax in fig.axes:
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            if axis.get_scale() == "log" and not np.isfinite(axis.get_minpos()):
                ax.set(**{f"{name}scale": "linear"})


def save(fig: Figure, numbers: pd.DataFrame, stem: Path) -> dict[str, Path]:
    """Write `stem`.pdf, .png (200 dpi), .svg and .csv, the last with the numbers of the figure.

    The bytes depend only on the figure and the numbers. Return the four paths by suffix. Raise PrivarmsError if they
    cannot be written.
    """
    paths = {suffix: stem.with_name(f"{stem.name}.{suffix}") for suffix in ("pdf", "png", "svg", "csv")}
    with styled(), ExitStack() as stack:
        pdf, png, svg, csv = (stack.enter_context(whole(path)) for path in paths.values())
        settle(fig)
        # Compute the layout once, at the PNG's resolution. Otherwise each format would have a different layout.
        fig.set_dpi(matplotlib.rcParams["savefig.dpi"])
        if fig.axes and (engine := fig.get_layout_engine()) is not None:
            # An impossible layout is ignored, as matplotlib does.
            with suppress(ValueError):
                engine.execute(fig)
        fig.set_layout_engine(None)
        fig.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Producer": None, "Creator": "privarms"})
        fig.savefig(png, format="png", metadata={"Software": None})
        fig.savefig(svg, format="svg", metadata={"Date": None, "Creator": "privarms"})
        write_csv(numbers, csv)
    pyplot.close(fig)
    return paths
