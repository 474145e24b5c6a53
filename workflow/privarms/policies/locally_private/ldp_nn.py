"""Locally private bandit with a network an arm, by stochastic gradients: NN.

The method of `ldp_linear` with one hidden layer, as in section 4.2 of Ma et al. (2025); see `_private_sgd`.
"""

from collections.abc import Sequence
from typing import Literal

from privarms.policies.locally_private import _private_sgd
from privarms.policies.locally_private._private_sgd import choose, init, learn
from privarms.ranges import at_least, of_choices

__all__ = ["choose", "configure", "init", "learn"]

LABEL = "NN"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 550e-9


@of_choices
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
    width: int | None = None,
    learnt: Literal["all", "first"] = "all",
) -> _private_sgd.Params:
    """As `_private_sgd.configure`, with a hidden layer of `width` units, by default 2 d as in the released program."""
    units = 2 * dimensions if width is None else width
    at_least(1, width=units)
    sources = M, n_aux, epsilon_aux, source_users, auxiliary
    return _private_sgd.of_width(units, K, horizon, epsilon, dimensions, sources, batch, rate, clip, learnt)
