"""Check the figures of li2024 on handmade tables: a value, the lines and the labels of each."""

import pytest

from privarms.papers.li2024 import _rows
from privarms.papers.li2024.figures import (
    audit,
    coverage_intervals,
    elimination,
    fig1,
    fig2,
    fig3,
    pareto_empirical,
    privacy_cost,
)

from .. import chosen, drawn

CELL = {
    "arrivals": "stationary",
    "environment": "features_bernoulli",
    "budget": None,
    "alpha": 0.5,
    "M": 2,
    "replicates": 100,
}
ALGORITHMS = [
    {"policy": "conse_se", "variant": None, "epsilon": None},
    *({"policy": "dp_conse", "variant": None, "epsilon": epsilon} for epsilon in (0.1, 1.0)),
    {"policy": "dp_conse_total", "variant": None, "epsilon": 1.0},
]


def results(**tables):
    return chosen.results(published={"coverage": 0.95, "privacy_loss": 1.0}, tables={}, **tables)


def test_figure_1_names_both_ends():
    figure, rows = fig1(None)
    assert len(drawn.texts(figure.axes[0])) == 2
    # The curve and its two ends.
    assert len(figure.axes[0].get_lines()) == 2
    assert (rows["regret"] * rows["error"]).to_numpy() == pytest.approx(2)


def test_curves_are_drawn_where_they_are():
    figure, rows = fig2(None)
    assert (rows["regret"] * rows["error"]).to_numpy() == pytest.approx(2)
    assert [len(ax.get_lines()) for ax in figure.axes] == [2, 2, 2]
    assert [len(drawn.texts(ax)) for ax in figure.axes] == [2, 2, 2]
    for ax in figure.axes:
        for line in ax.lines:
            x, y = line.get_data()
            assert x * y == pytest.approx(2)


def test_a_scenario_is_a_single_point():
    figure, rows = fig3(None)
    assert 1 in rows.groupby("scenario", sort=False)["regret"].apply(lambda curve: curve.round(9).nunique()).tolist()
    # A single point has one name.
    assert [len(drawn.texts(ax)) for ax in figure.axes] == [2, 2, 2, 1]


def test_regret_and_error_have_a_column_per_algorithm():
    measured = {"regret": 10.0, "regret_se": 1.0, "mse": 0.2, "mse_se": 0.01, "expected_mse": 0.1}
    measured |= {"eliminated_fraction": 1.0, "missing_fraction": 0.0}
    rows = [
        CELL | algorithm | measured | {"horizon": n, "alpha": alpha, "M": M}
        for algorithm in ALGORITHMS for n in (1_000, 2_000) for alpha in (0.0, 1.0) for M in (1, 2)
    ]  # fmt: skip
    rows[2]["replicates"] = 1
    only = CELL | ALGORITHMS[0] | measured | {"horizon": 500}
    figure, numbers = pareto_empirical(results(pareto=[*rows, only]))
    titles = [drawn.title(ax) for ax in figure.axes]
    names = ["no privacy", "DP-ConSE", "DP-ConSE (total)"]
    assert titles == [f"{name}, n = {n}" for n in ("1,000", "2,000") for name in names], "n = 500 ran without privacy"
    assert [drawn.curves(ax) for ax in figure.axes[:3]] == [
        ["ConSE (SE)"], ["$\\varepsilon = 0.1$", "$\\varepsilon = 1$"], ["$\\varepsilon = 1$"],
    ]  # fmt: skip
    assert len(drawn.legend(figure)) == 3
    assert (len(numbers), set(numbers["M"]), set(numbers["mse"])) == (len(rows) + 1, {1, 2}, {0.2})


def test_the_cost_of_privacy_is_ordered_by_epsilon():
    rows = [
        CELL | algorithm | {"horizon": n, "alpha": alpha}
        | {"expected_mse_ratio": 2.0, "mse_ratio": 3.0, "regret_ratio": 5.0}
        for algorithm in ALGORITHMS[1:] for n in (1_000, 2_000) for alpha in (0.0, 1.0)
    ]  # fmt: skip
    figure, numbers = privacy_cost(results(privacy_cost=rows))
    assert drawn.legend(figure) == [
        "DP-ConSE, $\\varepsilon = 0.1$", "DP-ConSE, $\\varepsilon = 1$", "DP-ConSE (total), $\\varepsilon = 1$",
    ]  # fmt: skip
    assert [drawn.title(ax) for ax in figure.axes][:2] == ["error, n = 1,000", "error, n = 2,000"]
    # Three curves and the line at 1.
    assert [len(ax.get_lines()) for ax in figure.axes] == [4] * 4
    small, large, total = figure.axes[0].get_lines()[:3]
    assert large.get_color() == total.get_color() != small.get_color()
    assert large.get_linestyle() != total.get_linestyle()
    assert set(numbers["regret_ratio"]) == {5.0}


def test_elimination_has_a_panel_per_number_of_features():
    rows = [
        CELL | algorithm | {"horizon": n, "M": M, "eliminated_fraction": 0.25}
        for algorithm in ALGORITHMS[:3] for n in (1_000, 2_000) for M in (10, 1)
    ]  # fmt: skip
    figure, numbers = elimination(results(elimination=rows))
    assert [drawn.title(ax) for ax in figure.axes] == ["M = 1", "M = 10"]
    assert [len(ax.get_lines()) for ax in figure.axes] == [3, 3]
    assert drawn.legend(figure) == ["ConSE (SE)", "DP-ConSE, $\\varepsilon = 0.1$", "DP-ConSE, $\\varepsilon = 1$"]
    assert set(numbers["eliminated_fraction"]) == {0.25}


def test_coverage_has_a_row_per_algorithm_and_no_empty_panels():
    rows = [
        CELL | algorithm | {"horizon": n, "alpha": alpha, "interval": interval, "coverage": 0.9, "se": 0.01}
        for algorithm in ALGORITHMS[:2] for n in (1_000, 2_000) for alpha in (0.0, 1.0)
        for interval in ("printed", "corrected_laplace")
        if n == 1_000 or algorithm is ALGORITHMS[0]
    ]  # fmt: skip
    figure, numbers = coverage_intervals(results(coverage=rows))
    assert [drawn.title(ax) for ax in drawn.shown(figure)] == [
        "n = 1,000, M = 2", "n = 2,000, M = 2", "n = 1,000, M = 2",
    ]  # fmt: skip
    # Two intervals and the nominal level.
    assert [len(ax.get_lines()) for ax in drawn.shown(figure)] == [3, 3, 3]
    assert drawn.legend(figure) == ["printed variance", "corrected + laplace variance"]
    assert figure.axes[0].get_ylabel() == "ConSE\n(SE)\ncoverage"
    assert set(numbers["coverage"]) == {0.9}


LOSSES = {f"over_{promised}{end}": 0.9 for promised in ("half", "epsilon") for end in ("", "_low", "_high")}
AUDITED = {"claimed": 0.5, "exact": 0.8, "lower_bound": 0.7, "confidence": 0.99, "trials": 100, "events_0": 5}
AUDITED |= {"events_1": 9, "runs": 100} | LOSSES


def audits():
    return [
        AUDITED | {"release": release, "M": M, "epsilon": epsilon, "budget": budget, "cells": f"c{M} d{epsilon}"}
        for budget in (None, "total") for release in ("lengths", "first_half") for M in (1, 5) for epsilon in (0.5, 1.0)
    ]  # fmt: skip


def test_an_audit_has_a_row_per_budget_and_a_column_per_release():
    figure, numbers = audit(results(audit=audits()))
    assert [drawn.title(ax) for ax in figure.axes] == [
        "lengths\nas published", "first half\nas published", "lengths\nbudget total", "first half\nbudget total",
    ]  # fmt: skip
    # Two budgets: points, exact loss and allowed loss; and the theorem's epsilon.
    assert [len(ax.get_lines()) for ax in figure.axes] == [7] * 4
    assert drawn.legend(figure) == ["$\\varepsilon = 0.5$", "$\\varepsilon = 1$"]
    assert set(numbers["exact"]) == {0.8}


def test_what_an_audit_measured_is_no_setting_of_a_release():
    table = _rows.audit(results(audit=audits()).inference("audit"))
    assert set(table["release"]) == {
        "lengths", "first_half", "lengths (budget total)", "first_half (budget total)",
    }  # fmt: skip
