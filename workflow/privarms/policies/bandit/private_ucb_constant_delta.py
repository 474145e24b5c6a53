"""Private UCB of a revision of the program of Neel & Roth 2018, whose delta does not depend on the round.

Index: (S + N + gamma) / n + sqrt(2 ln(1/delta) / n), gamma = K ln^2(T) ln(K T ln(T) / delta) / epsilon.
"""

from typing import Literal

from privarms.policies.bandit import private_ucb
from privarms.policies.bandit._constant_delta import with_constant_delta
from privarms.policies.bandit.private_ucb import Params, State, choose, init, learn

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "Private UCB, constant delta"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 3e-8


def configure(
    K: int, horizon: int, epsilon: float, delta: float, variant: Literal["as_printed", "as_released"]
) -> Params:
    """Parameters for K >= 2 arms, a horizon >= K, a privacy budget epsilon > 0 and delta in (0, 1)."""
    params = private_ucb.parameters(K, horizon, epsilon, variant, gamma=True, noise=True)
    return with_constant_delta(params, delta)
