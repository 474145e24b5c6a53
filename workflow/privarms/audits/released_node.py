"""Two streams that differ in their third item, in a tree that skips ahead: the audit of one node.

The count after two items is known, 0. The third item is 1 or, for neighbour 1, 0. Event: the count after it, which is
one new node's, lies below a floor, one and a half of the node's scales below 0, and the guard says so: the block has a
missed count and that count is below the floor. What the guard adds to a tree is which counts it looks at and how it
draws their nodes; that the levels of a tree share its budget is no part of it and is audited with the tree.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.jit.cache import compiled
from privarms.mechanisms import tree_guard
from privarms.mechanisms.tree import new_tree, noise_from
from privarms.mechanisms.tree_guard import Guard

SUBJECT = "tree_guard"
SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 0.0

# Of the tree before the third item; the block goes to the fourth.
ITEMS, LEVEL = 2, 1
FLOOR = -1.5


class Inputs(NamedTuple):
    """neighbour: 0, and the third item is 1, or 1, and it is 0; noise: multiple of the scale of a node."""

    neighbour: int
    noise: float


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """The stream 0, 0, 1, or its neighbour 0, 0, 0; noise > 0."""
    if neighbour not in (0, 1):
        raise ValueError(f"neighbour: expected 0 or 1; found {neighbour}")
    if not 0 < noise < math.inf:
        raise ValueError(f"noise: expected a number > 0; found {noise}")
    return Inputs(int(neighbour), float(noise))


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the count after the third item lies below the floor."""
    guard = tree_guard.new_guard(params.node_scale * inputs.noise)
    return compiled(_count)(guard, 1.0 - inputs.neighbour - FLOOR * params.node_scale, trials, rng)


@njit
def _count(guard, slack, trials, rng):
    least_width = np.zeros(LEVEL + 3)
    events = 0
    for _ in range(trials):
        tree = new_tree(1, LEVEL + 1)
        e, safe = tree_guard.safe_block(guard, tree, 0, ITEMS, slack, least_width, LEVEL)
        u = rng.random()
        if e == LEVEL and u >= safe:
            n = tree_guard.first_miss(guard, tree, 0, ITEMS, slack, least_width, e, u, rng)
            events += noise_from(tree, 0, n, 0) < -slack
    return events


def likelier(inputs: Inputs) -> int:
    """Neighbour 1, whose count is lower."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon, of one node."""
    return epsilon


def event_probability(params: Guard, inputs: Inputs) -> float:
    """Of a node's noise below the floor less the item, which is in the lower tail: e^((floor - item) / scale) / 2."""
    scale = params.node_scale * inputs.noise
    return math.exp((FLOOR * params.node_scale - (1 - inputs.neighbour)) / scale) / 2


def log_ratio(params: Guard, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0])."""
    return 1 / (params.node_scale * inputs.noise)
