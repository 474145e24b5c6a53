"""The binary tree counter, and the guard that says how long its noise stays above a floor."""

import numpy as np
import pytest

from privarms.jit.intrinsics import lowest_bit
from privarms.mechanisms import tree_guard
from privarms.mechanisms.laplace import laplace
from privarms.mechanisms.tree import complete_node, draw_nodes, new_tree, node_levels, noise_from, released_noise
from privarms.mechanisms.tree_guard import CELL, RISK, TOP, first_miss, new_guard, safe_block


def test_levels_of_a_horizon():
    assert [node_levels(T) for T in (1, 2, 3, 4, 1023, 1024, 50_000_000)] == [1, 2, 2, 3, 10, 11, 26]
    with pytest.raises(ValueError, match="at least 1"):
        node_levels(0)


def test_nodes_of_thirteen_items():
    # 13 = 8 + 4 + 1: items 1-8, 9-12 and 13.
    nodes = np.zeros((4, 16))
    nodes[3, 0], nodes[2, 2], nodes[0, 12] = 100.0, 10.0, 1.0
    assert released_noise(nodes, 13) == 111.0
    assert released_noise(nodes, 12) == 110.0
    assert released_noise(nodes, 8) == 100.0
    assert released_noise(nodes, 7) == 0.0


def test_every_node_is_drawn():
    nodes = draw_nodes(4, 2.0, np.random.default_rng(1))
    assert [np.count_nonzero(row) for row in nodes] == [16, 8, 4, 2]


def test_one_fresh_node_an_item_is_the_dyadic_sum():
    levels, items, scale = 9, 500, 3.0
    tree, rng, same = new_tree(2, levels), np.random.default_rng(2), np.random.default_rng(2)
    nodes = np.zeros((levels, 1 << levels))
    for n in range(1, items + 1):
        # Item n completes the node of its lowest set bit, the last of whose items it is.
        level = lowest_bit(n)
        nodes[level, (n >> level) - 1] = laplace(scale, same)
        assert complete_node(tree, 1, n, scale, rng) == pytest.approx(released_noise(nodes, n), abs=1e-12)
        assert noise_from(tree, 1, n, 0) == tree.prefix[1, level]
    assert not tree.prefix[0].any()


def test_a_jump_keeps_the_nodes_of_the_higher_bits():
    tree, rng = new_tree(1, 6), np.random.default_rng(3)
    for n in range(1, 20):
        complete_node(tree, 0, n, 1.0, rng)
    sixteen = tree.prefix[0, 4]
    same = np.random.default_rng()
    same.bit_generator.state = rng.bit_generator.state
    # From 19 = 16 + 2 + 1 to 24 = 16 + 8.
    assert complete_node(tree, 0, 24, 1.0, rng) == pytest.approx(sixteen + laplace(1.0, same), abs=1e-12)
    assert complete_node(tree, 0, 32, 1.0, rng) == pytest.approx(laplace(1.0, same), abs=1e-12)


def move_chances(i, reach=4000):
    """P(i -> j) for j = -reach, ..., reach, uncapped, from the Laplace distribution function."""

    def cdf(x):
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    j = np.arange(-reach, reach + 1)
    return j, cdf((j - i + 1) * CELL) - cdf((j - i) * CELL)


@pytest.mark.parametrize("i", [0, 1, 7, 40, TOP])
def test_the_chances_of_a_miss_in_a_block_of_two_and_of_four(i):
    j, chance = move_chances(i)
    missed = np.exp(-i * CELL) / 2
    assert tree_guard.INSIDE[1, i] == pytest.approx(missed, rel=1e-12)
    # In a block of four: the first node; the node of two, then the single one after it.
    rooms = np.minimum(j, TOP)
    after = np.where(rooms < 0, 1.0, np.exp(-np.maximum(rooms, 0) * CELL) / 2)
    assert tree_guard.INSIDE[2, i] == pytest.approx(1 - (1 - missed) * (1 - chance @ after), abs=1e-13)
    assert tree_guard.MOVE[i].sum() + tree_guard.BELOW[i] == pytest.approx(1, abs=1e-13)


def test_a_longer_block_or_less_room_is_riskier():
    assert (np.diff(tree_guard.INSIDE, axis=0) >= 0).all()
    assert (np.diff(tree_guard.INSIDE, axis=1) <= 0).all()
    assert (tree_guard.INSIDE[tree_guard.REACH, range(TOP + 1)] <= RISK).all()


def test_a_block_ends_before_a_segment_without_room():
    guard, width, tree = new_guard(1.0), np.zeros(12), new_tree(1, 10)
    # From 5 = 4 + 1: the counts 6 and 7 keep the noise 10 of the four's node; 8 to 15, 16 to 31, ... start from 0.
    tree.prefix[0, 2], tree.prefix[0, 0] = 10.0, 1000.0
    assert safe_block(guard, tree, 0, 5, 30.0, width, 9)[0] == 9
    assert safe_block(guard, tree, 0, 5, 30.0, width, 4)[0] == 4
    assert safe_block(guard, tree, 0, 5, -5.0, width, 9) == (3, 1 - tree_guard.ENTERED[1, int(5 / CELL)])
    assert safe_block(guard, tree, 0, 5, -11.0, width, 9) == (1, 1.0)
    # From 8, whose whole block has one floor.
    tree.prefix[0, 3] = 2.0
    assert safe_block(guard, tree, 0, 8, 3.0, width, 3) == (3, 1 - tree_guard.INSIDE[3, int(5 / CELL)])
    assert safe_block(guard, tree, 0, 8, -3.0, width, 3) == (0, 1.0)


def test_the_width_at_more_bits_adds_to_the_room():
    guard, tree = new_guard(2.0), new_tree(1, 6)
    tree.prefix[0, 2] = 1.0
    # All counts from 5 to 7 have two bits or more.
    least_width = np.array([0.0, 0.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0])
    assert safe_block(guard, tree, 0, 4, 0.0, least_width, 2) == (2, 1 - tree_guard.INSIDE[2, int(8 / (2 * CELL))])


@pytest.mark.parametrize("n", [16, 21, 25])
def test_the_first_missed_count_is_inside_the_block_and_its_noise_too_low(n):
    levels, scale, slack, e = 8, 2.0, 9.0, 4
    guard, width, rng = new_guard(scale), np.zeros(levels + 2), np.random.default_rng(4)
    for _ in range(200):
        tree = new_tree(1, levels)
        miss = first_miss(guard, tree, 0, n, slack, width, e, 1 - 1e-12, rng)
        assert n < miss < 32
        # Every one of at most e new nodes is less than a cell above its move.
        assert noise_from(tree, 0, miss, 0) < -slack + scale * CELL * e
