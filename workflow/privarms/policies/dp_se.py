"""DP Successive Elimination (Sajed & Sheffet 2019, Algorithm 3)."""

from privarms.elimination.epochs import POLICY, SIMULATE, Params, State, choose, init, learn, parameters

__all__ = ["POLICY", "SIMULATE", "Params", "State", "choose", "configure", "init", "learn"]

LABEL = "DP-SE"
SECONDS_PER_RUN = 2e-6
SECONDS_PER_STEP = 0.0


def configure(K: int, horizon: int, epsilon: float, beta: float | None = None, noise: float = 1.0) -> Params:
    """Parameters for K >= 2 arms and a privacy budget epsilon > 0; beta in (0, 1), by default 1 / horizon.

    noise: multiple of the Laplace scale. Only 1, the default, is private; a privacy audit sets less.
    """
    if epsilon == float("inf"):
        raise ValueError("epsilon: expected a finite number > 0; without privacy the policy is epoch_se")
    return parameters(K, horizon, epsilon, beta, noise)
