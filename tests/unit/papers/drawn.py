"""What a figure draws: the entries of its legend, and the curves and texts of its panels."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

Points = list[list[float]]


def legend(figure: Figure) -> list[str]:
    """Return the entries of the figure's legend."""
    return [text.get_text() for one in figure.legends for text in one.get_texts()]


def shown(figure: Figure) -> list[Axes]:
    """Return the visible panels."""
    return [ax for ax in figure.axes if ax.get_visible()]


def curves(ax: Axes) -> list[str]:
    """Return the labels of a panel's lines and points, each once."""
    return list(dict.fromkeys(ax.get_legend_handles_labels()[1]))


def texts(ax: Axes) -> list[str]:
    """Return the texts that a panel has inside or at the ends of its curves."""
    return [text.get_text() for text in ax.texts if text.get_text()]


def title(ax: Axes) -> str:
    """Return the title of a panel, which the style of all figures puts at the left."""
    return ax.get_title() or ax.get_title(loc="left")


def axis_labels(ax: Axes) -> tuple[str, str]:
    """Return the labels of the x and y axes."""
    return ax.get_xlabel(), ax.get_ylabel()


def scales(ax: Axes) -> tuple[str, str]:
    """Return the scales of the x and y axes."""
    return ax.get_xscale(), ax.get_yscale()


def _points(line: Line2D) -> Points:
    x, y = line.get_data()
    return np.round(np.column_stack([x, y]).astype(float), 9).tolist()


def named(ax: Axes) -> dict[str, Points]:
    """Return label -> points (x, y), of the curves and points with a label; equal labels follow each other."""
    found: dict[str, Points] = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        line = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
        if isinstance(line, Line2D):
            found.setdefault(label, []).extend(_points(line))
    return found


def guides(ax: Axes) -> list[Points]:
    """Return the points of each line without a label; markers alone are no line."""
    lines = (line for line in ax.get_lines() if line.get_linestyle() != "None")
    return [_points(line) for line in lines if line.get_label().startswith("_")]


def intervals(ax: Axes) -> list[Points]:
    """Return the two ends of each interval of points."""
    return [
        np.round(segment, 9).tolist()
        for container in ax.containers
        if isinstance(container, ErrorbarContainer)
        for bars in container.lines[2]
        for segment in bars.get_segments()
        if len(segment)
    ]


def bands(ax: Axes) -> list[tuple[float, float]]:
    """Return the least and the largest y of each band that is not empty."""
    paths = [path.vertices for one in ax.collections for path in one.get_paths() if len(path.vertices)]
    return [tuple(np.round([path[:, 1].min(), path[:, 1].max()], 9).tolist()) for path in paths]
