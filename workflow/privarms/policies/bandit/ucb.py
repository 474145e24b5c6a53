"""UCB, not private, with the index of Neel & Roth 2018: mean + sqrt(ln(2 / delta_t) / (2 n)); see `private_ucb`."""

from privarms.policies.bandit.private_ucb import Params, State, choose, init, learn, parameters

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "UCB (Neel & Roth)"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 2e-8


def configure(K: int, horizon: int) -> Params:
    """Return parameters for K >= 2 arms and a horizon >= K; 8 bytes per round."""
    return parameters(K, horizon, float("inf"), "as_printed", gamma=False, noise=False)
