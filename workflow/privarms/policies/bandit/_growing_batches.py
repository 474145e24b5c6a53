"""The batches of DP-KLUCB and DP-IMED (Azize et al. 2025): everything that the two share except the index.

After its m-th batch an arm has ceil(ratio^m) pulls; an m that adds no pull is skipped, so every batch has one. Rewards
are kept: the statistic is the mean of all of them, with one noise per batch.

`first` is ours: an arm's first batch may be longer, in proportion to 1 / epsilon. It replaces the batches in which the
noise outweighs the rewards by one batch with one noise. Privacy is the same.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.ranges import at_least, positive, within


class Params(NamedTuple):
    """n_arms: K; epsilon, ratio, first, noise: as in `configure`; index, batch_size, forget: see `kernels.batches`."""

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
    """Return parameters for K >= 2 arms and a budget epsilon > 0; ratio > 1: growth of an arm's pulls per batch.

    first: an arm's first batch has at least first / epsilon pulls; 0, the default, is the published algorithm
    noise: multiple of the Laplace scale. Only 1, the default, is private; weakened controls have a smaller one.
    """
    at_least(2, K=K)
    positive(epsilon=epsilon, noise=noise)
    if not 1 < ratio <= 1e6:
        raise ValueError(f"ratio: expected a number in (1, 1e6]; found {ratio}")
    within(0, 1e9, first=first)
    return Params(int(K), float(epsilon), float(ratio), float(first), float(noise), index, batch_size, False)


@njit
def batch_size(params, state, arm):
    """Return the pulls up to the arm's next count ceil(ratio^m), which at first is also >= first / epsilon."""
    pulls = state.pulls[arm]
    least = pulls + 1.0
    if pulls == 0:
        least = max(least, params.first / params.epsilon)
    # Start from an m that is not too large despite the rounding of the logarithms.
    m = max(np.floor(np.log(least) / np.log(params.ratio)) - 1, 1.0)
    while np.ceil(params.ratio**m) < least:
        m += 1
    # This fits an int64 and exceeds any horizon.
    return int(min(np.ceil(params.ratio**m), 2.0**62)) - pulls
