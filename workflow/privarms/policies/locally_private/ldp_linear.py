"""Locally private logistic bandit by stochastic gradients (Han, Liang, Wang & Zhang 2021, Algorithm 2): Linear.

A competitor in section 4.2 of Ma et al. (2025); see `_private_sgd`.
"""

from collections.abc import Sequence
from typing import Literal

from privarms.policies.locally_private import _private_sgd
from privarms.policies.locally_private._private_sgd import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

LABEL = "Linear"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 180e-9


def configure(
    K: int,
    horizon: int,
    epsilon: float,
    dimensions: int,
    M: int = 0,
    n_aux: int = 0,
    epsilon_aux: float | str = 1024.0,
    source_users: Sequence[int] | None = None,
    auxiliary: Literal["with", "without"] = "with",
    batch: int = 100,
    rate: float = 0.01,
    clip: float = 1.0,
    learnt: Literal["all", "first"] = "all",
) -> _private_sgd.Params:
    """As `_private_sgd.configure`, without a hidden layer."""
    sources = {"M": M, "n_aux": n_aux, "epsilon_aux": epsilon_aux, "source_users": source_users, "auxiliary": auxiliary}
    return _private_sgd.configure(K, horizon, epsilon, dimensions, 0, batch, rate, clip, learnt, **sources)
