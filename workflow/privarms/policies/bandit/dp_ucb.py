"""DP-UCB: upper confidence bounds of private sums from tree counters, the baseline of Sajed & Sheffet 2019.

The paper describes only its mechanism (section 1: one tree per arm, Lap(log2(T)/epsilon) per node). Assumption: each
arm is pulled once, then the arm with the largest index (S + N + gamma)/n + sqrt(2 ln t / n). Here n counts the arm's
pulls, S is its reward sum and N the noise of its tree counter at n; L = ceil(log2 T) levels, Lap(L/epsilon) per node.
The paper does not give the private width gamma; `width` selects an assumption. `counter` selects the nodes of N:

dyadic: the popcount(n) nodes of n's dyadic decomposition, the sums that Chan, Shi & Song 2010 release
path: as section 1 prints, the L nodes on the path from below the root to leaf n. It is epsilon-private too: shifts of
    at most one node per level, which together cover all later leaves, undo a changed reward.
"""

from functools import cache
from math import log, sqrt
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit
from scipy.special import comb, gammaincc

from privarms.jit.intrinsics import popcount
from privarms.mechanisms.tree import complete_node, new_tree, node_levels, walk_path
from privarms.ranges import at_least, of_choices, positive

LABEL = "DP-UCB"
# The legends' names of these values.
WORDS = {"log2.5": "log^2.5", "log3": "log^3", "ln2.5": "ln^2.5", "ln3": "ln^3"}
WORDS |= {"mishra_thakurta": "Mishra & Thakurta", "path": "printed counter"}
SECONDS_PER_RUN = 3e-3
SECONDS_PER_STEP = 2e-10


class Params(NamedTuple):
    """n_arms: K >= 2; levels: of a tree; node_scale: L / epsilon times the multiple of the noise.

    width: float64[levels + 2], gamma by popcount(n); path: whether the counter is the one of paths
    """

    n_arms: int
    levels: int
    node_scale: float
    width: np.ndarray
    path: bool = False


class State(NamedTuple):
    """pulls: int64[K]; reward_sums, noises: float64[K], at the current counts; tree: the arms' counters."""

    pulls: np.ndarray
    reward_sums: np.ndarray
    noises: np.ndarray
    tree: np.ndarray


@of_choices
def configure(
    K: int,
    horizon: int,
    epsilon: float,
    width: Literal["log2.5", "log3", "chan", "exact", "mishra_thakurta", "ln2.5", "ln3"],
    noise: float = 1.0,
    counter: Literal["dyadic", "path"] = "dyadic",
) -> Params:
    """Return parameters for K >= 2 arms, a horizon >= K and a privacy budget epsilon > 0; see `private_width`.

    noise: multiple of a node's Laplace scale. Only 1, the default, is private; weakened controls have a smaller one.
    """
    at_least(2, K=K)
    at_least(K, horizon=horizon)
    positive(epsilon=epsilon, noise=noise)
    levels, L, path = node_levels(horizon), log2_ceiling(horizon), counter == "path"
    gamma = private_width(width, horizon, epsilon, levels + 1, K)
    # Mishra & Thakurta assign a K-th of the budget to each arm's tree.
    share = K if width == "mishra_thakurta" else 1
    if path:
        levels, gamma = L, np.full(L + 2, gamma[L])
    return Params(int(K), levels, noise * share * L / epsilon, gamma, path)


def log2_ceiling(horizon: int) -> int:
    """Return L = ceil(log2 horizon) for a horizon >= 2."""
    return int(horizon - 1).bit_length()


def private_width(width: str, horizon: int, epsilon: float, most: int, K: int) -> np.ndarray:
    """Return gamma at a count whose noise has k nodes: float64[most + 1], for k = 0, ..., most.

    With T the horizon, b = L / epsilon the scale of a node, L = ceil(log2 T), delta = 1 / T:
    log2.5: L^1.5 ln T / epsilon, the order of the union bound that section 1 quotes
    log3: L^2 ln T / epsilon, the order that footnote 3 attributes to Mishra & Thakurta 2015
    chan: b sqrt(max(k, l)) sqrt(8 l), l = ln(2 T), the bound of Chan, Shi & Song 2010 for |noise|
    exact: |noise| exceeds it with probability 1 / T; like chan a two-sided bound of one count
    mishra_thakurta: K ln(T)^2 ln(K T ln(T) / delta) / epsilon, the bonus of Mishra & Thakurta 2015
    ln2.5, ln3: ln(T)^2.5 / epsilon and ln(T)^3 / epsilon, because section 2 has logarithms to base e
    """
    T, L = horizon, log2_ceiling(horizon)
    k = np.arange(most + 1)
    constant = {
        "log2.5": L**1.5 * log(T),
        "log3": L**2 * log(T),
        "mishra_thakurta": K * log(T) ** 2 * log(K * T**2 * log(T)),
        "ln2.5": log(T) ** 2.5,
        "ln3": log(T) ** 3,
    }
    if width in constant:
        return np.full(most + 1, constant[width] / epsilon)
    if width == "chan":
        return L / epsilon * np.sqrt(np.maximum(k, log(2 * T))) * sqrt(8 * log(2 * T))
    return L / epsilon * np.array([laplace_sum_quantile(count, 1 / (2 * T)) for count in k])


@cache
def laplace_sum_quantile(count: int, tail: float) -> float:
    """Return the x that a sum of `count` standard Laplace variables exceeds with probability `tail`, in (0, 1/2].

    The sum is the difference of two Gamma(count) variables: the times of two servers for `count` exponential tasks
    each. The second server finishes when the first has done j < count with probability C(count - 1 + j, j) 2^-(count +
    j). The first is then Gamma(count - j) late.
    """
    if count == 0 or tail == 0.5:
        return 0.0
    j = np.arange(count)
    weights = comb(count - 1 + j, j) * 0.5 ** (count + j)

    def excess(x):
        return log(weights @ gammaincc(count - j, x)) - log(tail)

    # The upper end is from Markov's inequality for exp(X / 2), whose mean is (4 / 3)^count.
    return scipy.optimize.brentq(excess, 0.0, 2 * (count * log(4 / 3) - log(tail)), xtol=1e-13, rtol=1e-14)


@njit
def init(params):
    """Return the state before the first pull."""
    K = params.n_arms
    return State(np.zeros(K, np.int64), np.zeros(K), np.zeros(K), new_tree(K, params.levels))


@njit
def choose(params, state, context, t, rng):
    """Return each arm once, then that of the largest (S + N + gamma) / n + sqrt(2 ln t / n), the lowest at ties."""
    if t <= params.n_arms:
        return t - 1
    best_arm, best_index = 0, -np.inf
    exploration = 2 * np.log(t)
    for arm in range(params.n_arms):
        n = state.pulls[arm]
        private_sum = state.reward_sums[arm] + state.noises[arm]
        index = (private_sum + params.width[popcount(n)]) / n + np.sqrt(exploration / n)
        if index > best_index:
            best_arm, best_index = arm, index
    return best_arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Append the reward to the arm's counter, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    n, scale = state.pulls[arm], params.node_scale
    if params.path:
        state.noises[arm] = walk_path(state.tree, arm, n, scale, rng)
    else:
        state.noises[arm] = complete_node(state.tree, arm, n, scale, rng)
    return state
