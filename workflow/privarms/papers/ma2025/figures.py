"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

from privarms.papers.ma2025 import _distance, _illustrations, _panels, _privacy, _real_data
from privarms.papers.ma2025._illustrations import illustration
from privarms.papers.ma2025._regret_figures import panel_figure
from privarms.plots.registry import functions_of

FIGURES = functions_of(_illustrations, _distance, _privacy, _real_data) | {
    "fig6": illustration("fig6", "as_released"),
    "fig6_caption_size": illustration("fig6_caption_size", "as_released"),
    "fig6_printed": illustration("fig6", "as_printed", 2),
    "fig6_printed_c64": illustration("fig6", "as_printed", 64),
    **{panel: panel_figure(panel) for panel in _panels.FIGURES},
    **{f"{panel}_symmetric": panel_figure(panel, "symmetric") for panel in _panels.FIGURES},
}
