"""Check the figures of Neel & Roth 2018 on handmade tables: a value, the lines and the labels of each."""

import itertools

import pytest

from privarms.papers.neel2018 import figures

from .. import chosen, drawn

PUBLISHED = {"experiment_1_private_bias": 0.002, "experiment_1_ucb_bias": 0.07, "experiment_1_worst_bias": 0.14}
PUBLISHED |= {"experiment_2_private_bias": 0.0015, "experiment_2_ucb_bias": 0.011, "figure_6_below_level": 0.76}
CELL = {"environment": "bernoulli", "ladder": "1.00-0.05", "K": 3, "horizon": 500, "size": "published", "gamma": None}
CELL |= {"replicates": 1_000, "top": 1.0, "bottom": 0.5}
UCB = {"policy": "ucb", "variant": None, "epsilon": None}
PRIVATE = [{"policy": "private_ucb", "variant": v, "epsilon": 0.5} for v in ("as_printed", "as_released")]


def results(**tables):
    return chosen.results(published=PUBLISHED, tables={}, **tables)


def biases(experiment: str) -> dict[str, list[dict]]:
    """Return the bias of three arms, and its average, of UCB and of both variants of private UCB."""
    policies = [CELL | {"experiment": experiment} | policy for policy in (UCB, *PRIVATE)]
    arms = [{"arm": arm, "mean": 1 - arm / 4, "bias": -0.01 * arm, "se": 0.001 * arm} for arm in range(3)]
    average = {"average": 0.01, "average_se": 0.001, "worst": -0.02, "worst_se": 0.002}
    other = [row | {"size": "all", "average": 9.0} | average for row in policies]
    return {
        f"bias_experiment_{experiment}": [policy | arm for policy in policies for arm in arms],
        f"average_bias_experiment_{experiment}": [*(row | average for row in policies), *other],
    }


@pytest.mark.parametrize(("name", "experiment", "published"), [("fig1", "1", 0.002), ("fig3", "2", 0.0015)])
def test_private_ucb_has_a_panel_per_variant_above_its_averages(name, experiment, published):
    figure, numbers = getattr(figures, name)(results(**biases(experiment)))
    printed, released, strip = figure.axes
    assert [drawn.title(ax) for ax in (printed, released)] == ["Private UCB (as printed)", "Private UCB (as released)"]
    assert printed.get_ylim() == released.get_ylim()
    for ax in (printed, released):
        # The first line has the three arms; the arm without spread is hollow.
        assert [len(line.get_xdata()) for line in ax.get_lines() if line.get_marker() in "os"] == [3, 1]
    crosses = next(line for line in strip.get_lines() if line.get_label() == "published")
    assert list(crosses.get_xdata()) == [published, published]
    assert drawn.texts(strip) == [f"{published:g}", "0.01"] * 2
    assert not drawn.legend(figure)
    averages = numbers[numbers["quantity"] == "average |bias|"]
    assert (list(averages["bias"]), list(averages["published"])) == ([0.01, 0.01], [published, published])
    assert list(numbers.loc[numbers["arm"] == 2, "bias"]) == [-0.02, -0.02]


@pytest.mark.parametrize(("name", "experiment", "published"), [("fig2", "1", [0.07, 0.14]), ("fig4", "2", [0.011])])
def test_ucb_has_one_panel_above_the_published_averages(name, experiment, published):
    figure, numbers = getattr(figures, name)(results(**biases(experiment)))
    biased, strip = figure.axes
    assert drawn.title(biased) == "UCB (Neel & Roth)"
    assert [tick.get_text() for tick in strip.get_yticklabels()] == ["average |bias|", "worst |bias|"][: len(published)]
    crosses = next(line for line in strip.get_lines() if line.get_label() == "published")
    assert list(crosses.get_xdata()) == published
    measured = numbers[numbers["arm"].isna()]
    assert list(measured["bias"]) == [0.01, 0.02][: len(published)]
    assert strip.get_xlim()[1] > max(published)


def test_figure_5_draws_the_average_regret():
    measured = {"regret_mean": 20.0, "regret_se": 1.0, "environment": "bernoulli", "factor_K": None, "horizon": 100}
    ablation = {"policy": "private_ucb_gamma_only", "variant": None, "epsilon": 0.5}
    cells = [
        CELL | policy | measured | {"cell": f"c{i}", "t": t, "replicates": 5 if policy is UCB else 2}
        for i, policy in enumerate((UCB, *PRIVATE, ablation))
        for t in (10, 100)
    ]
    figure, numbers = figures.fig5(results(cells={"regret_2": cells}))
    assert drawn.legend(figure) == [
        "UCB (Neel & Roth)", "Private UCB (as printed)", "Private UCB (as released)", "Bonus without noise",
    ]  # fmt: skip
    assert len(figure.axes[0].get_lines()) == 4
    assert list(numbers["average_regret"].head(2)) == [2.0, 0.2]
    assert list(numbers["low"].notna()) == [True, True] + [False] * 6, "two runs have no interval"


def test_bias_over_epsilon_has_the_bound_of_theorem_1():
    rows = [
        CELL | {"policy": "private_ucb_noise_only", "variant": variant, "epsilon": epsilon, "size": "all"}
        | {"average": 0.02, "average_se": 0.001, "average_if_unbiased": 0.01, "mean_of_arms": 0.5}
        for variant in ("as_printed", "as_released") for epsilon in (0.1, 1.0)
    ]  # fmt: skip
    figure, numbers = figures.bias_vs_epsilon(results(average_bias_epsilon_sweep=rows))
    assert len(drawn.legend(figure)) == 3
    # Each variant has its average and the one of data without bias.
    assert len(figure.axes[0].get_lines()) == 5
    assert set(numbers["average"]) == {0.02}


def test_corrected_p_values_have_a_panel_per_arms_and_selector_on_one_axis():
    rows = [
        CELL | policy | {"K": K, "selector": selector, "degenerate": 0.0, "level": 0.01, "naive": 0.3, "naive_se": 0.01}
        | {"corrected": 0.02, "corrected_se": 0.01, "epsilon": epsilon if policy is not UCB else None}
        for policy in (UCB, {"policy": "private_ucb", "variant": "as_printed"})
        for K in (5, 20) for selector in ("least_pulled", "most_pulled") for epsilon in (0.1, 1.0)
    ]  # fmt: skip
    rows[-1] |= {"degenerate": 0.9, "naive": 0.99}
    figure, numbers = figures.corrected_pvalues(results(false_discovery=rows))
    assert len(figure.axes) == 4
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert sorted(drawn.legend(figure)) == [
        "Private UCB, corrected test", "Private UCB, naive test", "UCB (Neel & Roth), naive test", "level .05",
    ]  # fmt: skip
    assert numbers["naive"].max() == 0.3, "most tests of the last row cannot reject"
    assert drawn.title(figure.axes[0]) == "$K = 5$, means 1 to 0.5,\nleast pulled arm"


def test_figure_6_prints_the_share_of_all_runs():
    text = {"policy": "oful", "variant": "as_printed", "contexts": None, "figure_6": True, **figures.PRINTED}
    program = {"policy": "linear_ucb_as_released", "variant": "as_released", "contexts": "shared", "figure_6": True}
    program |= {"standard_error": "variance", "coordinate": "largest", "estimator": "policy"}
    own = program | {"contexts": "own"}
    cells = [one | {"cell": f"c{i}", "replicates": 1_000} for i, one in enumerate((text, program, own))]
    bins = [{"low": 0.0, "high": 0.05, "below_level": 0.7}, {"low": 0.05, "high": 1.0, "below_level": 0.7}]
    histograms = [cell | one | {"count": 500} for cell, one in itertools.product(cells, bins)]
    rejections = [cell | {"replicates": 10_000, "rejection_rate": 0.05 + i / 2} for i, cell in enumerate(cells)]
    figure, numbers = figures.fig6(results(histograms=histograms, rejections=rejections))
    left, right = figure.axes
    assert [drawn.title(ax) for ax in (left, right)] == ["Test of the text: OFUL", "Score of the authors' program"]
    assert drawn.texts(left) == ["5.0% of 10,000 runs below .05"]
    assert drawn.texts(right) == ["55.0% of 10,000 runs below .05", "published: 76% below .05"]
    assert [len(ax.patches) for ax in (left, right)] == [2, 2]
    assert left.patches[0].get_facecolor() != left.patches[1].get_facecolor()
    assert sorted(set(numbers["rejection_rate"])) == [0.05, 0.55]
