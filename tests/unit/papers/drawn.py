"""What a figure draws: the entries of its legend, and the curves and texts of its panels."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure


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
