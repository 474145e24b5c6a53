"""ConSE with successive elimination (Li, Shi & Simchi-Levi, ICML 2024, Algorithm 1): `dp_conse` without privacy."""

from privarms.kernels.trial import checked_design
from privarms.policies.experiment.dp_conse import Params, State, choose, init, learn, parameters

__all__ = ["Params", "State", "choose", "configure", "init", "learn"]

LABEL = "ConSE (SE)"
SECONDS_PER_RUN = 6e-6
SECONDS_PER_STEP = 0.0
FAST_PATHS_OF = "dp_conse"


def configure(M: int, horizon: int, alpha: float) -> Params:
    """Return parameters for M >= 1 features, n = horizon patients and alpha in [0, 1]; less makes longer trials."""
    return parameters(checked_design(M, horizon, alpha))
