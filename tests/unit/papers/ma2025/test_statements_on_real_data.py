"""Check the inference tables of the statements about Tables 1 and 2 with made-up entries, and what additions change."""

import csv
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from privarms.ledger import cases as ledger
from privarms.papers.ma2025 import inference_sentences, inference_table2
from privarms.papers.ma2025.inference_sentences import METHOD
from privarms.planning import cells as grid
from privarms.planning import configuration
from privarms.planning.studies import Entry
from tests import PAPERS

from ..conftest import loaded
from .toy_rewards import references, results, runs_of

FOLDER = PAPERS / "ma2025"
ALL = "adult+jobs+taxi"


def printed(name="table2"):
    return pd.read_csv(FOLDER / f"published/{name}.csv")


def ours(se=1e-5, **changed):
    """Return Adult's entries as in `table2_settings`: the printed ones, or others by (method, auxiliary)."""
    table = printed()
    table = table[table["dataset"] == "adult"].assign(data="real", setting="default", runs=1_000, se=se, ratio_se=se)
    for key, ratio in changed.items():
        method, auxiliary = key.rsplit("_", 1)
        table.loc[(table["method"] == method) & (table["auxiliary"] == auxiliary), "ratio"] = ratio
    table["variant"] = np.where(table["method"] == "ldp_mab", "as_released", "")
    return table.assign(cells=table["method"] + "-" + table["auxiliary"])


@pytest.fixture
def stated(monkeypatch):
    """Return the rows of an inference table, given our entries of Table 2."""

    def of(name, entries, **where):
        monkeypatch.setattr(inference_sentences, "table2_settings", lambda results: entries)
        table = getattr(inference_sentences, name)(SimpleNamespace(published_table=printed))
        for column, value in where.items():
            table = table[table[column] == value]
        return table

    return of


def test_the_printed_entries_give_the_printed_rank_sums(stated):
    actual = stated("rank_sums", ours(), numbers="printed").merge(printed("rank_sums"), on=["time", *METHOD])
    assert len(actual) == 12
    assert (actual["rank_sum_x"] == actual["rank_sum_y"]).all()
    assert (actual["rank_sum_low"] == actual["rank_sum_high"]).all()


def test_ranks_on_missing_datasets_can_be_any(stated):
    rows = stated("rank_sums", ours(), numbers="re-run", time="quarter").set_index(METHOD)
    # LDPMAB with auxiliary data is the first in Adult's four rows, and between 1 and 6 in the eight others.
    first = rows.loc[("ldp_mab", "with")]
    assert first[["rank_sum", "rank_sum_low", "rank_sum_high"]].tolist() == [15, 4 + 8, 4 + 48]
    assert first["rank_sum_sd"] == 0
    # Last in all of Adult's rows: at least 24 + 8, so the printed 15 is excluded.
    last = stated("rank_sums", ours(ldp_mab_with=0.5), numbers="re-run", time="quarter").set_index(METHOD)
    assert last.loc[("ldp_mab", "with"), ["rank_sum_low", "rank_sum_high"]].tolist() == [24 + 8, 24 + 48]


def test_the_scatter_of_a_rank_sum(stated):
    # Two methods .02 apart and the others far from them. With an error of .01 (1,000 runs), each entry of 100 runs has
    # an error of .0316, so they change places with probability .327 in each of Adult's four rows.
    far = {"ldp_linear_with": -1, "ldp_linear_without": 0.2, "ldp_nn_with": 0.3, "ldp_nn_without": 0.4}
    entries = ours(0.01, ldp_mab_with=0.82, ldp_mab_without=0.8, **far)
    rows = stated("rank_sums", entries, numbers="re-run", time="full").set_index(METHOD)
    for auxiliary in ("with", "without"):
        assert rows.loc[("ldp_mab", auxiliary), "rank_sum_sd"] == pytest.approx(
            10 * np.sqrt(4 * 0.327 * 0.673), rel=0.1
        )
    assert rows.loc[("ldp_linear", "with"), "rank_sum_sd"] == 0


def differences(rows, **where):
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows[["difference", "difference_low", "difference_high"]].to_numpy().tolist()


def test_sentences_on_the_printed_numbers(stated):
    rows = stated("table2_sentences", ours(), numbers="printed")
    of = {(r.sentence, r.time): r.difference for r in rows.itertuples() if isinstance(r.time, str)}
    sums = printed("rank_sums").set_index(["time", *METHOD])["rank_sum"]
    assert of["average", "quarter"] == 15 - 37
    assert of["linear", "full"] == sums["full", "ldp_mab", "without"] - sums["full", "ldp_linear", "without"]
    # In eleven of the twelve rows at n_P/4 LDPMAB is the best, but three times on Taxi it is NN with auxiliary data.
    assert of["best", "quarter"] == 8
    # Of 72 entries without auxiliary data two (NN on Taxi) are not below 1.
    assert differences(rows, sentence="absse") == [[68, 68, 68]]


def test_sentences_on_our_entries(stated):
    rows = stated("table2_sentences", ours(), numbers="re-run", time="quarter")
    adult, everything = rows[rows["datasets"] == "adult"], rows[rows["datasets"] == ALL]
    # First in four rows; the second ones, by rows: LDPMAB without, NN with, LDPMAB without twice.
    assert differences(adult, sentence="best") == [[4, 4, 4]]
    assert differences(everything, sentence="best")[0][1:] == [4 - 8, 12 - 0]
    worse = ours(ldp_mab_without=0.5, ldp_linear_without=1.2)
    (linear,) = differences(stated("table2_sentences", worse, time="quarter", datasets="adult"), sentence="linear")
    # Last in four rows against second.
    assert linear == [4 * (6 - 2)] * 3


def test_entries_that_cannot_be_told_apart_leave_the_difference_open(stated):
    close = ours(0.05, ldp_mab_without=0.801, ldp_linear_without=0.8)
    value, low, high = differences(stated("table2_sentences", close, time="full", datasets="adult"), sentence="linear")[
        0
    ]
    assert low < 0 < high
    assert value < 0


def test_the_mean_effect_of_auxiliary_data(stated):
    entries = ours(0.01, ldp_mab_with=1.0, ldp_mab_without=0.8)
    rows = stated("table2_sentences", entries, numbers="re-run", sentence="transfer", time="full")
    # Errors of logarithms, .01 / 1 and .01 / .8, are added; 3.3003 is Student's quantile for 1,000 runs.
    (row,) = differences(rows)
    half = 3.3003 * 0.0225
    assert row == pytest.approx([np.log(1.25), np.log(1.25) - half, np.log(1.25) + half], abs=1e-5)
    assert set(rows["cells"]) == {"ldp_mab-with ldp_mab-without"}
    uniform = entries[entries["method"] == "ldp_mab"].assign(setting="c 64", variant="as_printed", cells="other")
    both = stated("table2_sentences", pd.concat([entries, uniform]), sentence="transfer", setting="c 64")
    assert differences(both) == [[0, 0, 0], [0, 0, 0]]
    assert set(both["variant"]) == {"as_printed"}


def test_a_ratio_of_entries_with_and_without_auxiliary_data(stated):
    rows = stated("table2_transfer", ours(), method="ldp_nn", time="full")
    first = rows[(rows["epsilon"] == 1) & (rows["epsilon_aux"] == 1) & (rows["numbers"] == "printed")]
    bounds = first.set_index("dataset")[["transfer", "transfer_low", "transfer_high"]]
    assert bounds.loc["adult"].tolist() == pytest.approx([0.750 / 0.784, 0.7495 / 0.7845, 0.7505 / 0.7835])
    again = rows[(rows["epsilon"] == 1) & (rows["epsilon_aux"] == 1) & (rows["numbers"] == "re-run")]
    low, high = (again.set_index("dataset")[f"transfer_{end}"].to_dict() for end in ("low", "high"))
    assert (low["jobs"], high["taxi"]) == (0, np.inf)
    assert 0.75 / 0.784 - 0.001 < low["adult"] < 0.75 / 0.784 < high["adult"] < 0.75 / 0.784 + 0.001


def test_runs_that_were_repeated_explain_small_differences(stated):
    # Standard deviations of one run, over ABSE's mean, of .001 (Linear) and .13 (NN); two means of 100 runs differ by
    # 3.29 sqrt(2) / 10 of them: .0005 and .060.
    spread = {"ldp_mab": 0.01, "ldp_linear": 0.001, "ldp_nn": 0.13}
    entries = ours().assign(ratio_top_sd=lambda t: t["method"].map(spread) * 50, ratio_bottom_sd=0.0, ratio_bottom=50.0)
    rows = stated("printed_pairs", entries)
    same = rows.groupby(["method", "repeated"])["same"].agg(["all", "size"])
    assert same["all"].to_dict() == {
        **{("ldp_mab", "no"): False, ("ldp_linear", "no"): False, ("ldp_nn", "no"): False},
        **{("ldp_mab", "yes"): True, ("ldp_linear", "yes"): False, ("ldp_nn", "yes"): True},
    }
    assert same["size"].tolist() == [12, 4] * 3
    # NN's entries .935 and .992 are too far apart for a third of this spread.
    entries["ratio_top_sd"] /= 3
    rows = stated("printed_pairs", entries)
    assert not rows.loc[(rows["method"] == "ldp_nn") & (rows["repeated"] == "yes"), "same"].all()


def test_the_baselines_budget_matters_at_one_epsilon_only(stated):
    rows = stated("printed_budgets", ours()).set_index(["method", "epsilon"])["changes"].to_dict()
    assert rows == {(m, e): m == "ldp_mab" or e == 1 for m in ("ldp_mab", "ldp_linear", "ldp_nn") for e in (1, 2)}


def test_shares_of_users_whose_message_names_their_bin():
    cells = {"dataset": "adult", "data": "real", "variant": "as_released", "epsilon": [1, 2], "epsilon_aux": 1.0}
    cells |= {"replicates": 1_000, "in_parts_mean": [0.3, 0.4], "in_parts_se": 0.01, "cell": ["a", "b"]}
    table = inference_sentences.adult_messages(SimpleNamespace(cells={"messages": pd.DataFrame(cells)}.__getitem__))
    # Two intervals hold together with probability .999: 3.49 standard errors.
    assert table["told_low"].tolist() == pytest.approx([0.2651, 0.3651, 0], abs=1e-4)
    assert table["told_high"].tolist() == pytest.approx([0.3349, 0.4349, 0], abs=1e-4)
    assert table["variant"].tolist() == ["as_released", "as_released", "as_printed"]


def test_sizes_are_counted_for_each_split_of_the_sources():
    facts = {"data": "real", "n_target": 40, "K": 2, "sources": 7, "max_n_source": 30, "original_dimensions": 5}
    about = {
        "adult": facts,
        "adultone": facts | {"sources": 1, "max_n_source": 39},
        "jobs": facts | {"data": "stand-in"},
    }
    names = {"real_data": ["adult", "jobs"], "adult_sensitivity": ["adultone", "adultall"]}
    made = SimpleNamespace(cells=lambda study: pd.DataFrame({"dataset": names[study]}), dataset=about.__getitem__)
    rows = inference_sentences.table1_sizes(made).fillna("")
    found = {(r.dataset, r.entry, r.split): r.value for r in rows.itertuples()}
    by = "sources by workclass"
    assert found == {
        **{("adult", "n_target", ""): 40, ("adult", "K", ""): 2},
        **{("adult", "sources", by): 7, ("adult", "max_n_source", by): 30},
        **{("adult", "sources", "one source"): 1, ("adult", "max_n_source", "one source"): 39},
    }


# Additions to the studies.


def test_every_statement_on_real_data_names_columns_that_its_table_has(plan, stated):
    file = loaded(plan, "ma2025")
    entries = ours().assign(ratio_top_sd=0.1, ratio_bottom_sd=0.1, ratio_bottom=10.0)
    tables = ("rank_sums", "table2_sentences", "table2_transfer", "printed_pairs", "printed_budgets", "table2_settings")
    tags = {cell: ["table2"] for cells in entries["cells"] for cell in cells.split()}
    for name in tables:
        frame = entries if name == "table2_settings" else stated(name, entries)
        for statement in (one for one in file.values() if one.table == name):
            lines = []
            if "table" in statement.published:
                with open(FOLDER / f"published/{statement.published['table']}.csv") as published:
                    lines = list(csv.DictReader(published))
            rows = ledger.judged(statement, frame, tags=tags, shrunk=(), printed=lines, data="real")
            assert {row["verdict"] for row in rows} - {"unverifiable"}, statement.name


def test_missing_datasets_are_unverifiable_for_one_reason(plan, stated):
    with open(FOLDER / "published/table2.csv") as published:
        lines = list(csv.DictReader(published))
    frame = ours().assign(ratio_top_sd=0.1, ratio_bottom_sd=0.1, ratio_bottom=10.0)
    tags = {cell: ["table2"] for cell in frame["cells"]}
    rows = ledger.judged(loaded(plan, "ma2025")["table_2"], frame, tags=tags, shrunk=(), printed=lines, data="real")
    missing = [row for row in rows if row["verdict"] == "unverifiable"]
    assert (len(rows), len(missing)) == (144, 96)
    assert {row["why"] for row in missing} == {"The files of Jobs and Taxi are missing (data/README.md)."}


def test_cells_that_somebody_adds_have_no_tag():
    file = FOLDER / "studies.yaml"
    added = [
        {"policy": "ldp_linear", "epsilon": 1, "auxiliary": "without", "batch": 7},
        {"policy": "ldp_mab", "variant": "as_released", "epsilon": 3, "auxiliary": "without"},
        {"policy": "ldp_nn", "epsilon": 1, "epsilon_aux": 4, "rate": 0.01},
    ]
    wanted = {"real_data": {"table2", "table2_choice"}, "adult_sensitivity": {"table2"}, "messages": {"messages"}}
    for name, tags_of_study in wanted.items():
        study = configuration.load_paper(file, "paper").studies[name]
        more = study.model_copy(update={"policies": [*study.policies, *map(Entry.model_validate, added)]})
        own, larger = (grid.expand(str(file), "ma2025", name, one) for one in (study, more))
        assert len(larger) > len(own)
        before, after = ({cell.name: cell.tags for cell in cells if cell.tags} for cells in (own, larger))
        assert before == after
        assert tags_of_study == {one for tags in before.values() for one in tags}


ADULT = {"dataset": "adult"}


def studies(*more, references_too=()):
    """Return runs of the studies behind Table 2 with Adult's rows only, and additions to `real_data`."""
    pairs = [(m, a) for m in ("ldp_mab", "ldp_linear", "ldp_nn") for a in ("with", "without")]
    main = [runs_of(m, a, **ADULT) for m, a in pairs]
    main += [runs_of("ldp_mab", a, variant="as_printed", c=64, **ADULT) for _, a in pairs[:2]]
    choice = {"variant": "as_printed", "c": 2, "tag": "table2_choice"}
    main += [runs_of("ldp_mab", a, **choice, **ADULT) for _, a in pairs[:2]]
    absse = references(dataset="adult").query("policy == 'absse'").assign(lipschitz=np.nan)
    other = absse.assign(cell="absse-2", lipschitz=2.0, reward=2 * absse["reward"])
    runs = {
        "real_data": pd.concat([*main, *more]),
        "real_data_reference": pd.concat([absse, *references_too]),
        "adult_settings": pd.concat([runs_of(m, a, batch=500, rate=0.6, **ADULT) for m, a in pairs]),
        "adult_sensitivity": pd.concat([runs_of(m, a, dataset="adultone", rate=0.65) for m, a in pairs]),
        "adult_sensitivity_reference": pd.concat([references(dataset="adultone").assign(lipschitz=np.nan), other]),
    }
    return {study: one.assign(cell=one["cell"].str.replace(" ", "")) for study, one in runs.items()}


def tables(made):
    made.published_table = printed
    names = ("rank_sums", "table2_sentences", "table2_transfer", "printed_pairs")
    found = {name: getattr(inference_sentences, name)(made) for name in names}
    return found | {"table2_settings": inference_table2.table2_settings(made)}


def test_settings_of_adult_and_their_errors(tmp_path):
    table = tables(results(tmp_path, **studies()))["table2_settings"]
    assert set(table["setting"]) == {"default", "batch 500", "one source", "c 64", "c 2", "ABSE: lipschitz 2"}
    row = table[(table["method"] == "ldp_nn") & (table["auxiliary"] == "without") & (table["time"] == "full")]
    own = row[(row["epsilon"] == 1) & (row["epsilon_aux"] == 1)].set_index("setting")
    # Rewards 15, 16, 17 five times over have a mean of 16 and an error of sqrt(10/14/15); ABSE has 30 in both runs,
    # with an error of .1 in the summary.
    se = np.sqrt(10 / 14 / 15)
    default = own.loc["default"]
    assert default["ratio"] == pytest.approx(16 / 30)
    assert default["ratio_se"] == pytest.approx(16 / 30 * np.hypot(se / 16, 0.1 / 30))
    assert default["se"] == pytest.approx(se / 30)
    assert default["ratio_top_sd"] == pytest.approx(se * np.sqrt(15))
    assert default["runs"] == 2
    assert default["cells"].split()[1] == "table2:absse-adult-40"
    assert own.loc["ABSE: lipschitz 2", "ratio"] == pytest.approx(8 / 30)
    assert own.loc["batch 500", "ratio"] == pytest.approx(0.6 * 40 / 30)


def test_what_somebody_adds_changes_no_case(tmp_path, plan):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    before = studies()
    tags = {cell: ["table2"] for runs in before.values() for cell in runs["cell"].unique()}
    added = [
        runs_of("uniform", rate=0.99, tag="", **ADULT),
        runs_of("ldp_linear", rate=0.99, batch=9, tag="", **ADULT),
        runs_of("ldp_linear", epsilon=[1, 4], epsilon_aux=[2], rate=0.2, tag="", **ADULT),
        runs_of("ldp_nn", dataset="adultall", rate=0.1, tag=""),
    ]
    absse = references(dataset="adult").query("policy == 'absse'")
    more = [absse.assign(cell="absse-3", lipschitz=3.0, reward=9.0)]
    one = tables(results(tmp_path / "a", **before))
    two = tables(results(tmp_path / "b", **studies(*added, references_too=more)))
    assert len(two["table2_settings"]) > len(one["table2_settings"])
    for statement in loaded(plan, "ma2025").values():
        if statement.table not in one:
            continue
        lines = []
        if "table" in statement.published:
            with open(FOLDER / f"published/{statement.published['table']}.csv") as published:
                lines = list(csv.DictReader(published))
        own = [ledger.judged(statement, t[statement.table], tags=tags, shrunk=(), printed=lines) for t in (one, two)]
        assert len(own[0]) == len(own[1]), statement.name
        key = ("case", "variant", "measured", "low", "high", "verdict")
        first, second = ({str([row[k] for k in key]) for row in rows} for rows in own)
        assert first == second, statement.name
