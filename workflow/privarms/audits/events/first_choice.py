"""Audit the first choice after the first batch of every arm, on two streams that differ in one reward of the last arm.

Policies that pull in batches release the sum of an arm's first batch with one Laplace draw. One reward moves the sum by
1, which is epsilon scales of that noise. The first choice compares these sums. The rounds before it are equal in both
streams: the first batch of every arm, in index order.

Half of the rewards of a first batch are 1, rounded down; one reward of the last arm is 0 or, for neighbour 1, 1. Event:
the index of the last arm is the largest. All arms have the same number of pulls. So the indices are ordered like the
sums, in these cases: AdaP-UCB always, with first batches of one reward; DP-KLUCB and DP-IMED if the noise moves no mean
out of [0, 1] and no index to 1. This requires long first batches. A ratio of 256 suffices for epsilon >= 0.25 and K <=
20. Among 20 arms the largest of the other sums mostly exceeds the sum of the last arm without noise. In that region the
density of the noise falls by exactly e^epsilon over a step of epsilon scales.

Theorem 6 of Azize & Basu 2022 promises epsilon, and so do Azize et al. 2025 (parallel composition over batches).
"""

import itertools
import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.audits.audit import IGNORED, Audit
from privarms.inference.divergences import d_epsilon_upper
from privarms.jit.cache import compiled
from privarms.kernels import batches, episodes
from privarms.mechanisms import laplace

# Each policy has its own name of the random streams.
STREAMED_AS = {"environment": "first_choice_{policy}"}
SECONDS_PER_RUN = 4e-6


class Inputs(NamedTuple):
    """n_arms: K >= 2; changed: the arm with the reward that differs; neighbour: that reward, 0 or 1."""

    n_arms: int
    changed: int
    neighbour: int


def configure(K: int, neighbour: Literal[0, 1]) -> Inputs:
    """Return stream 0, or its neighbour 1, where one reward of the last arm is 1 instead of 0."""
    return Inputs(K, K - 1, neighbour)


@njit
def happens(params, inputs, rng):
    """Draw whether the index of the last arm is the largest before the first choice."""
    state, t = batches.init(params), 1
    for arm in range(inputs.n_arms):
        size = params.batch_size(params, state, arm)
        total = float(size // 2)
        if arm == inputs.changed:
            total += inputs.neighbour
        batches.release(params, state, arm, size, total, rng)
        t += size
    last = inputs.n_arms - 1
    indices = np.array([params.index(params, state, arm, t) for arm in range(inputs.n_arms)])
    return indices[last] > indices[:last].max()


def probability(params, inputs: Inputs) -> float:
    """Return the probability that the last arm, the changed one, has the largest noisy sum; other sums are equal.

    It is nan if the indices may have another order than the sums with more than `IGNORED` of this probability.
    """
    shift = inputs.neighbour * params.epsilon / params.noise
    others = inputs.n_arms - 1

    def density(x):
        return laplace.density(x - shift) * laplace.at_most(x) ** others

    # The tails beyond 60 scales are below e^-60.
    ends = sorted({-60.0, 0.0, shift, 60.0 + shift})
    chance = sum(scipy.integrate.quad(density, low, high, epsabs=1e-14)[0] for low, high in itertools.pairwise(ends))
    return chance if _order_breaks(params, inputs) <= IGNORED * chance else math.nan


def _order_breaks(params, inputs: Inputs) -> float:
    """Return an upper bound on the probability that the indices are not ordered like the noisy sums.

    AdaP-UCB adds the same to every noisy mean. DP-KLUCB and DP-IMED clip means to [0, 1], and the index of DP-KLUCB is
    1 from some mean on. If every noisy sum is above 0 and below n times this mean, n the rewards of a batch, the order
    is the same. So the bound is the sum over arms of the probabilities of both tails.
    """
    if isinstance(params, episodes.Params):
        return 0.0
    K, size = inputs.n_arms, compiled(params.batch_size)(params, compiled(batches.init)(params), 0)
    level, scale = math.log(K * size + 1) / size, params.noise / params.epsilon
    top = first_mean_of_index_one(lambda mean: compiled(d_epsilon_upper)(mean, level, params.epsilon))
    tails = 0.0
    for arm in range(K):
        total = size // 2 + (inputs.neighbour if arm == inputs.changed else 0)
        tails += laplace.above(total / scale) + laplace.above((size * top - total) / scale)
    return tails


def first_mean_of_index_one(upper: Callable[[float], float]) -> float:
    """Return the smallest mean whose index is 1 in double precision; upper: the index of a mean in [0, 1]."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if upper(middle) == 1 else (middle, high)
    return high


AUDIT = Audit(
    subjects=("adap_ucb", "dp_klucb", "dp_imed"),
    inputs=configure,
    event=happens,
    exact=probability,
    changed="Only one reward of an arm's first batch was changed, with {K} arms, before the first choice.",
    setting={"K": 20, "ratio": 256},
)
