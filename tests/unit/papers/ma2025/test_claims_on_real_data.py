"""Check measures of claims on real data with made-up rewards; additions to a study must not change them."""

import json

import numpy as np
import pandas as pd
import pytest

from privarms.claims import ledger
from privarms.claims.verdict import Measured, region
from privarms.studies import library
from tests import PAPERS

from .toy_rewards import references, results, runs_of, usual

MEASURES = library.paper_functions("ma2025", "measures")
OVER = {"method": ["ldp_mab", "ldp_linear", "ldp_nn"], "settings": ["", "c 64"]}
OVER |= {"epsilon": [1, 2], "epsilon_aux": [1, 4]}


def made_of(folder, *more, **studies):
    text = {"n_target": 40, "target_label_counts": [30, 10], "sources": 2, "source_names": ["a", "b"]}
    (folder / "toy.json").write_text(json.dumps(text | {"source_sizes": [5, 3]}), encoding="utf-8")
    return results(folder, facts=["toy"], **({"real_data": usual(*more)} | studies))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_of(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def more(tmp_path_factory):
    """Return the results with additions: a better setting, a budget, a policy and a dataset."""
    added = [runs_of("ldp_linear", a, rate=0.99, batch=500) for a in ("with", "without")]
    added += [runs_of("ldp_nn", epsilon=[4], epsilon_aux=[4], rate=0.1), runs_of("ldp_nn", dataset="other", rate=0.1)]
    added += [runs_of("uniform", rate=0.97), runs_of("ldp_mab", "without", epsilon=[8], rate=0.01)]
    return made_of(tmp_path_factory.mktemp("more"), *added)


def measured(results, measure, **arguments):
    claim = {"over": OVER, "arguments": arguments, "named": sorted(arguments)}
    return ledger.measure(MEASURES[measure], results, claim)


ENTRY = {"dataset": "toy", "epsilon": 1, "epsilon_aux": 4, "time": "full", "auxiliary": "with"}
VALUES = [
    ("table2_entry", ENTRY | {"method": "ldp_linear"}, 0.7 / 0.75),
    ("rank_sum", {"datasets": "toy", "time": "full", "method": "ldp_nn", "auxiliary": "with"}, 4 * 2),
    # LDPMAB with auxiliary data has rank 1 in eight rows; the next method has rank 2.
    ("rank_lead", {"datasets": "toy"}, 8 - 16),
    ("significant_lead", {"datasets": "toy"}, 8),
    ("negative_transfer", {"datasets": "toy", "method": "ldp_nn"}, 0),
    ("beats_linear", {"datasets": "toy"}, np.log(0.6 / 0.5)),
    ("share_below_absse", {"datasets": "toy"}, 1),
]


@pytest.mark.parametrize(("measure", "arguments", "value"), VALUES, ids=[v[0] for v in VALUES])
def test_a_value_is_that_by_hand_whatever_else_is_in_the_study(made, more, measure, arguments, value):
    actual = measured(made, measure, **arguments)
    assert actual.value == pytest.approx(value)
    assert measured(more, measure, **arguments) == pytest.approx(actual) or str(actual) == str(
        measured(more, measure, **arguments)
    )


def test_an_entry_of_table_1_is_that_of_the_facts(made):
    actual = measured(made, "table1_entry", dataset="toy", entry="sources")
    assert actual == Measured(2, note="Sources: a 5, b 3.")
    assert measured(made, "table1_entry", dataset="toy", entry="n_target") == Measured(40)


def test_ranks_that_runs_cannot_tell_apart_leave_the_rank_open(made, tmp_path):
    """Return rewards with an uncertain order: Linear and NN with auxiliary data earn 28 and 28.4 of 40, +-1."""
    runs = usual()
    for method, phase, rate in (("ldp_linear", 0, 0.70), ("ldp_nn", 1, 0.71)):
        own = (runs["policy"] == method) & runs["auxiliary"].isna()
        replicate, t = runs.loc[own, "replicate"], runs.loc[own, "t"]
        runs.loc[own, "reward"] = t * rate + (replicate + phase) % 3 - 1
    close = made_of(tmp_path, real_data=runs)
    arguments = {"datasets": "toy", "time": "full", "auxiliary": "with"}
    for method, value in (("ldp_linear", 4 * 3), ("ldp_nn", 4 * 2)):
        actual = measured(close, "rank_sum", method=method, **arguments)
        assert actual.value == value
        # They are significantly behind LDPMAB with auxiliary data, and before all methods without.
        assert actual.interval == (8, 12)
    assert measured(close, "rank_sum", method="ldp_mab", **arguments).interval == (4, 4)
    # If all replicates have the same difference, every order is significant.
    assert measured(made, "rank_sum", method="ldp_nn", **arguments).interval == (8, 8)
    assert measured(made, "rank_lead", datasets="toy").interval == (8 - 16, 8 - 16)
    assert measured(made, "significant_lead", datasets="toy").interval == (8, 8)
    assert measured(close, "rank_lead", datasets="toy").interval[1] > 8 - 16


@pytest.mark.parametrize(("rate", "verdict"), [(0.3, "reproduced"), (0.58, "inconclusive"), (0.9, "differs")])
def test_linear_is_beaten_or_not(rate, verdict, tmp_path):
    runs = usual()
    linear = (runs["policy"] == "ldp_linear") & runs["auxiliary"].notna()
    runs.loc[linear, "reward"] += (rate - 0.5) * runs.loc[linear, "t"]
    actual = measured(made_of(tmp_path, real_data=runs), "beats_linear", datasets="toy")
    assert actual.value == pytest.approx(np.log(0.6 / rate))
    assert region({"at_least": 0}, "above 0", actual).decide(actual) == verdict


def test_what_is_not_there_is_said(tmp_path):
    alone = made_of(tmp_path, real_data=usual(printed=False, with_sources=False))
    for measure, arguments, _ in VALUES:
        if measure not in ("beats_linear", "share_below_absse"):
            assert isinstance(measured(alone, measure, **arguments), str), measure


def test_the_text_on_table_2_holds_on_its_twelve_rows_and_not_on_each_dataset(tmp_path):
    """Check that the paper's statement about printed rewards at n_P holds for all rows, but not for Taxi's only."""
    table = pd.read_csv(PAPERS / "ma2025/published/table2.csv")
    table = table[(table["time"] == "full") & ((table["auxiliary"] == "with") | (table["epsilon_aux"] == 1))]
    runs = [
        runs_of(
            r.method, r.auxiliary, [r.epsilon], [r.epsilon_aux], rate=0.75 * r.ratio, dataset=r.dataset, horizon=4000
        )
        for r in table.itertuples()
    ]
    datasets = ["adult", "jobs", "taxi"]
    for name in datasets:
        facts = {"n_target": 4000, "target_label_counts": [3000, 1000]}
        (tmp_path / f"{name}.json").write_text(json.dumps(facts), encoding="utf-8")
    reference = pd.concat([references(dataset=name, horizon=4000) for name in datasets])
    made = results(tmp_path, facts=datasets, real_data=pd.concat(runs), real_data_reference=reference)
    judged = {("rank_lead", "at_most"): (0, {}), ("significant_lead", "at_least"): (1, {})}
    judged |= {("beats_linear", "at_least"): (0, {}), ("share_below_absse", "at_least"): (0.5, {})}
    judged |= {("negative_transfer", "at_least"): (1, {"method": "ldp_nn"})}
    for (measure, end), (bound, arguments) in judged.items():
        actual = measured(made, measure, datasets="+".join(datasets), **arguments)
        assert region({end: bound}, "", actual).decide(actual) == "reproduced", measure
    alone = {m: (end, bound, measured(made, m, datasets="taxi", **more)) for (m, end), (bound, more) in judged.items()}
    differs = {m for m, (end, bound, one) in alone.items() if region({end: bound}, "", one).decide(one) == "differs"}
    assert {"rank_lead", "significant_lead", "beats_linear"} <= differs
