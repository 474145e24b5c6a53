"""The max-edge rule (Algorithm 1 of Ma et al. 2025): halve a longest edge, uniformly chosen, at its midpoint.

Bins are numbered from the root, 0; the two parts of bin i are bins 2 i + 1 and 2 i + 2, so that the bins of depth s are
2^s - 1 to 2^(s+1) - 2, the paper's B_s^1 to B_s^(2^s). The cuts of all bins are drawn in advance; that is the same law
as drawing each when it is needed. A bin is half-open, closed where a coordinate is 1.
"""

from typing import NamedTuple

import numpy as np
from numba import njit


class Tree(NamedTuple):
    """A row per bin; arrays change in place.

    dimension: int64[bins] and cut: float64[bins], where the bin is or would be halved; 0 and nan at the largest depth
    refined: bool[bins], whether it has been
    lower, upper: float64[bins, d], its corners
    depth: int64[bins]; sides: float64[...], 2^(-s/d), about the edges of a bin of depth s
    shortcut: uint32[grid**d], to a bin that holds a cell of a grid whole, in the order of the first coordinates; it is
    of the partition unless its parts are too small for the grid
    grid: cells along an edge of the cube, a power of 2
    """

    dimension: np.ndarray
    cut: np.ndarray
    refined: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    depth: np.ndarray
    sides: np.ndarray
    shortcut: np.ndarray
    grid: int


# At most so many bits number the cells of the grid: 16 kB, which stay in a processor's first cache.
GRID_BITS = 12


@njit
def draw_tree(depth, dimensions, rng):
    """The cuts of all bins of depth 0 to depth - 1; nothing is refined yet."""
    bins = 2 ** (depth + 1) - 1
    halvings = min(-(-depth // dimensions), GRID_BITS // dimensions)
    tree = Tree(
        np.zeros(bins, np.int64),
        np.full(bins, np.nan),
        np.zeros(bins, np.bool_),
        np.zeros((bins, dimensions)),
        np.ones((bins, dimensions)),
        np.zeros(bins, np.int64),
        2.0 ** (-np.arange(depth + 1) / dimensions),
        np.zeros(2 ** (halvings * dimensions), np.uint32),
        2**halvings,
    )
    for i in range(2**depth - 1):
        longest = 0.0
        ties = 0
        for k in range(dimensions):
            edge = tree.upper[i, k] - tree.lower[i, k]
            # Edges are powers of 1/2, so that equal ones are exactly equal.
            if edge > longest:
                longest = edge
                ties = 1
            elif edge == longest:
                ties += 1
        chosen = int(rng.random() * ties)
        for k in range(dimensions):
            if tree.upper[i, k] - tree.lower[i, k] == longest:
                if chosen == 0:
                    tree.dimension[i] = k
                chosen -= 1
        k = tree.dimension[i]
        tree.cut[i] = (tree.lower[i, k] + tree.upper[i, k]) / 2
        for child in range(2 * i + 1, 2 * i + 3):
            tree.depth[child] = tree.depth[i] + 1
            for other in range(dimensions):
                tree.lower[child, other] = tree.lower[i, other]
                tree.upper[child, other] = tree.upper[i, other]
        tree.upper[2 * i + 1, k] = tree.cut[i]
        tree.lower[2 * i + 2, k] = tree.cut[i]
    return tree


@njit
def refine(tree, i):
    """Halve bin i."""
    tree.refined[i] = True
    k, shortcut = tree.dimension[i], tree.shortcut
    first_on_the_right = tree.cut[i] * tree.grid
    if first_on_the_right != np.floor(first_on_the_right):
        return
    cells = tree.grid ** (tree.lower.shape[1] - 1 - k)
    for cell in range(len(shortcut)):
        if shortcut[cell] == i:
            shortcut[cell] = 2 * i + 1 + (cell // cells % tree.grid >= first_on_the_right)


@njit(forceinline=True)
def find(shortcut, grid, dimension, cut, refined, context):
    """The bin of the partition that holds a context; the fields of a `Tree` one by one, which is faster.

    A coordinate outside the cube, which no environment here has, counts as an edge.
    """
    cell = 0
    for k in range(len(context)):
        cell = cell * grid + min(max(int(context[k] * grid), 0), grid - 1)
    i = shortcut[np.uint32(cell)]
    while refined[i]:
        i = np.uint32(2 * i + (2 if context[dimension[i]] >= cut[i] else 1))
    return i
