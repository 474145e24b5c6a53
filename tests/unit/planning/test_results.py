"""Check the results that a job can read: only declared inputs."""

import pandas as pd
import pyarrow as pa
import pytest

from privarms.errors import PrivarmsError
from privarms.files import parquet
from privarms.planning.results import Results
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


def test_replicates_are_read_as_far_as_they_count(tmp_path):
    actual = Results("p2020", "paper", studies=[write(tmp_path / "runs.parquet", FRAME)])
    assert list(actual.replicates("runs", ("regret",), (("policy", "==", "a"), ("regret", ">", 1)))["regret"]) == [2]
    assert list(actual.replicates("runs", ("regret", "K")).columns) == ["regret", "K"]
    assert actual.replicates("runs").equals(FRAME)


def test_what_was_not_named_cannot_be_read(results):
    with pytest.raises(PrivarmsError, match=r"p2020/studies\.yaml: regret \(cells\): is read but not named.*`studies`"):
        results.cells("regret")
    with pytest.raises(PrivarmsError, match="`inference`"):
        results.inference("audit")
    with pytest.raises(PrivarmsError, match="no number 'best'"):
        results.published("best")
    assert results.published("worst") == 0.14


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
