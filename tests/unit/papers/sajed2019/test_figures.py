"""Check the figures and tables of Sajed & Sheffet 2019."""

import numpy as np
import pandas as pd
import pytest

from privarms.papers.sajed2019 import figures, tables

from .. import drawn
from .tables_by_hand import results, rows

CELL = {"variant": None, "data": "simulated", "environment": "bernoulli", "horizon": 100, "K": 5, "top": 0.75}
CELL |= {"bottom": 0.25, "epsilon": None, "width": None, "exploration": None}
MEASURED = {"replicates": 30, "regret_mean": 10.0, "regret_se": 1.0, "regret_p05": 8.0, "regret_p50": 10.0}
MEASURED |= {"regret_p95": 12.0}


def study(*cells, **measured):
    """Return summaries of cells c0, c1, ... at half the horizon and at the horizon."""
    return [
        one
        for i, cell in enumerate(cells)
        for one in rows(CELL | {"cell": f"c{i}"} | cell, *({"t": t} | MEASURED | measured for t in (50, 100)))
    ]


PUBLISHED = [
    *({"policy": "dp_se", "epsilon": e} for e in (0.1, 0.25, 0.5, 1.0)),
    *({"policy": "dp_ucb", "width": "chan", "epsilon": e} for e in (0.1, 0.25, 0.5, 1.0)),
    *({"policy": policy} for policy in ("ucb1", "successive_elimination", "epoch_se")),
]
ADDED = [{"policy": "dp_se", "epsilon": 2.0}, {"policy": "uniform"}, {"policy": "ucb"}]


def test_the_table_of_regret_takes_figure_1_for_what_was_run_there_alone():
    law = study(*PUBLISHED[:4], *PUBLISHED[-3:], replicates=400_000, regret_mean=11.0)
    regret = tables.regret(results(cells={"regret": law, "figure1": study(*PUBLISHED)}))
    assert len(regret) == len(PUBLISHED)
    assert set(regret.loc[regret["policy"] == "dp_ucb", "replicates"]) == {30}
    assert set(regret.loc[regret["policy"] != "dp_ucb", "replicates"]) == {400_000}
    more = tables.regret(results(cells={"regret": law, "figure1": study(*PUBLISHED, *ADDED)}))
    kept = more.head(len(law) // 2)
    assert (kept["mean"] == 11).all()
    assert len(more) == len(PUBLISHED) + len(ADDED)
    (added,) = more[(more["policy"] == "dp_se") & (more["epsilon"] == 2)].to_dict("records")
    assert added["mean"] == pytest.approx(10)


def test_the_tables_of_the_stopping_rules_count_runs():
    shared = {"policy": "dp_nas", "alpha": 0.1, "epsilon": 1.0, "replicates": 50, "stopping_time_mean": 9.0}
    shared |= {"stopping_time_se": 1.0, "t_upper": 20.0, "t_proof": 3.0, "upper_quartile": 11.0}
    cells = rows(shared, {"mu": 0.5, "by_upper": 0.1, "failure_mean": 0.02}, {"mu": 1.0, "by_upper": 1.0})
    assert list(tables.large_mean(results(large_mean=cells))["halted"]) == [5, 50]
    actual = tables.noise_alone(results(noise_alone=cells))
    assert actual["failures"].tolist()[0] == 1
    assert actual[["mu", "upper_quartile", "t_proof"]].to_numpy().tolist() == [[0.5, 11, 3], [1.0, 11, 3]]


WIDTHS = [{"policy": "dp_ucb", "width": w, "epsilon": e} for w in ("exact", "log3") for e in (0.1, 0.25, 0.5, 1.0)]
FIGURE_1 = [*PUBLISHED[:4], *WIDTHS, *PUBLISHED[-3:]]


@pytest.mark.parametrize(("name", "panels"), [("fig1a", [0.1, 0.25]), ("fig1b", [0.5, 1.0])])
def test_figure_1_names_its_curves_at_their_ends_and_shades_the_claim(name, panels):
    cells = study(*FIGURE_1)
    regrets = {"dp_se": 1_000.0, "ucb1": 300.0, "epoch_se": 800.0, "successive_elimination": 500.0}
    for cell in cells:
        cell["regret_mean"] = regrets.get(cell["policy"], 9_000.0 if cell["width"] == "log3" else 2_000.0)
        cell["replicates"] = {"ucb1": 4, "dp_se": 270}.get(cell["policy"], 30)
    few = [{"cell": c["cell"], "t": c["t"], "low": 900.0, "high": 1_200.0} for c in cells if c["policy"] == "dp_se"]
    figure, numbers = getattr(figures, name)(results(cells={"figure1": cells}, thirty_runs=pd.DataFrame(few)))
    assert sorted(numbers["panel_epsilon"].unique()) == panels
    of_dp_se = numbers[(numbers["policy"] == "dp_se") & (numbers["t"] == 100)]
    assert list(of_dp_se["regret_mean"]) == [1_000, 1_000]
    # Four runs have no interval.
    assert (numbers["low"].isna() == (numbers["policy"] == "ucb1")).all()
    # Where there are more than the paper's runs, the band is that of so many.
    assert of_dp_se[["low", "high"]].to_numpy().tolist() == [[900, 1_200]] * 2
    left, right = figure.axes
    assert [len(ax.get_lines()) for ax in (left, right)] == [6, 6]
    assert not drawn.texts(left)
    assert drawn.texts(right) == [
        "UCB1", "Successive Elimination", "Epoch SE (not private)", "DP-SE", "DP-UCB, exact noise quantile",
        "DP-UCB, order $\\log^3T$",
    ]  # fmt: skip
    assert drawn.legend(figure) == ["claim of section 5: DP-UCB has at least 5 times the regret of DP-SE"]
    zone = next(area for area in left.collections if area.get_label() == drawn.legend(figure)[0])
    assert zone.get_paths()[0].vertices[:, 1].min() == 5_000
    assert {line.get_marker() for line in left.get_lines()} == {"None"}


RATIO = {"replicates": 30, "regret_mean": 20.0, "regret_se": 1.0, "regret_mean_dp_se": 10.0, "regret_se_dp_se": 1.0}
RATIO = CELL | {"spacing": None, "counter": None, "policy": "dp_ucb", "width": "log3"} | RATIO


def test_a_short_horizon_has_regret_that_rises():
    few = pd.DataFrame({"cell": [], "t": [], "low": [], "high": []})
    figure, _ = figures.fig1a(results(cells={"figure1": study(*FIGURE_1, regret_mean=30.0)}, thirty_runs=few))
    for ax in figure.axes[:2]:
        low, high = ax.get_ylim()
        assert low < 30 < high


def test_a_panel_per_width_shows_all_settings():
    cells = [
        RATIO | {"epsilon": e, "K": K, "spacing": spacing, "width": width, "ratio": 2.0 + K, "ratio_se": 0.1}
        for e in (0.1, 1.0)
        for width in ("log3", "exact")
        for K, spacing in ((5, None), (20, None), (5, "convex"), (20, "convex"))
    ]
    cells[0]["replicates"] = 2
    figure, numbers = figures.dp_ucb_width(results(ratios=cells))
    assert [drawn.title(ax) for ax in figure.axes] == ["exact noise quantile", "order $\\log^3T$"]
    for ax in figure.axes:
        assert sorted(drawn.curves(ax)) == sorted([*figures.SETTINGS, "claim: at least 5 times"])
        # Four settings, and the line at 1.
        assert len(ax.get_lines()) == 5
    assert len(drawn.legend(figure)) == 5
    assert set(numbers.loc[numbers["K"] == 20, "ratio"]) == {22}
    assert numbers["low"].isna().sum() == 1, "two runs have no interval"
    assert set(numbers["instance"]) == {"mu2", "mu3"}


def test_growth_is_named_with_its_exponent():
    shared = {"epsilon": 0.25, "regret_mean": 100.0, "K": 5}
    kinds = [{"policy": "dp_se"}, *({"policy": "dp_ucb", "width": width} for width in ("log3", "exact"))]
    cells = rows(
        CELL | MEASURED | shared,
        *({"cell": f"{i}{T}", "horizon": T, "t": T} | kind for T in (100, 10_000) for i, kind in enumerate(kinds)),
    )
    powers = rows(CELL | {"first": 100, "last": 10_000}, *(k | {"exponent": 1.0 + i} for i, k in enumerate(kinds)))
    figure, numbers = figures.growth(results(cells={"growth": cells}, growth=powers))
    names = ["DP-SE, $p = 1.00$", "DP-UCB, exact noise quantile, $p = 3.00$", "DP-UCB, order $\\log^3T$, $p = 2.00$"]
    assert sorted(drawn.texts(figure.axes[0])) == names
    assert len(figure.axes[0].get_lines()) == 3
    assert numbers["ratio"].iloc[0] == pytest.approx(100 / np.log(100))
    assert not drawn.legend(figure)


def test_the_bound_of_theorem_4_3_is_the_smallest_above_dp_se():
    cells = rows(
        CELL | MEASURED,
        *({"policy": "dp_se", "epsilon": e, "order": e, "order_ratio": 10 / e} for e in (1.0, 2.0)),
        {"policy": "epoch_se", "order": 1.0, "order_ratio": 99.0},
    )
    figure, numbers = figures.scaling(results(scaling=cells))
    assert set(numbers["bound_constant"]) == {10}
    assert drawn.curves(figure.axes[0])[-1] == drawn.legend(figure)[-1] == "Epoch SE (not private)"
    assert len(drawn.legend(figure)) == 3


def test_pulls_are_divided_by_the_expression_of_the_lemma():
    cells = [
        CELL | MEASURED | {"policy": "dp_se", "K": K, "epsilon": e, "beta": beta, "gap": gap, "order": 4.0, "arm": 1}
        | {"mean": 8.0 * K, "largest": 9.0 * K, "ceiling": 400.0, "above": 0.0, "any_above": 0.0}
        for K in (2, 20) for e in (0.1, 1.0) for beta in (0.01, 0.05) for gap in (0.1, 0.3)
    ]  # fmt: skip
    figure, numbers = figures.pulls(results(pulls=cells))
    assert len(figure.axes) == 4
    assert drawn.title(figure.axes[0]) == "$\\beta = 1/T$, $\\varepsilon = 0.1$"
    assert drawn.legend(figure) == ["$K = 2$", "$K = 20$", "40 × expression of Lemma 4.2"]
    ends = {line.get_label(): line.get_ydata() for line in figure.axes[0].get_lines()}
    assert list(ends["$K = 20$"]) == [40, 40]
    # Mean, largest and ceiling of two K, and the lemma.
    assert len(figure.axes[0].get_lines()) == 7
    assert list(numbers["mean"].unique()) == [16, 160]


def test_the_worst_gap_has_a_row_per_horizon():
    cells = [
        CELL | MEASURED | {"policy": "dp_se", "K": K, "epsilon": e, "horizon": T, "gap": gap, "order": 5.0}
        | {"ratio": 2.0, "ratio_se": 0.1}
        for K in (2, 20) for e in (0.1, 1.0) for T in (100, 1_000) for gap in (0.1, 0.3)
    ]  # fmt: skip
    figure, numbers = figures.minimax(results(minimax=cells))
    assert [len(ax.get_lines()) for ax in figure.axes] == [2] * 4
    assert drawn.legend(figure) == ["$K = 2$", "$K = 20$"]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert set(numbers["ratio"]) == {2}


def test_stopping_times_have_a_row_per_rule():
    cells = [
        CELL | {"policy": policy, "environment": "two_point", "alpha": 0.1, "epsilon": e, "mu": mu, "replicates": 50}
        | {"stopping_time_mean": 9.0, "stopping_time_se": 1.0, "t_upper": 20.0, "t_lower": 3.0}
        for policy in ("dp_nas", "dp_exponential_nas") for e in (0.1, 1.0) for mu in (0.1, -0.5)
    ]  # fmt: skip
    figure, numbers = figures.stopping_rules(results(stopping=cells))
    titles = [drawn.title(ax) for ax in figure.axes]
    assert titles == ["DP-NAS, $\\alpha = 0.1$", "DP exponential NAS, $\\alpha = 0.1$"]
    # Two budgets, each with a mean and two bounds.
    assert [len(ax.get_lines()) for ax in figure.axes] == [6, 6]
    assert drawn.legend(figure) == ["$\\varepsilon = 0.1$", "$\\varepsilon = 1$"]
    assert set(numbers["t_upper"]) == {20}
