"""The shared part of AdaP-UCB and AdaP-KLUCB, Algorithm 1 of Azize & Basu 2022: everything except the index.

Every arm is pulled once, and then in episodes that double its pulls. Its statistic is the private mean of its last
episode only: half its pulls, or the one reward of the first pull.
"""

from collections.abc import Callable
from typing import NamedTuple

from numba import njit

from privarms.ranges import at_least, positive


class Params(NamedTuple):
    """n_arms: K; epsilon, alpha and noise: as in `configure`; index, batch_size and forget: see `kernels.batches`."""

    n_arms: int
    epsilon: float
    alpha: float
    noise: float
    index: Callable
    batch_size: Callable
    forget: bool


def configure(index: Callable, K: int, epsilon: float, alpha: float = 3.1, noise: float = 1.0) -> Params:
    """Return parameters for K >= 2 arms and a privacy budget epsilon > 0.

    alpha: > 0, above 3 in Theorems 7 and 8; the default is that of the paper's experiments (section 5)
    noise: multiple of the Laplace scale. Only 1, the default, is private; weakened controls have a smaller one.
    """
    at_least(2, K=K)
    positive(epsilon=epsilon, alpha=alpha, noise=noise)
    return Params(int(K), float(epsilon), float(alpha), float(noise), index, episode_length, True)


@njit
def episode_length(params, state, arm):
    """Return the number of pulls that the arm already has (line 7), or 1 for the first pull (line 3)."""
    return max(state.pulls[arm], 1)
