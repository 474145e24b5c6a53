"""An ablation: private UCB of Neel & Roth 2018 with its bonus gamma_t / n and without any noise. Not private."""

from privarms.policies.bandit.private_ucb import Params, State, choose, init, learn, parameters

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

# Its epsilon is that of the bonus.
PRIVATE = False
LABEL = "Bonus without noise"
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 2e-8


def configure(K: int, horizon: int, epsilon: float) -> Params:
    """Return parameters for K >= 2 arms, a horizon >= K and the bonus of a budget epsilon > 0; 8 bytes per round."""
    return parameters(K, horizon, epsilon, "as_printed", gamma=True, noise=False)
