"""Successive elimination in epochs, not private: Sajed & Sheffet 2019, Algorithm 3, without its noise.

R_e is (32 ln(8 |S| e^2 / beta) / 4^-e) + 1, c_e is 0, and the means are the sample means.
"""

from privarms.policies.bandit.dp_se import Params, State, choose, init, learn, parameters

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

FAST_PATHS_OF = "dp_se"
LABEL = "Epoch SE (not private)"
SECONDS_PER_RUN = 2e-6
SECONDS_PER_STEP = 0.0


def configure(K: int, horizon: int, beta: float | None = None) -> Params:
    """Return parameters for K >= 2 arms; beta in (0, 1), by default 1 / horizon."""
    return parameters(K, horizon, float("inf"), beta)
