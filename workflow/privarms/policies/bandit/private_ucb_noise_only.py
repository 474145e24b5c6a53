"""An ablation: private UCB of Neel & Roth 2018 with the noise of its counter and gamma_t = 0.

It is as private as the counter, because the bonus does not depend on the rewards.
"""

from typing import Literal

from privarms.policies.bandit.private_ucb import Params, State, choose, init, learn, parameters
from privarms.ranges import of_choices, positive

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "Noise without bonus"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 3e-8


@of_choices
def configure(
    K: int, horizon: int, epsilon: float, variant: Literal["as_printed", "as_released"], noise: float = 1.0
) -> Params:
    """Return parameters for K >= 2 arms, a horizon >= K and a privacy budget epsilon > 0; 8 bytes per round.

    noise: multiple of the counter's noise scale. Only 1, the default, is private; weakened controls have a smaller one.
    """
    positive(noise=noise)
    params = parameters(K, horizon, epsilon, variant, gamma=False, noise=True)
    return params._replace(node_scale=noise * params.node_scale)
