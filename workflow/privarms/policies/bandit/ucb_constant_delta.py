"""UCB, not private, with the index of a revision of the program of Neel & Roth 2018: mean + sqrt(2 ln(1/delta) / n)."""

from privarms.policies.bandit.private_ucb import Params, State, choose, init, learn, parameters
from privarms.policies.bandit.private_ucb_constant_delta import with_constant_delta

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "UCB, constant delta"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 2e-8


def configure(K: int, horizon: int, delta: float) -> Params:
    """Return parameters for K >= 2 arms, a horizon >= K and an error probability delta in (0, 1)."""
    params = parameters(K, horizon, float("inf"), "as_printed", gamma=False, noise=False)
    return with_constant_delta(params, delta)
