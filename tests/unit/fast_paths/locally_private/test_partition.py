"""Check partitions of the cube: the max-edge rule, and the bin of a context."""

import math

import numpy as np
import pytest

from privarms.fast_paths.locally_private import _partition
from privarms.fast_paths.locally_private._partition import draw_tree, refine
from privarms.protocols import locally_private


@pytest.mark.parametrize(("depth", "d"), [(0, 2), (1, 1), (5, 2), (7, 3)])
def test_the_tree_halves_a_longest_edge_at_its_midpoint(depth, d):
    tree = draw_tree(depth, d, np.random.default_rng(1))
    assert len(tree.nodes) == 2 ** (depth + 1) - 1
    for i in range(2**depth - 1):
        k, left, right = tree.nodes["dimension"][i], 2 * i + 1, 2 * i + 2
        edges = tree.upper[i] - tree.lower[i]
        assert edges[k] == edges.max()
        assert tree.nodes["cut"][i] == tree.lower[i, k] + edges[k] / 2
        assert tree.upper[left, k] == tree.lower[right, k] == tree.nodes["cut"][i]
        others = np.arange(d) != k
        for child in (left, right):
            assert tree.nodes["depth"][child] == tree.nodes["depth"][i] + 1
            assert (tree.lower[child, others] == tree.lower[i, others]).all()
            assert (tree.upper[child, others] == tree.upper[i, others]).all()
        assert tree.lower[left, k] == tree.lower[i, k]
        assert tree.upper[right, k] == tree.upper[i, k]


def test_ties_between_longest_edges_are_broken_uniformly():
    rng = np.random.default_rng(2)
    first = np.array([draw_tree(2, 3, rng).nodes["dimension"][:3] for _ in range(3000)])
    counts = np.bincount(first[:, 0], minlength=3)
    # 5 standard deviations of a binomial.
    assert (abs(counts - 1000) < 5 * math.sqrt(3000 * 2 / 9)).all()
    assert (first[:, 1] != first[:, 0]).all()


def find(tree, context):
    context = np.asarray(context, float)
    return _partition.find(tree.nodes, tree.shortcut, tree.grid, context)


@pytest.mark.parametrize(("depth", "d"), [(0, 2), (1, 1), (5, 2), (12, 2), (7, 3), (8, 5), (4, 13)])
def test_the_bin_of_a_context_is_the_one_that_holds_it(depth, d):
    # With d = 5 bins are finer than the grid, with d = 13 it is a single cell.
    rng = np.random.default_rng(depth)
    tree = draw_tree(depth, d, rng)
    leaves = {0}
    for _ in range(40):
        inner = [i for i in leaves if tree.nodes["depth"][i] < depth]
        if not inner:
            break
        # Cut the newest bin in half of the steps, so some bins have the smallest size.
        i = int(max(inner) if rng.random() < 0.5 else rng.choice(inner))
        refine(tree, i)
        leaves = leaves - {i} | {2 * i + 1, 2 * i + 2}
    assert max(tree.nodes["depth"][i] for i in leaves) == depth
    corners = [tree.lower[i] for i in leaves] + [tree.upper[i] for i in leaves]
    for x in [*corners, *rng.random((50, d))]:
        assert [i for i in leaves if locally_private.holds(tree, i, x)] == [find(tree, x)]
