"""Two streams that differ in their first item, counted by a tree: the audit of all counts together.

The first item is 0 or, for neighbour 1, 1, and all others are 0. Event: the counts after 1, 2, 4, ... items are all at
least 1. Each is one node's, and no two of them the same one's: a node of every level, in each of which the law changes
by exactly e^(1 / scale). `noise` = 1 / levels is a tree whose levels do not share the budget.
"""

import math
from typing import NamedTuple

from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms.tree import Counter, complete_node, new_tree

SUBJECT = "tree"
SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 1e-8


class Inputs(NamedTuple):
    """neighbour: the first item, 0 or 1; noise: multiple of the scale of a node."""

    neighbour: int
    noise: float


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """The stream of zeros, or its neighbour that begins with a 1; noise > 0."""
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(neighbour), float(noise))


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the counts after 1, 2, 4, ... of `horizon` items are all at least 1."""
    return compiled(_count)(params.levels, params.node_scale * inputs.noise, float(inputs.neighbour), trials, rng)


@njit
def _count(levels, node_scale, first, trials, rng):
    tree = new_tree(1, levels)
    events = 0
    for _ in range(trials):
        happens = True
        for n in range(1, (1 << (levels - 1)) + 1):
            count = first + complete_node(tree, 0, n, node_scale, rng)
            if n & (n - 1) == 0:
                happens = happens and count >= 1
        events += happens
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 1."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon: Chan, Shi & Song (2010)."""
    return epsilon


def event_probability(params: Counter, inputs: Inputs) -> float:
    """(e^(-(1 - first) / scale) / 2)^levels."""
    each = math.exp((inputs.neighbour - 1) / (params.node_scale * inputs.noise)) / 2
    return each**params.levels


def log_ratio(params: Counter, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0])."""
    return params.levels / (params.node_scale * inputs.noise)
