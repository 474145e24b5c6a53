"""Two streams that differ in their third item, in a tree that skips ahead: one node.

The count after two items is known, 0. The third item is 1 or, for neighbour 1, 0. Event: the count after it, which is
one new node, lies below a floor, 1.5 scales of the node below 0, and the guard reports it: the block has a missed count
below the floor. The guard changes which counts of a tree are looked at and how their nodes are drawn, so one node is
audited here. That the levels of a tree share its budget is audited with the tree.
"""

import math

import numpy as np
from numba import njit

from privarms.audits.audit import Audit, Inputs, checked, count_events
from privarms.mechanisms import tree_guard
from privarms.mechanisms.tree import new_tree, noise_from
from privarms.mechanisms.tree_guard import Guard

SUBJECT = "tree_guard"
SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 0.0

# Of the tree before the third item; the block ends with the fourth.
ITEMS, LEVEL = 2, 1
FLOOR = -1.5


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """Return the stream 0, 0, 1, or its neighbour 0, 0, 0; noise > 0."""
    return checked(Inputs(int(neighbour), float(noise)))


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which the count after the third item lies below the floor."""
    guard = tree_guard.new_guard(params.node_scale * inputs.noise)
    slack = 1.0 - inputs.neighbour - FLOOR * params.node_scale
    return count_events(happens, (guard, slack, np.zeros(LEVEL + 3)), trials, rng)


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


def probability(params: Guard, inputs: Inputs) -> float:
    """Return e^((floor - item) / scale) / 2, the probability of noise below the floor minus the item."""
    scale = params.node_scale * inputs.noise
    return math.exp((FLOOR * params.node_scale - (1 - inputs.neighbour)) / scale) / 2


# Claimed: epsilon, of one node.
AUDIT = Audit(count, probability, closed_form=lambda params, inputs: 1 / (params.node_scale * inputs.noise))
