"""Private UCB of a revision of the program of Neel & Roth 2018, whose delta does not depend on the round.

Index: (S + N + gamma) / n + sqrt(2 ln(1/delta) / n), gamma = K ln^2(T) ln(K T ln(T) / delta) / epsilon.
"""

from math import log
from typing import Literal

import numpy as np

from privarms.policies.bandit.private_ucb import Params, State, choose, init, learn, parameters
from privarms.ranges import of_choices, strictly_within

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "Private UCB, constant delta"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 3e-8


@of_choices
def configure(
    K: int, horizon: int, epsilon: float, delta: float, variant: Literal["as_printed", "as_released"]
) -> Params:
    """Return parameters for K >= 2 arms, a horizon >= K, a privacy budget epsilon > 0 and delta in (0, 1)."""
    params = parameters(K, horizon, epsilon, variant, gamma=True, noise=True)
    return with_constant_delta(params, delta)


def with_constant_delta(params: Params, delta: float) -> Params:
    """Return `params` with width sqrt(2 ln(1/delta) / n) and gamma = K ln^2(T) ln(K T ln(T) / delta) / epsilon.

    This is the width of `private_ucb`, sqrt(ln(2/d) / (2 n)), at d = 2 delta^4.
    """
    strictly_within(0, 1, delta=delta)
    in_width = -4 * log(delta) - log(2)
    every_round = np.full(len(params.log_inverse_delta), in_width)
    return params._replace(log_inverse_delta=every_round, gamma_log=params.gamma_log - log(delta) - in_width)
