"""Check that shards are consecutive whole blocks of one policy's cells."""

import dataclasses

import pytest

from privarms.execution.cell import Cell
from privarms.planning import shards


class Priced(Cell):
    """Return a cell with replicates of one second."""

    seconds = 1.0


def cell(policy: str, replicates: int, block: int) -> Cell:
    return Priced("p", "s", "bandit", policy, "bernoulli", 100, {"K": 2}, {"K": 2}, replicates, block)


CELLS = [cell("dp_se", 10, 3), cell("dp_se", 2, 2), cell("ucb1", 5, 1)]


@pytest.mark.parametrize("seconds", [0.1, 1, 3, 4, 7, 100])
def test_every_block_is_run_once_and_in_order_whatever_the_size(seconds):
    planned = shards.plan(CELLS, seconds)
    blocks = [(CELLS.index(p.cell), b) for s in planned for p in s.pieces for b in range(p.first, p.last)]
    assert blocks == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4)]
    assert len({s.name for s in planned}) == len(planned)
    assert all(len({p.cell.policy for p in s.pieces}) == 1 for s in planned)


def names(cells, seconds):
    return {shard.name for shard in shards.plan(cells, seconds)}


def test_a_cell_anywhere_makes_the_shards_near_it_anew_and_no_others():
    many = [dataclasses.replace(CELLS[1], environment_parameters={"K": 2, "top": i / 200}) for i in range(200)]
    new = dataclasses.replace(CELLS[1], environment_parameters={"K": 2, "top": 0.9999})
    for place in (0, 1, 77, 199, 200):
        before, after = names(many, 10), names([*many[:place], new, *many[place:]], 10)
        # Only the shard with the new cell changes, and those up to the next cell at which shards are always cut.
        assert 1 <= len(after - before) <= 6
        assert len(before) > 40


def test_a_shard_s_name_tells_what_it_holds_but_not_what_that_may_take():
    one = CELLS[0]
    for other in (
        dataclasses.replace(one, replicates=9),
        dataclasses.replace(one, horizon=101),
        dataclasses.replace(one, record="arms"),
        dataclasses.replace(one, study="t"),
        dataclasses.replace(one, policy_parameters={"K": 2, "epsilon": 1.0}),
    ):
        assert names([one], 100).isdisjoint(names([other], 100))
    assert names([one], 100) == names([dataclasses.replace(one, seconds_per_step=7.0)], 100)
    assert names([one], 100) == names([one], 1000)


def test_shards_hold_one_kind_of_run_and_the_user_s_own_data_stand_alone():
    def on(dataset):
        return dataclasses.replace(CELLS[0], environment_parameters={"dataset": dataset})

    other_record = dataclasses.replace(CELLS[0], record="arms")
    other_environment = dataclasses.replace(CELLS[0], environment="reward_laws")
    cells = [CELLS[0], other_record, on("a"), on("b"), on("mine"), other_environment]
    planned = shards.plan(cells, 1000, frozenset({"mine"}))
    without_data, with_data = [CELLS[0], other_environment], [on("a"), on("b")]
    assert [[p.cell for p in s.pieces] for s in planned] == [without_data, [other_record], with_data, [on("mine")]]
