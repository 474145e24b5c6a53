"""The max-edge rule (Algorithm 1 of Ma et al. 2025): halve a longest edge, uniformly chosen, at its midpoint.

Bins are numbered from the root, 0. The two parts of bin i are bins 2 i + 1 and 2 i + 2. So the bins of depth s, the
paper's B_s^1 to B_s^(2^s), have the numbers 2^s - 1 to 2^(s+1) - 2. The cuts of all bins are drawn in advance, which
gives the same distribution as drawing each cut when a bin is refined. Bins are half-open, closed where a coordinate is
1.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

# At most this number of bits numbers the cells of the grid: 16 kB, which fit in a processor's first cache.
GRID_BITS = 12


def record_type(*fields) -> np.dtype:
    """Return a structured type whose fields are attributes, in kernels and in plain Python."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


# A bin of the tree.
NODE = record_type(
    ("dimension", np.int64),  # the dimension in which the bin is or would be halved; 0 at the largest depth
    ("cut", np.float64),  # nan at the largest depth
    ("depth", np.int64),
    ("side", np.float64),  # 2^(-s/d) at depth s, about the length of an edge
    ("refined", np.bool_),
)


class Tree(NamedTuple):
    """All bins that a partition can have; arrays change in place.

    nodes: NODE[bins]; lower, upper: float64[bins, d], corners; grid: cells per edge of the cube, a power of 2
    shortcut: uint32[grid**d], a bin that contains the whole cell of a grid, cells in the order of the first
        coordinates; it is in the partition unless its parts are too small for the grid
    """

    nodes: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    shortcut: np.ndarray
    grid: int


@njit
def draw_tree(depth, dimensions, rng):
    """Draw the cuts of all bins of depth 0 to depth - 1; nothing is refined yet."""
    bins = 2 ** (depth + 1) - 1
    halvings = min(-(-depth // dimensions), GRID_BITS // dimensions)
    nodes, lower, upper = np.zeros(bins, NODE), np.zeros((bins, dimensions)), np.ones((bins, dimensions))
    nodes["cut"][:] = np.nan
    for s in range(depth + 1):
        here = slice(2**s - 1, 2 ** (s + 1) - 1)
        nodes["depth"][here] = s
        nodes["side"][here] = 2.0 ** (-s / dimensions)
    for s in range(depth):
        here, parts = slice(2**s - 1, 2 ** (s + 1) - 1), slice(2 ** (s + 1) - 1, 2 ** (s + 2) - 1)
        edges = upper[here] - lower[here]
        longest = edges[:, 0].copy()
        for k in range(1, dimensions):
            longest = np.maximum(longest, edges[:, k])
        # Edges are powers of 1/2, so equal edges are exactly equal.
        ties = np.zeros(2**s, np.int64)
        for k in range(dimensions):
            ties += edges[:, k] == longest
        chosen = (rng.random(2**s) * ties).astype(np.int64)
        # The bins to the left and to the right of the cuts.
        left, right = slice(parts.start, parts.stop, 2), slice(parts.start + 1, parts.stop, 2)
        for k in range(dimensions):
            tied = edges[:, k] == longest
            halved = tied & (chosen == 0)
            chosen -= tied
            low, high = lower[here, k], upper[here, k]
            cut = (low + high) / 2
            nodes["dimension"][here] = np.where(halved, k, nodes["dimension"][here])
            nodes["cut"][here] = np.where(halved, cut, nodes["cut"][here])
            lower[left, k], upper[right, k] = low, high
            upper[left, k] = np.where(halved, cut, high)
            lower[right, k] = np.where(halved, cut, low)
    return Tree(nodes, lower, upper, np.zeros(2 ** (halvings * dimensions), np.uint32), 2**halvings)


@njit
def refine(tree, i):
    """Halve bin i."""
    nodes, shortcut, grid = tree.nodes, tree.shortcut, tree.grid
    nodes[i].refined = True
    first_on_the_right = nodes[i].cut * grid
    if first_on_the_right != np.floor(first_on_the_right):
        return
    cells = grid ** (tree.lower.shape[1] - 1 - nodes[i].dimension)
    for cell in range(len(shortcut)):
        if shortcut[cell] == i:
            shortcut[cell] = 2 * i + 1 + (cell // cells % grid >= first_on_the_right)


@njit(forceinline=True)
def find(nodes, shortcut, grid, context):
    """Return the bin of the partition that contains a context; all other arguments are fields of a `Tree`.

    A coordinate outside the cube counts as an edge.
    """
    cell = 0
    for k in range(len(context)):
        cell = cell * grid + min(max(int(context[k] * grid), 0), grid - 1)
    i = shortcut[np.uint32(cell)]
    while nodes[i].refined:
        i = np.uint32(2 * i + (2 if context[nodes[i].dimension] >= nodes[i].cut else 1))
    return i
