"""Locally private logistic bandit by stochastic gradients (Han, Liang, Wang & Zhang 2021, Algorithm 2): Linear.

A competitor in section 4.2 of Ma et al. (2025); see `private_sgd`.
"""

from functools import partial

from privarms.kernels import private_sgd
from privarms.kernels.private_sgd import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

LABEL = "Linear"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 180e-9

configure = partial(private_sgd.configure, 0)
