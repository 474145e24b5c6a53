"""Check the tables behind the statements of ma2025 on made-up regret, against values worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from privarms.inference.transfer_rates import regret_rate
from privarms.ledger import cases
from privarms.papers.ma2025.inference import authors_logs, privacy, radius
from privarms.papers.ma2025.inference_contrasts import contrasts, figure6
from privarms.papers.ma2025.inference_formulas import formulas, rates
from privarms.planning import configuration, statements
from privarms.planning.studies import Entry
from privarms.registry import artifacts
from tests import PAPERS

from .made_up import STUDIES, made_up, runs, tags

PRINTED, EXACT = "text with c = 2", "text with c >= 64"


@pytest.fixture(scope="module")
def loaded():
    every = statements.load(
        PAPERS / "ma2025/statements.yaml",
        "ma2025",
        artifacts=artifacts.of_paper("ma2025"),
        tables=artifacts.inference_of_paper("ma2025"),
        tags={tag for some in tags().values() for tag in some},
        printed=[file.stem for file in (PAPERS / "ma2025/published").glob("*.csv")],
    )
    return {one.name: one for one in every}


def of(cell, name):
    return cell.parameters.get(name)


def aux(cell):
    return max(float(e) for e in str(of(cell, "epsilon_aux")).split())


def older(cell):
    return of(cell, "deviation") == "logarithm offset"


def chosen(table, contrast, figure=None, algorithm="program", environment="exponential", **where):
    """Return the values of some rows."""
    where |= {"contrast": contrast, "algorithm": algorithm, "environment": environment}
    where |= {} if figure is None else {"figure": figure}
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table)
    return table["value"].to_numpy()


GAMMA = {0: 1, 0.2: 2, 2: 4}


def by_order(cell):
    return 300 if of(cell, "epsilon_aux") == "2 8" else 200


# Made-up regret by figure, and values worked by hand by contrast and figure.
TABLES = [
    (
        {
            "fig7": lambda c: c.horizon ** (1.1 if of(c, "epsilon") == 4 else 0.5),
            "fig8": lambda c: 100 * GAMMA.get(of(c, "gamma"), 1),
            "fig9a": lambda c: 100 * (3 - 2 * of(c, "kappa")) if aux(c) == 8 else 100,
            "fig9b": lambda c: 100 * (1 + of(c, "gamma") * aux(c)),
            "fig9c": by_order,
            "order": by_order,
        },
        {
            ("growth", "fig7a"): [0.5, 0.5, 1.1, 0.5, 0.5],
            ("gamma", "fig8"): [0.25],
            ("kappa", "fig9a"): [1, 1 / 3],
            ("shift", "fig9b"): [1 / 5, 1 / 17],
            ("shift_by_budget", "fig9b"): [5 / 17],
            ("order", "fig9c"): [2 / 3],
            ("removals", "fig9c"): [2 / 3],
        },
    ),
    (
        {"fig7": lambda c: c.horizon / of(c, "epsilon"), "fig8": lambda c: 1e6 / max(of(c, "n_aux"), 1)},
        {("slower", "fig7a"): [0.5, 0.5, 0.5, 1 / 128], ("n_aux", "fig8"): [0.1]},
    ),
    (
        # The older program of Figure 7(a) must not count for the program.
        {
            "fig7": lambda c: c.horizon * (4 if older(c) else 1 if of(c, "n_aux") else 2),
            "fig8": lambda c: 1e6 / aux(c),
        },
        {("less_steep", "fig7b"): [0.5] * 5, ("epsilon_aux", "fig8"): [2 / 1024]},
    ),
    (
        # A quarter at epsilon = 1 and a half at 2; with noise three times as much.
        {
            "fig7": lambda c: regret_rate(c.horizon, of(c, "epsilon"), 3, 2),
            "fig8": lambda c: (
                (3 if of(c, "deviation") == "noise" else 1) / (4 / of(c, "epsilon") if of(c, "n_aux") else 1)
            ),
        },
        {("over_rate", "fig7a"): [1] * 5, ("gain", "fig8"): [math.sqrt(1 / 8)], ("noise", "fig8"): [3]},
    ),
]


@pytest.mark.parametrize(("regrets", "expected"), TABLES)
def test_contrasts_of_regret_by_hand(regrets, expected, tmp_path):
    def regret(cell):
        return next((of_cell(cell) for name, of_cell in regrets.items() if name in cell.panels), 100.0)

    table = contrasts(made_up(tmp_path, regret, 1e-9))
    for (contrast, figure), values in expected.items():
        algorithm = "program with noise" if contrast == "noise" else "program"
        np.testing.assert_allclose(chosen(table, contrast, figure, algorithm), values, rtol=1e-6)
        # The text's algorithm has every contrast but this one, and uniform play has no effect.
        if contrast != "noise":
            assert len(chosen(table, contrast, figure, PRINTED))
            exact = chosen(table, contrast, figure, EXACT)
            assert (exact > 1 if contrast == "over_rate" else exact == 1).all()
        if contrast == "less_steep":
            np.testing.assert_allclose(chosen(table, contrast, algorithm="older program"), [0.25] * 5)


def test_a_contrast_has_the_error_of_all_its_cells(tmp_path):
    # gain: per epsilon 48 cells and one without sources, each with an error of a hundredth.
    table = contrasts(made_up(tmp_path, lambda cell: 100.0, 1.0))
    row = table[(table["contrast"] == "gain") & (table["algorithm"] == "program")].iloc[0]
    assert row["value_se"] == pytest.approx(0.01 * math.sqrt(96 / 96**2 + 2 / 2**2))
    assert (row["runs"], len(row["cells"].split())) == (100, 98)
    # growth: two ends; the exponent's error is that of the logarithm over ln 16.
    row = table[(table["contrast"] == "growth") & (table["algorithm"] == PRINTED)].iloc[0]
    assert row["value_se"] == pytest.approx(0.01 * math.sqrt(2) / math.log(16))
    # slower: slopes of 0 have no quotient.
    assert table.loc[table["contrast"] == "slower", "value"].isna().any()


def test_the_spread_of_regret(tmp_path):
    def spread(cell):
        return 8 / of(cell, "epsilon") * (4 if of(cell, "n_aux") else 1) * (5 if aux(cell) == 2 else 1)

    table = contrasts(made_up(tmp_path, spread=spread))
    assert chosen(table, "spread_epsilon", "fig7a") == pytest.approx(1 / 1024)
    assert chosen(table, "spread_epsilon", "fig8") == pytest.approx(1 / 2)
    assert chosen(table, "spread_sources", "fig7b") == pytest.approx(1 / 4)
    assert chosen(table, "spread_epsilon_aux", "fig8") == pytest.approx(1 / 5)
    # A quarter of the cells with sources have eps_m = 2.
    assert chosen(table, "spread_alone", "fig8") == pytest.approx(1 / 4 / 5**0.25)
    # Four runs at -+ 1: the fourth moment is the squared variance, so the standard deviation has no error.
    assert table.loc[table["contrast"] == "spread_epsilon", "value_se"].dropna().eq(0).all()


def added(studies):
    """Add an untagged policy, batch, constant and values to the study of Figures 7 to 9, in their panels."""
    alone = {"M": 2, "n_aux": 0, "epsilon_aux": 1024, "gamma": 0, "kappa": 1}
    helped = alone | {"panel": "fig8a", "horizon": 80_000, "epsilon": 1, "epsilon_aux": 8}
    program = {"policy": "ldp_mab", "variant": "as_released"}
    point = alone | {"panel": "fig7a", "horizon": [10_000, 160_000], "epsilon": [1, 2, 4, 8, 1024]}
    of_figures = [
        program | {"batch": 50, "grid": point},
        program | {"batch": 100, "grid": point | {"horizon": 320_000}},
        program | {"batch": 100, "grid": point | {"epsilon": [16]}},
        program | {"batch": 100, "deviation": "width", "grid": point},
        program | {"batch": 500, "grid": helped | {"n_aux": [30_000, 200_000]}},
        {
            "policy": "ldp_linear",
            "batch": 100,
            "clip": 1,
            "rate": 0.1,
            "grid": point | {"dimensions": 2, "variant": "as_released"},
        },
    ]
    printed = {"policy": "ldp_mab", "variant": "as_printed"}
    of_text = [
        printed | {"c": 16, "grid": point},
        printed | {"c": 2, "grid": point | {"horizon": [20_000]}},
        printed | {"c": 2, "grid": helped | {"n_aux": 20_000, "gamma": [0, 0.2, 2]}},
    ]
    for study, entries in (("regret", of_figures), ("regret_printed", of_text)):
        studies[study].policies += map(Entry.model_validate, entries)


def test_what_somebody_adds_changes_no_case(tmp_path, loaded):
    def regret(cell):
        return cell.horizon**0.7 / of(cell, "epsilon") ** 0.1 * (1 + sum(map(ord, cell.name)) % 7)

    found = []
    for change in (None, added):
        folder = tmp_path / str(change is None)
        folder.mkdir()
        table = contrasts(made_up(folder, regret, change=change))
        every = [one for one in loaded.values() if one.table == "contrasts"]
        assert len(every) > 15
        found.append([row for one in every for row in cases.judged(one, table, tags=tags(change), shrunk=())])
    before, after = (pd.DataFrame(rows).drop(columns=["why"]) for rows in found)
    pd.testing.assert_frame_equal(before, after)
    assert {"holds", "fails"} <= set(before["verdict"])


def illustrated(share):
    """Return study `illustration_curves`: two runs per kind of data; share: kind -> users before the elimination."""
    rows, cells = [], []
    for kind, n_aux in (("none", 0), ("effective", 500), ("weak", 500)):
        cells.append(
            {"cell": kind, "policy": "ldp_mab", "variant": "as_released", "deviation": "choice", "horizon": 1_000}
            | {"environment": "exponential", "K": 3, "M": 1, "epsilon": 1, "n_aux": n_aux, "epsilon_aux": 8.0}
            | {"gamma": 0.0, "kappa": 1.0, "batch": 10, "t": 1_000, "replicates": 2}
            | {"panels": f"fig6_caption_size {kind}"}
        )  # fmt: skip
        rows += [
            {"cell": kind, "replicate": r, "t": t, "arm": arm, "regret": t * share[kind], "local_regret": 2.0 * t}
            | {"share": 1 / 3 if t == 20 else 0.5, "eliminated_after": after if arm == 2 else math.nan}
            for r, after in enumerate((1_000 * share[kind], math.nan))
            for t in (20, 1_000)
            for arm in range(3)
        ]
    return runs({"illustration_curves": (pd.DataFrame(rows), pd.DataFrame(cells))})


def test_contrasts_of_figure_6_by_hand():
    table = figure6(illustrated({"none": 0.8, "effective": 0.2, "weak": 0.4}))
    own = (
        table[table["algorithm"] == "program with uniform choices"]
        .set_index(["contrast", "data", "quantity"])
        .sort_index()
    )
    # Without data the shares are .8 and 1, with effective data .2 and 1: means .9 and .6, errors .1 and .4.
    assert own["value"]["elimination", "effective"].item() == pytest.approx(-0.3)
    assert own["value_se"]["elimination", "effective"].item() == pytest.approx(math.hypot(0.1, 0.4))
    assert own["value"]["impact", "effective"].item() == pytest.approx(-0.1)
    assert own["value"]["descent", "effective", "global"] == pytest.approx(0.25)
    assert own["value"]["descent", "weak", "local"] == pytest.approx(1)
    assert own["value"]["quality", "effective", "global"] == pytest.approx(0.5)
    assert own["value"]["over_time", "effective", "other arms"] == pytest.approx(-1 / 6)
    assert own["value"]["over_time", "effective", "global"] == pytest.approx(0)
    exact = table[table["algorithm"] == EXACT]
    assert len(exact) == len(own)
    assert exact.loc[exact["contrast"].isin(["elimination", "impact", "over_time"]), "value"].eq(0).all()
    assert exact.loc[exact["contrast"].isin(["descent", "quality"]), "value"].eq(1).all()


def test_identical_shares_do_not_make_a_difference_exact():
    rows = figure6(illustrated({"none": 1.0, "effective": 1.0, "weak": 1.0}))
    rows = rows[(rows["contrast"] == "elimination") & (rows["algorithm"] != EXACT)]
    assert (rows["value"] == 0).all()
    assert (rows["value_se"] > 0).all()


def test_estimates_outside_their_radius():
    base = {"policy": "ldp_mab", "environment": "exponential", "deviation": "", "K": 3, "M": 2, "n_aux": 0}
    cells = [
        base | {"cell": name, "variant": variant, "c": c, "horizon": 40_000, "epsilon": 1, "panels": "quality"}
        for name, variant, c in (("a", "as_printed", 2.0), ("b", "as_printed", 640.0), ("c", "as_released", math.nan))
    ]
    misses = pd.DataFrame({"cell": ["a", "a", "a", "b", "c"], "misses": [3, 0, 1, 0, 9]})
    table = radius(runs({"eliminations": (misses, pd.DataFrame(cells))})).set_index(["algorithm", "by"])
    assert table["missed"][PRINTED, "runs"] == pytest.approx(2 / 3)
    assert table["missed_trials"]["text with c = 640", "runs"] == 1
    assert 0 < table["missed"]["text with c = 640", "proof"] < table["n"]["text with c = 640", "proof"] ** -2.0
    assert len(table) == 3


def test_statistics_of_the_authors_logs(tmp_path):
    logs = authors_logs(made_up(tmp_path, studies=("regret", "regret_printed"))).set_index("statistic")
    assert logs["value"]["runs"].tolist()[0] == 30
    # Nobody knows the runs of figures that were not drawn from the logs.
    assert logs["value"]["runs"].isna().tolist() == [False, True]
    assert logs["runs"]["mean"] == 450
    assert logs["value_se"]["mean"] == pytest.approx(450**-0.5)


def test_the_loss_of_an_impossible_event_is_none():
    base = {"policy": "ldp_mab", "variant": "as_printed", "differ": "context", "event": "quadrant", "batch": 1}
    base |= {"K": 2, "horizon": 10_000, "M": 0, "trials": 100}
    rows = [
        base | {"epsilon": e, "neighbour": n, "cell": f"{e}{n}", "events": 4 + 2 * n}
        for e in (0.5, 2.0)
        for n in (0, 1)
    ]
    table = privacy(runs({"privacy": (pd.DataFrame(rows).assign(environment="neighbouring_users"), pd.DataFrame())}))
    assert table["loss"].tolist() == [1, 1]
    assert table["cells"].tolist() == ["0.50 0.51", "2.00 2.01"]


def test_rates_by_hand():
    table = rates(None)
    seven = table[(table["formula"] == "(7)") & (table["d"] == 2)].set_index(["axis", "n", "epsilon"])["value"]
    # 1,000 users: epsilon from .1 to .5; beta from .5 to 1 at n epsilon^2 = 10 and at .1.
    assert seven["epsilon", 1_000, 0.1] == pytest.approx(5 ** (-2 * 2 / 6))
    assert seven["beta", 1_000, 0.1] == pytest.approx(10 ** (-0.5 / 6))
    assert seven["beta", 1_000, 0.01] == pytest.approx(0.1 ** (-0.5 / 6))
    private = table.loc[table["formula"] == "private (7)", "value"]
    # 10 users, epsilon = 1, d = 4, beta = .5: 10^(1.5/6 - 1.5/10).
    assert private.min() == pytest.approx(10 ** (1.5 / 6 - 1.5 / 10))
    assert set(table.loc[(table["axis"] == "gamma") & (table["value"] > 1), "regime"]) == {"n epsilon^2 below 1"}
    growth = table[table["formula"] == "(5)"]
    # Up to epsilon = 4 the private term decides at both ends: exponent 1 - 1/3 up to ln n, and 2^(-2/3) per doubling.
    assert growth[growth["axis"] == "epsilon"]["value"].iloc[0] == pytest.approx(2 ** (-2 / 3))
    assert growth[growth["axis"] == "n"]["value"].iloc[0] == pytest.approx(
        2 / 3 + math.log(math.log(160_000) / math.log(10_000)) / 3 / math.log(16)
    )
    # At eps_m = 1: two terms of (n_Q / (9 ln n))^(6 / 6.4) over 4 n_P / (9 ln n), n = 40,000.
    low = table[(table["formula"] == "sources of (22)") & (table["n_aux"] == 10_000)]["value"].item()
    scale = 9 * math.log(40_000)
    assert low == pytest.approx(2 * (10_000 / scale) ** (6 / 6.4) / (160_000 / scale), rel=1e-6)


def test_formulas_by_hand():
    table = formulas(None)

    def of_formula(name):
        return table[table["formula"] == name]

    # Depth 0: sqrt(2) over 2 sqrt(2). Depth 1: edges 1 and 1/2, sqrt(1.25) over 2.
    diameters = of_formula("diameter").set_index("depth")["value"]
    assert diameters["0"] == 0.5
    assert diameters.max() == pytest.approx(math.sqrt(1.25) / 2)
    # In small bins: half an edge times the slope over tau_s, a quarter of the slope for the long edge.
    u = np.linspace(0, 1, 100_001)
    errors = of_formula("approximation_error").groupby("arms")["value"].max()
    for arms in (3, 10):
        slope = abs(np.gradient(2 / (1 + np.exp(2 * arms**2 * u**2)), u)).max()
        assert errors[arms] == pytest.approx(slope / 4, rel=0.03)
    middles = (np.arange(1000) + 0.5) / 1000
    distance = np.maximum.outer(abs(middles - 0.5), abs(middles - 0.5))
    printed = 2**-2 * 2 / (2 + 2)
    assert of_formula("density")["value"].item() == pytest.approx(printed * (distance**2).mean(), rel=1e-5)
    for name in ("(4)", "(6)", "exponents", "order", "best_arm"):
        assert of_formula(name)["holds"].all(), name
    weights = of_formula("weights").groupby("count")["holds"].mean()
    assert (weights["0"], weights["above 0"]) == (0, 1)
    sources = of_formula("sources").set_index("variant")
    assert sources["holds"]["as_printed"].all()
    # Without a shift both have gamma = 0.
    assert sources[~sources["holds"].astype(bool)]["gamma"].min() == 0.2


def test_figure_7_ends_where_its_caption_does():
    (entry, *_) = configuration.load_paper(STUDIES, "paper").studies["regret"].policies
    sizes = {axes.parameters["tag"]: axes.parameters["horizon"] for axes in entry.grid}
    assert max(sizes["figure7"]) == 160_000
