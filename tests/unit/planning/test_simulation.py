"""Check what the rule of simulation jobs gets for each shard."""

from pathlib import Path

import pytest

from privarms.planning import jobs

PAPER = "ma2025"


@pytest.fixture(scope="module")
def simulation(quick_plan):
    return quick_plan.simulation


@pytest.fixture(scope="module")
def shards(simulation):
    studies = [simulation.shard_files(PAPER, study) for study in simulation.studies(PAPER)]
    return list(dict.fromkeys(Path(file).stem for files in studies for file in files))


def test_a_shard_depends_on_the_modules_of_all_its_cells(simulation, shards):
    several = 0
    for shard in shards:
        cells = [piece.cell for piece in simulation.shard(PAPER, shard).pieces]
        modules = jobs.modules_of(cells)
        environments = {cell.environment for cell in cells if cell.protocol == "locally_private"}
        assert {f"environments.{name}" for name in environments} <= set(modules)
        several += len(environments) > 1
        if cells[0].policy == "ldp_mab":
            assert "fast_paths.locally_private.ldp_mab" in modules
    assert several


def test_the_first_shard_of_a_policy_has_no_delay_and_each_other_one_its_own_below_1(simulation, shards):
    delays: dict[str, list[float]] = {}
    for shard in shards:
        delays.setdefault(shard.rsplit("-", 1)[0], []).append(simulation.delay(PAPER, shard))
    assert len(delays["ldp_mab"]) > 1
    for of_policy in delays.values():
        assert min(of_policy) == 0
        assert max(of_policy) < 1
        assert len(set(of_policy)) == len(of_policy)
