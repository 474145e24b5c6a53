"""Private linear UCB, ours: Neel & Roth (2018) announce one for their full version and do not state it.

It is OFUL (`oful`) on private sums of x y. Rewards are clipped to [-clip, clip]; clip = 4 is our choice. Each arm has d
binary tree counters, one per coordinate, which release its sum of x y with Lap(scale) in every node. Here scale = 2
clip sqrt(d) levels / epsilon and levels = floor(log2 T) + 1.

It is epsilon reward-differentially private (Definition 2) for contexts of length at most 1. Reward neighbours have the
same contexts and rewards that differ in one row l, of which the policy sees one entry. The policy is a function of the
contexts and of the nodes that the counters release. Fix the nodes released before round t. They fix the arms up to t,
hence the rows that each node sums, on both tableaux alike. Given them, a node released in round t has d independent
Laplace coordinates around the sum of its rows' x y. Row l is in at most `levels` nodes, one per level, of the arm
pulled in l, and in no other node. Clipped, it changes such a sum by at most 2 clip ||x||_1 <= 2 clip sqrt(d) in L1. So
the density of that node changes by a factor of at most exp(epsilon / levels), and the product over all nodes is at most
exp(epsilon). The arms are a function of nodes and contexts.

The noise N of an arm's sums moves its theta_hat'x by (V^-1 x)'N. This is a sum of at most d levels Laplace variables,
those of coordinate k with scale |(V^-1 x)_k| times the node's. So with probability 1 - beta (Chan, Shi & Song 2010,
Corollary 2.9) |(V^-1 x)'N| <= gamma ||V^-1 x||, gamma = scale sqrt(8 l) max(sqrt(levels), sqrt(l)), l = ln(2/beta). The
index is OFUL's plus this term, unless bonus is false; privacy does not depend on this optimism.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.regressions import add_row, checked, confidence_radius, exceeds, multiply, project
from privarms.mechanisms.tree import complete_node, new_tree, node_levels
from privarms.ranges import at_least, positive

STREAMED_AS = {"dimensions": "d"}
LABEL = "private linear UCB (ours)"
SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 5e-7


class Params(NamedTuple):
    """n_arms: K; dimensions: d; ridge: lambda > 0; beta in (0, 1), of both confidences; clip: of rewards.

    levels: of a tree; node_scale: of a node and coordinate, 0 without noise; private_width: gamma, 0 without the bonus
    """

    n_arms: int
    dimensions: int
    ridge: float
    beta: float
    clip: float
    levels: int
    node_scale: float
    private_width: float


class State(NamedTuple):
    """Per arm: n, theta_hat = V^-1 (S + N), V^-1, S = sum x y, S + N, and the radius at n.

    pulls: int64[K]; theta_hat, reward_sums, private_sums: float64[K, d]; inverse: float64[K, d, d]; radius: float64[K]
    tree: the counters; coordinate k of an arm has the index arm d + k; room: float64[d], for V^-1 x
    """

    pulls: np.ndarray
    theta_hat: np.ndarray
    inverse: np.ndarray
    reward_sums: np.ndarray
    private_sums: np.ndarray
    radius: np.ndarray
    tree: np.ndarray
    room: np.ndarray


def configure(
    K: int,
    dimensions: int,
    horizon: int,
    epsilon: float,
    ridge: float = 1.0,
    beta: float = 0.05,
    clip: float = 4.0,
    bonus: bool = True,
) -> Params:
    """Return parameters for K >= 2 arms, d = dimensions >= 1, horizon >= 1 and a privacy budget epsilon > 0."""
    regression = checked(K, dimensions, ridge, beta)
    at_least(1, horizon=horizon)
    positive(epsilon=epsilon, clip=clip)
    levels = node_levels(horizon)
    scale = 2 * clip * sqrt(dimensions) * levels / epsilon
    doubt = log(2 / beta)
    gamma = scale * sqrt(8 * doubt) * sqrt(max(levels, doubt))
    return Params(*regression, float(clip), levels, scale, gamma if bonus else 0.0)


@njit
def init(params):
    """Return the state before the first pull: V = ridge I."""
    K, d = params.n_arms, params.dimensions
    inverse = np.zeros((K, d, d))
    for k in range(d):
        inverse[:, k, k] = 1 / params.ridge
    radius = np.full(K, confidence_radius(0, d, params.ridge, params.beta))
    tree = new_tree(K * d, params.levels)
    theta_hat, reward_sums, private_sums = np.zeros((K, d)), np.zeros((K, d)), np.zeros((K, d))
    return State(np.zeros(K, np.int64), theta_hat, inverse, reward_sums, private_sums, radius, tree, np.zeros(d))


@njit(error_model="numpy", forceinline=True)
def choose(params, state, contexts, t, rng):
    """Return the arm of the largest theta_hat'x + radius sqrt(x'V^-1 x) + gamma ||V^-1 x||, the lowest at ties."""
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        predicted, square, weight = project(state.theta_hat, state.inverse, contexts, arm)
        index = predicted + state.radius[arm] * sqrt(square) + params.private_width * sqrt(weight)
        if exceeds(index, best_index):
            best_arm, best_index = arm, index
    return best_arm


@njit(error_model="numpy", forceinline=True)
def learn(params, state, context, arm, reward, t, rng):
    """Add the row to the arm's V^-1 and the clipped reward to its counters, in place."""
    d = params.dimensions
    state.pulls[arm] += 1
    n = state.pulls[arm]
    state.radius[arm] = confidence_radius(n, d, params.ridge, params.beta)
    add_row(state.inverse, arm, context, state.room)
    clipped = min(max(reward, -params.clip), params.clip)
    for k in range(d):
        state.reward_sums[arm, k] += clipped * context[k]
        noise = 0.0
        if params.node_scale > 0:
            noise = complete_node(state.tree, arm * d + k, n, params.node_scale, rng)
        state.private_sums[arm, k] = state.reward_sums[arm, k] + noise
    multiply(state.inverse, arm, state.private_sums, state.theta_hat)
    return state
