"""Check every figure of Ma et al. (2025): a value in its CSV file, and the lines and labels that it draws."""

import json

import matplotlib
import numpy as np
import pandas as pd
import pytest

from privarms.papers.ma2025 import figures_distance, figures_illustrations, figures_privacy, figures_real_data
from privarms.papers.ma2025 import figures_regret as regret
from privarms.plots import style
from privarms.registry import artifacts

from ..chosen import results
from . import toy_rewards
from .made_up import made_up

PANELS = [(a.made_by[2]["name"], a.made_by[2]["environment"]) for a in artifacts.of_paper("ma2025").values()
          if a.made_by[1] == "regret_panel"]  # fmt: skip
EPSILONS = [f"$\\varepsilon = {e}$" for e in (1, 2, 4, 8, 1024)]
BUDGETS = [f"$\\varepsilon_m = {e}$" for e in (2, 4, 8, 1024)]
SIZES = [f"$n_Q = {n}{{,}}000$" for n in (10, 20, 50, 100)]
ORDERS = [f"{first} quality first, $\\varepsilon = {e}$" for first in ("low", "high") for e in (1, 2)]
LOGS = [regret.LOGS_LABEL]
OF_PROGRAM, THREE = ["program"], ["program", "program with noise", "text with c = 2"]


@pytest.fixture(autouse=True)
def styled():
    with matplotlib.rc_context():
        style.use_style()
        yield
        matplotlib.pyplot.close("all")


def mean_regret(cell):
    """Return regret that grows with the users and falls with epsilon; c = 64 plays uniformly."""
    if cell.parameters.get("c") == 64:
        return 0.4 * cell.horizon
    noise = 5 if cell.parameters.get("deviation") == "noise" else 1
    return noise * cell.horizon**0.5 * (1 + 30 / cell.parameters["epsilon"]) / (1 + cell.parameters["n_aux"]) ** 0.1


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_up(tmp_path_factory.mktemp("made"), mean_regret)


def title(ax):
    return ax.get_title(loc="left")


def labelled(ax):
    """Return the labels of the lines, in the order of drawing."""
    return [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]


def entries(figure):
    """Return the texts of the legends of a figure and of its axes."""
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def test_all_panels_of_the_three_figures_are_registered():
    assert len(PANELS) == 22


@pytest.mark.parametrize(("name", "environment"), PANELS)
def test_a_panel_has_at_most_six_entries_each_with_its_own_look(made, name, environment):
    figure, _ = regret.regret_panel(made, name, environment)
    drawn = entries(figure)
    assert len(drawn) == len(set(drawn)) <= 6
    looks = {}
    for line in (line for ax in figure.axes for line in ax.lines if not line.get_label().startswith("_")):
        looks.setdefault(line.get_label(), set()).add((line.get_color(), line.get_marker(), line.get_linestyle()))
    assert {len(own) for own in looks.values()} == {1}
    assert len(set().union(*looks.values())) == len(looks)
    # A curve has its name at its end or in the legend.
    named = {note.get_text() for ax in figure.axes for note in ax.texts} - {regret.UNIFORM_NOTE}
    assert sorted([*drawn, *named]) == sorted(looks)


@pytest.mark.parametrize(
    ("name", "titles", "lines", "legend"),
    [
        ("fig7a", ["older program", "program", "program with noise", "text with c = 2"], [6, 5, 5, 5], LOGS),
        ("fig7b", ["program", "", "program with noise", "text with c = 2"], [6, 0, 5, 5], LOGS),
        # The text's algorithm has two of the budgets at gamma = 0, and one elsewhere.
        ("fig8a", THREE, [5, 4, 2], LOGS),
        ("fig8b", THREE, [5, 4, 1], LOGS),
        ("fig9a", [*THREE, "", "", ""], [6, 5, 1] * 2, ["$n_Q = 0$", *SIZES, *LOGS]),
        ("fig9b", [*THREE, "", "", ""], [6, 5, 1] * 2, ["$n_Q = 0$", *SIZES, *LOGS]),
        ("fig9c", [*THREE, "", "", ""], [5, 4, 4] * 2, ORDERS + LOGS),
    ],
)
def test_lines_and_labels_of_a_panel(made, name, titles, lines, legend):
    figure, _ = regret.regret_panel(made, name, "exponential")
    assert [title(ax) for ax in figure.axes] == titles
    assert [len(labelled(ax)) for ax in figure.axes] == lines
    assert entries(figure) == legend


def test_curves_and_logs_of_figure_7a(made):
    figure, numbers = regret.regret_panel(made, "fig7a", "exponential")
    of = numbers.set_index(["variant", "epsilon", "n"])["mean_regret"]
    assert of["as_released", 2, 10_000] == pytest.approx(100 * 16)
    assert of["authors_logs", 1, 10_000] == pytest.approx(3878.807)
    older, _, noisy, text = figure.axes
    (line,) = (line for line in noisy.lines if line.get_label() == EPSILONS[1])
    np.testing.assert_allclose(line.get_xdata(), [10, 20, 40, 60, 80, 120, 160])
    np.testing.assert_allclose(line.get_ydata(), 5 * 16 * np.sqrt(1e3 * line.get_xdata()))
    (rings,) = (line for line in older.lines if line.get_label() == LOGS[0])
    assert len(rings.get_xdata()) == 35
    # Uniform play has no label; its note names it.
    (uniform,) = (line for line in text.lines if line.get_label().startswith("_"))
    np.testing.assert_allclose(uniform.get_ydata(), [4_000, 16_000, 64_000])
    assert regret.UNIFORM_NOTE in [note.get_text() for note in text.texts]
    # The names of curves at their ends, from bottom to top.
    assert [note.get_text() for note in noisy.texts] == EPSILONS[::-1]


def test_a_curve_of_figure_8_begins_without_auxiliary_data(made):
    figure, numbers = regret.regret_panel(made, "fig8c", "exponential")
    program = figure.axes[0]
    for line in program.lines[:4]:
        np.testing.assert_allclose(line.get_xdata(), [0, 10, 20, 50, 100])
        assert line.get_ydata()[0] == pytest.approx(31 * 80_000**0.5)
    # The logs list this cell under Figure 8(a) only.
    (rings,) = (line for line in program.lines if line.get_label() == LOGS[0])
    assert 0 in rings.get_xdata()
    assert len(numbers[(numbers["n_aux"] == 0) & (numbers["variant"] == "as_released")]) == 1
    limits = {regret.regret_panel(made, name, "exponential")[0].axes[0].get_ylim() for name in ("fig8a", "fig8f")}
    assert len(limits) == 1


def test_rows_of_figure_9_are_those_of_the_paper(made):
    figure, numbers = regret.regret_panel(made, "fig9a", "exponential")
    assert [figure.axes[i].get_ylabel().splitlines()[0] for i in (0, 3)] == ["$\\varepsilon_m = 1$", BUDGETS[2]]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert set(numbers["panel"]) == {"epsilon_aux = 1", "epsilon_aux = 8"}
    figure, _ = regret.regret_panel(made, "fig9c", "exponential")
    assert [figure.axes[i].get_ylabel().splitlines()[0] for i in (0, 3)] == ["$n_P = 10{,}000$", "$n_P = 80{,}000$"]


def test_few_runs_have_no_interval(made):
    _, numbers = regret.regret_panel(made, "fig7a", "exponential")
    few = numbers["replicates"] < 5
    ours = numbers["variant"] != "authors_logs"
    assert set(numbers.loc[ours & few, "variant"]) == {"as_printed_c64"}
    assert numbers.loc[ours & few, ["low", "high"]].isna().all(axis=None)
    assert numbers.loc[ours & ~few, ["low", "high"]].notna().all(axis=None)


def test_the_second_environment_has_no_logs(made):
    figure, numbers = regret.regret_panel(made, "fig7b", "symmetric")
    assert entries(figure) == []
    assert {note.get_text() for note in figure.axes[0].texts} == set(EPSILONS)
    assert "authors_logs" not in set(numbers["variant"])


def test_deviations_have_a_line_per_change(made):
    figure, numbers = figures_distance.deviations(made)
    assert numbers["per_user"].iloc[0] == pytest.approx(numbers["mean_regret"].iloc[0] / numbers["n"].iloc[0])
    assert [title(ax) for ax in figure.axes] == [f"$n_P = {n}{{,}}000$" for n in (10, 40, 160)]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(names) == len(numbers.drop_duplicates(["variant", "switches"]))
    assert {"as released", "older version", "as printed, c = 2", "noise: every user"} <= set(names)
    assert set(entries(figure)) == {*EPSILONS, *LOGS}


def test_an_algorithm_that_removes_nothing_has_no_curve_of_eliminations():
    rows = [
        {"policy": "ldp_mab", "variant": variant, "c": c, "deviation": "", "also": "", "n": 40_000, "epsilon": epsilon}
        | {"n_aux": 0, "epsilon_aux": "1024", "order": "", "gamma": 0.0, "kappa": 1.0, "M": 2, "K": 3}
        | {"panels": "quality", "replicates": 100, "removed": removed, "wrong": 0.25, "wrong_se": 0.01}
        | {"lost": 0.5, "lost_se": 0.02}
        for variant, c, removed in (("as_released", np.nan, 9.0), ("as_printed", 64.0, 0.0))
        for epsilon in (1, 8)
    ]
    table = results(published={}, tables={}, eliminations=rows)
    figure, numbers = figures_distance.elimination_correctness(table)
    assert numbers["wrong"].tolist() == [0.25] * 4
    assert [labelled(ax) for ax in figure.axes] == [["as released"]] * 2
    assert entries(figure) == ["as released"]


def test_schematic_and_formulas():
    figure, numbers = figures_illustrations.fig1(None)
    assert numbers["receiver"].tolist() == ["user", "server"]
    # Two boxes, two arrows and their messages.
    assert len(figure.axes[0].texts) == 6
    figure, numbers = figures_illustrations.fig4(None)
    # The centre of the last of three arms is at the edge in the text.
    assert numbers.groupby(["variant", "k"])["reward"].idxmax().map(numbers["x1"]).tolist() == pytest.approx(
        [1 / 3, 2 / 3, 1, 1 / 4, 1 / 2, 3 / 4], abs=0.005
    )
    assert [labelled(ax) for ax in figure.axes] == [["$k = 1$", "$k = 2$", "$k = 3$"]] * 2
    figure, numbers = figures_illustrations.fig5(None)
    # A density: its mean over the square is 1.
    assert numbers.groupby(["variant", "gamma"])["density"].mean().tolist() == pytest.approx([1] * 6, abs=0.01)
    assert len([ax for ax in figure.axes if ax.images]) == 6


def partition(figure, **own):
    """Return the rows of a run with two arms: the root, then its halves, of which one loses an arm."""
    bins = [(500, 0, 0, 0.0, 1.0, 0), *((t, b, 1, (b - 1) / 2, b / 2, 0) for t in (1000, 2000) for b in (1, 2))]
    bins += [(t, 0, 0, 0.0, 1.0, 1) for t in (1000, 2000)]
    rows = [
        {"cell": "c", "panels": figure, "t": t, "bin": b, "depth": depth, "x_low": low, "x_high": high} | own
        | {"refined": refined, "arm": arm, "active": int((b, arm) != (1, 1)), "estimate": 0.5 * arm, "radius": 0.25}
        for t, b, depth, low, high, refined in bins
        for arm in (0, 1)
    ]  # fmt: skip
    return results(published={}, tables={}, partitions=rows)


def test_figures_of_one_run():
    figure, numbers = figures_illustrations.fig2(partition("fig2"))
    assert numbers["panel"].unique().tolist() == ["(a) estimates", "(b) an arm is eliminated", "(c) a bin is halved"]
    assert numbers.loc[numbers["arm"] == 1, "estimate"].unique().tolist() == [0.5]
    # Half-widths are max(r, 2^-s): two arms in two bins of depth 1.
    bars = [bar for ax in figure.axes[:1] for bar in ax.collections]
    assert [np.ptp(bar.get_segments()[0][:, 1]) for bar in bars] == pytest.approx([1.0] * 4)
    assert entries(figure) == ["arm 1", "arm 2", "truth"]
    figure, numbers = figures_illustrations.fig3(partition("fig3", y_low=0.0, y_high=1.0))
    assert numbers.groupby("panel")["blue"].agg(["size", "sum"]).to_numpy().tolist() == [[1, 1], [2, 1]]
    assert [len(ax.patches) for ax in figure.axes] == [1, 2]


def illustrated():
    """Return two kinds of auxiliary data: the run without loses arm 3 and then arm 1, the best; in the other, arm 2 is
    gone before."""
    after = {"none": [800.0, np.nan, 600.0], "effective": [np.nan, 0.0, np.nan]}
    missing = {"none": [3, 10, 9], "effective": [10, 6, 10]}
    means, run = [], []
    for kind, eliminated in after.items():
        for t in (500, 1000):
            for arm in range(3):
                means.append(
                    {"cell": kind, "policy": "ldp_mab", "variant": "as_released", "c": np.nan, "deviation": "choice"}
                    | {"environment": "exponential", "horizon": 1000, "K": 3, "epsilon": 1, "epsilon_aux": 8}
                    | {"n_aux": 0 if kind == "none" else 500, "gamma": 0, "kappa": 1, "M": 1}
                    | {"panels": f"fig6 {kind}", "t": t, "arm": arm, "replicates": 10, "regret_mean": 0.4 * t}
                    | {"regret_se": 1.0, "share_mean": 1 / 3, "local_regret_mean": 0.3 * t, "local_regret_se": 1.0}
                    | {"eliminated_after_missing": missing[kind][arm]}
                )
                run.append(
                    {"cell": kind, "t": t, "arm": arm, "regret": 0.5 * t, "local_regret": 0.2 * t}
                    | {"share": [0.5, 0.3, 0.2][arm], "eliminated_after": eliminated[arm]}
                )
    return results(published={}, tables={}, cells={"illustration_curves": means}, illustrated=run)


def test_figure_6_names_the_arms_that_its_run_removes():
    figure, numbers = figures_illustrations.illustration(illustrated(), "fig6", "as_released")
    assert numbers[["t", "regret_mean", "regret"]].iloc[0].tolist() == [500, 200, 250]
    axes = np.reshape(figure.axes, (3, 2))
    assert [title(ax) for ax in axes[0]] == ["without auxiliary data", "effective auxiliary data"]
    assert [title(ax) for ax in axes[2]] == ["best arm out in 70% of runs", "best arm out in 0% of runs"]
    assert [note.get_text() for note in axes[0, 0].texts] == ["arm 3 out", "best arm out"]
    assert [note.get_text() for note in axes[2, 1].texts] == ["out before: arm 2"]
    mean, one, *removals = axes[0, 0].lines
    assert (mean.get_label(), one.get_label()) == ("mean of 10 runs", "one run")
    np.testing.assert_allclose([mean.get_ydata(), one.get_ydata()], [[0.4, 0.4], [0.5, 0.5]])
    assert [line.get_xdata()[0] for line in removals] == [600, 800]
    # The white lines: where the arms' mean shares meet.
    np.testing.assert_allclose([line.get_ydata()[0] for line in axes[2, 1].lines], [1 / 3, 2 / 3])
    assert entries(figure) == ["mean of 10 runs", "one run", "arm 1", "arm 2", "arm 3"]


def test_the_loss_about_a_context_is_unbounded_as_released():
    rows = [
        {"variant": variant, "differ": "context", "event": "quadrant", "batch": 1, "epsilon": epsilon}
        | {"exact": np.inf if variant == "as_released" else epsilon, "lower_bound": 0.9 * epsilon, "confidence": 0.999}
        for variant in ("as_printed", "as_released")
        for epsilon in (1.0, 2.0)
    ]
    figure, numbers = figures_privacy.privacy_as_released(results(published={}, tables={}, privacy=rows))
    released, printed, loss = figure.axes
    (atom,) = numbers.loc[numbers["probability"].notna(), "count"]
    assert atom == 0
    assert [len(ax.lines) for ax in (released, printed)] == [2, 2]
    # An arrow for each bound that does not exist.
    assert len([note for note in loss.texts if note.arrow_patch]) == 2
    names = ["printed, context, quadrant, 1 user", "released, context, quadrant, 1 user"]
    assert entries(figure) == ["the first bin", "the second bin", *names]
    assert numbers.loc[numbers["panel"] == "loss", "lower_bound"].tolist() == [0.9, 1.8] * 2


def test_learning_curves_have_a_panel_per_pair_of_budgets(tmp_path):
    facts = {"target_label_counts": [10, 30], "n_target": 40}
    (tmp_path / "toy.json").write_text(json.dumps(facts), encoding="utf-8")
    made = toy_rewards.results(tmp_path, real_data=toy_rewards.usual(), facts=["toy"])
    figure, numbers = figures_real_data.real_learning_curves(made)
    of = numbers.set_index(["method", "auxiliary", "variant", "epsilon", "epsilon_aux", "t"])["average_reward"]
    assert of["ldp_nn", "without", "", 1, 4, 40] == pytest.approx(0.4)
    assert [title(ax) for ax in figure.axes] == [
        f"toy\n$\\epsilon$ = {e}, $\\epsilon_m$ = {m}" for e, m in ((1, 1), (1, 4), (2, 1), (2, 4))
    ]
    # Three methods and the text's, with and without auxiliary data, and ABSE.
    assert [len(labelled(ax)) for ax in figure.axes] == [9] * 4
    assert len(entries(figure)) == 9
    # The dotted line: the most frequent label.
    constant = [line for line in figure.axes[0].lines if line.get_label().startswith("_")]
    assert [line.get_ydata()[0] for line in constant] == [0.75]


def test_published_ratios_are_the_first_line_of_adult_s_choices():
    published = pd.DataFrame(
        [
            {"dataset": dataset, "method": "ldp_mab", "auxiliary": "with", "epsilon": 1, "epsilon_aux": e}
            | {"time": time, "ratio": 0.9}
            for dataset in ("adult", "jobs")
            for e in (1, 4)
            for time in ("quarter", "full")
        ]
    )
    own = published[published["dataset"] == "adult"].assign(ratio=0.8, se=0.01, replicates=100)
    tables = [own.assign(alternative=name) for name in ("as in Table 2", "batch 500")]
    made = results(published={}, tables={"table2": published}, adult_alternatives=pd.concat(tables))
    figure, numbers = figures_real_data.adult_sensitivity(made)
    assert numbers["ratio"].tolist() == [0.8] * 8
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["published", "as in Table 2", "batch 500"]
    assert len(figure.axes) == 2
    for ax in figure.axes:
        # Points of the published entries have no interval, so they are hollow.
        hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
        assert [line.get_xdata().tolist() for line in hollow] == [[0.9]] * 2
    assert len(entries(figure)) == 2
