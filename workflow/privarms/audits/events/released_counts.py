"""Audit all counts of a tree counter together, on two streams that differ in their first item.

The first item is 0 or, for neighbour 1, 1, and all others are 0. Event: the counts after 1, 2, 4, ... items are all at
least 1. Each of these counts is one node, one per level, and the probability of each changes by exactly e^(1 / scale).
`noise` = 1 / levels gives a tree whose levels do not share the budget. Chan, Shi & Song (2010) promise epsilon.
"""

import math
from typing import Literal

from numba import njit

from privarms.audits.audit import Audit, Inputs, scaled
from privarms.mechanisms.tree import complete_node, new_tree

SECONDS_PER_RUN = 1e-7
SECONDS_PER_STEP = 1e-8


def configure(neighbour: Literal[0, 1], noise: float = 1.0) -> Inputs:
    """Return the stream of zeros, or its neighbour that begins with a 1."""
    return Inputs(neighbour, noise)


@njit
def happens(params, inputs, rng):
    tree = new_tree(1, params.levels)
    every = True
    for n in range(1, (1 << (params.levels - 1)) + 1):
        noisy = inputs.neighbour + complete_node(tree, 0, n, params.node_scale, rng)
        if n & (n - 1) == 0:
            every = every and noisy >= 1
    return every


AUDIT = Audit(
    subjects="tree",
    inputs=configure,
    event=happens,
    exact=lambda params, inputs: (math.exp((inputs.neighbour - 1) / params.node_scale) / 2) ** params.levels,
    exact_loss=lambda params, inputs: params.levels / params.node_scale,
    with_noise=scaled("node_scale"),
    changed="Only the first item was changed.",
)
