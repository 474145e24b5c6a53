"""DP-ConSE (Li, Shi & Simchi-Levi, ICML 2024, Algorithm 2; arXiv v1, Algorithm 2)."""

from typing import Literal

from privarms.contextual_elimination.epochs import POLICY, SIMULATE, Params, State, choose, init, learn, parameters
from privarms.contextual_elimination.trial import checked_design

__all__ = ["POLICY", "SIMULATE", "Params", "State", "choose", "configure", "init", "learn"]

LABEL = "DP-ConSE"
SECONDS_PER_RUN = 6e-6
SECONDS_PER_STEP = 0.0


def configure(
    M: int,
    horizon: int,
    alpha: float,
    epsilon: float,
    confidence: Literal["printed", "per_arm"] = "printed",
    width: Literal["printed", "proof"] = "printed",
    noise: float = 1.0,
) -> Params:
    """Parameters for M >= 1 features, n = horizon patients, alpha in [0, 1] and a privacy budget epsilon > 0.

    confidence, width: readings of h_e and c_e, see `contextual_elimination.epochs`
    noise: multiple of the Laplace scales of means and estimates; 1 as printed, which does not keep what is promised
    """
    if epsilon == float("inf"):
        raise ValueError("epsilon: expected a finite number > 0; without privacy the policy is conse_se")
    return parameters(checked_design(M, horizon, alpha, epsilon, noise), confidence, width)
