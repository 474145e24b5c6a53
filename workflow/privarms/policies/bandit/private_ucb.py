"""Private UCB of Neel & Roth 2018, section 3.1: index, private bonus and counter.

The paper defers its private UCB to a full version; index, delta_t and gamma_t are those of the authors' program. Every
arm is pulled once in index order, then the arm with the largest

    (S + N + gamma_t) / n + sqrt(ln(2 / delta_t) / (2 n)),    delta_t = 1 / (1 + t ln^2 t),
    gamma_t = K ln^2(T) ln(K T ln(T) / delta_t) / epsilon,

S being the sum of the arm's n rewards and N the noise of its counter. Ties go to the lowest index. UCB is the same
with gamma_t = 0 and N = 0. The counters:

as_printed: a binary tree, Lap(log2(T) / epsilon) a node. A reward is in up to floor(log2(T - 1)) + 1 nodes that some
    choice sees, so that the choices cost up to that over log2(T) times epsilon: 1.004 epsilon at T = 500.
as_released: a fresh Lap(2 log2(T) / epsilon) at every count, N being that over n + 1. Not epsilon-private: a reward
    weighs on every later release, and the noise falls faster than its weight.
"""

from math import log, log2, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace
from privarms.mechanisms.tree import Tree, add_node, new_tree, node_levels
from privarms.policies import Policy
from privarms.policies.bandit._largest_index import largest_of_others, new_table, put

LABEL = "Private UCB"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 3e-8

# What the rival's index has on top, relative to the largest of its terms: sums of three terms are rounded.
ROUNDING = 1e-12
# Speed alone: there is a rival while more than one comparison in five finds that an arm is pulled again. Otherwise, as
# where noise or the bonus change the arm in every round, it costs more than it saves.
LUCKY = 16


class Params(NamedTuple):
    """What the rounds need; made by `parameters`.

    n_arms: K >= 2
    levels: of a tree
    node_scale: of the Laplace noise of a tree's node or of a fresh draw; 0 for no noise
    fresh: whether every count has a fresh draw in place of a tree
    gamma_scale: K ln^2(T) / epsilon; 0 for no private bonus
    gamma_log: ln(K T ln T)
    log_inverse_delta: float64[T + 1], ln(1 / delta_t) for t = 0, ..., T
    spreads, weights: float64[T + 1], 1 / sqrt(n) and 1 / n for n = 1, ..., T, on which a round would wait
    """

    n_arms: int
    levels: int
    node_scale: float
    fresh: bool
    gamma_scale: float
    gamma_log: float
    log_inverse_delta: np.ndarray
    spreads: np.ndarray
    weights: np.ndarray


class State(NamedTuple):
    """pulls: int64[K]; reward_sums, noises: float64[K], noises[i] the N of arm i now; tree: the arms' counters."""

    pulls: np.ndarray
    reward_sums: np.ndarray
    noises: np.ndarray
    tree: Tree


def configure(K: int, horizon: int, epsilon: float, variant: Literal["as_printed", "as_released"]) -> Params:
    """Parameters for K >= 2 arms, a horizon >= K and a privacy budget epsilon > 0; 24 bytes a round."""
    return parameters(K, horizon, epsilon, variant, gamma=True, noise=True)


def parameters(K: int, horizon: int, epsilon: float, variant: str, *, gamma: bool, noise: bool) -> Params:
    """Parameters for K >= 2 arms, a horizon T >= K and a privacy budget epsilon > 0 (inf for neither part).

    variant: the counter; gamma, noise: whether the private bonus and the counter's noise are there
    """
    if K < 2:
        raise ValueError(f"K: expected at least 2 arms; found {K}")
    if horizon < K:
        raise ValueError(f"horizon: expected at least one round for each of the {K} arms; found {horizon}")
    if (gamma or noise) and not 0 < epsilon < np.inf:
        raise ValueError(f"epsilon: expected a finite number > 0; found {epsilon}")
    if variant not in ("as_printed", "as_released"):
        raise ValueError(f"variant: expected as_printed or as_released; found {variant!r}")
    T, released = int(horizon), variant == "as_released"
    node_scale = (2 if released else 1) * log2(T) / epsilon if noise else 0.0
    gamma_scale = K * log(T) ** 2 / epsilon if gamma else 0.0
    # The factor that gamma_t has on top is below 10^3.
    if not max(node_scale, gamma_scale) < 1e300:
        raise ValueError(f"epsilon: {epsilon} is so small that noise or bonus overflow; give a larger one")
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
        spreads=1 / np.sqrt(t),
        weights=1 / t,
    )


@njit
def init(params):
    """Nothing pulled yet."""
    K = params.n_arms
    return State(np.zeros(K, np.int64), np.zeros(K), np.zeros(K), new_tree(K, params.levels))


@njit
def choose(params, state, context, t, rng):
    """Each arm once, then the largest index; ties go to the lowest arm."""
    if t <= params.n_arms:
        return t - 1
    log_inverse_delta = params.log_inverse_delta[t]
    gamma = params.gamma_scale * (params.gamma_log + log_inverse_delta)
    best_arm, best_index = 0, -np.inf
    for arm in range(params.n_arms):
        n = state.pulls[arm]
        private_mean = (state.reward_sums[arm] + state.noises[arm] + gamma) / n
        index = private_mean + np.sqrt((np.log(2) + log_inverse_delta) / (2 * n))
        if index > best_index:
            best_arm, best_index = arm, index
    return best_arm


@njit(inline="always")
def counter_noise(node_scale, fresh, tree, arm, n, rng):
    """The noise N of an arm's sum at its count n, drawn now; node_scale, fresh: as in `Params`."""
    if node_scale == 0.0:
        return 0.0
    # Drawn in one place: what draws is long, and taken in.
    drawn = laplace(node_scale, rng)
    return drawn / (n + 1) if fresh else add_node(tree, arm, n, drawn)


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Append the reward to the arm's counter, in place."""
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    n = state.pulls[arm]
    state.noises[arm] = counter_noise(params.node_scale, params.fresh, state.tree, arm, n, rng)
    return state


@njit
def simulate(params, environment, checkpoints, rng, record):
    """What `play` does, draw for draw: an index is taken apart into what its pull changes.

    index = level + root_t * spread + gamma_t * weight, with level = (S + N) / n, spread = 1 / sqrt(n), weight = 1 / n.

    The arm pulled last is pulled again, without a look at the others, if its index is above the rival's. The rival is
    an arm that there is not, whose index was not below those of all others when they were last compared and has grown
    at least as fast since: its spread and weight are as large as theirs, and root_t and gamma_t never fall.
    """
    means, pull = environment.means, environment.pull
    best = means.max()
    # Numbers and arrays out of the tuple: in a round, numba would count references to all of its arrays.
    K, node_scale, fresh = params.n_arms, params.node_scale, params.fresh
    gamma_scale, gamma_log, log_inverse_deltas = params.gamma_scale, params.gamma_log, params.log_inverse_delta
    spreads, weights = params.spreads, params.weights
    pulls, sums = record.pulls, record.reward_sums
    pulls[:] = 0
    sums[:] = 0.0
    # Level, spread and weight of all arms but two: those of the arm pulled last are apart, so that a processor goes
    # through the others while the reward is on its way, and those of the arm that it was when all were last compared.
    table, half = new_table(K), 0
    own_level, own_spread, own_weight = -np.inf, 0.0, 0.0
    left, left_level, left_spread, left_weight = -1, -np.inf, 0.0, 0.0
    tree = new_tree(K, params.levels)
    # The rival's level, spread and weight; the latter two are made anew when t has doubled, for they only fall.
    rival, widest, heaviest, renewal = np.inf, 1.0, 1.0, 0
    luck, compared = 0, 0
    regret = 0.0
    t, arm = 0, 0
    for c in range(len(checkpoints)):
        while t < checkpoints[c]:
            t += 1
            if t > K:
                log_inverse_delta = log_inverse_deltas[t]
                root = sqrt((np.log(2) + log_inverse_delta) / 2)
                gamma = gamma_scale * (gamma_log + log_inverse_delta)
                own = own_level + root * own_spread + gamma * own_weight
                # Not <=, so that what is no number leads to a comparison.
                if luck < LUCKY or not own > rival + root * widest + gamma * heaviest:
                    other, index = largest_of_others(
                        table, half, left, left_level, left_spread, left_weight, arm, root, gamma
                    )
                    half = 1 - half
                    left, left_level, left_spread, left_weight = arm, own_level, own_spread, own_weight
                    # Without a branch, which could not be predicted.
                    stays = (own > index) | ((own == index) & (arm < other))
                    arm = arm if stays else other
                    if luck < LUCKY:
                        luck = max(luck + (4 if stays else -1), 0)
                    else:
                        luck = min(luck + 4, 2 * LUCKY) if t > compared + 1 else luck - 1
                        compared = t
                        if t >= renewal:
                            fewest = pulls.min()
                            widest, heaviest, renewal = spreads[fewest], weights[fewest], 2 * t
                        rise = root * widest + gamma * heaviest
                        rival = index - rise + ROUNDING * (abs(index) + rise) if luck >= LUCKY else np.inf
            else:
                arm = t - 1
            reward = pull(environment, arm, rng)
            pulls[arm] += 1
            sums[arm] += reward
            n = pulls[arm]
            noise = counter_noise(node_scale, fresh, tree, arm, n, rng)
            own_level = (sums[arm] + noise) / n
            own_spread = spreads[n]
            own_weight = weights[n]
            if t <= K:
                put(table, half, arm, own_level, own_spread, own_weight)
            regret += best - means[arm]
        record.regret[c] = regret


POLICY = Policy(init, choose, learn)
SIMULATE = {"bernoulli": simulate, "reward_laws": simulate}
