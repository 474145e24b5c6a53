"""The index of a revision of the program of Neel & Roth 2018 (February 2018) in the words of `private_ucb`."""

from math import log

import numpy as np

from privarms.policies.bandit.private_ucb import Params
from privarms.ranges import strictly_within


def with_constant_delta(params: Params, delta: float) -> Params:
    """The same with the width sqrt(2 ln(1/delta) / n) and gamma = K ln^2(T) ln(K T ln(T) / delta) / epsilon.

    That width is one of `private_ucb`'s, sqrt(ln(2/d) / (2 n)), at d = 2 delta^4.
    """
    strictly_within(0, 1, delta=delta)
    in_width = -4 * log(delta) - log(2)
    every_round = np.full(len(params.log_inverse_delta), in_width)
    return params._replace(log_inverse_delta=every_round, gamma_log=params.gamma_log - log(delta) - in_width)
