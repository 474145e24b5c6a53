"""The batches of DP-KLUCB and DP-IMED (Azize et al. 2025): what the two share, all but the index.

After its m-th batch an arm has ceil(ratio^m) pulls; where that is no pull more, m moves on, so that every batch has
one. Rewards are kept: the statistic is the mean of all of them, with a noise for every batch.

Ours is `first`: an arm's first batch may be longer, in proportion to 1 / epsilon, so that the batches in which the
noise outweighs the rewards are one batch with one noise. Privacy is the same.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, positive, within


class Params(NamedTuple):
    """n_arms: K; epsilon, ratio, first and noise: as in `configure`; index, batch_size and forget: see `_batches`."""

    n_arms: int
    epsilon: float
    ratio: float
    first: float
    noise: float
    index: Callable
    batch_size: Callable
    forget: bool


def configure(
    index: Callable, K: int, epsilon: float, ratio: float = 2.0, first: float = 0.0, noise: float = 1.0
) -> Params:
    """Parameters for K >= 2 arms and a privacy budget epsilon > 0; ratio > 1: by which an arm's pulls grow in a batch.

    first: an arm's first batch has at least first / epsilon pulls; 0, the default, is the algorithm, more is ours
    noise: multiple of the Laplace scale. Only 1, the default, is private; a privacy audit sets less.
    """
    at_least(2, K=K)
    positive(epsilon=epsilon, noise=noise)
    if not 1 < ratio <= 1e6:
        raise ValueError(f"ratio: expected a number in (1, 1e6]; found {ratio}")
    within(0, 1e9, first=first)
    return Params(int(K), float(epsilon), float(ratio), float(first), float(noise), index, batch_size, False)


@njit
def batch_size(params, state, arm):
    """How many pulls bring the arm to the next count above what it has: ceil(ratio^m), at first first / epsilon too."""
    pulls = state.pulls[arm]
    least = pulls + 1.0
    if pulls == 0:
        least = max(least, params.first / params.epsilon)
    # An m that is not too large, whatever the logarithms' rounding.
    m = max(np.floor(np.log(least) / np.log(params.ratio)) - 1, 1.0)
    while np.ceil(params.ratio**m) < least:
        m += 1
    # Below what an int64 can count, and beyond any horizon.
    return int(min(np.ceil(params.ratio**m), 2.0**62)) - pulls
