"""OFUL, not private: optimism for a linear reward of each arm (Abbasi-Yadkori, Pal & Szepesvari 2011).

Neel & Roth (2018, section 5.2) name it without its constants; ridge = 1 and beta = .05 are our choice. There is one
ridge regression per arm, over the contexts and rewards of its own pulls. It pulls the arm with the largest index
theta_hat'x + radius sqrt(x'V^-1 x), V = ridge I + X'X, radius = sqrt(d ln((1 + n/ridge)/beta)) + sqrt(ridge). This is
`private_linear_ucb` without its noise, its bonus and its clipping.
"""

from math import inf

from privarms.kernels.regressions import checked
from privarms.policies.linear.private_linear_ucb import Params, State, choose, init, learn

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

STREAMED_AS = {"dimensions": "d"}
LABEL = "OFUL"
SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 4e-7


def configure(K: int, dimensions: int, ridge: float = 1.0, beta: float = 0.05) -> Params:
    """Return parameters for K >= 2 arms and contexts of d = dimensions >= 1. Raise ValueError if out of range."""
    return Params(*checked(K, dimensions, ridge, beta), clip=inf, levels=1, node_scale=0.0, private_width=0.0)
