"""The tree counter by its definition: every node is drawn, and a count has the noise of its dyadic decomposition."""

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace


@njit
def draw_nodes(levels, node_scale, rng):
    """Every node of one tree over fewer than 2**levels items, by level and index: float64[levels, 2**levels]."""
    nodes = np.zeros((levels, 1 << levels))
    for level in range(levels):
        for index in range(1 << (levels - level)):
            nodes[level, index] = laplace(node_scale, rng)
    return nodes


@njit
def released_noise(nodes, n):
    """The noise of the count n by its definition: the sum over the nodes of n's dyadic decomposition."""
    noise, covered = 0.0, 0
    for level in range(nodes.shape[0] - 1, -1, -1):
        if n & (1 << level):
            noise += nodes[level, covered >> level]
            covered += 1 << level
    return noise
