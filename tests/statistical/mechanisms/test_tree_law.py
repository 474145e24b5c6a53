"""Check the tree counter's noise against its definition, and the guard against draws of every node."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import binomtest, kstest, norm

from privarms.fast_paths.bandit._tree_guard import CELL, TOP, first_miss, new_guard, safe_block
from privarms.jit.intrinsics import popcount
from privarms.mechanisms.tree import complete_node, new_tree, noise_from

from ...tree_nodes import draw_nodes, released_noise
from ..two_sample import same_law

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-5
SCALE = 3.0
COUNTS = np.array([1, 3, 8, 12, 13, 15, 16, 23, 31, 40, 44, 47])


@njit
def counted(replicates, counts, scale, rng):
    """Return the noise at the counts, with one node per item."""
    samples = np.zeros((len(counts), replicates))
    for r in range(replicates):
        tree, i = new_tree(1, 6), 0
        for n in range(1, counts[-1] + 1):
            noise = complete_node(tree, 0, n, scale, rng)
            if n == counts[i]:
                samples[i, r] = noise
                i += 1
    return samples


@njit
def defined(replicates, counts, scale, rng):
    """Return the noise at the counts, from every node of the tree."""
    samples = np.zeros((len(counts), replicates))
    for r in range(replicates):
        nodes = draw_nodes(6, scale, rng)
        for i in range(len(counts)):
            samples[i, r] = released_noise(nodes, counts[i])
    return samples


@pytest.fixture(scope="module")
def noise():
    return counted(200_000, COUNTS, SCALE, np.random.default_rng(1))


def test_the_noise_at_a_count_follows_its_law(noise):
    plain = defined(200_000, COUNTS, SCALE, np.random.default_rng(2))
    assert same_law([("continuous", a, b) for a, b in zip(noise, plain, strict=True)])
    wrong = counted(200_000, COUNTS, 1.06 * SCALE, np.random.default_rng(3))
    assert not same_law([("continuous", a, b) for a, b in zip(wrong, plain, strict=True)])


def test_the_noise_of_one_node_is_laplace(noise):
    ones = [i for i, n in enumerate(COUNTS) if popcount(n) == 1]
    assert min(kstest(noise[i], "laplace", (0, SCALE)).pvalue for i in ones) > FALSE_ALARM / len(ones)
    assert kstest(noise[ones[0]], "laplace", (0, 1.06 * SCALE)).pvalue < FALSE_ALARM


def shared_nodes(n, m):
    """Return the number of shared nodes of two counts: their set bits above the highest different bit."""
    return bin(n >> (n ^ m).bit_length()).count("1")


def covariances_are(noise, scale):
    """Return whether products of the noises at two counts have mean 2 scale^2 times their number of shared nodes."""
    pairs = [(i, j) for i in range(len(COUNTS)) for j in range(i + 1)]
    for i, j in pairs:
        products = noise[i] * noise[j]
        expected = 2 * scale**2 * shared_nodes(int(COUNTS[i]), int(COUNTS[j]))
        z = (products.mean() - expected) / (products.std() / np.sqrt(len(products)))
        if 2 * norm.sf(abs(z)) < FALSE_ALARM / len(pairs):
            return False
    return True


def test_two_counts_share_the_nodes_of_their_common_bits(noise):
    assert shared_nodes(12, 13) == 2
    assert shared_nodes(8, 16) == 0
    assert covariances_are(noise, SCALE)
    assert not covariances_are(noise, 1.02 * SCALE)
    # Each count has the right distribution but is independent of the others.
    assert not covariances_are(np.array([np.roll(row, i) for i, row in enumerate(noise)]), SCALE)


@njit
def walk(tree, n, e, slack, least_width, scale, rng):
    """Return the first missed count after n with draws of every node, or the end of the block.

    By the guard's definition a count is missed if its slack in cells falls below zero. The slack is that at the
    start of its segment plus the moves of its new nodes, and is capped after every move.
    """
    rooms = np.zeros(tree.shape[1], np.int64)
    end = ((n >> e) + 1) << e
    count = n
    while True:
        count += 1
        level = 0
        while count >> level & 1 == 0:
            level += 1
        before = noise_from(tree, 0, count, level + 1)
        noise = complete_node(tree, 0, count, scale, rng)
        if count == end:
            return count
        # The new nodes belong to the highest bit in which the count differs from n, and to all lower bits.
        highest = 0
        while (count ^ n) >> (highest + 1):
            highest += 1
        if level == highest:
            bits = count >> (level + 1)
            room = min(int((slack + before + least_width[popcount(bits) + 1]) / (scale * CELL)), TOP)
        else:
            above = level + 1
            while count >> above & 1 == 0:
                above += 1
            room = rooms[above]
        rooms[level] = min(room + int(np.floor((noise - before) / scale / CELL)), TOP)
        if rooms[level] < 0:
            return count


@njit
def set_off(n, levels, prefix):
    """Return a tree at count n with given noise from each set bit on."""
    tree = new_tree(1, levels)
    tree[0] = prefix
    return tree


@njit
def noises_at(tree, n):
    """Return the noise at the count n, and this noise without its last node."""
    return noise_from(tree, 0, n, 0), noise_from(tree, 0, n & (n - 1), 0)


@njit
def drawn_one_by_one(replicates, n, e, prefix, slack, least_width, scale, rng):
    """Return (counts, their noises, noises without last nodes) of the first missed count or the end of the block."""
    counts, noises, before = np.zeros(replicates), np.zeros(replicates), np.zeros(replicates)
    for r in range(replicates):
        tree = set_off(n, len(prefix), prefix)
        counts[r] = walk(tree, n, e, slack, least_width, scale, rng)
        noises[r], before[r] = noises_at(tree, int(counts[r]))
    return counts, noises, before


@njit
def drawn_ahead(replicates, n, e, prefix, slack, least_width, scale, rng):
    """Return the same from the guard's tables with its probability of no miss; count -1 if the block is shorter."""
    guard, safe = new_guard(scale), 0.0
    counts, noises, before = np.zeros(replicates), np.zeros(replicates), np.zeros(replicates)
    for r in range(replicates):
        tree = set_off(n, len(prefix), prefix)
        level, safe = safe_block(guard, tree, 0, n, slack, least_width, e)
        u = rng.random()
        if level != e:
            counts[r] = -1
            continue
        if u < safe:
            counts[r] = ((n >> e) + 1) << e
            complete_node(tree, 0, int(counts[r]), scale, rng)
        else:
            counts[r] = first_miss(guard, tree, 0, n, slack, least_width, e, u, rng)
        noises[r], before[r] = noises_at(tree, int(counts[r]))
    return counts, noises, before, safe


# (count, level of the block, noise from each bit on, slack, least width): a whole block; blocks from the middle, one
# with little slack in its last segment; a width that grows with the bits.
FLAT = np.zeros(12)
BLOCKS = {
    "whole": (64, 5, np.full(10, 1.5), 12.6, FLAT),
    "from 37": (37, 4, np.array([4.0, 0, -1.0, 0, 0, 1.0, 0, 0, 0, 0]), 9.8, FLAT),
    "to a carry": (43, 5, np.array([-9.0, 2.0, 0, 3.0, 0, 1.0, 0, 0, 0, 0]), 12.6, FLAT),
    "width": (40, 4, np.array([0, 0, 0, 1.0, 0, -2.0, 0, 0, 0, 0]), -3.1, np.arange(12.0) * 4),
}
REPLICATES = 200_000


@pytest.mark.parametrize("block", BLOCKS)
def test_the_first_missed_count_and_its_noise_follow_from_drawing_every_node(block):
    n, e, *rest = BLOCKS[block]
    end = ((n >> e) + 1) << e
    counts, *ahead, safe = drawn_ahead(REPLICATES, n, e, *rest, 2.0, np.random.default_rng(6))
    assert (counts > n).all()

    def agrees(scale):
        plain_counts, *plain = drawn_one_by_one(REPLICATES, n, e, *rest, scale, np.random.default_rng(5))
        missed, plain_missed = counts < end, plain_counts < end
        assert 0.02 < plain_missed.mean() < 0.25
        pairs = [("atoms", plain_counts, counts)]
        for noise, plain_noise in zip(ahead, plain, strict=True):
            pairs.append(("continuous", plain_noise[plain_missed], noise[missed]))
            pairs.append(("continuous", plain_noise[~plain_missed], noise[~missed]))
        return (
            binomtest(int(plain_missed.sum()), REPLICATES, 1 - safe).pvalue > FALSE_ALARM,
            same_law(pairs[:1]),
            same_law(pairs[1:]),
        )

    assert agrees(2.0) == (True, True, True)
    assert agrees(2.1) == (False, False, False)
