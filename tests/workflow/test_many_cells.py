"""A study of 100,000 cells: planned as any other, without work that grows with the square of their number."""

import time

import pytest

from privarms.studies import cells, shards

pytestmark = pytest.mark.workflow


def study(number):
    """One long axis: what looks a value up among all the others is seen here, and not on two short ones."""
    return {
        "protocol": "bandit",
        "environment": {"name": "bernoulli", "top": 0.75, "spacing": "one_best"},
        "horizon": 1000,
        "replicates": 10,
        "block": 10,
        "grid": {"K": 2, "bottom": [round(i / number * 0.75, 9) for i in range(number)]},
        "policies": [{"policy": "ucb1"}],
    }


def planning(number):
    """Seconds of this process to plan a study of so many cells."""
    begin = time.process_time()
    found = cells.expand("f.yaml", "p", "s", study(number))
    planned = [(s.name, s.seconds, [cells.plain(p.cell) for p in s.pieces]) for s in shards.plan(found, 60)]
    assert sum(len(pieces) for _, _, pieces in planned) == number
    return time.process_time() - begin


def test_planning_takes_time_in_proportion_to_the_cells():
    few = max(planning(4_000) for _ in range(2))
    # Ten times as many: ten times as long, or a hundred times if anything looks at every pair.
    assert planning(40_000) < 30 * few
