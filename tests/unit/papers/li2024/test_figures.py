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


# ln(1,000,000)
LOG = 13.815511


def ends(ax):
    """Return the regret at which a panel's curve is marked and named, by name; (regret, error) satisfy R e = 2."""
    curve, marked = ax.get_lines()
    assert curve.get_xdata()[[0, -1]] == pytest.approx(marked.get_xdata())
    assert (marked.get_marker(), marked.get_linestyle()) == ("o", "None")
    for x, y in (line.get_data() for line in ax.lines):
        assert x * y == pytest.approx(2)
    assert drawn.axis_labels(ax)[0] == "regret $R$"
    assert drawn.scales(ax) == ("log", "log")
    return {text.get_text(): text.xy[0] for text in ax.texts}


def test_figure_1_names_both_ends():
    figure, rows = fig1(None)
    (ax,) = figure.axes
    # The curve is between its two ends: M log n = 27.6, and M f_min = n = 1,000,000.
    names = ["$\\alpha = 1$: $(M\\log n,\\ 1/\\log n)$", "$\\alpha = 0$: $(M f_{\\min},\\ 1/f_{\\min})$"]
    assert ends(ax) == pytest.approx(dict(zip(names, (2 * LOG, 1_000_000), strict=True)))
    assert drawn.axis_labels(ax) == ("regret $R$", "error $e$")
    assert [rows["regret"].min(), rows["regret"].max()] == pytest.approx([2 * LOG, 1_000_000])
    assert (rows["regret"] * rows["error"]).to_numpy() == pytest.approx(2)


def test_privacy_shortens_the_curve():
    figure, rows = fig2(None)
    assert (rows["regret"] * rows["error"]).to_numpy() == pytest.approx(2)
    assert [drawn.title(ax) for ax in figure.axes] == [
        "$\\varepsilon = 1$, or no privacy", "$\\varepsilon = 0.1$", "$\\varepsilon = 0.01$",
    ]  # fmt: skip
    assert figure.axes[0].get_ylabel() == "error $e$"
    for ax, epsilon in zip(figure.axes, (1, 0.1, 0.01), strict=True):
        first, last = ends(ax).values()
        assert (first, last) == pytest.approx((2 * LOG / epsilon, 1_000_000))


def test_a_scenario_is_a_single_point():
    figure, rows = fig3(None)
    # n / M, n^0.6 = 10^3.6, log^2 n and log n.
    f_min = [500_000, 3981.0717, LOG**2, LOG]
    assert rows["f_min"].unique() == pytest.approx(f_min)
    assert [drawn.title(ax) for ax in figure.axes] == [
        f"$f_{{\\min}} = {scenario}$" for scenario in ("\\Theta(n)", "n^{0.6}", "\\log^2 n", "\\log n")
    ]
    for ax, last in zip(figure.axes, f_min, strict=True):
        named = ends(ax)
        # A single point has one name.
        by_name = {"$\\alpha = 1$": 2 * LOG} | ({} if last == LOG else {"$\\alpha = 0$": 2 * last})
        assert named == pytest.approx(by_name)
        # The region begins at the curve, ends at an error of one half, and continues to the right of the last end.
        ((least, most),) = drawn.bands(ax)
        assert (least, most) == pytest.approx((1 / last, 0.5), rel=1e-4)
        assert max(ax.collections[0].get_paths()[0].vertices[:, 0]) == pytest.approx(3e6)


def test_regret_and_error_have_a_column_per_algorithm():
    measured = {"regret": 10.0, "regret_se": 1.0, "mse": 0.2, "mse_se": 0.01, "expected_mse": 0.1}
    measured |= {"eliminated_fraction": 1.0, "missing_fraction": 0.0}
    rows = [
        CELL | algorithm | measured | {"horizon": n, "alpha": alpha, "M": M}
        for algorithm in ALGORITHMS for n in (1_000, 2_000) for alpha in (0.0, 1.0) for M in (1, 2)
    ]  # fmt: skip
    # M = 1, and other arrivals, are only in the CSV file.
    rows = [row | {"regret": 10.0 if row["M"] == 2 else 7.0} for row in rows]
    rows += [CELL | ALGORITHMS[0] | measured | {"horizon": 1_000, "regret": 7.0, "arrivals": "bursts"}]
    rows[3]["replicates"] = 1
    only = CELL | ALGORITHMS[0] | measured | {"horizon": 500}
    figure, numbers = pareto_empirical(results(pareto=[*rows, only]))
    titles = [drawn.title(ax) for ax in figure.axes]
    names = ["no privacy", "DP-ConSE", "DP-ConSE (total)"]
    assert titles == [f"{name}, n = {n}" for n in ("1,000", "2,000") for name in names], "n = 500 ran without privacy"
    assert [drawn.curves(ax) for ax in figure.axes[:3]] == [
        ["ConSE (SE)"], ["$\\varepsilon = 0.1$", "$\\varepsilon = 1$"], ["$\\varepsilon = 1$"],
    ]  # fmt: skip
    assert drawn.legend(figure) == ["ConSE (SE)", "$\\varepsilon = 0.1$", "$\\varepsilon = 1$"]
    assert [one.get_title().get_text() for one in figure.legends] == ["dashed: regret × error = M"]
    first, private = figure.axes[:2]
    assert drawn.named(private) == {name: [[10, 0.2], [10, 0.2]] for name in drawn.legend(figure)[1:]}
    # The normal 97.5% quantile is 1.959964; one point has a single run and no interval.
    assert drawn.intervals(private)[0] == [[10, 0.18040036], [10, 0.21959964]]
    assert [len(drawn.intervals(ax)) for ax in (first, private)] == [1, 4]
    # Under a logarithm of at most 1,000 patients: M log n = 13.8, 13.8 x 0.145 = 2, and M f_min = n.
    *formulas, theory = drawn.guides(private)
    assert formulas == [[[10, 0.1], [10, 0.1]]] * 2
    assert theory[0] == pytest.approx([13.815511, 0.144765], abs=1e-6)
    assert theory[-1] == pytest.approx([1_000, 0.002])
    assert [drawn.axis_labels(ax) for ax in (figure.axes[0], figure.axes[-1])] == [("", "error"), ("regret", "")]
    assert {drawn.scales(ax) for ax in figure.axes} == {("log", "log")}
    assert (len(numbers), set(numbers["M"]), set(numbers["mse"])) == (len(rows), {1, 2}, {0.2})


def test_the_cost_of_privacy_is_ordered_by_epsilon():
    rows = [
        CELL | algorithm | {"horizon": n, "alpha": alpha}
        | {"expected_mse_ratio": 2.0, "mse_ratio": 3.0, "regret_ratio": 5.0}
        for algorithm in ALGORITHMS[1:] for n in (1_000, 2_000) for alpha in (0.0, 1.0)
    ]  # fmt: skip
    # Only the budget for the whole experiment has no formula.
    rows = [row | {"expected_mse_ratio": None} if row["policy"] == "dp_conse_total" else row for row in rows]
    rows += [row | {"M": 1, "regret_ratio": 7.0} for row in rows]
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
    published = {f"DP-ConSE, $\\varepsilon = {epsilon}$": [[0, 2], [1, 2]] for epsilon in ("0.1", "1")}
    error, regret = figure.axes[0], figure.axes[2]
    assert drawn.named(error) == published | {"DP-ConSE (total), $\\varepsilon = 1$": [[0, 3], [1, 3]]}
    assert set(map(str, drawn.named(regret).values())) == {str([[0.0, 5.0], [1.0, 5.0]])}
    assert drawn.guides(error) == drawn.guides(regret) == [[[0, 1], [1, 1]]]
    assert drawn.axis_labels(regret) == ("$\\alpha$", "DP-ConSE / ConSE")
    assert drawn.scales(error) == ("linear", "log")
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
    for ax in figure.axes:
        assert drawn.named(ax) == {name: [[1000, 0.25], [2000, 0.25]] for name in drawn.legend(figure)}
        assert drawn.scales(ax) == ("log", "linear")
    # All curves coincide: that without privacy is below the others and wider.
    first, *others = figure.axes[0].get_lines()
    assert first.get_label() == "ConSE (SE)"
    assert first.get_linewidth() > max(line.get_linewidth() for line in others)
    assert drawn.axis_labels(figure.axes[0]) == ("patients $n$", "share of features eliminated")
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
    for ax in drawn.shown(figure):
        assert drawn.named(ax) == {name: [[0, 0.9], [1, 0.9]] for name in drawn.legend(figure)}
        assert drawn.guides(ax) == [[[0, 0.95], [1, 0.95]]]
        # Student's 97.5% quantile with 99 degrees of freedom is 1.984217.
        assert drawn.bands(ax) == [pytest.approx((0.9 - 0.01984217, 0.9 + 0.01984217))] * 2
    assert figure.axes[0].get_ylabel() == "ConSE\n(SE)\ncoverage"
    assert {ax.get_xlabel() for ax in figure.axes[2:]} == {"$\\alpha$"}
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
    # Losses over epsilon: points 0.7 / epsilon, exact 0.8 / epsilon, allowed 0.5 / epsilon, and the theorem's 1.
    for ax in figure.axes:
        assert [[y for _, y in points] for points in drawn.named(ax).values()] == [[1.4, 1.4], [0.7, 0.7]]
        exact = [[[1, loss], [5, loss]] for loss in (1.6, 0.8)]
        allowed = [[[1, loss], [5, loss]] for loss in (1.0, 0.5)]
        found = drawn.guides(ax)
        assert found == [exact[0], allowed[0], exact[1], allowed[1], [[0, 1], [1, 1]]]
    assert drawn.axis_labels(figure.axes[2]) == ("features $M$", "privacy loss / $\\varepsilon$")
    assert set(numbers["exact"]) == {0.8}


def test_what_an_audit_measured_is_no_setting_of_a_release():
    table = _rows.audit(results(audit=audits()).inference("audit"))
    assert set(table["release"]) == {
        "lengths", "first_half", "lengths (budget total)", "first_half (budget total)",
    }  # fmt: skip
