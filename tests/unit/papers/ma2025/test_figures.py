"""Check every figure of Ma et al. (2025): a value in its CSV file, and the lines and labels that it draws."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Annotation

from privarms.papers.ma2025 import figures_distance, figures_illustrations, figures_privacy, figures_real_data
from privarms.papers.ma2025 import figures_regret as regret
from privarms.planning.studies import Entry
from privarms.plots import style
from privarms.registry import artifacts

from .. import drawn
from ..chosen import results
from . import toy_rewards
from .made_up import made_up, tags

pytestmark = pytest.mark.usefixtures("styled")

PANELS = [(a.made_by[2]["name"], a.made_by[2]["environment"]) for a in artifacts.of_paper("ma2025").values()
          if a.made_by[1] == "regret_panel"]  # fmt: skip
EPSILONS = [f"$\\varepsilon = {e}$" for e in (1, 2, 4, 8, 1024)]
BUDGETS = [f"$\\varepsilon_m = {e}$" for e in (2, 4, 8, 1024)]
SIZES = [f"$n_Q = {n}{{,}}000$" for n in (10, 20, 50, 100)]
ORDERS = [f"{first} quality first, $\\varepsilon = {e}$" for first in ("low", "high") for e in (1, 2)]
LOGS = [regret.LOGS_LABEL]
OF_PROGRAM, THREE = ["program"], ["program", "program with noise", "text with c = 2"]


def mean_regret(cell):
    """Return regret that grows with the users and falls with epsilon; c = 64 plays uniformly."""
    if cell.parameters.get("c") == 64:
        return 0.4 * cell.horizon
    noise = 5 if cell.parameters.get("deviation") == "noise" else 1
    return noise * cell.horizon**0.5 * (1 + 30 / cell.parameters["epsilon"]) / (1 + cell.parameters["n_aux"]) ** 0.1


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_up(tmp_path_factory.mktemp("made"), mean_regret)


def labelled(ax):
    """Return the labels of the lines, in the order of drawing."""
    return [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]


def test_all_panels_of_the_three_figures_are_registered():
    assert len(PANELS) == 22


@pytest.mark.parametrize(("name", "environment"), PANELS)
def test_a_panel_has_at_most_six_entries_each_with_its_own_look(made, name, environment):
    figure, _ = regret.regret_panel(made, name, environment)
    legend = drawn.legend(figure)
    assert len(legend) == len(set(legend)) <= 6
    looks = {}
    for line in (line for ax in figure.axes for line in ax.lines if not line.get_label().startswith("_")):
        looks.setdefault(line.get_label(), set()).add((line.get_color(), line.get_marker(), line.get_linestyle()))
    assert {len(own) for own in looks.values()} == {1}
    assert len(set().union(*looks.values())) == len(looks)
    # A curve has its name at its end or in the legend.
    named = {note.get_text() for ax in figure.axes for note in ax.texts} - {regret.UNIFORM_NOTE}
    assert sorted([*legend, *named]) == sorted(looks)


USERS, SOURCES = "target users $n_P$ (thousands)", "users per source $n_Q$ (thousands)"


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("fig7a", USERS, "linear"),
        ("fig7b", USERS, "linear"),
        ("fig8a", SOURCES, "log"),
        ("fig9a", "$\\kappa$", "log"),
        ("fig9b", "$\\gamma$", "log"),
        ("fig9c", SOURCES, "log"),
    ],
)
def test_axes_of_a_panel(made, name, x, y):
    figure, _ = regret.regret_panel(made, name, "exponential")
    below = [ax for ax in figure.axes if ax.get_subplotspec().is_last_row() and ax.axison]
    assert {ax.get_xlabel() for ax in below} == {x}
    lefts = [ax.get_ylabel() for ax in figure.axes if ax.get_subplotspec().is_first_col()]
    assert {text.splitlines()[-1] for text in lefts} == {"cumulative regret"}
    assert {drawn.scales(ax) for ax in figure.axes if ax.axison} == {("linear", y)}


def test_budgets_have_colours_in_sequence(made):
    for name, names in (("fig7a", EPSILONS), ("fig8a", BUDGETS), ("fig9b", SIZES)):
        figure, _ = regret.regret_panel(made, name, "exponential")
        colours = {line.get_label(): line.get_color() for line in figure.axes[0].lines}
        lightness = [np.dot(to_rgb(colours[label]), (0.299, 0.587, 0.114)) for label in names]
        assert (np.diff(lightness) > 0.05).all()


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
    assert [drawn.title(ax) for ax in figure.axes] == titles
    assert [len(labelled(ax)) for ax in figure.axes] == lines
    assert drawn.legend(figure) == legend


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
    # The first log: epsilon = 1 and 10,000 users.
    assert (rings.get_xdata()[0], rings.get_ydata()[0]) == (10, pytest.approx(3878.807))
    # Means of 100 runs with the standard error 1: Student's 97.5% quantile with 99 degrees of freedom is 1.984217.
    assert drawn.bands(older)[0] == pytest.approx((3_100 - 1.984217, 12_400 + 1.984217))
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


def added(studies):
    """Add cells without a tag: another budget of no sources, and uniform play, in (a); another batch in (b)."""
    point = {"horizon": 80_000, "epsilon": 1, "M": 2, "kappa": 1}
    released, printed = ({"policy": "ldp_mab", "variant": f"as_{variant}"} for variant in ("released", "printed"))
    uniform = {"n_aux": 10_000, "epsilon_aux": 8, "centres": "as_released"}
    for study, entry, own in (
        ("regret", released, {"panel": "fig8a", "gamma": 0, "batch": 500, "n_aux": 0, "epsilon_aux": 16}),
        ("regret_printed", printed | {"c": 64}, {"panel": "fig8a", "gamma": 0} | uniform),
        ("regret", released, {"panel": "fig8b", "gamma": 0.2, "batch": 50, "n_aux": 10_000, "epsilon_aux": 2}),
    ):
        # Before the others, because their order must not matter.
        studies[study].policies.insert(0, Entry.model_validate(entry | {"grid": point | own}))


def test_what_somebody_adds_changes_no_published_curve(made, tmp_path, caplog):
    published = tags()
    larger = made_up(tmp_path, lambda cell: mean_regret(cell) * (1 if cell.name in published else 1.5), change=added)
    for name, more in (("fig8a", 2), ("fig8b", 1)):
        (first, rows), (second, others) = (regret.regret_panel(one, name, "exponential") for one in (made, larger))
        before, after = (
            {
                (line.get_label().partition("_child")[0], *line.get_xdata(), *line.get_ydata())
                for ax in figure.axes
                for line in ax.lines
            }
            for figure in (first, second)
        )
        assert {line for line in before if line[0] != LOGS[0]} <= after, name
        assert len(others) == len(rows) + more
        assert set(rows["variant"]) <= set(others["variant"])
    assert "several values" not in caplog.text


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
    assert drawn.legend(figure) == []
    assert {note.get_text() for note in figure.axes[0].texts} == set(EPSILONS)
    assert "authors_logs" not in set(numbers["variant"])


def test_deviations_have_a_line_per_change(made):
    figure, numbers = figures_distance.deviations(made)
    assert numbers["per_user"].iloc[0] == pytest.approx(numbers["mean_regret"].iloc[0] / numbers["n"].iloc[0])
    assert [drawn.title(ax) for ax in figure.axes] == [f"$n_P = {n}{{,}}000$" for n in (10, 40, 160)]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(names) == len(numbers.drop_duplicates(["variant", "switches"]))
    assert {"as released", "older version", "as printed, c = 2", "noise: every user"} <= set(names)
    assert [name for name in names if name.startswith("as printed")] == [
        f"as printed, c = {c}" for c in (2, 16, 64, 256, 640)
    ]
    assert drawn.legend(figure) == [*LOGS, *EPSILONS]
    # The program without a change is the first line. With epsilon = 2 its regret is 16 sqrt(n), or 0.16 per user.
    first = figure.axes[0]
    assert [0.16, 0] in drawn.named(first)[EPSILONS[1]]
    # Noise from every user multiplies it by 5.
    assert [0.8, names.index("noise: every user")] in drawn.named(first)[EPSILONS[1]]
    # A mean of 50 runs with the standard error 1: Student's 97.5% quantile with 49 degrees of freedom is 2.009575.
    bar = next(bar for bar in drawn.intervals(first) if bar[0][0] < 0.16 < bar[1][0])
    assert np.array(bar)[:, 0] == pytest.approx([0.1597990425, 0.1602009575])
    # The logs of each size are at the older program.
    older = names.index("older version")
    rings = [drawn.named(ax)[LOGS[0]] for ax in figure.axes]
    assert [[y for _, y in some] for some in rings] == [[older] * 5] * 3
    assert [some[0][0] for some in rings] == pytest.approx([3878.807 / 1e4, 12345.134 / 4e4, 34750.659 / 1.6e5])
    assert [ax.get_xlabel() for ax in figure.axes] == ["regret per user"] * 3
    assert {ax.get_xscale() for ax in figure.axes} == {"log"}


def eliminations():
    """Return removals of two algorithms without and with sources; the text with c = 64 removes nothing."""
    settings = [("as_released", np.nan, 9.0), ("as_printed", 2.0, 9.0), ("as_printed", 64.0, 0.0)]
    return [
        {"policy": "ldp_mab", "variant": variant, "c": c, "deviation": "", "also": "", "n": 40_000, "epsilon": epsilon}
        | {"n_aux": n_aux, "epsilon_aux": budget, "order": "", "gamma": 0.0, "kappa": 1.0, "M": 2, "K": 3}
        | {"panels": "quality", "replicates": 100, "removed": removed, "wrong_se": 0.01, "lost_se": 0.02}
        | {"wrong": 0.25 if n_aux == 0 else 0.125, "lost": 0.5 if c == 2 else 0.75}
        for variant, c, removed in settings
        for n_aux, budget in ((20_000, "8"), (20_000, "1"), (0, "1024"))
        for epsilon in (1, 8)
    ]


def test_eliminations_have_a_column_per_algorithm_that_removes_arms():
    rows = eliminations()
    other = rows[0] | {"panels": "order", "epsilon": 2}
    table = results(published={}, tables={}, eliminations=[*rows, other])
    figure, numbers = figures_distance.elimination_correctness(table)
    assert numbers["wrong"].tolist() == [0.125, 0.125, 0.125, 0.125, 0.25, 0.25] * 3
    assert [drawn.title(ax) for ax in figure.axes] == ["program", "text with c = 2", "", ""]
    assert drawn.legend(figure) == ["without auxiliary data", "$\\varepsilon_m = 1$", "$\\varepsilon_m = 8$"]
    # The upper row has the removals that are wrong, the lower row the contexts without their best arm.
    wrong, _, of_program, of_text = figure.axes
    values = zip(drawn.legend(figure), (0.25, 0.125, 0.125), strict=True)
    assert drawn.named(wrong) == {name: [[1, value], [8, value]] for name, value in values}
    for ax, lost in ((of_program, 0.75), (of_text, 0.5)):
        assert drawn.named(ax) == {name: [[1, lost], [8, lost]] for name in drawn.legend(figure)}
    third = round(1 / 3, 9)
    assert [drawn.guides(ax) for ax in figure.axes] == [[[[0, third], [1, third]]]] * 2 + [[], []]
    # Student's 97.5% quantile with 99 degrees of freedom is 1.984217.
    assert drawn.bands(wrong)[0] == pytest.approx((0.25 - 0.01984217, 0.25 + 0.01984217))
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "share of eliminated arms\nthat are best", "", "share of contexts without\ntheir best arm", "",
    ]  # fmt: skip
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", *["privacy budget $\\varepsilon$"] * 2]
    assert {drawn.scales(ax) for ax in figure.axes} == {("log", "linear")}


def test_schematic_and_formulas():
    figure, numbers = figures_illustrations.fig1(None)
    assert numbers["receiver"].tolist() == ["user", "server"]
    # Two boxes, two arrows and their messages: the policy goes to the user, at the left, the message to the server.
    assert len(figure.axes[0].texts) == 6
    places = {text.get_text().split("\n")[0]: text.get_position() for text in figure.axes[0].texts}
    assert (places["user $t$"][0], places["server"][0]) == (0.2, 0.8)
    messages = [places["policy $\\pi_t$"], places["private message $\\tilde{Z}_t$"]]
    arrows = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    assert [(one.xyann[0] > one.xy[0], one.xy[1] < y) for one, (_, y) in zip(arrows, messages, strict=True)] == [
        (True, True), (False, True),
    ]  # fmt: skip
    figure, numbers = figures_illustrations.fig4(None)
    # The centre of the last of three arms is at the edge in the text.
    assert numbers.groupby(["variant", "k"])["reward"].idxmax().map(numbers["x1"]).tolist() == pytest.approx(
        [1 / 3, 2 / 3, 1, 1 / 4, 1 / 2, 3 / 4], abs=0.005
    )
    assert drawn.legend(figure) == ["$k = 1$", "$k = 2$", "$k = 3$"]
    tops = [[max(points, key=lambda p: p[1])[0] for points in drawn.named(ax).values()] for ax in figure.axes]
    assert np.ravel(tops) == pytest.approx([1 / 3, 2 / 3, 1, 1 / 4, 1 / 2, 3 / 4], abs=0.005)
    titles = ["as printed: centres $k/K$", "as released: centres $k/(K + 1)$"]
    assert [drawn.title(ax) for ax in figure.axes] == titles
    assert drawn.axis_labels(figure.axes[0]) == ("first coordinate $x^1$", "expected reward $f_k(x)$")
    figure, numbers = figures_illustrations.fig5(None)
    # A density: its mean over the square is 1.
    assert numbers.groupby(["variant", "gamma"])["density"].mean().tolist() == pytest.approx([1] * 6, abs=0.01)
    *images, bar = figure.axes
    assert [drawn.title(ax) for ax in images] == [
        f"as {variant}, $\\gamma = {gamma}$" for variant in ("printed", "released") for gamma in (0.2, 1, 2)
    ]
    # In the corner the density is nearly (d + g) / d, with g = gamma as printed and g = 2 gamma as released.
    corners = [ax.images[0].get_array()[0, 0] for ax in images]
    assert corners == pytest.approx([1.1, 1.5, 2, 1.2, 2, 3], rel=0.06)
    assert {ax.images[0].get_clim() for ax in images} == {(0, 3)}
    assert drawn.axis_labels(images[3]) == ("$x^1$", "$x^2$")
    assert bar.get_ylabel() == "density"


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
    assert drawn.legend(figure) == ["arm 1", "arm 2", "truth"]
    assert [drawn.title(ax) for ax in figure.axes] == numbers["panel"].unique().tolist()
    assert [drawn.texts(ax) for ax in figure.axes] == [[f"$t = {t}$"] for t in (1000, 1000, 2000)]
    assert [drawn.axis_labels(ax) for ax in figure.axes] == [("context $x$", y) for y in ("reward", "", "")]
    # In the middle the bin loses an arm, which is faint: the second arm of the first bin.
    middle = figure.axes[1]
    truth, estimates = drawn.guides(middle)[:2], drawn.guides(middle)[2:10:2]
    assert estimates == [[[a, y], [a + 0.5, y]] for a in (0, 0.5) for y in (0, 0.5)]
    alphas = [line.get_alpha() for line in middle.lines if list(line.get_xdata()) in ([0, 0.5], [0.5, 1])]
    assert [alpha == 1 for alpha in alphas] == [True, False, True, True]
    # The program's rewards have their centres at 1/3 and 2/3.
    assert [max(curve, key=lambda p: p[1])[0] for curve in truth] == pytest.approx([1 / 3, 2 / 3], abs=0.005)
    # The edge between the two bins, and the bin of each panel, which is shaded.
    assert drawn.guides(middle)[10] == [[0.5, 0], [0.5, 1]]
    assert [(ax.patches[0].get_x(), ax.patches[0].get_width()) for ax in figure.axes] == [(0, 0.5), (0, 0.5), (0, 1)]
    figure, numbers = figures_illustrations.fig3(partition("fig3", y_low=0.0, y_high=1.0))
    assert numbers.groupby("panel")["blue"].agg(["size", "sum"]).to_numpy().tolist() == [[1, 1], [2, 1]]
    assert [len(ax.patches) for ax in figure.axes] == [1, 2]
    boxes = [[(box.get_x(), box.get_width(), box.get_height()) for box in ax.patches] for ax in figure.axes]
    assert boxes == [[(0, 1, 1)], [(0, 0.5, 1), (0.5, 0.5, 1)]]
    blue = [[to_hex(box.get_facecolor()) == style.COLOURS[0].lower() for box in ax.patches] for ax in figure.axes]
    assert blue == [[True], [True, False]]
    assert [drawn.title(ax) for ax in figure.axes] == ["depth $s = 0$", "depth $s = 1$"]
    assert [drawn.axis_labels(ax) for ax in figure.axes] == [("$x^1$", "$x^2$"), ("$x^1$", "")]


def test_a_bin_that_is_not_halved_is_in_deeper_panels_too():
    run = partition("fig3", y_low=0.0, y_high=1.0)
    rows = run.inference("partitions")
    halves = rows[(rows["t"] == 2000) & (rows["bin"] == 2)].assign(depth=2, bin=5, x_low=0.5, x_high=0.75)
    rows.loc[(rows["t"] == 2000) & (rows["bin"] == 2), "refined"] = 1
    run = results(published={}, tables={}, partitions=pd.concat([rows, halves]))
    figure, _ = figures_illustrations.fig3(run)
    assert [(box.get_x(), box.get_width()) for box in figure.axes[2].patches] == [(0, 0.5), (0.5, 0.25)]


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
    made = illustrated()
    figure, numbers = figures_illustrations.illustration(made, "fig6", "as_released")
    assert numbers[["t", "regret_mean", "regret"]].iloc[0].tolist() == [500, 200, 250]
    axes = np.reshape(figure.axes, (3, 2))
    assert [drawn.title(ax) for ax in axes[0]] == ["without auxiliary data", "effective auxiliary data"]
    assert [drawn.title(ax) for ax in axes[2]] == ["best arm out in 70% of runs", "best arm out in 0% of runs"]
    assert [note.get_text() for note in axes[0, 0].texts] == ["arm 3 out", "best arm out"]
    assert [note.get_text() for note in axes[2, 1].texts] == ["out before: arm 2"]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == [
        "average regret", "average regret\nat (.33, .33)", "shares of arms\nat (.33, .33)",
    ]  # fmt: skip
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "", "", *["target users $t$"] * 2]
    local = {"mean of 10 runs": [[500, 0.3], [1000, 0.3]], "one run": [[500, 0.2], [1000, 0.2]]}
    assert drawn.named(axes[1, 0]) == local
    # The run's shares .5, .3 and .2, on top of each other.
    assert drawn.bands(axes[2, 0]) == [(0, 0.5), (0.5, 0.8), (0.8, 1)]
    # The lines of removals are in all three rows.
    assert [[line[0][0] for line in drawn.guides(ax)][-2:] for ax in axes[:, 0]] == [[600, 800]] * 3
    # Student's 97.5% quantile with 9 degrees of freedom is 2.262157; standard errors of 1 over 500 users.
    assert drawn.bands(axes[0, 0]) == [pytest.approx((0.4 - 0.004524314, 0.4 + 0.004524314))]
    mean, one, *removals = axes[0, 0].lines
    assert (mean.get_label(), one.get_label()) == ("mean of 10 runs", "one run")
    np.testing.assert_allclose([mean.get_ydata(), one.get_ydata()], [[0.4, 0.4], [0.5, 0.5]])
    assert [line.get_xdata()[0] for line in removals] == [600, 800]
    # The white lines: where the arms' mean shares meet.
    np.testing.assert_allclose([line.get_ydata()[0] for line in axes[2, 1].lines], [1 / 3, 2 / 3])
    assert drawn.legend(figure) == ["mean of 10 runs", "one run", "arm 1", "arm 2", "arm 3"]


def test_figure_6_as_printed_has_one_constant():
    made = illustrated()
    means, run = made.cells("illustration_curves"), made.inference("illustrated")
    both = [
        frame.assign(variant="as_printed", c=c, cell=frame["cell"] + f" {c}")
        for frame in (means, run)
        for c in (2.0, 16.0)
    ]
    made = results(
        published={}, tables={}, cells={"illustration_curves": pd.concat(both[:2])}, illustrated=pd.concat(both[2:])
    )
    figure, numbers = figures_illustrations.illustration(made, "fig6", "as_printed", 2)
    assert [drawn.title(ax) for ax in figure.axes[:2]] == ["without auxiliary data", "effective auxiliary data"]
    assert (len(figure.axes), set(numbers["variant"])) == (6, {"as_printed_c2"})


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
    assert [drawn.title(ax) for ax in figure.axes] == [
        "released: the second bin", "printed: the second bin", "privacy loss",
    ]  # fmt: skip
    assert drawn.axis_labels(released) == ("noisy count $\\tilde{U}$", "density, $\\varepsilon = 1$")
    assert drawn.axis_labels(printed) == ("noisy count $\\tilde{U}$", "")
    assert drawn.axis_labels(loss) == ("$\\varepsilon$", "privacy loss")
    assert drawn.scales(loss) == ("log", "log")
    # Without noise a user of the first bin adds exactly nothing to the second.
    assert [one[0][0] for one in drawn.guides(released)] == [0]
    assert drawn.texts(released) == ["exactly 0,\nprobability 1"]
    # Laplace noise around the user's own count.
    peaks = [max(points, key=lambda p: p[1])[0] for points in drawn.named(printed).values()]
    assert peaks == pytest.approx([0, 1])
    assert drawn.guides(loss) == [[[1, 1], [2, 2]]]

    assert drawn.texts(loss) == ["exact: $\\varepsilon$", "exact: no bound"]
    names = ["printed, context, quadrant, 1 user", "released, context, quadrant, 1 user"]
    assert drawn.named(loss) == {name: [[1, 0.9], [2, 1.8]] for name in names}
    assert drawn.legend(figure) == ["the first bin", "the second bin", *names]
    assert numbers.loc[numbers["panel"] == "loss", "lower_bound"].tolist() == [0.9, 1.8] * 2


def test_the_privacy_loss_of_an_added_parameter_has_a_name_of_its_own():
    row = {"variant": "as_printed", "differ": "context", "event": "quadrant", "batch": 1, "epsilon": 1.0, "exact": 1.0}
    rows = [row | {"lower_bound": 0.9, "confidence": 0.999, "c": c} for c in (np.nan, 8.0)]
    figure, _ = figures_privacy.privacy_as_released(results(published={}, tables={}, privacy=rows))
    labels = [line.get_label() for line in figure.axes[2].lines if line.get_label().startswith("printed")]
    assert labels == ["printed, context, quadrant, 1 user", "printed, context, quadrant, 1 user, c=8"]


def test_learning_curves_have_a_panel_per_pair_of_budgets(tmp_path):
    facts = {"target_label_counts": [10, 30], "n_target": 40}
    (tmp_path / "toy.json").write_text(json.dumps(facts), encoding="utf-8")
    other = toy_rewards.runs_of("ldp_nn", batch=500, rate=0.3, tag="")
    made = toy_rewards.results(tmp_path, real_data=toy_rewards.usual(other), facts=["toy"])
    figure, numbers = figures_real_data.real_learning_curves(made)
    of = numbers.set_index(["method", "auxiliary", "variant", "epsilon", "epsilon_aux", "t"])["average_reward"]
    assert of["ldp_nn", "without", "", 1, 4, 40] == pytest.approx(0.4)
    assert of["ldp_nn (batch 500)", "with", "", 1, 4, 40] == pytest.approx(0.3)
    assert [drawn.title(ax) for ax in figure.axes] == [
        f"toy\n$\\epsilon$ = {e}, $\\epsilon_m$ = {m}" for e, m in ((1, 1), (1, 4), (2, 1), (2, 4))
    ]
    # 0.9, and 0.02 more for each unit of epsilon.
    assert [drawn.named(ax)["LDPMAB"][0][1] for ax in figure.axes] == pytest.approx([0.92, 0.92, 0.94, 0.94])
    assert [drawn.axis_labels(ax) for ax in figure.axes[:2]] == [
        ("target users $t$", "average reward"), ("target users $t$", ""),
    ]  # fmt: skip
    assert {drawn.scales(ax) for ax in figure.axes} == {("log", "linear")}
    # Three methods and the text's, with and without auxiliary data, one in another setting, ABSE, and the constant arm.
    assert [len(ax.lines) for ax in figure.axes] == [11] * 4
    # The dotted line: the most frequent label.
    assert drawn.guides(figure.axes[0])[-1] == [[0, 0.75], [1, 0.75]]


def test_the_legend_of_learning_curves_has_an_entry_per_method(tmp_path):
    (tmp_path / "toy.json").write_text(json.dumps({"target_label_counts": [10, 30], "n_target": 40}), encoding="utf-8")
    other = toy_rewards.runs_of("ldp_nn", batch=500, rate=0.3, tag="")
    made = toy_rewards.results(tmp_path, real_data=toy_rewards.usual(other), facts=["toy"])
    figure, _ = figures_real_data.real_learning_curves(made)
    assert drawn.legend(figure) == ["LDPMAB", "Linear", "NN", "LDPMAB printed", "ABSE"]
    ax = figure.axes[3]
    labelled = {line.get_label(): line for line in ax.lines if line.get_label() in drawn.legend(figure)}
    assert len({line.get_color() for line in labelled.values()}) == 5
    # Neural networks have one colour: with auxiliary data 0.8, without 0.4 (dashed), in another setting 0.3 (thin).
    with_data, *others = [line for line in ax.lines if line.get_color() == labelled["NN"].get_color()]
    found = {round(line.get_ydata()[0], 9): (line.get_linestyle(), line.get_linewidth()) for line in others}
    usual = with_data.get_linewidth()
    assert with_data.get_ydata() == pytest.approx([0.8] * 3)
    assert (with_data.get_linestyle(), found[0.4]) == ("-", ("--", usual))
    assert (found[0.3][0], found[0.3][1] < usual) == ("-", True)


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
        of_ours = [[x for x, y in points if y > 0.5] for points in drawn.named(ax).values()]
        assert of_ours == [[0.8, 0.8]] * 2
        assert drawn.guides(ax) == [[[1, 0], [1, 1]]]
        assert drawn.title(ax).splitlines()[1] == ("$t = n_P/4$" if ax is figure.axes[0] else "$t = n_P$")
        hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
        assert [line.get_xdata().tolist() for line in hollow] == [[0.9]] * 2
    assert figure.axes[1].get_xlabel() == "ratio to ABSE"
    assert len(drawn.legend(figure)) == 2
