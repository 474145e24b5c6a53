"""Locally private bandit with one network per arm, by stochastic gradients: NN.

It is `ldp_linear` with one hidden layer of 2 d units, as in section 4.2 of Ma et al. (2025) and in the released
program; see `_private_sgd`.
"""

from functools import partial

from privarms.policies.locally_private import _private_sgd
from privarms.policies.locally_private._private_sgd import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

LABEL = "NN"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 550e-9

configure = partial(_private_sgd.configure, 2)
