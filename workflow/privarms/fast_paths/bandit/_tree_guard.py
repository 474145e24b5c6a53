"""Draw how long the noise of a tree counter stays above a floor, without drawing a node for every item.

A block runs from a count n to the next multiple of 2**e. The counts inside it form segments, ordered by time, one for
every level d < e at which n has a zero bit. The first count of a segment sets bit d and clears the bits below, which
completes a node of level d. The 2**d - 1 counts after it follow. The noise in a segment is that of n's bits above d,
which is known, plus that of new nodes.

On entering a segment, the room i is the distance of the noise from a floor, in whole cells. A node of X node scales
moves the room from i to i + floor(X / CELL), at most to TOP. A count is *missed* if its node moves the room below zero.
The move is never more than the node, so at every count before the first missed one the noise is above the floor. (A
missed count need not be below the floor.) Nodes are independent, so the exact probability of a miss is a recursion:

    entered[d, i] = P(X < -i CELL) + sum_j P(i -> j) inside[d, j]                   the segment of level d
    inside[d + 1, i] = inside[d, i] + (1 - inside[d, i]) entered[d, i]              the 2**(d + 1) - 1 counts after
                                                                                    a multiple of it; inside[0] = 0

One uniform draw decides whether a block has a missed count.
- If not, none of its nodes is needed. The noise at its end, the multiple of 2**e, is that of n's bits from e up, or of
  those that the carry leaves, plus one new node outside of this event.
- If so, the first one is found from the segment down, each step drawn given that a miss lies in it: the segment; its
  node; the segment among those that follow. The nodes drawn on the way are the set bits of the missed count, which make
  up its noise. Later nodes are not part of the event and not drawn yet.
So counts and noise have the same distribution as if every node were drawn.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.jit.intrinsics import lowest_bit, popcount
from privarms.mechanisms.tree import noise_from

# In node scales. Finer cells and a higher top allow longer blocks, but need larger tables.
CELL = 0.25
TOP = 160
# A block's probability of a missed count is at most RISK. CELL, TOP and RISK do not change the distribution.
RISK = 0.15
# The levels of the longest block.
LEVELS = 40


def _tables():
    """Return tables by room i, float64 or int64.

    They are P(X < -i CELL) for a standard Laplace X, [TOP + 1]; P(i -> j), [TOP + 1, TOP + 1]; `entered`, [LEVELS, TOP
    + 1]; `inside`, [LEVELS + 1, TOP + 1]; and the largest level at which `inside` is at most RISK, [TOP + 1].
    """
    room = np.arange(TOP + 1)
    below = np.exp(-CELL * room) / 2
    step = room[None, :] - room[:, None]
    size = np.where(step >= 0, step, -step - 1)
    move = -np.expm1(-CELL) / 2 * np.exp(-CELL * size)
    # A move that would pass the top ends there.
    move[:, TOP] = np.exp(-CELL * (TOP - room)) / 2
    entered, inside = np.zeros((LEVELS, TOP + 1)), np.zeros((LEVELS + 1, TOP + 1))
    for d in range(LEVELS):
        # Not a matrix product: its rounding depends on the number of threads.
        entered[d] = below + (move * inside[d]).sum(axis=1)
        inside[d + 1] = inside[d] + (1 - inside[d]) * entered[d]
    return below, move, entered, inside, (inside <= RISK).sum(axis=0) - 1


# They do not depend on parameters, and kernels treat them as constants: as arguments they would cost reference counts.
BELOW, MOVE, ENTERED, INSIDE, REACH = _tables()


class Guard(NamedTuple):
    """node_scale: of the Lap(node_scale) nodes; cells: the number of cells per unit of noise, 0 without noise."""

    node_scale: float
    cells: float


@njit
def new_guard(node_scale):
    """Return the guard of trees with Lap(node_scale) nodes, node_scale >= 0."""
    return Guard(node_scale, 1 / (CELL * node_scale) if node_scale > 0 else 0.0)


@njit(forceinline=True)
def _room(guard, tree, arm, n, level, slack, least_width):
    """Return the room on entering the segment of `level`, a zero bit of n: cells, at most TOP, or -1 below the floor.

    The floor for the noise at a count of k bits is -slack - least_width[k].
    """
    bits = n >> level
    room = (slack + noise_from(tree, arm, n, level) + least_width[popcount(bits) + 1]) * guard.cells
    return int(min(room, TOP)) if room >= 0 else -1


@njit(forceinline=True)
def longest_level(guard, tree, room):
    """Return the largest level e of a block from a multiple of 2**e worth trying if the noise may fall by `room`."""
    return min(REACH[int(min(max(room * guard.cells, 0.0), TOP))], tree.shape[1])


@njit(forceinline=True)
def safe_block(guard, tree, arm, n, slack, least_width, longest):
    """Return the level e <= longest of a block from n and its probability, >= 1 - RISK, of no missed count.

    least_width: float64[levels + 2], non-decreasing
    """
    e, safe, zeros = 0, 1.0, lowest_bit(n)
    if zeros > 0:
        i = _room(guard, tree, arm, n, 0, slack, least_width)
        if i >= 0:
            e = min(longest, zeros, REACH[i])
            safe = 1 - INSIDE[e, i]
    if e == zeros:
        while e < longest:
            if n >> e & 1 == 0:
                i = _room(guard, tree, arm, n, e, slack, least_width)
                if i < 0 or safe * (1 - ENTERED[e, i]) < 1 - RISK:
                    break
                safe *= 1 - ENTERED[e, i]
            e += 1
    return e, safe


@njit
def first_miss(guard, tree, arm, n, slack, least_width, e, u, rng):
    """Return the first missed count in the block of level e from n, given that it exists; draw its nodes in place.

    slack, least_width: those of `safe_block`; u: uniform on [0, 1), at least the probability that there is none
    """
    level, i, safe = 0, 0, 1.0
    for d in range(e):
        if n >> d & 1 == 0:
            level, i = d, _room(guard, tree, arm, n, d, slack, least_width)
            safe *= 1 - ENTERED[d, i]
            if safe <= u:
                break
    noise = noise_from(tree, arm, n, level)
    while True:
        n = (n >> level | 1) << level
        i, node = _draw_move(level, i, rng)
        noise += guard.node_scale * node
        tree[arm, level] = noise
        if i < 0:
            return n
        v = rng.random() * INSIDE[level, i]
        level = 0
        while INSIDE[level + 1, i] <= v:
            level += 1


@njit
def _draw_move(level, i, rng):
    """Draw (room after, node) on entering a segment from room i, given that the segment has a missed count.

    The node is in node scales; the room after is -1 if the count of the node itself is missed.
    """
    v = rng.random() * ENTERED[level, i] - BELOW[i]
    if v < 0:
        return -1, -(i * CELL + rng.standard_exponential())
    # Down from i, then up: the likely rooms first.
    j = i
    for k in range(TOP + 1):
        j = i - k if k <= i else k
        v -= MOVE[i, j] * INSIDE[level, j]
        if v < 0:
            break
    if j == TOP:
        return j, (TOP - i) * CELL + rng.standard_exponential()
    # Within a cell |X| is a standard exponential, cut off at the cell's width.
    part = -np.log1p(rng.random() * np.expm1(-CELL))
    return j, (j - i) * CELL + part if j >= i else (j - i + 1) * CELL - part
