"""DP-UCB: upper confidence bounds of private sums from tree counters, the baseline of Sajed & Sheffet 2019.

The paper describes only its mechanism (section 1: one tree per arm, Lap(log2(T)/epsilon) per node). Assumption: each
arm is pulled once, then the arm with the largest index (S + N + gamma)/n + sqrt(2 ln t / n), where n counts the arm's
pulls, S is its reward sum and N the noise of its tree counter at n; L = ceil(log2 T) levels, Lap(L/epsilon) per node.
The paper does not give the private width gamma; `width` selects one of four assumptions.
"""

from math import log, sqrt
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit
from scipy.special import comb, gammaincc

from privarms.jit.intrinsics import popcount
from privarms.mechanisms.tree import Tree, complete_node, new_tree, node_levels
from privarms.ranges import at_least, positive

LABEL = "DP-UCB"
SECONDS_PER_RUN = 3e-3
SECONDS_PER_STEP = 2e-10


class Params(NamedTuple):
    """n_arms: K >= 2; levels: of a tree; node_scale: L / epsilon times the multiple of the noise.

    width: float64[levels + 2], gamma by popcount(n)
    """

    n_arms: int
    levels: int
    node_scale: float
    width: np.ndarray


class State(NamedTuple):
    """pulls: int64[K]; reward_sums, noises: float64[K], of the counts now; tree: the arms' counters."""

    pulls: np.ndarray
    reward_sums: np.ndarray
    noises: np.ndarray
    tree: Tree


def configure(
    K: int, horizon: int, epsilon: float, width: Literal["log2.5", "log3", "chan", "exact"], noise: float = 1.0
) -> Params:
    """Parameters for K >= 2 arms, a horizon >= K and a privacy budget epsilon > 0; width: see `private_width`.

    noise: multiple of the Laplace scale of a node. Only 1, the default, is private; a privacy audit sets less.
    """
    at_least(2, K=K)
    at_least(K, horizon=horizon)
    positive(epsilon=epsilon, noise=noise)
    levels = node_levels(horizon)
    gamma = private_width(width, horizon, epsilon, levels + 1)
    return Params(int(K), levels, noise * log2_ceiling(horizon) / epsilon, gamma)


def log2_ceiling(horizon: int) -> int:
    """L = ceil(log2 horizon) for a horizon >= 2."""
    return int(horizon - 1).bit_length()


def private_width(width: str, horizon: int, epsilon: float, most: int) -> np.ndarray:
    """gamma at a count whose noise has k nodes: float64[most + 1], for k = 0, ..., most.

    With T the horizon, b = L / epsilon the scale of a node, L = ceil(log2 T):
    log2.5: L^1.5 ln T / epsilon, the order of the union bound that section 1 quotes;
    log3: L^2 ln T / epsilon, the order that footnote 3 gives to Mishra & Thakurta 2015;
    chan: b sqrt(max(k, l)) sqrt(8 l), l = ln(2 T), the bound of Chan, Shi & Song 2010 for |noise| at delta = 1 / T;
    exact: what |noise| exceeds with probability 1 / T.
    The last two are two-sided bounds of one count, at the same confidence.
    """
    T, L = horizon, log2_ceiling(horizon)
    k = np.arange(most + 1)
    if width == "log2.5":
        return np.full(most + 1, L**1.5 * log(T) / epsilon)
    if width == "log3":
        return np.full(most + 1, L**2 * log(T) / epsilon)
    if width == "chan":
        return L / epsilon * np.sqrt(np.maximum(k, log(2 * T))) * sqrt(8 * log(2 * T))
    return L / epsilon * np.array([laplace_sum_quantile(count, 1 / (2 * T)) for count in k])


def laplace_sum_quantile(count: int, tail: float) -> float:
    """The x that a sum of `count` standard Laplace variables exceeds with probability `tail`, in (0, 1/2].

    The sum is the difference of two Gamma(count) variables, the times that two servers take for `count` tasks each
    of exponential length. The second is done when the first has done j < count with probability C(count - 1 + j, j)
    2^-(count + j); the first is then Gamma(count - j) late.
    """
    if count == 0 or tail == 0.5:
        return 0.0
    j = np.arange(count)
    weights = comb(count - 1 + j, j) * 0.5 ** (count + j)

    def excess(x):
        return log(weights @ gammaincc(count - j, x)) - log(tail)

    # Markov's inequality for exp(X / 2), of mean (4 / 3)^count.
    return scipy.optimize.brentq(excess, 0.0, 2 * (count * log(4 / 3) - log(tail)), xtol=1e-13, rtol=1e-14)


@njit
def init(params):
    """Nothing pulled yet."""
    K = params.n_arms
    return State(np.zeros(K, np.int64), np.zeros(K), np.zeros(K), new_tree(K, params.levels))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the largest (S + N + gamma) / n + sqrt(2 ln t / n); ties go to the lowest arm."""
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
    state.noises[arm] = complete_node(state.tree, arm, state.pulls[arm], params.node_scale, rng)
    return state
