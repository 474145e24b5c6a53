"""Private UCB of Neel & Roth 2018, section 3.1, with its private bonus and its counter; see `private_index`."""

from typing import Literal

from privarms.optimism.private_index import POLICY, SIMULATE, Params, State, choose, init, learn, parameters

__all__ = ["POLICY", "SIMULATE", "Params", "State", "choose", "configure", "init", "learn"]

LABEL = "Private UCB"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 3e-8


def configure(K: int, horizon: int, epsilon: float, variant: Literal["as_printed", "as_released"]) -> Params:
    """Parameters for K >= 2 arms, a horizon >= K and a privacy budget epsilon > 0; 8 bytes a round."""
    return parameters(K, horizon, epsilon, variant, gamma=True, noise=True)
