"""Check the figures of frontier on handmade tables: a value, the lines and the labels of each."""

import pandas as pd
import pytest

from privarms.papers.frontier import figures

from .. import drawn
from .tables_by_hand import CELL, results

MEASURED = {"replicates": 30, "regret": 100.0, "se": 1.0, "median": 90.0, "q99": 200.0, "instance": "mu2"}
POLICIES = {"dp_imed": "DP-IMED", "dp_se": "DP-SE", "dp_ucb": "DP-UCB (exact)", "added": "Added"}


def cells(**own) -> list[dict]:
    """Return one row per policy, epsilon and horizon, and KL-UCB without privacy."""
    private = [
        CELL | MEASURED | {"policy": policy, "curve": curve, "epsilon": epsilon, "horizon": T}
        | {"regret": 100.0 if T == 100 else 200.0} | own
        for policy, curve in POLICIES.items() for epsilon in (0.1, 1.0) for T in (100, 1_000)
    ]  # fmt: skip
    public = [CELL | MEASURED | {"policy": "klucb", "curve": "KL-UCB", "epsilon": None, "horizon": 1_000}]
    return [*private, *public]


def test_groups_of_policies_have_rows_with_the_bounds():
    rows = cells()
    rows[3]["replicates"] = 4
    bounds = [
        {"bound": bound, "value": 5.0, "epsilon": epsilon, "horizon": T, "instance": "mu2"}
        for bound in figures.BOUNDS for epsilon in (0.1, 1.0) for T in (100, 1_000)
    ]  # fmt: skip
    figure, numbers = figures.by_epsilon(results(regret=rows, bounds=bounds))
    rows_of_panels = [*dict.fromkeys(figures.FAMILIES.values()), figures.OTHERS]
    assert [ax.get_ylabel().split("\n")[0] for ax in figure.axes] == rows_of_panels
    # One private policy, KL-UCB and three bounds in each panel.
    assert [len(ax.get_lines()) for ax in figure.axes] == [5] * 4
    # At the longest horizon KL-UCB, without epsilon, is a level.
    first, *_, last = figure.axes
    assert drawn.named(first)["DP-IMED"] == [[0.1, 200], [1, 200]]
    assert drawn.named(first)["bound, Lai & Robbins"] == [[0.1, 5], [1, 5]]
    assert drawn.named(first)["KL-UCB"] == [[0, 100], [1, 100]]
    assert drawn.scales(first) == ("log", "log")
    # A solid line is visible below the dashes of a bound.
    lines = {line.get_label(): line for line in first.get_lines()}
    below, bounds = lines["KL-UCB"], [lines[label] for label, _ in figures.BOUNDS.values()]
    assert below.get_linestyle() == "-"
    assert all(line.get_linestyle() != "-" and line.get_zorder() > below.get_zorder() for line in bounds)
    # Student's 97.5% quantile with 29 degrees of freedom is 2.045230.
    ends = pytest.approx([200 - 2.045230, 200 + 2.045230], abs=1e-5)
    assert [list(ends_of) for ends_of in drawn.bands(last)] == [ends]
    assert [drawn.title(ax) for ax in figure.axes] == ["mu2, $T = 10^3$", "", "", ""]
    assert {ax.get_ylabel().split("\n")[1] for ax in figure.axes} == {"mean pseudo-regret"}
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "", "budget $\\varepsilon$"]
    assert [drawn.texts(ax) for ax in figure.axes] == [[curve] for curve in POLICIES.values()]
    assert sorted(drawn.legend(figure)) == sorted(["KL-UCB", *(label for label, _ in figures.BOUNDS.values())])
    assert set(numbers["horizon"]) == {100, 1_000}
    few = numbers[numbers["replicates"] == 4]
    assert (list(few["regret"]), few["low"].notna().any()) == ([200], False)


def test_privacy_regimes_have_the_published_limit():
    rows = [row | {"bound_d_epsilon": 50.0} for row in cells() if row["horizon"] == 1_000 and row["policy"] != "klucb"]
    figure, numbers = figures.regimes(results(regimes=rows))
    assert drawn.texts(figure.axes[0]) == ["published: level from here"]
    # Four policies, the bound and the published value.
    ax = figure.axes[0]
    bound = "bound, $d_\\varepsilon$"
    assert drawn.named(ax) == {name: [[0.1, 200], [1, 200]] for name in POLICIES.values()} | {
        bound: [[0.1, 50], [1, 50]]
    }
    assert drawn.guides(ax) == [[[0.3, 0], [0.3, 1]]]
    assert len(drawn.bands(ax)) == 4
    assert drawn.axis_labels(ax) == ("privacy budget $\\varepsilon$", "mean pseudo-regret")
    assert drawn.scales(ax) == ("log", "log")
    assert sorted(drawn.legend(figure)) == sorted([*POLICIES.values(), bound])
    assert set(numbers["bound_d_epsilon"]) == {50}


def test_the_tail_has_a_column_per_epsilon():
    settings = [(2.0, None), (2.0, 1.0), (2.0, 8.0), (1.1, None), (1.1, 8.0), (4.0, None), (4.0, 8.0)]
    rows = [
        CELL | MEASURED | {"policy": "dp_imed", "curve": "DP-IMED", "epsilon": epsilon, "ratio": ratio, "first": first}
        for epsilon in (1.0, 0.1) for ratio, first in settings
    ]  # fmt: skip
    rows += [row | {"instance": "mu5", "regret": 7.0} for row in rows]
    figure, numbers = figures.tail(results(tail=pd.DataFrame(rows).astype({"first": float})))
    assert [drawn.title(ax) for ax in figure.axes[:2]] == ["$\\varepsilon = 0.1$", "$\\varepsilon = 1$"]
    # Mean and median; in the lower row with and without a long first batch.
    assert [len(ax.get_lines()) for ax in figure.axes] == [2, 2, 4, 4]
    first, ratio = figure.axes[0], figure.axes[2]
    # No first batch is at 0.5.
    assert drawn.named(first) == {"DP-IMED": [[0.5, 100], [1, 100], [8, 100]]}
    assert drawn.guides(first) == [[[0.5, 90], [1, 90], [8, 90]]]
    along = [[1.1, 100], [2, 100], [4, 100]]
    assert drawn.named(ratio) == {"DP-IMED": along, "DP-IMED, first = 8": along}
    assert drawn.guides(ratio) == [[[1.1, 90], [2, 90], [4, 90]]] * 2
    assert drawn.axis_labels(first) == ("first batch $\\times\\ \\varepsilon$ (0 at .5)", "pseudo-regret at $T$")
    assert drawn.axis_labels(ratio) == ("ratio of the batches", "pseudo-regret at $T$")
    assert {drawn.scales(ax) for ax in figure.axes} == {("log", "log")}
    assert drawn.legend(figure) == ["DP-IMED", "DP-IMED, first = 8"]
    assert set(numbers["median"]) == {90}
    assert set(numbers["instance"]) == {"mu2"}
