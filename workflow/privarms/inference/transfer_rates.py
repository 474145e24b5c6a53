"""The rates of regret of Ma, Jiang, Zhao, Yang & Yu (2025), Theorems 2.6 and 3.4, without their constant."""

from collections.abc import Sequence

import numpy as np


def regret_rate(
    n: float,
    epsilon: float,
    K: int,
    d: int,
    beta: float = 1.0,
    sources: Sequence[tuple[float, float, float, float]] = (),
) -> float:
    """(22), which without sources is (5): the order of the regret of n target users with budget epsilon.

    K: arms; d: dimensions of the contexts; beta: margin parameter (Assumption 2.4)
    sources: (n_Q, epsilon_m, gamma, kappa) of each, gamma the transfer exponent, kappa the exploration coefficient
    Raises ValueError for values out of range.
    """
    if not (n >= 2 and epsilon > 0 and K >= 2 and d >= 1 and 0 < beta <= d):
        raise ValueError(
            f"expected n >= 2, epsilon > 0, K >= 2, d >= 1, 0 < beta <= d; found {(n, epsilon, K, d, beta)}"
        )
    log = np.log(max([n, *(source[0] for source in sources)]))
    total = min(n * epsilon**2 / (K**2 * log), (n / (K * log)) ** ((2 + 2 * d) / (2 + d)))
    for n_aux, epsilon_aux, gamma, kappa in sources:
        if not (n_aux >= 0 and epsilon_aux > 0 and gamma >= 0 and 0 <= kappa <= 1):
            raise ValueError(
                "expected n_Q >= 0, epsilon_m > 0, gamma >= 0 and 0 <= kappa <= 1; "
                f"found {(n_aux, epsilon_aux, gamma, kappa)}"
            )
        private = (kappa**2 * n_aux * epsilon_aux**2 / (K**2 * log)) ** ((2 + 2 * d) / (2 + 2 * d + 2 * gamma))
        plain = (kappa * n_aux / (K * log)) ** ((2 + 2 * d) / (2 + d + gamma))
        total += min(private, plain)
    return float(n * total ** (-(1 + beta) / (2 + 2 * d)))
