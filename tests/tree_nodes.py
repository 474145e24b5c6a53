"""Compute the tree counter's noise by definition: draw every node and add the nodes of a count's decomposition."""

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace


@njit
def draw_nodes(levels, node_scale, rng):
    """Return all nodes of a tree over fewer than 2**levels items, by level and index: float64[levels, 2**levels]."""
    nodes = np.zeros((levels, 1 << levels))
    for level in range(levels):
        for index in range(1 << (levels - level)):
            nodes[level, index] = laplace(node_scale, rng)
    return nodes


@njit
def released_noise(nodes, n):
    """Return the noise of the count n: the sum over the nodes of its dyadic decomposition."""
    noise, covered = 0.0, 0
    for level in range(nodes.shape[0] - 1, -1, -1):
        if n & (1 << level):
            noise += nodes[level, covered >> level]
            covered += 1 << level
    return noise
