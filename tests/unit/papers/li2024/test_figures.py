"""Check the curves of theory in the figures of li2024."""

import pytest

from privarms.papers.li2024.figures import fig2, fig3


def test_curves_are_drawn_where_they_are():
    grid, rows = fig2(None)
    assert (rows["regret"] * rows["error"]).to_numpy() == pytest.approx(2)
    for ax in grid.axes:
        for line in ax.lines:
            x, y = line.get_data()
            assert x * y == pytest.approx(2)


def test_a_scenario_is_a_single_point():
    _, rows = fig3(None)
    assert 1 in rows.groupby("scenario", sort=False)["regret"].apply(lambda curve: curve.round(9).nunique()).tolist()
