"""Locally private logistic bandit by stochastic gradients (Han, Liang, Wang & Zhang 2021, Algorithm 2): Linear.

A competitor in section 4.2 of Ma et al. (2025); see `_private_sgd`.
"""

from functools import partial

from privarms.policies.locally_private import _private_sgd
from privarms.policies.locally_private._private_sgd import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

LABEL = "Linear"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 180e-9

configure = partial(_private_sgd.configure, 0)
