"""Locally private bandit with one network per arm, by stochastic gradients: NN.

It is `ldp_linear` with one hidden layer of 2 d units, as in section 4.2 of Ma et al. (2025) and in the released
program; see `private_sgd`.
"""

from functools import partial

from privarms.kernels import private_sgd
from privarms.kernels.private_sgd import choose, init, learn

__all__ = ["choose", "configure", "init", "learn"]

LABEL = "NN"
SECONDS_PER_RUN = 1e-3
SECONDS_PER_STEP = 550e-9

configure = partial(private_sgd.configure, 2)
