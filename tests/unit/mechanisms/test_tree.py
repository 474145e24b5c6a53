"""Check the binary tree counter, and the guard that computes how long its noise stays above a floor."""

import numpy as np
import pytest

from privarms.fast_paths.bandit import _tree_guard
from privarms.fast_paths.bandit._tree_guard import CELL, TOP
from privarms.jit.intrinsics import lowest_bit
from privarms.mechanisms.laplace import laplace
from privarms.mechanisms.tree import complete_node, new_tree, node_levels, noise_from, walk_path

from ...tree_nodes import released_noise


def test_levels_of_a_horizon():
    assert [node_levels(T) for T in (1, 2, 3, 4, 1023, 1024, 50_000_000)] == [1, 2, 2, 3, 10, 11, 26]
    with pytest.raises(ValueError, match="at least 1"):
        node_levels(0)


def test_one_fresh_node_an_item_is_the_dyadic_sum():
    levels, items, scale = 9, 500, 3.0
    tree, rng, same = new_tree(2, levels), np.random.default_rng(2), np.random.default_rng(2)
    nodes = np.zeros((levels, 1 << levels))
    for n in range(1, items + 1):
        # Item n is the last item of the node of its lowest set bit, so it completes this node.
        level = lowest_bit(n)
        nodes[level, (n >> level) - 1] = laplace(scale, same)
        assert complete_node(tree, 1, n, scale, rng) == pytest.approx(released_noise(nodes, n), abs=1e-12)
        assert noise_from(tree, 1, n, 0) == tree[1, level]
    assert not tree[0].any()


def test_a_jump_keeps_the_nodes_of_the_higher_bits():
    tree, rng = new_tree(1, 6), np.random.default_rng(3)
    for n in range(1, 20):
        complete_node(tree, 0, n, 1.0, rng)
    sixteen = tree[0, 4]
    same = np.random.default_rng()
    same.bit_generator.state = rng.bit_generator.state
    # From 19 = 16 + 2 + 1 to 24 = 16 + 8.
    assert complete_node(tree, 0, 24, 1.0, rng) == pytest.approx(sixteen + laplace(1.0, same), abs=1e-12)
    assert complete_node(tree, 0, 32, 1.0, rng) == pytest.approx(laplace(1.0, same), abs=1e-12)


def move_chances(i, reach=4000):
    """Return P(i -> j) for j = -reach, ..., reach, without cap, from the Laplace distribution function."""

    def cdf(x):
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    j = np.arange(-reach, reach + 1)
    return j, cdf((j - i + 1) * CELL) - cdf((j - i) * CELL)


@pytest.mark.parametrize("i", [0, 1, 7, 40, TOP])
def test_the_chances_of_a_miss_in_a_block_of_two_and_of_four(i):
    j, chance = move_chances(i)
    missed = np.exp(-i * CELL) / 2
    assert _tree_guard.INSIDE[1, i] == pytest.approx(missed, rel=1e-12)
    # In a block of four: the first node; then the node of two and the single node after it.
    rooms = np.minimum(j, TOP)
    after = np.where(rooms < 0, 1.0, np.exp(-np.maximum(rooms, 0) * CELL) / 2)
    assert _tree_guard.INSIDE[2, i] == pytest.approx(1 - (1 - missed) * (1 - chance @ after), abs=1e-13)
    assert _tree_guard.MOVE[i].sum() + _tree_guard.BELOW[i] == pytest.approx(1, abs=1e-13)


def test_the_printed_counter_adds_the_path_to_every_leaf():
    levels, rng, same = 3, np.random.default_rng(3), np.random.default_rng(3)
    tree, nodes = new_tree(2, levels), {}
    for n in range(1, 9):
        for level in range(levels - 1, -1, -1):
            place = level, (n - 1) >> level
            if place not in nodes:
                nodes[place] = laplace(2.0, same)
        path = sum(nodes[level, (n - 1) >> level] for level in range(levels))
        assert walk_path(tree, 1, n, 2.0, rng) == pytest.approx(path)
    assert len(nodes) == 2 + 4 + 8
