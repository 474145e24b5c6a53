"""The binary tree counter (Chan, Shi & Song 2010; Dwork, Naor, Pitassi & Rothblum 2010).

Node (level l, index i) has one Lap(node_scale) draw and covers items i 2**l + 1, ..., (i + 1) 2**l of a stream. The
count released after n items is the true sum plus the noise of popcount(n) nodes. They are the nodes of n's dyadic
decomposition, from the largest down: for 13 = 8 + 4 + 1 those over items 1-8, 9-12 and 13. Every count completes
exactly one node that is ever released, at the level of its lowest set bit. It releases nodes of higher bits again.

The functions only compute the noise; the caller keeps the true sum, the count n and the scale of a node.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.jit.intrinsics import lowest_bit
from privarms.mechanisms.laplace import laplace
from privarms.ranges import at_least, positive

LABEL = "Tree counter"


class Counter(NamedTuple):
    """levels: of the tree; node_scale: of the noise of a node."""

    levels: int
    node_scale: float


def configure(horizon: int, epsilon: float) -> Counter:
    """Return a counter of `horizon` items in [0, 1] whose counts together are epsilon-private. Raise ValueError.

    An item is in one node per level, and each node has an equal share of epsilon.
    """
    positive(epsilon=epsilon)
    levels = node_levels(horizon)
    return Counter(levels, levels / epsilon)


def node_levels(horizon: int) -> int:
    """Return the number of levels that a stream of `horizon` >= 1 items can release: floor(log2 horizon) + 1."""
    at_least(1, horizon=horizon)
    return int(horizon).bit_length()


@njit
def new_tree(arms, levels):
    """Return counters of `arms` empty streams, each of fewer than 2**levels items: float64[arms, levels].

    For a set bit l of the arm's count, tree[arm, l] is the noise of the nodes of the bits >= l; the rest is stale.
    """
    return np.zeros((arms, levels))


@njit(forceinline=True)
def noise_from(tree, arm, n, level):
    """Return the noise of the nodes of n's bits >= level; the arm's count must have the same bits there."""
    bits = n >> level
    return tree[arm, level + lowest_bit(bits)] if bits else 0.0


@njit(forceinline=True)
def complete_node(tree, arm, n, node_scale, rng):
    """Draw the node that item n >= 1 completes, in place; return the noise of the count n.

    The arm's previous count need not be n - 1, but it must have n's bits above the lowest one.
    """
    return add_node(tree, arm, n, laplace(node_scale, rng))


@njit(forceinline=True)
def add_node(tree, arm, n, drawn):
    """Add a node that is already drawn, as `complete_node` does; return the noise of the count n."""
    level = lowest_bit(n)
    noise = noise_from(tree, arm, n, level + 1) + drawn
    tree[arm, level] = noise
    return noise


@njit
def walk_path(tree, arm, n, node_scale, rng):
    """Draw the nodes that are on the path to leaf n >= 1 but not to leaf n - 1, in place; return the path's noise.

    Here every leaf n has the nodes of all levels above it except the root. tree[arm, l] is the noise of the path's
    levels >= l. The stream has at most 2**levels items.
    """
    levels = tree.shape[1]
    level = lowest_bit(n - 1) if n > 1 else levels - 1
    noise = tree[arm, level + 1] if level + 1 < levels else 0.0
    while level >= 0:
        noise += laplace(node_scale, rng)
        tree[arm, level] = noise
        level -= 1
    return noise
