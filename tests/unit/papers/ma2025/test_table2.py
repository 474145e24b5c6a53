"""Check Table 2 of Ma et al. (2025): rank sums of the published table, and entries from made-up rewards."""

import numpy as np
import pandas as pd
import pytest
import yaml

from privarms.papers.ma2025 import _table2, tables_real_data
from privarms.papers.ma2025.inference_table2 import _contest
from privarms.planning import paths
from tests import PAPERS, ROOT

from .made_up import cells
from .toy_rewards import references, results, runs_of, usual

PUBLISHED = [ROOT / f for f in paths.published(PAPERS / "ma2025")]
P = 2**-15
ROW, METHOD = _table2.ROW, _table2.METHOD


class Stated:
    """Return the printed entries, and Table 2 with these entries as ours."""

    def __init__(self, data="real"):
        own = self.published_table("table2").assign(data=data, horizon=40, replicates=100, se=0.001, setting="")
        own["variant"] = np.where(own["method"] == "ldp_mab", "as_released", "")
        self.table = own

    @staticmethod
    def published_table(name):
        return pd.read_csv(next(f for f in PUBLISHED if f.stem == name))

    def inference(self, name):
        return self.table


def test_the_published_entries_give_the_published_rank_sums():
    actual = tables_real_data.table2_ranks(Stated())
    actual = actual[actual["datasets"] == "adult+jobs+taxi"]
    assert len(actual) == 12
    assert (actual["rank_sum"] == actual["published_rank_sum"]).all()
    # Ties share the best rank, so the rank sums of a time do not add up to 12 * 21.
    assert actual.groupby("time")["rank_sum"].sum().to_dict() == {"quarter": 247, "full": 245}


def test_a_stand_in_has_no_published_sum():
    assert tables_real_data.table2_ranks(Stated("stand-in"))["published_rank_sum"].isna().all()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return results(tmp_path_factory.mktemp("made"), real_data=usual(), published=PUBLISHED)


@pytest.fixture(scope="module")
def table(made):
    return made.inference("table2")


def test_entries_are_ratios_to_absse_once_for_each_pair_of_budgets(table):
    assert not table.duplicated([*ROW, *METHOD]).any()
    assert len(table) == 2 * 2 * 2 * 8
    row = table[(table["method"] == "ldp_nn") & (table["auxiliary"] == "without") & (table["time"] == "full")]
    assert sorted(zip(row["epsilon"], row["epsilon_aux"], strict=True)) == [(1, 1), (1, 4), (2, 1), (2, 4)]
    assert row["ratio"].tolist() == pytest.approx([0.4 / 0.75] * 4)
    # By hand: rewards 15, 16, 17 five times over, of mean 16; ABSE's 30 with error .1.
    se = np.sqrt(10 / 14 / 15)
    assert row["se"].tolist() == pytest.approx([16 / 30 * np.hypot(se / 16, 0.1 / 30)] * 4)


def test_the_best_method_is_marked_among_the_six(table):
    best = table[table["best"] == True]  # noqa: E712
    assert set(zip(best["method"], best["variant"], best["auxiliary"], strict=True)) == {
        ("ldp_mab", "as_released", "with")
    }
    assert len(best) == 8
    # Fifteen replicates with equal differences: a rank sum of 120, 60 above its mean, with variance 1240/4 - 70.
    assert best["significant"].all()
    assert best["significant_holm"].all()
    others = table[table["p"].notna()]
    assert others["p"].tolist() == pytest.approx([P] * len(others))
    assert (others["best_over_this"] > 1).all()
    assert others[["low", "high"]].notna().all().all()
    printed = table[table["variant"] == "as_printed"]
    assert len(printed) == 16
    assert printed[["best", "significant", "p", "low"]].isna().all().all()


def test_ranks_of_known_rates(table):
    compared = table[table["variant"] != "as_printed"]
    actual = _table2.ranks(compared).set_index(["method", "variant", "auxiliary", "time"])["rank_sum"]
    order = [("ldp_mab", "with"), ("ldp_nn", "with"), ("ldp_linear", "with"), ("ldp_mab", "without")]
    order += [("ldp_linear", "without"), ("ldp_nn", "without")]
    for rank, (method, auxiliary) in enumerate(order, 1):
        variant = "as_released" if method == "ldp_mab" else ""
        assert actual[method, variant, auxiliary, "full"] == 4 * rank


def test_a_dataset_without_sources_has_three_methods(tmp_path):
    made = results(tmp_path, real_data=usual(printed=False, with_sources=False), published=PUBLISHED)
    actual = made.inference("table2")
    assert len(actual) == 2 * 2 * 3
    assert actual["epsilon_aux"].isna().all()
    assert actual.loc[actual["best"].astype(bool), "method"].unique().tolist() == ["ldp_mab"]
    assert _table2.ranks(actual)["rank_sum"].tolist() == [2, 4, 6] * 2
    sheet = tables_real_data.table2_sheet(tables_real_data.table2(made), made)
    assert [row for row in sheet.rows if isinstance(row, str)] == [
        "t = n_P/4, ε = 1",
        "t = n_P/4, ε = 2",
        "t = n_P, ε = 1",
        "t = n_P, ε = 2",
    ]


def test_every_method_has_enough_runs_to_be_compared():
    own = [cell for cell in cells()["real_data"] if cell.variant != "as_printed"]
    for dataset in {cell.dataset for cell in own}:
        runs = pd.Series([cell.replicates for cell in own if cell.dataset == dataset])
        assert (runs >= runs.mode().max()).all(), dataset


def test_the_cells_of_table_2_have_the_setting_of_the_authors_script():
    """The names of settings are relative to these cells, so a policy in a variant has one setting among them."""
    entries = yaml.safe_load((PAPERS / "ma2025/studies.yaml").read_text(encoding="utf-8"))["studies"]["real_data"]
    usual: dict[tuple, list[dict]] = {}
    for entry in entries["policies"]:
        if "table2" in (entry.get("tag", ()), *entry.get("tag", ()), entry.get("grid", {}).get("tag")):
            own = {
                k: v for k, v in entry.items() if k in ("batch", "clip", "rate", "c", "depth", "deviation", "learnt")
            }
            usual.setdefault((entry["policy"], entry.get("variant")), []).append(own)
    # The assumption about batches, clipping and rate; c = 64 is the constant of the columns as printed.
    script = {"batch": 100, "clip": 1, "rate": 0.01}
    wanted = {("ldp_linear", None): script, ("ldp_nn", None): script}
    wanted |= {("ldp_mab", "as_released"): {}, ("ldp_mab", "as_printed"): {"c": 64}}
    assert {key: [dict(one) for one in {tuple(o.items()) for o in own}] for key, own in usual.items()} == {
        key: [own] for key, own in wanted.items()
    }


def test_the_names_of_settings_do_not_depend_on_the_order_of_entries(tmp_path):
    other = runs_of("ldp_nn", batch=500, tag="")
    published = usual(batch=100)
    tables = [
        results(tmp_path / name, real_data=pd.concat(parts, ignore_index=True)).inference("table2")
        for name, parts in (("first", [other, published]), ("last", [published, other]))
    ]
    for table in tables:
        assert set(table["setting"]) == {"", "batch 500"}
        assert set(table.loc[table["setting"] == "batch 500", "method"]) == {"ldp_nn"}


def test_entries_are_relative_to_absse_as_published_whatever_else_ran(tmp_path):
    absse = references().query("policy == 'absse'").assign(lipschitz=np.nan)
    other = absse.assign(cell="other", lipschitz=2.0, reward=2 * absse["reward"])
    studies = {"real_data": usual(), "real_data_reference": pd.concat([other, references().assign(lipschitz=np.nan)])}
    actual = results(tmp_path, **studies).inference("table2")
    of_linear = actual[(actual["method"] == "ldp_linear") & (actual["auxiliary"] == "without")]
    np.testing.assert_allclose(of_linear["ratio"], 0.5 / 0.75, rtol=1e-12)


def test_a_contest_by_hand():
    # Best by mean is c: against a 5 of 5 larger (p 1/32); against b the differences 1, 2, 3, 4, -5 have W+ = 10 of 15.
    runs = {"b": [10, 11, 12, 13, 30], "a": [0, 1, 2, 3, 4], "c": [11, 13, 15, 17, 25]}
    rewards = {(name, "full"): pd.Series(values, dtype=float) for name, values in runs.items()}
    cells = pd.DataFrame({"cell": list(runs), "replicates": 5, "method": list(runs), "setting": "", "auxiliary": ""})
    actual = _contest(cells, rewards, "full", np.random.default_rng(1)).set_index("cell")
    assert actual["best"].to_dict() == {"c": True, "b": False, "a": False}
    # Subsets of {1, ..., 5} with sum >= 10, so rest <= 5: 10 of them.
    assert actual["p"].to_dict() == pytest.approx({"c": np.nan, "b": 10 / 32, "a": 1 / 32}, nan_ok=True)
    assert actual["p_holm"].to_dict() == pytest.approx({"c": np.nan, "b": 10 / 32, "a": 2 / 32}, nan_ok=True)
    assert not actual[["significant", "significant_holm"]].any(axis=None), "c beats a alone"
    pair = _contest(cells[cells["cell"] != "b"], rewards, "full", np.random.default_rng(1)).set_index("cell")
    assert pair.loc["c", ["significant", "significant_holm"]].all()
    # Holm doubles the smaller one of two p-values of 1/32.
    rewards["b", "full"] = rewards["a", "full"]
    both = _contest(cells, rewards, "full", np.random.default_rng(1)).set_index("cell")
    assert both.loc["c", "significant"]
    assert not both.loc["c", "significant_holm"]


def test_adults_alternatives_change_one_choice_at_a_time(tmp_path):
    adult = {"dataset": "adult", "epsilon": [1], "epsilon_aux": [4]}
    prepared = adult | {"dataset": "adultone"}
    absse = references(dataset="adult").query("policy == 'absse'")
    studies = {
        "real_data": runs_of("ldp_linear", rate=0.6, batch=100, **adult),
        "adult_sensitivity": runs_of("ldp_linear", rate=0.45, batch=100, **prepared),
        "adult_settings": runs_of("ldp_linear", rate=0.3, batch=500, **adult),
        "real_data_reference": absse.assign(lipschitz=np.nan),
        "adult_sensitivity_reference": pd.concat(
            [
                references(dataset="adultone").assign(lipschitz=np.nan),
                absse.assign(cell="other", lipschitz=2.0, reward=2 * absse["reward"]),
            ]
        ),
    }
    actual = results(tmp_path, **studies).inference("adult_alternatives")
    at_end = actual[actual["time"] == "full"].set_index("alternative")["ratio"].to_dict()
    usual = {"as in Table 2": 0.8, "one source": 0.6, "batch 500": 0.4, "ABSE: lipschitz 2": 0.4}
    assert at_end == pytest.approx(usual)
