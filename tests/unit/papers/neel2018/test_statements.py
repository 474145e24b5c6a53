"""Check the tables of Neel & Roth 2018 on values worked by hand, and that additions change no case."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import erf

from privarms.files import settings
from privarms.inference import max_information
from privarms.ledger import cases
from privarms.ledger.intervals import quantile
from privarms.papers.neel2018 import _enumerated
from privarms.planning import cells as grid
from privarms.planning import configuration, statements
from privarms.planning.studies import Entry
from privarms.registry import artifacts
from tests import PAPERS

from ..chosen import results
from .test_inference import INFERENCE, five, made, runs

FOLDER = PAPERS / "neel2018"
PAPER = configuration.load_paper(FOLDER / "studies.yaml", "paper")
NUMBERS = settings.read(FOLDER / "published/numbers.yaml")
FORMULAS = ("theorem_4", "claim_1", "corrections", "scales", "orders", "printed_statistic")


def planned(study, *added):
    """Return the cells of a study with further entries of policies."""
    entry = PAPER.studies[study].model_copy(deep=True)
    entry.policies += map(Entry.model_validate, added)
    return grid.expand(str(FOLDER / "studies.yaml"), "neel2018", study, entry)


@pytest.fixture(scope="module")
def loaded():
    return {
        one.name: one
        for one in statements.load(
            FOLDER / "statements.yaml",
            "neel2018",
            artifacts=artifacts.of_paper("neel2018"),
            tables=INFERENCE,
            tags={tag for study in PAPER.studies for cell in planned(study) for tag in cell.tags},
            printed=(),
        )
    }


def verdicts(statement, table, cells=()):
    rows = cases.judged(statement, table, tags={c.name: c.tags for c in cells}, shrunk=())
    return [(row["variant"], row["case"], row["measured"], row["verdict"]) for row in rows]


def test_formulas_and_enumerations(loaded):
    tables = {name: INFERENCE[name](None) for name in FORMULAS}
    found = {
        name: {verdict for *_, verdict in verdicts(one, tables[one.table])}
        for name, one in loaded.items()
        if one.table in tables
    }
    assert found == {
        **{key: {"measured"} for key in ("introduction_bias_order", "theorem_2_tradeoff", "bias_of_polylog")},
        **{key: {"not refuted"} for key in ("claim_1", "theorem_4", "theorem_3_with_power", "sub_linear_budgets")},
        **{key: {"refuted"} for key in ("theorem_3", "corollary_2", "corollary_2_valid_constant")},
        **{key: {"false"} for key in ("printed_statistic", "theorem_3_over_alpha")},
        "corollary_2_constant": {"true"},
        "uncorrected_level": {"holds"},
    }


def test_a_private_bandit_of_two_rounds():
    # e^epsilon = 3 repeats a reward with probability 3/4. Arm 0 first, with reward 1: it stays with 3/4, for a mean of
    # (1 + .5)/2, else its mean is 1. With reward 0: it stays with 1/4, for a mean of .5/2. Arm 1 first: it leaves with
    # 1/2, for a mean of .5. The arm is pulled with probability 3/4.
    first, second = _enumerated._biases(math.log(3), 0.0, (0.5, 0.5), 2)
    expected = (0.5 * (0.5 * (0.75 * 0.75 + 0.25) + 0.5 * 0.25 * 0.25) + 0.5 * 0.5 * 0.5) / 0.75 - 0.5
    assert first == pytest.approx([0, 0])
    assert second == pytest.approx([expected, expected])
    assert expected == pytest.approx(-0.125 / 3)
    # A choice that reveals the reward has more bias.
    assert list(_enumerated._biases(math.log(3), 0.5, (0.5, 0.5), 2))[1][0] < expected


def test_the_max_information_of_one_response():
    rows = _enumerated.max_informations().query("n == 1 and epsilon == 1 and beta == 0.05").set_index("logarithm")
    bits = math.log2((1 / (1 + math.exp(-1)) - 0.05) / 0.5)
    assert rows["bits"].tolist() == pytest.approx([bits, bits])
    assert rows["bound"]["natural"] == pytest.approx((0.5 + math.sqrt(math.log(40) / 2)) / math.log(2))
    assert rows["bound"]["binary"] == pytest.approx((0.5 + math.sqrt(math.log2(40) / 2)) / math.log(2))


def test_both_interactions_differ_if_the_rewards_do():
    choices = {(): 0, (0,): 1, (1,): 0, **dict.fromkeys(((0, 0), (0, 1), (1, 0), (1, 1)), 1)}
    equal, opposite = ({(0, 0): 0.5, (1, 1): 0.5}, {(0, 0): 0.25, (1, 1): 0.75})
    assert _enumerated._drawn_before(choices, equal) == _enumerated._drawn_later(choices, equal)
    assert _enumerated._drawn_before(choices, opposite) != _enumerated._drawn_later(choices, equal)
    # A policy that reads the other arm's reward of the same round would differ, too.
    assert sum(_enumerated._drawn_before(choices, opposite).values()) == 1


def test_corrections_have_the_levels_of_the_library():
    rows = INFERENCE["corrections"](None).query("alpha == 0.01 and epsilon == 0.1").fillna({"logarithm": ""})
    best = max_information.best_beta(0.1, 500, 0.01)
    x = max_information.max_information_nats(0.1, 500, best)
    theorem = rows[rows["correction"] == "theorem_3"].set_index("denominator")["level"]
    assert theorem["2^k"] == pytest.approx(float(max_information.corrected_level(0.01, 0.1, 500, best)))
    assert theorem["2k"] == pytest.approx((0.01 - best) / (2 * x / math.log(2)))
    corollary = rows[rows["correction"] == "corollary_2"].set_index(["beta", "logarithm"])["level"]
    assert corollary[0.05, "natural"] == pytest.approx(max_information.printed_level(0.01, 0.1, 500, 0.05))
    assert corollary[0.05, "binary"] == pytest.approx(0.01 * math.exp(-2.5 - 0.1 * math.sqrt(250 * math.log2(40))))
    none = rows[rows["correction"] == "none"].iloc[0]
    assert none["over_alpha"] == pytest.approx(max_information.response_rejections(0.01, 0.1, 500) / 0.01)


def test_orders_and_the_printed_statistic():
    orders = INFERENCE["orders"](None).set_index(["quantity", "horizon"])["value"]
    assert orders["introduction", 1e6] == pytest.approx(math.log(1e6) ** 1.5)
    assert orders["polylog", 1e3] == pytest.approx(math.expm1(math.log(1e3) ** 3 / 1e3) / (math.log(1e3) ** 3 / 1e3))
    # ln T / epsilon times (ln ln T + ln(1/epsilon)) is about half of sqrt(kT ln T) there.
    assert orders["tradeoff"].tolist() == [1] * 4
    row = INFERENCE["printed_statistic"](None).query("pulls == 100 and mu == 0.5").set_index("parentheses")
    assert row["null_mean"].to_dict() == {"sum of y, minus mu": pytest.approx(4.95), "sum of y - mu": 0}


def test_arms():
    # The errors of the last arm's means are -.4, .4, -.1 and -.3. All other rewards are constant.
    pulls, sums = five(1.0, 9.0, 4.0, 2.0)
    of_study = made(
        experiment_1=runs("a", "ucb", 20, np.full((2, 20), 25), np.full((2, 20), 5.0)),
        experiment_2=runs("c", "private_ucb", 5, pulls, sums, "as_printed", factor_K=False),
    )
    rows = INFERENCE["arms"](of_study)
    rows = rows[rows["cells"] == "c"].set_index(["quantity", "arm"])
    sd = np.std([-0.4, 0.4, -0.1, -0.3], ddof=1)
    assert set(rows["gamma"]) == {"without factor K"}
    assert rows["value"]["bias", 4] == pytest.approx(-0.1)
    last = rows.loc[("absolute", 4)]
    assert last[["value", "value_se", "value_sd"]].tolist() == pytest.approx([0.1, sd / 2, sd])
    # Three runs are published; five arms hold together.
    detected = rows.loc[("detected", 4)]
    high = 0.1 + quantile(4, 5) * sd / 2
    expected = [erf(error / sd * math.sqrt(3) / math.sqrt(2)) for error in (0.0, 0.1, high)]
    assert detected[["value_low", "value", "value_high"]].tolist() == pytest.approx(expected)
    # Arm 1 has mean .875 and sample means .9.
    assert rows["value"]["ahead", 1] == pytest.approx(0.1 - 0.025)
    # An arm of mean 1 has no error.
    assert rows.loc[("bias", 0), ["value_low", "value_high"]].tolist() == [0, 0]


def test_reductions():
    def both(*last):
        return runs("p", "private_ucb", 5, *five(*last), "as_released")

    # The last arm is off by .1, and by .2 with UCB; the arms before it by 0, .025, .05 and -.025.
    ucb, private = runs("u", "ucb", 5, *five(2.9, 3.1, 3.0)), both(3.9, 4.1, 4.0)
    twenty = np.full((3, 20), 25)
    first = [
        runs("v", "ucb", 20, twenty, 5.0 * twenty),
        runs("q", "private_ucb", 20, twenty, 5.0 * twenty, "as_released"),
    ]
    of_study = made(
        experiment_1=pd.concat(first, ignore_index=True), experiment_2=pd.concat([ucb, private], ignore_index=True)
    )
    of_study.published = NUMBERS.__getitem__
    rows = INFERENCE["reductions"](of_study)
    row = rows[(rows["experiment"] == "2")].iloc[0]
    assert row["cells"] == "u p"
    assert row["times"] == pytest.approx((0.2 + 0.1) / (0.1 + 0.1), rel=1e-3)
    assert row["last_times"] == pytest.approx(2)
    # The standard deviations of one run: .01 in one of five arms, of three published runs.
    assert [row["times_top_sd"], row["times_bottom_sd"]] == pytest.approx([0.01 / 5] * 2, rel=1e-3)
    printed = rows[rows["numbers"] == "printed"].iloc[0]
    assert printed["times"] == pytest.approx(39.66, abs=0.005)
    assert [printed["times_low"], printed["times_high"]] == pytest.approx([0.06975 / 0.001765, 0.06985 / 0.001755])
    assert pd.isna(printed["variant"])


def test_each_interpretation_of_ucb_is_a_case():
    # The other arms of UCB1 are pulled three times as often as those of the program's UCB.
    cells = [runs("u", "ucb", 5, *five(2.9, 3.1, 3.0)), runs("p", "private_ucb", 5, *five(3.9, 4.1, 4.0), "as_printed")]
    pulls, sums = five(2.9, 3.1, 3.0)
    cells.append(runs("o", "ucb1", 5, pulls * [1, 3, 3, 3, 3], sums * [1, 3, 3, 3, 3]))
    of_study = made(
        experiment_1=runs("q", "private_ucb", 20, np.full((3, 20), 25), np.full((3, 20), 5.0), "as_printed"),
        experiment_2=pd.concat(cells, ignore_index=True),
    )
    of_study.published = NUMBERS.__getitem__
    ratio = INFERENCE["regret_ratio"](of_study).set_index("exploration")
    assert ratio["cells"].to_dict() == {"of the program": "p u", "UCB1": "p o"}
    assert ratio["ratio"]["of the program"] == pytest.approx(3 * ratio["ratio"]["UCB1"])
    times = INFERENCE["reductions"](of_study).query("experiment == '2'").set_index("exploration")
    assert times["cells"].to_dict() == {"of the program": "u p", "UCB1": "o p"}


def along(cell, *points, policy="private_ucb", horizon=100, **setting):
    """Return summaries of a cell at several rounds: (t, mean regret, standard error)."""
    row = {"cell": cell, "policy": policy, "variant": "as_printed", "environment": "bernoulli", "horizon": horizon}
    row |= {"K": 5, "epsilon": 400.0, "top": 1.0, "bottom": 0.0, "replicates": 50} | setting
    return [row | {"t": t, "regret_mean": mean, "regret_se": se} for t, mean, se in points]


def of_cells(table, **cells):
    return INFERENCE[table](results(published={}, tables={}, cells=cells))


def test_regrets_of_experiment_2():
    private = along("p", (40, 16.0, 1), (50, 20.0, 0.3), (100, 40.0, 0.8))
    without = along("n", (50, 10.0, 0.1), (100, 10.0, 0.1), factor_K=False)
    ucb = along("u", (100, 20.0, 0.2), policy="ucb", variant=None)
    of_program = along("q", (50, 10.0, 0.1), (100, 20.0, 0.1), top=0.9, bottom=0.7)
    frames = {"regret_2": [*private, *without, *ucb], "regret_2_of_the_program": of_program}
    growth = of_cells("regret_growth", **frames).set_index("cells")
    assert growth["exponent"].to_dict() == {"p": pytest.approx(1), "n": 0, "q": pytest.approx(1)}
    assert growth["ladder"].to_dict() == {"p": "1.00-0.25", "n": "1.00-0.25", "q": "0.90-0.05"}
    assert growth["exponent_se"]["p"] == pytest.approx(math.hypot(0.3 / 20, 0.8 / 40) / math.log(2))


def test_regret_over_that_of_equal_pulls():
    # Equal pulls cost 250 and 5,000.
    short = along("s", (500, 250.0, 0.0), horizon=500, epsilon=0.05, replicates=10_000)
    long = along("l", (10_000, 4_000.0, 5.0), horizon=10_000, epsilon=0.05)
    other = along("o", (10_000, 1.0, 5.0), horizon=10_000, epsilon=0.3)
    row = of_cells("even_regret", long_horizon=[*short, *long, *other])
    assert row[["cells", "budget"]].to_numpy().tolist() == [["l s", "0.05 at every T"]]
    assert row["ratio"].tolist() == pytest.approx([0.8])
    # Identical runs at T = 500 still have an error: .0012 with 10,000 runs.
    bound = (1 - 5e-6 ** (1 / 10_000)) / quantile(10_000)
    assert row["ratio_se"].tolist() == pytest.approx([math.hypot(0.001, 0.8 * bound)], rel=1e-3)


def test_the_exponent_of_regret_at_corollary_1():
    def cell(name, horizon, regret, epsilon=None, policy="private_ucb"):
        pulls = np.full((3, 5), 10)
        pulls[:, 4] = regret / 0.5
        epsilon = math.log(horizon) ** 1.5 / math.sqrt(5 * horizon) if epsilon is None else epsilon
        setting = {"horizon": horizon, "epsilon": epsilon, "spacing": "one_best", "bottom": 0.5}
        return runs(name, policy, 5, pulls, pulls * 0.5, "as_printed", **setting)

    frames = [cell("a", 1_000, 85), cell("b", 100_000, 985), cell("c", 100_000, 7, epsilon=3.0)]
    of_study = made(corollary_1=pd.concat(frames, ignore_index=True))
    row = INFERENCE["corollary_1_regret"](of_study)
    # 30 pulls of the other arms cost 15 more: from 100 to 1,000.
    assert row["cells"].tolist() == ["a b"]
    assert row["exponent"].tolist() == pytest.approx([0.5])


def linear_runs(cell, policy, variant, *scores, **setting):
    """Return runs of the linear bandit with these estimates over their standard errors, which are .5."""
    row = {"cell": cell, "policy": policy, "variant": variant, "data": "simulated", "environment": "linear"}
    row |= {"horizon": 500, "K": 5, "dimensions": 5, "shared_contexts": None} | setting
    found = [
        row
        | {"replicate": i, "coordinate": coordinate, "arm": 0, "pulls": 9, "truth": 0.0, "regret": 1.0}
        | {"estimate": 0.5 * z, "variance": 0.25, "policy_estimate": 0.25 * z, "policy_variance": 0.25}
        for i, z in enumerate(scores)
        for coordinate in ("zero", "largest")
    ]
    return pd.DataFrame(found)


def test_figure_6(loaded):
    # Two-sided p-values of 1.96, .6745 and 0: .05, .5 and 1.
    scores = (1.96, 0.67449, 0.0)
    frames = [
        linear_runs("t", "oful", "as_printed", *scores),
        linear_runs("u", "uniform", "as_printed", 0.0, 0.0, 0.67449),
        # The program's score is its estimate over the variance: .25 z / .25.
        linear_runs("r", "linear_ucb_as_released", "as_released", *scores),
        linear_runs("o", "linear_ucb_as_released", "as_released", *scores[1:], shared_contexts=False),
        linear_runs("v", "uniform", "as_released", 0.0, 0.0, 0.0),
    ]
    of_study = made(linear=pd.concat(frames, ignore_index=True))
    rows = INFERENCE["rejections"](of_study)
    rows = rows[rows["figure_6"]].set_index(["cells", "estimator"])
    assert list(rows.index) == [("t", "ols"), ("t", "policy"), ("r", "policy"), ("o", "policy")]
    assert rows["contexts"].fillna("").tolist() == ["", "", "shared", "own"]
    assert rows["rejection_rate_events"].tolist() == [1, 0, 1, 0]
    assert rows["over_level"].tolist() == pytest.approx([20 / 3, 0, 20 / 3, 0])
    assert rows.loc[("t", "ols"), "over_level_low"] == pytest.approx((1 - 0.9995 ** (1 / 3)) / 0.05)
    assert rows.loc[("t", "ols"), "p_mean"] == pytest.approx(1.55 / 3, abs=1e-4)
    skew = INFERENCE["skew"](of_study).set_index("cells")["difference"]
    # Random arms: p-values 1, 1 and .5. The ordinary estimate over the variance is 2 z.
    assert skew["t u"] == pytest.approx((1.55 - 2.5) / 3, abs=1e-4)
    assert skew["r v"] == pytest.approx((8.8e-5 + 0.17735 + 1 - 3) / 3, abs=1e-4)
    assert set(skew.index) == {"t u", "r v", "o v"}


def test_p_values_far_from_uniform_are_noticed():
    uniform = linear_runs("u", "uniform", "as_printed", *np.linspace(-2, 2, 9))
    far = linear_runs("u", "uniform", "as_printed", *[3.0] * 9)
    found = [INFERENCE["rejections"](made(linear=rows))["may_be_uniform"].iloc[0] for rows in (uniform, far)]
    assert found == [True, False]


def test_shares_of_the_bounds_of_theorem_1():
    # The last arm of mean .5 is underestimated by .1, at epsilon = ln 2: by .2 of (e^epsilon - 1) mu.
    epsilon = math.log(2)
    sweep = runs("p", "private_ucb_noise_only", 5, *five(3.9, 4.1, 4.0), "as_printed", epsilon=epsilon)
    without = runs("u", "ucb", 20, np.full((2, 20), 25), np.full((2, 20), 5.0))
    of_study = made(experiment_1=without, epsilon_sweep=sweep, corollary_1=sweep.assign(cell="c"))
    rows = INFERENCE["theorem_1"](of_study)
    assert set(rows["policy"]) == {"private_ucb_noise_only", "randomised responses"}
    row = rows[rows["cells"] == "p"].set_index(["quantity", "arm"])
    shares = [row["value"][name, 4] for name in ("of_bound", "of_proof", "of_order")]
    assert shares == pytest.approx([0.1 / 0.5, 0.1 / 0.25, 0.1 / (0.5 * epsilon)])
    assert row["value_se"]["of_bound", 4] == pytest.approx(0.1 / 10 / math.sqrt(3) / 0.5)
    # The arm of mean 1 has no error, and an enumerated value is exact.
    assert row.loc[("of_bound", 0), ["value_low", "value_high"]].tolist() == [0, 0]
    known = rows[rows["cells"].isna()]
    assert (known["value_low"] == known["value"]).all()
    assert (known["value_high"] == known["value"]).all()
    assert len(known) == 2 * len(_enumerated.responses())


ADDED = (
    {"policy": "uniform"},
    {"policy": "private_ucb", "variant": ["as_printed"], "grid": {"K": 5, "epsilon": 300, "top": 1.0, "bottom": 0.8}},
    {"policy": "ucb", "grid": {"K": 5, "top": 1.0, "bottom": 0.8, "rotate": 1}},
    {
        "policy": "private_ucb",
        "variant": ["as_printed"],
        "factor_K": False,
        "grid": {"K": 5, "epsilon": 400, "top": 1.0, "bottom": 0.8, "rotate": 1},
    },
)


def columns(cell):
    return (
        {"cell": cell.name, "variant": cell.variant or None, "data": "simulated"}
        | cell.parameters
        | {
            "policy": cell.policy,
            "environment": cell.environment,
            "horizon": cell.horizon,
        }
    )


@pytest.mark.parametrize("table", ["regret_growth"])
def test_additions_change_no_case_of_regrets(loaded, table):
    def judged(*added):
        cells = planned("regret_2", *added)
        points = [(50_000, 20.0), (100_000, 30.0)]
        rows = [
            columns(cell) | {"t": t, "regret_mean": mean * (1 + len(cell.policy)), "regret_se": 0.1, "replicates": 50}
            for cell in cells
            for t, mean in points
        ]
        assert len(cells) == len({row["cell"] for row in rows})
        made_up = of_cells(table, regret_2=rows, regret_2_of_the_program=rows[:2])
        return len(cells), [verdicts(one, made_up, cells) for one in loaded.values() if one.table == table]

    (few, before), (more, after) = judged(), judged(*ADDED)
    assert more == few + len(ADDED)
    assert before == after
    assert before
    assert all(before)


@pytest.mark.parametrize("table", ["arms", "reductions", "regret_ratio", "average_bias_experiment_2"])
def test_additions_change_no_case_of_biases(loaded, table):
    def judged(*added):
        cells = planned("experiment_2", *added)
        # A study has a column for every parameter of any of its cells.
        names = {name for cell in cells for name in cell.parameters}
        frames = [
            runs(
                **{"cell": cell.name, "policy": cell.policy, "variant": cell.variant or None},
                **dict(zip(("pulls", "sums"), five(1.0, 9.0, 4.0 + number % 3, 2.0), strict=True)),
                **dict.fromkeys(names) | cell.parameters | {"horizon": cell.horizon},
            )
            for number, cell in enumerate(sorted(cells, key=lambda cell: (not cell.tags, cell.name)))
        ]
        # Experiment 1 is the same in both.
        twenty = np.full((3, 20), 25)
        other = [
            runs("v", "ucb", 20, twenty, 5.0 * twenty),
            runs("q", "private_ucb", 20, twenty, 5.0 * twenty, "as_printed"),
        ]
        of_study = made(
            experiment_1=pd.concat(other, ignore_index=True), experiment_2=pd.concat(frames, ignore_index=True)
        )
        of_study.published = NUMBERS.__getitem__
        made_up = INFERENCE[table](of_study)
        found = [one for one in loaded.values() if one.table == table and one.name.startswith("experiment_2")]
        return [verdicts(one, made_up, cells) for one in found]

    before = judged()
    assert before == judged(*ADDED)
    assert before
    assert all(before)
