"""Check the results that a job can read: only declared inputs, and only the rows of a claim."""

import pandas as pd
import pyarrow as pa
import pytest

from privarms.claims import ledger
from privarms.claims.verdict import Measured
from privarms.errors import NoCellsError, PrivarmsError
from privarms.files import parquet
from privarms.studies.results import Results
from tests.unit.conftest import write

FRAME = pd.DataFrame(
    [("a", 0.1, 5, 1.0), ("a", 2.0, 5, 2.0), ("b", 0.1 * 3 / 3, 5, 3.0), ("c", None, 5, 4.0)],
    columns=["policy", "epsilon", "K", "regret"],
)


@pytest.fixture
def results(tmp_path):
    path = write(tmp_path / "ratios.parquet", FRAME)
    (tmp_path / "numbers.yaml").write_text("worst: 0.14\n", encoding="utf-8")
    return Results("p2020", "paper", inference=[path], published=[tmp_path / "numbers.yaml"])


def test_rows_of_named_cells_are_seen_and_those_without_a_value(results):
    assert list(results.inference("ratios")["regret"]) == [1, 2, 3, 4]
    assert list(results.only({"epsilon": [0.1]}).inference("ratios")["regret"]) == [1, 3, 4]
    both = results.only({"epsilon": [0.1], "policy": ["a", "b"], "width": ["log3"]})
    assert list(both.inference("ratios")["regret"]) == [1, 3]
    assert list(results.only({}).inference("ratios")["regret"]) == [1, 2, 3, 4]


def test_replicates_are_read_as_far_as_they_count(tmp_path):
    actual = Results("p2020", "paper", studies=[write(tmp_path / "runs.parquet", FRAME)])
    assert list(actual.replicates("runs", ("regret",), (("policy", "==", "a"), ("regret", ">", 1)))["regret"]) == [2]
    assert list(actual.replicates("runs", ("regret", "K")).columns) == ["regret", "K"]
    assert actual.replicates("runs").equals(FRAME)


def test_of_several_sets_of_cells_a_row_fits_one(results):
    pairs = results.only([{"epsilon": [0.1], "policy": ["a"]}, {"epsilon": [2], "policy": ["a", "b"]}])
    assert list(pairs.inference("ratios")["regret"]) == [1, 2]
    with pytest.raises(NoCellsError, match=r"K 2 or K 3; policy a"):
        results.only([{"K": [2]}, {"K": [3], "policy": ["a"]}]).inference("ratios")


def test_a_tag_shows_the_rows_of_its_cells(tmp_path):
    cells = [
        {"policy": "a", "epsilon": 0.1, "K": 5, "noise": None, "changed": ()},
        {"policy": "b", "epsilon": 0.1, "K": 5, "noise": None, "changed": ("noise",)},
        {"policy": "c", "epsilon": None, "K": 5, "noise": None, "changed": ()},
    ]
    path = write(tmp_path / "ratios.parquet", FRAME)
    tagged = {"figure1": cells, "other": [cells[0] | {"epsilon": 2.0, "K": 7}], "missing": []}
    results = Results("p2020", "paper", inference=[path], tagged=tagged)

    def seen(over, named=()):
        return list(results.only(over, named).inference("ratios")["regret"])

    # Added values (epsilon = 2) are not in tagged cells, and b's cell has a parameter that no filter names.
    assert seen({"tag": ["figure1"]}) == [1, 4]
    assert seen({"tag": ["figure1"]}, ["noise"]) == [1, 3, 4]
    assert seen({"tag": ["figure1"], "policy": ["a"]}) == [1]
    # A cell must fit in all parameters.
    with pytest.raises(NoCellsError, match="tag other"):
        seen({"tag": ["other"]})
    assert seen({"tag": ["other"]}, ["K"]) == [2]
    # The data for a tag's cells may be missing.
    with pytest.raises(NoCellsError, match="tag missing"):
        seen({"tag": ["missing"]})
    # No parameter is left to compare.
    assert seen({"tag": ["other"]}, list(FRAME)) == list(FRAME["regret"])


def test_a_claim_without_cells_cannot_be_measured(results):
    with pytest.raises(NoCellsError, match="K 2"):
        results.only({"K": [2]}).inference("ratios")

    def smallest(results):
        return Measured(results.inference("ratios")["regret"].min())

    claim = {"over": {"K": [2]}}
    assert "None of the cells of ratios" in ledger.measure(smallest, results, claim)
    assert ledger.measure(smallest, results, {"over": {"policy": ["b"]}}).value == 3


def test_what_was_not_named_cannot_be_read(results):
    with pytest.raises(PrivarmsError, match=r"p2020/studies\.yaml: regret \(cells\): is read but not named.*`studies`"):
        results.cells("regret")
    with pytest.raises(PrivarmsError, match="`inference`"):
        results.inference("audit")
    with pytest.raises(PrivarmsError, match="no number 'best'"):
        results.published("best")
    assert results.published("worst") == 0.14


def test_a_column_that_nothing_has_is_refused_as_the_ground_of_a_claim(results):
    claims = [{"claim": "c", "measure": "m", "over": over} for over in ({"policy": ["a"]}, {"alpha": [1]})]
    for claim in claims:
        results.only(claim["over"]).inference("ratios")
    # alpha is a parameter of a policy, but no table needs to have this column.
    results.refuse_unmet(claims)
    wrong = {"claim": "d", "measure": "m", "over": {"policyy": ["a"]}}
    results.only(wrong["over"]).inference("ratios")
    with pytest.raises(PrivarmsError, match=r"d\.over: no table.*'policyy'"):
        results.refuse_unmet([*claims, wrong])


def test_an_inference_table_does_not_replace_the_values_of_a_parameter(tmp_path):
    cells = pd.DataFrame(
        {"cell": ["a", "b"], "ratio": [2.0, None], "K": [2, 5], "replicates": 9, "regret_mean": [6.0, 3.0]}
    )
    settings = [{"policy_parameters": {"ratio": 2}, "environment_parameters": {"K": K}} for K in (2, 5)]
    path = tmp_path / "central_cells.parquet"
    parquet.write(path, [pa.Table.from_pandas(cells, preserve_index=False)], {"cells": settings})
    results = Results("p2020", "paper", cells=[path])
    # The default of a cell without the parameter, and no cells at all.
    for rows in (cells.fillna({"ratio": 1.0}), cells[["K", "regret_mean"]], cells[:0]):
        results.refuse_overwritten("ratios", rows)
    with pytest.raises(PrivarmsError, match=r"p2020: inference table ratios: the column 'ratio' .* p2020/central"):
        results.refuse_overwritten("ratios", cells.assign(ratio=cells["regret_mean"] / 1.7))
