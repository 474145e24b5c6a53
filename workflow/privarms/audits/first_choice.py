"""Audit the first choice after the first batch of every arm, on two streams that differ in one reward of the last arm.

Policies that pull in batches release the sum of an arm's first batch with one Laplace draw. One reward moves the sum by
1, which is epsilon scales of that noise. The first choice compares these sums. The rounds before it are equal in both
streams: the first batch of every arm, in index order.

Half of the rewards of a first batch are 1, rounded down; one reward of the last arm is 0 or, for neighbour 1, 1. Event:
the index of the last arm is the largest. All arms have the same number of pulls. So the indices are ordered like the
sums, in these cases: AdaP-UCB always, with first batches of one reward; DP-KLUCB and DP-IMED with a ratio of 256 or
more. With such a ratio the noise moves no mean out of [0, 1] and no index to 1, except with a probability below 1e-6
for epsilon >= 0.2 and K <= 20. Among 20 arms the largest of the other sums mostly exceeds the sum of the last arm
without noise. In that region the density of the noise falls by exactly e^epsilon over a step of epsilon scales.

Theorem 6 of Azize & Basu 2022 promises epsilon, and so do Azize et al. 2025 (parallel composition over batches).
"""

import itertools
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.audits.audit import Audit
from privarms.mechanisms import laplace
from privarms.policies.bandit import _batches

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
    state, t = _batches.init(params), 1
    for arm in range(inputs.n_arms):
        size = params.batch_size(params, state, arm)
        total = float(size // 2)
        if arm == inputs.changed:
            total += inputs.neighbour
        _batches.release(params, state, arm, size, total, rng)
        t += size
    last = inputs.n_arms - 1
    indices = np.array([params.index(params, state, arm, t) for arm in range(inputs.n_arms)])
    return indices[last] > indices[:last].max()


def probability(params, inputs: Inputs) -> float:
    """Return the probability that the last arm, the changed one, has the largest noisy sum; other sums are equal."""
    shift = inputs.neighbour * params.epsilon / params.noise
    others = inputs.n_arms - 1

    def density(x):
        return laplace.density(x - shift) * laplace.at_most(x) ** others

    # The tails beyond 60 scales are below e^-60.
    ends = sorted({-60.0, 0.0, shift, 60.0 + shift})
    return sum(scipy.integrate.quad(density, low, high, epsabs=1e-14)[0] for low, high in itertools.pairwise(ends))


AUDIT = Audit(subjects=("adap_ucb", "dp_klucb", "dp_imed"), inputs=configure, event=happens, exact=probability)
