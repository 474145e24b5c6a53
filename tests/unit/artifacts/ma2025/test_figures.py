"""Every value and policy that is added to a grid stands in its panel, with a look of its own."""

import matplotlib.colors
import numpy as np
import pytest

from privarms.artifacts import style
from privarms.artifacts.ma2025 import _panels as panels
from privarms.artifacts.ma2025.figures import FIGURES

from .made_up import made_up, paper

ADDED = {
    "epsilon": 16,
    "epsilon_aux": "4 8",
    "n_aux": 3_000,
    "gamma": 0.7,
    "kappa": 0.5,
    "horizon": 9_000,
    "K": 4,
    "M": 3,
}
OTHER = {"policy": "ldp_linear", "dimensions": 2, "batch": 100, "clip": 1, "rate": [0.1, 1]}


def extended(axis):
    """The quick studies with one value more on an axis of every grid, or with another policy and another constant."""
    more = paper("quick")
    for name in ("regret", "regret_printed", "deviations"):
        study = more["studies"][name]
        grids = [e["grid"] for e in study["policies"] if "grid" in e] + ([study["grid"]] if "grid" in study else [])
        for grid in grids:
            for axes in grid if isinstance(grid, list) else [grid]:
                given = axes[axis] if axis in axes and isinstance(axes[axis], list) else [axes.get(axis)]
                alone = axes["n_aux"] == 0 and axis in ("n_aux", "epsilon_aux", "gamma", "kappa")
                if axis in axes and not alone and not (axis == "epsilon_aux" and axes["M"] == 1):
                    axes[axis] = [*given, ADDED[axis]]
        if axis == "policy":
            every = [axes for grid in grids[:1] for axes in (grid if isinstance(grid, list) else [grid])]
            study["policies"].append(OTHER | {"grid": [axes | {"variant": "as_released"} for axes in every]})
            for entry in study["policies"]:
                if entry.get("c") in (2, [2, 64]) and "deviation" not in entry:
                    entry["c"] = [2, 64, 128] if isinstance(entry["c"], list) else [2, 128]
    return more


def regret(cell):
    p = cell.parameters
    return cell.horizon ** (0.6 + 0.1 / p["epsilon"]) / (1 + p.get("n_aux", 0) / 1e4) * (1 + 0.1 * p.get("gamma", 0))


def looks(ax):
    """name -> colour, line, marker of every line of some axes that has one."""
    found = {}
    handles, names = ax.get_legend_handles_labels()
    for handle, name in zip(handles, names, strict=True):
        line = handle.lines[0] if hasattr(handle, "lines") else handle
        found[name] = (
            matplotlib.colors.to_hex(line.get_color()), str(line._dash_pattern), line.get_marker(),
            line.get_markerfacecolor() == "none",
        )  # fmt: skip
    return found


@pytest.mark.parametrize("axis", [*ADDED, "policy"])
def test_what_is_added_is_drawn_and_told_apart(axis, tmp_path):
    made = made_up(tmp_path, regret, content=extended(axis), scale="quick")
    style.use_style()
    shown = ["fig7a", "fig7b", "fig8a", "fig9a", "fig9b", "fig9c", "deviations", "transfer_gain"]
    for name in shown:
        figure, numbers = FIGURES[name](made)
        if name[:3] == "fig":
            expected = panels.panel(made, name)
            drawn = numbers[numbers["variant"] != "authors_logs"]
            assert len(drawn.drop_duplicates()) >= len(expected)
            assert set(expected["written"]) == set(drawn["variant"])
        for ax in figure.axes:
            told = looks(ax)
            assert len(set(told.values())) == len(told), (name, told)
        entries = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
        assert {label for ax in figure.axes for label in looks(ax)} <= entries
        figure.draw_without_rendering()
    if axis == "policy":
        _, numbers = FIGURES["fig7a"](made)
        assert {"ldp_linear_as_released rate=0.1", "ldp_linear_as_released rate=1", "as_printed_c128"} <= set(
            numbers["variant"]
        )
    elif axis in ("epsilon", "K"):
        _, numbers = FIGURES["deviations"](made)
        assert ADDED[axis] in set(numbers[axis])


def test_a_missing_mean_is_left_out(tmp_path):
    made = made_up(tmp_path, lambda cell: np.nan if cell.parameters["epsilon"] == 2 else 100.0, scale="quick")
    for name in ("fig7a", "fig8a", "fig9a", "fig9c", "deviations", "transfer_gain"):
        figure, _ = FIGURES[name](made)
        style.settle(figure)
        figure.draw_without_rendering()
