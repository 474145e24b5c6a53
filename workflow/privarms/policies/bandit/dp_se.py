"""DP Successive Elimination (Sajed & Sheffet 2019, Algorithm 3).

Assumptions: R_e is a real number, so the loop of lines 9 to 14 pulls every viable arm r = ceil(R_e) times; h_e and c_e
use the real R_e. Line 17 defines the private means that lines 18 and 20 write with a tilde. `epoch_se` is the same
without privacy (epsilon = inf): R_e loses its second term, c_e is 0 and no noise is drawn.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.kernels.round_robin import next_viable
from privarms.mechanisms.laplace import laplace
from privarms.ranges import at_least, positive, strictly_within

LABEL = "DP-SE"
SECONDS_PER_RUN = 2e-6
SECONDS_PER_STEP = 0.0


class Params(NamedTuple):
    """n_arms: K; epsilon, inf without privacy, beta and noise: as in `configure`."""

    n_arms: int
    epsilon: float
    beta: float
    noise: float


class State(NamedTuple):
    """The state of the algorithm.

    viable: bool[K], the set S; arms: |S|
    epoch: from 1; length: R_e; sweeps: r; arm: the next one to pull
    reward_sums: float64[K], of this epoch
    """

    viable: np.ndarray
    arms: int
    epoch: int
    length: float
    sweeps: int
    arm: int
    reward_sums: np.ndarray


def configure(K: int, horizon: int, epsilon: float, beta: float | None = None, noise: float = 1.0) -> Params:
    """Return parameters for K >= 2 arms and a privacy budget epsilon > 0; beta in (0, 1), by default 1 / horizon.

    noise: multiple of the Laplace scale. Only 1, the default, is private; weakened controls have a smaller one.
    """
    positive(epsilon=epsilon)
    return parameters(K, horizon, epsilon, beta, noise)


def parameters(K: int, horizon: int, epsilon: float, beta: float | None, noise: float = 1.0) -> Params:
    """Return checked parameters; beta None means 1 / horizon (section 5). Raise ValueError."""
    at_least(2, K=K)
    if beta is None:
        at_least(2, horizon=horizon)
        beta = 1 / horizon
    strictly_within(0, 1, beta=beta)
    positive(noise=noise)
    return Params(int(K), float(epsilon), float(beta), float(noise))


@njit
def epoch_length(params, arms, epoch):
    """Return R_e of line 8, a real number, for |S| = arms."""
    gap = 2.0**-epoch
    samples = 32 * np.log(8 * arms * epoch**2 / params.beta) / gap**2
    private_samples = 8 * np.log(4 * arms * epoch**2 / params.beta) / (params.epsilon * gap)
    return max(samples, private_samples) + 1


@njit
def confidence_radius(params, arms, epoch):
    """Return h_e of line 15."""
    return np.sqrt(np.log(8 * arms * epoch**2 / params.beta) / (2 * epoch_length(params, arms, epoch)))


@njit
def privacy_radius(params, arms, epoch):
    """Return c_e of line 16."""
    return np.log(4 * arms * epoch**2 / params.beta) / (epoch_length(params, arms, epoch) * params.epsilon)


@njit
def elimination_margin(params, arms, epoch):
    """Return 2 h_e + 2 c_e of line 20."""
    return 2 * confidence_radius(params, arms, epoch) + 2 * privacy_radius(params, arms, epoch)


@njit
def noise_scale(params, arms, epoch):
    """Return the Laplace scale of line 17: noise / (epsilon r), 0 without privacy."""
    return params.noise / (params.epsilon * np.ceil(epoch_length(params, arms, epoch)))


@njit
def eliminate(params, arms, epoch, viable, reward_sums, rng):
    """Eliminate arms at the end of an epoch, lines 15 to 20; return the number of remaining arms.

    viable: bool[K] with `arms` true ones; the eliminated arms become false; the one of the highest private mean stays
    reward_sums: float64[K], the epoch's sums
    """
    pulls = np.ceil(epoch_length(params, arms, epoch))
    scale = noise_scale(params, arms, epoch)
    private_means = np.empty(len(viable))
    highest = -np.inf
    for arm in range(len(viable)):
        if viable[arm]:
            private_means[arm] = reward_sums[arm] / pulls
            if scale > 0:
                private_means[arm] += laplace(scale, rng)
            highest = max(highest, private_means[arm])
    margin = elimination_margin(params, arms, epoch)
    for arm in range(len(viable)):
        if viable[arm] and highest - private_means[arm] > margin:
            viable[arm] = False
            arms -= 1
    return arms


@njit
def init(params):
    """Return the state of lines 1 to 8: all arms viable, epoch 1."""
    K = params.n_arms
    return State(np.ones(K, np.bool_), K, 1, epoch_length(params, K, 1), 0, 0, np.zeros(K))


@njit
def choose(params, state, context, t, rng):
    """Return the viable arms in turn, lines 11 to 13 and 22."""
    return state.arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Add the reward (line 13); after the last pull of an epoch, follow lines 15 to 20. Arrays change in place."""
    viable, arms, epoch, length, sweeps, _, reward_sums = state
    reward_sums[arm] += reward
    following = next_viable(viable, arm)
    if arms > 1 and following <= arm:
        sweeps += 1
    if sweeps < length:
        return State(viable, arms, epoch, length, sweeps, following, reward_sums)
    arms = eliminate(params, arms, epoch, viable, reward_sums, rng)
    epoch += 1
    reward_sums[:] = 0.0
    first = next_viable(viable, len(viable) - 1)
    return State(viable, arms, epoch, epoch_length(params, arms, epoch), 0, first, reward_sums)
