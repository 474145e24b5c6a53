"""Check figures of tidy tables."""

import numpy as np
import pandas as pd
import pytest

from privarms.plots import facets, style

pytestmark = pytest.mark.usefixtures("styled")

ROWS = pd.DataFrame(
    [(e, curve, t, t / e) for e in (0.5, 0.1) for curve in ("DP-SE", "UCB1") for t in (3.0, 1.0, 2.0)],
    columns=["epsilon", "curve", "t", "regret"],
)
ROWS = ROWS.assign(low=ROWS["regret"] - 1, high=ROWS["regret"] + 1)


def test_a_panel_per_value_with_a_line_and_a_band_per_curve():
    looks = style.looks(["DP-SE", "UCB1"])
    grid = facets.curves(ROWS, "t", "regret", looks=looks, col="epsilon", log="x")
    assert list(grid.axes_dict) == [0.1, 0.5]
    ax = grid.axes_dict[0.1]
    assert [line.get_label() for line in ax.lines] == ["DP-SE", "UCB1"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [10, 20, 30])
    corners = {tuple(corner) for corner in ax.collections[0].get_paths()[0].vertices}
    assert {(1, 9), (1, 11), (3, 29), (3, 31)} <= corners
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")


def test_a_curve_with_two_values_at_one_place_is_named_in_a_warning(caplog):
    looks = style.looks(["DP-SE", "UCB1"])
    facets.curves(ROWS, "t", "regret", looks=looks, col="epsilon")
    assert caplog.messages == []
    # Without a panel per epsilon each curve has the values of both.
    facets.curves(ROWS, "t", "regret", looks=looks)
    assert [message.split(" = ")[0] for message in caplog.messages] == [
        "curve 'DP-SE': several values at t",
        "curve 'UCB1': several values at t",
    ]


def test_points_whose_runs_all_agree_are_hollow():
    rows = ROWS[:3].assign(low=[1.0, 2.0, np.nan], high=[7.0, 2.0, np.nan])
    ax = facets.panels(rows).axes.flat[0]
    facets.points(ax, rows, "t", "regret", marker="o", color="C1")
    filled, hollow = ax.lines[0], ax.lines[-1]
    assert (len(filled.get_xdata()), list(hollow.get_xdata())) == (3, [1.0, 2.0])
    assert (hollow.get_markerfacecolor(), hollow.get_markeredgecolor(), hollow.get_marker()) == ("white", "C1", "o")


def test_what_has_no_value_of_an_axis_stands_in_every_panel():
    rows = pd.DataFrame({"policy": ["dp_se", "dp_se", "ucb1"], "epsilon": [1.0, 0.1, np.nan]})
    shown = facets.in_every(rows, "epsilon", [0.1, 1.0])
    assert shown[["policy", "panel_epsilon"]].to_numpy().tolist() == [
        ["dp_se", 0.1], ["ucb1", 0.1], ["dp_se", 1.0], ["ucb1", 1.0],
    ]  # fmt: skip
