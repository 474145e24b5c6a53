"""Private UCB of Neel & Roth 2018, section 3.1: index, private bonus and counter.

The paper defers its private UCB to a full version; index, delta_t and gamma_t are those of the authors' program. Each
arm is pulled once in index order, then the arm with the largest index

    (S + N + gamma_t) / n + sqrt(ln(2 / delta_t) / (2 n)),    delta_t = 1 / (1 + t ln^2 t),
    gamma_t = K ln^2(T) ln(K T ln(T) / delta_t) / epsilon.

S is the sum of the arm's n rewards and N the noise of its counter. Ties go to the lowest arm. UCB is the same with
gamma_t = 0 and N = 0. The factor K of gamma_t is that of a bonus for arms that share the budget; no arm shares it here,
because a reward is in one counter. So a bonus without the factor is possible too (`factor_K`). The counters:

as_printed: a binary tree with Lap(log2(T) / epsilon) per node. Choices depend on up to floor(log2(T - 1)) + 1 nodes
    that contain a given reward. So they cost up to this number over log2(T) times epsilon: 1.004 epsilon at T = 500.
as_released: a fresh Lap(2 log2(T) / epsilon) at every count; N is this draw over n + 1. It is not epsilon-private:
    every later release depends on a reward, and the noise falls faster than the reward's weight.

There is no fast path, because an index costs only two multiplications. Its terms (S + N) / n, 1 / n and 1 / sqrt(n)
change only when the arm is pulled, so the state stores them.
"""

from math import log, log2, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace
from privarms.mechanisms.tree import add_node, new_tree, node_levels
from privarms.ranges import at_least, of_choices, positive, within

LABEL = "Private UCB"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 6e-8
MOST_ROUNDS = 10**8  # of 8 bytes each


class Params(NamedTuple):
    """Parameters of a run, made by `parameters`.

    n_arms: K >= 2; levels: of a tree
    node_scale: of the Laplace noise of a node or of a fresh draw; 0 for no noise
    fresh: whether the counter is the released one, with a fresh draw at every count
    gamma_scale: K ln^2(T) / epsilon; 0 for no private bonus
    gamma_log: ln(K T ln T)
    log_inverse_delta: float64[T + 1], ln(1 / delta_t) for t = 0, ..., T
    """

    n_arms: int
    levels: int
    node_scale: float
    fresh: bool
    gamma_scale: float
    gamma_log: float
    log_inverse_delta: np.ndarray


class State(NamedTuple):
    """State of a run; arrays change in place.

    pulls: int64[K], n of each arm; reward_sums: float64[K], S; tree: the arms' counters
    private_means, inverse_roots, inverses: float64[K], (S + N) / n, 1 / sqrt(n) and 1 / n
    """

    pulls: np.ndarray
    reward_sums: np.ndarray
    tree: np.ndarray
    private_means: np.ndarray
    inverse_roots: np.ndarray
    inverses: np.ndarray


@of_choices
def configure(
    K: int, horizon: int, epsilon: float, variant: Literal["as_printed", "as_released"], factor_K: bool = True
) -> Params:
    """Return parameters for K >= 2 arms, a horizon >= K and a privacy budget epsilon > 0; 8 bytes per round.

    factor_K: whether gamma_t has the factor K of the authors' program
    """
    params = parameters(K, horizon, epsilon, variant, gamma=True, noise=True)
    return params if factor_K else params._replace(gamma_scale=params.gamma_scale / params.n_arms)


def parameters(K: int, horizon: int, epsilon: float, variant: str, *, gamma: bool, noise: bool) -> Params:
    """Return checked parameters for K >= 2 arms, a horizon T >= K and a privacy budget epsilon > 0.

    variant: the counter; gamma, noise: whether to use the private bonus and the counter's noise (epsilon may be inf
    without both)
    """
    at_least(2, K=K)
    within(K, MOST_ROUNDS, horizon=horizon)
    if gamma or noise:
        positive(epsilon=epsilon)
    T, released = int(horizon), variant == "as_released"
    node_scale = (2 if released else 1) * log2(T) / epsilon if noise else 0.0
    gamma_scale = K * log(T) ** 2 / epsilon if gamma else 0.0
    # The other factor of gamma_t is below 10^3.
    if not max(node_scale, gamma_scale) < 1e300:
        raise ValueError(f"epsilon: expected a larger number; found {epsilon}, at which noise or bonus overflows")
    # ln 1 = 0 makes delta_1 = 1; no arm is chosen by its index before round K + 1 >= 3.
    t = np.maximum(np.arange(T + 1.0), 1.0)
    return Params(
        n_arms=int(K),
        levels=node_levels(T) if noise and not released else 1,
        node_scale=node_scale,
        fresh=released,
        gamma_scale=gamma_scale,
        gamma_log=log(K * T * log(T)),
        log_inverse_delta=np.log1p(t * np.log(t) ** 2),
    )


@njit(inline="always")
def confidence_factor(params, t):
    """Return sqrt(ln(2 / delta_t) / 2), the numerator of the confidence radius in round t."""
    return sqrt((np.log(2) + params.log_inverse_delta[t]) / 2)


@njit(inline="always")
def private_bonus(params, t):
    """Return gamma_t, the numerator of the private bonus in round t."""
    return params.gamma_scale * (params.gamma_log + params.log_inverse_delta[t])


@njit(forceinline=True)
def init(params):
    """Return the state before the first pull."""
    K = params.n_arms
    tree = new_tree(K, params.levels)
    return State(np.zeros(K, np.int64), np.zeros(K), tree, np.zeros(K), np.zeros(K), np.zeros(K))


@njit(forceinline=True)
def choose(params, state, context, t, rng):
    """Return each arm once, then the arm with the largest index."""
    if t <= params.n_arms:
        return t - 1
    factor, gamma = confidence_factor(params, t), private_bonus(params, t)
    private_means, inverse_roots, inverses = state.private_means, state.inverse_roots, state.inverses
    best_arm, best_index = 0, -np.inf
    for arm in range(len(inverses)):
        index = private_means[arm] + factor * inverse_roots[arm] + gamma * inverses[arm]
        if index > best_index:
            best_arm, best_index = arm, index
    return best_arm


@njit(forceinline=True)
def learn(params, state, context, arm, reward, t, rng):
    """Append the reward to the arm's counter and update the terms of the arm's index."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    n, noise = state.pulls[arm], 0.0
    if params.node_scale > 0:
        draw = laplace(params.node_scale, rng)
        noise = draw / (n + 1) if params.fresh else add_node(state.tree, arm, n, draw)
    state.private_means[arm] = (state.reward_sums[arm] + noise) / n
    state.inverse_roots[arm] = 1 / sqrt(n)
    state.inverses[arm] = 1 / n
    return state
