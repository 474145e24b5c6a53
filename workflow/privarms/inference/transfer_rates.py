"""Regret rates of Ma, Jiang, Zhao, Yang & Yu (2025), Theorems 2.6 and 3.4, without their constants."""

from collections.abc import Sequence

import numpy as np

from privarms.ranges import at_least, positive, within


def regret_rate(
    n: float,
    epsilon: float,
    K: int,
    d: int,
    beta: float = 1.0,
    sources: Sequence[tuple[float, float, float, float]] = (),
) -> float:
    """Return (22), which is (5) without sources: the order of the regret of n target users with budget epsilon.

    K: arms; d: dimensions of the contexts; beta: margin parameter (Assumption 2.4)
    sources: (n_Q, epsilon_m, gamma, kappa) of each, gamma the transfer exponent, kappa the exploration coefficient
    Raises ValueError for values out of range.
    """
    at_least(2, n=n, K=K)
    at_least(1, d=d)
    positive(epsilon=epsilon, beta=beta)
    within(0, d, beta=beta)
    log = np.log(max([n, *(source[0] for source in sources)]))
    total = min(n * epsilon**2 / (K**2 * log), (n / (K * log)) ** ((2 + 2 * d) / (2 + d)))
    for n_aux, epsilon_aux, gamma, kappa in sources:
        at_least(0, n_Q=n_aux, gamma=gamma)
        positive(epsilon_m=epsilon_aux)
        within(0, 1, kappa=kappa)
        private = (kappa**2 * n_aux * epsilon_aux**2 / (K**2 * log)) ** ((2 + 2 * d) / (2 + 2 * d + 2 * gamma))
        plain = (kappa * n_aux / (K * log)) ** ((2 + 2 * d) / (2 + d + gamma))
        total += min(private, plain)
    return float(n * total ** (-(1 + beta) / (2 + 2 * d)))
