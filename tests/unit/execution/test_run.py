"""Check that errors of a run name the study, and that the job adds the file."""

from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pytest

from privarms.errors import PrivarmsError, StudyError
from privarms.execution import run
from privarms.execution.cell import Cell, Piece
from privarms.files import parquet
from privarms.registry import library

CELL = Cell("p2020", "s", "bandit", "ucb1", "bernoulli", 10, {"K": 2}, {"K": 2, "top": 0.5, "bottom": 0.4}, 4, 2)


def failing(error):
    def fail(*arguments, **named):
        raise error

    return fail


def loading(monkeypatch, **changes):
    """Replace functions in the modules that a run loads."""
    plain = library.load

    def load(room, name):
        module = dict(vars(plain(room, name)))
        return SimpleNamespace(**module | changes.get(room, {}))

    monkeypatch.setattr(library, "load", load)


@pytest.mark.parametrize("kind", [ValueError, PrivarmsError])
@pytest.mark.parametrize(
    ("room", "function", "who"),
    [
        ("policies", "configure", "ucb1"),
        ("environments", "configure", "environment bernoulli"),
        ("protocols", "run_block", "ucb1"),
    ],
)
def test_a_fault_names_the_study_and_what_was_at_work(monkeypatch, room, function, who, kind):
    loading(monkeypatch, **{room: {function: failing(kind("K: expected 3"))}})
    with pytest.raises(StudyError) as fault:
        run.run_piece(Piece(CELL, 0, 2), 1, {})
    assert str(fault.value) == f"p2020/studies.yaml: studies.s: {who}: K: expected 3"
    # A possible bug of the library keeps its traceback.
    assert (fault.value.__cause__ is None) == (kind is PrivarmsError)


def test_rows_of_a_long_piece_come_a_row_group_at_a_time(monkeypatch):
    cell = replace(CELL, replicates=13)
    piece = Piece(cell, 1, cell.blocks)
    whole = run.run_piece(piece, 1, {})
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 3)
    parts = list(run.run_shard([piece], 1, {}))
    assert [part.num_rows for part in parts] == [4, 4, 3]
    assert pa.concat_tables(parts).to_pydict() == whole.to_pydict()


def test_an_audit_that_refuses_a_policy_has_the_columns_of_one_that_runs(monkeypatch):
    inputs = {"neighbour": 0, "K": 2, "rounds": 8, "promised": 1.0}
    cell = Cell("p2020", "a", "audit", "dp_se", "any_choice", 8, {"K": 2, "horizon": 8, "epsilon": 1.0}, inputs, 4, 4)
    ran = run.run_piece(Piece(cell, 0, 1), 1, {})
    loading(monkeypatch, protocols={"run_block": failing(ValueError("rounds: expected more"))})
    refused = run.run_piece(Piece(cell, 0, 1), 1, {})
    assert refused.schema == ran.schema
    assert refused["trials"].to_pylist() == [0]
