"""Check the figures of the comparison on handmade tables: a value, the points and the labels of each."""

import pandas as pd
import pytest

from privarms.papers.synthesis import figures

from .. import chosen, drawn
from . import tables_by_hand as made

PROCEDURES = ["naive", "Bonferroni", "max-information", "confidence sequence", "e-value", "sample splitting"]
# Of the naive test, in 1,000 runs.
POWERS = {"dp_se": 800, "dp_imed": 900, "private_ucb": 1_000}
MU2 = {"errors": 100, "mean_held": 920}


def results():
    short, long = made.runs().assign(theorem=3.0), made.runs().assign(theorem=0.5, horizon=5_000)
    runs = pd.concat([short, long, made.runs().assign(horizon=2_000)], ignore_index=True)
    tests = made.tests(runs)
    naive = tests["procedure"] == "naive"
    tests.loc[naive & (tests["instance"] == "mu2"), list(MU2)] = list(MU2.values())
    tests.loc[naive & (tests["policy"] == "ucb1"), "errors"] = 500
    powers = tests["policy"].map(POWERS)
    tests["powers"] = tests["powers"].mask(naive & tests["powers"].notna() & powers.notna(), powers)
    # A policy with an epsilon that claims no privacy does not count.
    public = tests[tests["policy"] == "dp_se"].assign(policy="ldp_ucb", curve="other", claims=False, errors=900)
    tests = pd.concat([tests, public], ignore_index=True)
    return chosen.results(published={}, tables={}, runs=runs, tests=tests, privacy=made.privacy())


def test_the_overview_names_every_policy_once_per_horizon():
    figure, numbers = figures.overview(results())
    assert len(figure.axes) == 8
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names == ["DP-IMED: 1.00 ε", "DP-SE: 1.00 ε", "Private UCB: 8.00 ε", "UCB1", "uniform"]
    assert [drawn.title(ax) for ax in figure.axes if drawn.title(ax)] == ["$T = 1{,}000$", "$T = 5{,}000$"]
    assert drawn.legend(figure) == ["$\\varepsilon = 1$", "no privacy"]
    assert [ax.get_xlabel() for ax in figure.axes] == 2 * [
        "regret /\n$d_\\varepsilon$ bound", "largest |bias|\nof an arm",
        "type I error,\nnaive test", "coverage,\nnaive interval",
    ]  # fmt: skip
    assert [drawn.scales(ax)[0] for ax in figure.axes] == 2 * ["log", "log", "linear", "linear"]
    assert set(numbers["horizon"]) == {1_000, 2_000, 5_000}
    imed = numbers[(numbers["curve"] == "DP-IMED") & (numbers["measure"] == "over_bound")]
    assert set(imed["value"]) == {2}


def from_top(ax):
    """Return the points of each label, from the first line to the last."""
    return {name: sorted(points, key=lambda point: point[1]) for name, points in drawn.named(ax).items()}


def test_the_overview_draws_each_measure_on_the_lines_of_the_policies():
    figure, _ = figures.overview(results())
    for above in (0, 4):
        regret, bias, error, coverage = (from_top(ax) for ax in figure.axes[above : above + 4])
        private, public = "$\\varepsilon = 1$", "no privacy"
        # 100, 200 and 50 over a bound of 50.
        assert regret == {private: [[2, 0], [4, 1], [1, 2]]}
        assert bias == {private: [[0.02, 0], [0.02, 1], [0.02, 2]], public: [[0.02, 3], [0.02, 4]]}
        # The larger error, and the smaller coverage, of the two instances.
        assert error == {private: [[0.2, 0], [0.2, 1], [0.2, 2]], public: [[0.5, 3], [0.2, 4]]}
        assert coverage == {private: [[0.88, 0], [0.88, 1], [0.88, 2]], public: [[0.88, 3], [0.88, 4]]}
    levels = [[[x for (x, _), _ in drawn.guides(ax)] for ax in figure.axes[above : above + 4]] for above in (0, 4)]
    # The bound, the theorem's bound on the bias (at most 1), the level and the nominal coverage.
    assert levels == [[[1], [1], [0.05], [0.95]], [[1], [0.5], [0.05], [0.95]]]
    # Clopper and Pearson's 95% interval of 200 in 1,000.
    (low, _), (high, _) = drawn.intervals(figure.axes[2])[0]
    assert (low, high) == pytest.approx((0.175621, 0.226159), abs=1e-6)


def test_procedures_have_a_row_per_measure():
    figure, numbers = figures.tests(results())
    assert len(figure.axes) == 12
    assert drawn.legend(figure) == PROCEDURES
    errors = numbers[(numbers["measure"] == "error") & (numbers["procedure"] == "naive")]
    assert set(errors["value"]) == {0.2}
    # Six procedures and the nominal level.
    assert [len(ax.get_lines()) for ax in figure.axes[:3]] == [7, 7, 7]
    assert [drawn.title(ax) for ax in figure.axes] == [f"$T = {n}{{,}}000$" for n in (1, 2, 5)] + [""] * 9
    assert [ax.get_ylabel() for ax in figure.axes[::3]] == [
        "type I error,\nlargest", "power,\nmean", "coverage (mean),\nleast", "width (mean),\nmean",
    ]  # fmt: skip
    assert [ax.get_xlabel() for ax in figure.axes] == [""] * 9 + ["privacy budget $\\varepsilon$"] * 3
    assert [drawn.scales(ax) for ax in figure.axes[::3]] == [("log", "linear")] * 3 + [("log", "log")]


def test_measures_of_a_procedure_are_those_of_the_private_policies():
    figure, _ = figures.tests(results())
    error, power, coverage, width = (drawn.named(ax) for ax in figure.axes[::3])
    # The largest error, the mean of powers .8, .9 and 1, the smallest coverage.
    assert (error["naive"], power["naive"], coverage["naive"]) == ([[1, 0.2]], [[1, 0.9]], [[1, 0.88]])
    assert width == {
        "naive": [[1, 0.05]], "max-information": [[1, 0.9]],
        "confidence sequence": [[1, 0.1]], "sample splitting": [[1, 0.05]],
    }  # fmt: skip
    assert [[y for (_, y), _ in drawn.guides(ax)] for ax in figure.axes[::3]] == [[0.05], [], [0.95], []]
    assert drawn.bands(figure.axes[0])[0] == pytest.approx((0.175621, 0.226159), abs=1e-6)
