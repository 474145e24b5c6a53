"""Locally private bandit with a network an arm, by stochastic gradients: NN.

The method of `ldp_linear` with one hidden layer, as in section 4.2 of Ma et al. (2025); see `transfer.private_sgd`.
"""

from collections.abc import Sequence
from typing import Literal

from privarms.transfer import private_sgd
from privarms.transfer.private_sgd import new_record, run  # noqa: F401

LABEL = "NN"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 550e-9


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
) -> private_sgd.Params:
    """As `private_sgd.configure`, with a hidden layer of `width` units, by default 2 d as in the released program."""
    units = 2 * dimensions if width is None else width
    if units < 1:
        raise ValueError(f"width: expected at least 1 unit; found {units}")
    sources = {"M": M, "n_aux": n_aux, "epsilon_aux": epsilon_aux, "source_users": source_users, "auxiliary": auxiliary}
    return private_sgd.configure(K, horizon, epsilon, dimensions, units, batch, rate, clip, learnt, **sources)
