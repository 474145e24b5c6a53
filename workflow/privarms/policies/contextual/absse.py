"""Adaptively Binned Successive Elimination (ABSE), not private (Perchet & Rigollet 2013, arXiv:1110.6084).

It is Policy 3 with Policy 1 (successive elimination, SE) in its bins. The pseudocode of Policy 1 tests before a round,
the text and the proofs after it; this follows the text. A bin is half-open, closed where a coordinate is 1.
"""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.jit.intrinsics import lowest_bit
from privarms.ranges import at_least, positive, within

LABEL = "ABSE"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 60e-9

# Policy 3 runs SE with this width.
GAMMA = 2.0

# One row per depth: T = n |B|^d, and l_B of (5.2), which is above the horizon if a bin never bursts.
DEPTH = np.dtype([("T", np.float64), ("last_round", np.int64)])
# One row per bin: the row of its first child (0 for a live bin); its depth; the active arms (bit i for arm i); the
# pending arms, which are not yet pulled in this round; its full rounds.
BIN = np.dtype([(name, np.int64) for name in ("first_child", "depth", "active", "pending", "rounds")])
MOST_ARMS = 62
# A bin has 2^d children.
MOST_DIMENSIONS = 16


class Params(NamedTuple):
    """n_arms: K; dimensions: d; depths: DEPTH[k_0 + 1]; max_bins: the most bins that a run of n rounds can make."""

    n_arms: int
    dimensions: int
    depths: np.ndarray
    max_bins: int


class State(NamedTuple):
    """The tree of bins made so far, in the first n_bins[0] rows; the 2^d children of a bin are consecutive rows.

    bins: BIN[max_bins]; reward_sums: float64[max_bins, K]; n_bins: int64[1]
    """

    bins: np.ndarray
    reward_sums: np.ndarray
    n_bins: np.ndarray


def configure(K: int, horizon: int, dimensions: int, smoothness: float = 1.0, lipschitz: float = 1.0) -> Params:
    """Return parameters for 2 to 62 arms, n = horizon rounds and contexts in [0, 1]^d, d = dimensions up to 16.

    smoothness: the paper's beta in (0, 1]; lipschitz: its L > 0, |f(x) - f(y)| <= L ||x - y||^beta
    Both describe the rewards, and the policy does not learn them. With 1 and 1 a mean reward may rise from 0 to 1 along
    an edge of the cube. Raises ValueError for values out of range.
    """
    within(2, MOST_ARMS, K=K)
    at_least(1, horizon=horizon)
    within(1, MOST_DIMENSIONS, dimensions=dimensions)
    positive(smoothness=smoothness, lipschitz=lipschitz)
    within(0, 1, smoothness=smoothness)
    n, d = horizon, dimensions

    # (5.1)
    finest_side = (K * math.log(K) / n) ** (1 / (d + 2 * smoothness))
    k_0 = 0
    while 0.5**k_0 > finest_side:
        k_0 += 1

    c_0 = 2 * lipschitz * d ** (smoothness / 2)
    depths = np.zeros(k_0 + 1, DEPTH)
    max_bins = 1
    for depth in range(k_0 + 1):
        side = 0.5**depth
        depths[depth] = n * side**d, n + 1
        if depth < k_0:
            last_round = _last_round(n * side**d, 2 * c_0 * side**smoothness, n)
            depths[depth]["last_round"] = last_round
            # A bin that bursts had at least two arms in each of its rounds, and bins of one depth share no user.
            max_bins += 2**d * min(2 ** (d * depth), n // (2 * last_round))
    return Params(K, d, depths, max_bins)


def _last_round(T: float, bound: float, n: int) -> int:
    """Return l_B of (5.2), the smallest s >= 1 with U(s, T) <= bound, or n + 1 if it is larger. U decreases in s."""
    return 1 + bisect_left(range(1, n + 1), True, key=lambda s: _radius(s, T) <= bound)


@njit
def _radius(s, T):
    """Return U(s, T) of (2.1), with logbar(x) = max(log x, 1)."""
    return 2 * math.sqrt(2 * max(math.log(T / s), 1.0) / s)


@njit
def init(params):
    """Return one bin, the whole cube, with every arm active."""
    bins = np.zeros(params.max_bins, BIN)
    bins[0]["active"] = (1 << params.n_arms) - 1
    bins[0]["pending"] = bins[0]["active"]
    return State(bins, np.zeros((params.max_bins, params.n_arms)), np.ones(1, np.int64))


@njit
def choose(params, state, context, t, rng):
    """Return the first pending arm of the live bin: each active arm once per round, in index order."""
    return lowest_bit(state.bins[live_bin(state.bins, context)]["pending"])


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Count the reward; after a full round eliminate arms, and after the l_B-th burst the bin, in place."""
    row = live_bin(state.bins, context)
    pulled = 1 << arm
    # The last arm is never eliminated, so its rewards are not needed.
    if state.bins[row]["active"] != pulled:
        state.reward_sums[row, arm] += reward
        state.bins[row]["pending"] ^= pulled
        if state.bins[row]["pending"] == 0:
            end_round(params.depths, params.dimensions, state.bins, state.reward_sums, state.n_bins, row)
    return state


@njit(error_model="numpy")
def live_bin(bins, context):
    """Return the row of the live bin that contains a context."""
    row = 0
    cells = 1
    while bins[row]["first_child"] > 0:
        cells *= 2
        child = 0
        for x in context:
            # The last binary digit of the cell's coordinate gives the half of the parent.
            child = 2 * child + (min(int(x * cells), cells - 1) & 1)
        row = bins[row]["first_child"] + child
    return row


@njit(error_model="numpy")
def end_round(depths, dimensions, bins, reward_sums, n_bins, row):
    """Keep the arms whose mean is at least the largest minus gamma U(s, T); then burst the bin if it is due."""
    depth = bins[row]["depth"]
    s = bins[row]["rounds"] + 1
    n_arms = reward_sums.shape[1]
    active = bins[row]["active"]
    best = -np.inf
    for arm in range(n_arms):
        if (active >> arm) & 1:
            best = max(best, reward_sums[row, arm] / s)
    threshold = best - GAMMA * _radius(s, depths[depth]["T"])
    for arm in range(n_arms):
        if (active >> arm) & 1 and not reward_sums[row, arm] / s >= threshold:
            active ^= 1 << arm
    bins[row]["rounds"] = s
    bins[row]["active"] = active
    bins[row]["pending"] = active
    at_least_two = active & (active - 1) != 0
    first = n_bins[0]
    last = first + (1 << dimensions)
    # The rows can be used up only in a run of more than n rounds.
    if at_least_two and s >= depths[depth]["last_round"] and last <= len(bins):
        n_bins[0] = last
        bins[row]["first_child"] = first
        for child in range(first, last):
            bins[child]["depth"] = depth + 1
            bins[child]["active"] = active
            bins[child]["pending"] = active
