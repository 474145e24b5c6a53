"""Two streams that differ in their third item, in a tree that skips ahead: one node.

The count after two items is known, 0. The third item is 1 or, for neighbour 1, 0. Event: the count after it, which is
one new node, lies below a floor, 1.5 scales of the node below 0, and the guard reports it: the block has a missed count
below the floor. The guard changes which counts of a tree are looked at and how their nodes are drawn, so one node is
audited here, of which epsilon is promised. That the levels of a tree share its budget is audited with the tree.
"""

import math
from typing import Literal

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, Inputs, scaled
from privarms.mechanisms import tree_guard
from privarms.mechanisms.tree import new_tree, noise_from

SECONDS_PER_RUN = 1e-7

# Of the tree before the third item; the block ends with the fourth.
ITEMS, LEVEL = 2, 1
FLOOR = -1.5


def configure(neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return the stream 0, 0, 1, or its neighbour 0, 0, 0."""
    return Inputs(neighbour, noise)


def slack(params: tree_guard.Guard, inputs: Inputs) -> float:
    """Return how far the third item is above the floor, which is in scales of all of the noise."""
    return 1.0 - inputs.neighbour - FLOOR * params.node_scale / inputs.noise


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the guard, the slack and room for the widths of its levels."""
    return tree_guard.new_guard(params.node_scale), slack(params, inputs), np.zeros(LEVEL + 3)


@njit
def happens(guard, slack, least_width, rng):
    """Draw whether the guard reports a count whose noise is below -slack."""
    tree = new_tree(1, LEVEL + 1)
    e, safe = tree_guard.safe_block(guard, tree, 0, ITEMS, slack, least_width, LEVEL)
    u = rng.random()
    if e != LEVEL or u < safe:
        return False
    n = tree_guard.first_miss(guard, tree, 0, ITEMS, slack, least_width, e, u, rng)
    return noise_from(tree, 0, n, 0) < -slack


AUDIT = Audit(
    subjects="tree_guard",
    inputs=configure,
    event=happens,
    arguments=arguments,
    exact=lambda params, inputs: math.exp(-slack(params, inputs) / params.node_scale) / 2,
    exact_loss=lambda params, inputs: 1 / params.node_scale,
    with_noise=scaled("node_scale"),
)
