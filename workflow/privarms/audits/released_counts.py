"""Two streams that differ in their first item, counted by a tree: all counts together.

The first item is 0 or, for neighbour 1, 1, and all others are 0. Event: the counts after 1, 2, 4, ... items are all at
least 1. Each of these counts is one node, one of every level, and the probability of each changes by exactly
e^(1 / scale). `noise` = 1 / levels is a tree whose levels do not share the budget.
"""

import math

from numba import njit

from privarms.audits.audit import Audit, Inputs, checked, count_events
from privarms.mechanisms.tree import Counter, complete_node, new_tree

SUBJECT = "tree"
SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 1e-8


def configure(neighbour: int, noise: float = 1.0) -> Inputs:
    """Return the stream of zeros, or its neighbour that begins with a 1; noise > 0."""
    return checked(Inputs(int(neighbour), float(noise)))


def count(policy, params, inputs, horizon, trials, rng) -> int:
    """Count the trials in which the counts after 1, 2, 4, ... of `horizon` items are all at least 1."""
    return count_events(
        happens, (params.levels, params.node_scale * inputs.noise, float(inputs.neighbour)), trials, rng
    )


@njit
def happens(levels, node_scale, first, rng):
    tree = new_tree(1, levels)
    every = True
    for n in range(1, (1 << (levels - 1)) + 1):
        noisy = first + complete_node(tree, 0, n, node_scale, rng)
        if n & (n - 1) == 0:
            every = every and noisy >= 1
    return every


def probability(params: Counter, inputs: Inputs) -> float:
    """Return (e^(-(1 - first) / scale) / 2)^levels."""
    each = math.exp((inputs.neighbour - 1) / (params.node_scale * inputs.noise)) / 2
    return each**params.levels


# Claimed: epsilon (Chan, Shi & Song 2010).
AUDIT = Audit(count, probability, closed_form=lambda params, inputs: params.levels / (params.node_scale * inputs.noise))
