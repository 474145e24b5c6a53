"""Check the figures of the comparison on handmade tables: a value, the points and the labels of each."""

import pandas as pd

from privarms.papers.synthesis import figures

from .. import chosen, drawn
from . import tables_by_hand as made


def results():
    short, long = made.runs(), made.runs().assign(horizon=5_000)
    runs = pd.concat([short, long, made.runs().assign(horizon=2_000)], ignore_index=True)
    return chosen.results(published={}, tables={}, runs=runs, tests=made.tests(runs), privacy=made.privacy())


def test_the_overview_names_every_policy_once_per_horizon():
    figure, numbers = figures.overview(results())
    assert len(figure.axes) == 8
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names == ["DP-IMED: 1.00 ε", "DP-SE: 1.00 ε", "Private UCB: 8.00 ε", "UCB1", "uniform"]
    assert [drawn.title(ax) for ax in figure.axes if drawn.title(ax)] == ["$T = 1{,}000$", "$T = 5{,}000$"]
    assert drawn.legend(figure) == ["$\\varepsilon = 1$", "no privacy"]
    over_bound = figure.axes[0]
    assert sorted(over_bound.get_lines()[0].get_xdata()) == [1, 2, 4]
    # The three private policies, whose points are on the lines of their names; the bound; no others.
    assert sorted(round(y) for y in over_bound.get_lines()[0].get_ydata()) == [0, 1, 2]
    assert set(numbers["horizon"]) == {1_000, 2_000, 5_000}
    imed = numbers[(numbers["curve"] == "DP-IMED") & (numbers["measure"] == "over_bound")]
    assert set(imed["value"]) == {2}


def test_procedures_have_a_row_per_measure():
    figure, numbers = figures.tests(results())
    assert len(figure.axes) == 12
    assert len(drawn.legend(figure)) == 6
    errors = numbers[(numbers["measure"] == "error") & (numbers["procedure"] == "naive")]
    assert set(errors["value"]) == {0.2}
    # Six procedures and the nominal level.
    assert [len(ax.get_lines()) for ax in figure.axes[:3]] == [7, 7, 7]
