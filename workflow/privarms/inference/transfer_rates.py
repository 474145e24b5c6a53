"""Regret rates of Ma, Jiang, Zhao, Yang & Yu (2025), Theorems 2.6 and 3.4, without their constants."""

from collections.abc import Sequence

import numpy as np

from privarms.ranges import at_least, dimensions, positive, whole, within


def regret_rate(
    n: float,
    epsilon: float,
    K: int,
    d: int,
    beta: float = 1.0,
    sources: Sequence[tuple[float, float, float, float]] = (),
) -> float:
    """Return (22), which is (5) without sources: the order of the regret of n target users with budget epsilon.

    n: >= 2; epsilon: > 0; K: arms, >= 2; d: dimensions of the contexts, >= 1
    beta: margin parameter (Assumption 2.4), in (0, d]
    sources: (n_Q, epsilon_m, gamma, kappa) of each: users, >= 0; budget, > 0; transfer exponent, >= 0; exploration
        coefficient, in [0, 1]
    Raises ValueError for values out of range.
    """
    dimensions(0, n=n, epsilon=epsilon, K=K, d=d, beta=beta)
    at_least(2, n=n)
    whole(2, K=K)
    whole(1, d=d)
    for source in sources:
        if len(source) != 4:
            raise ValueError(f"sources: expected (n_Q, epsilon_m, gamma, kappa) of each; found {source!r}")
        n_aux, epsilon_aux, gamma, kappa = source
        dimensions(0, n_Q=n_aux, epsilon_m=epsilon_aux, gamma=gamma, kappa=kappa)
        at_least(0, n_Q=n_aux, gamma=gamma)
        positive(epsilon_m=epsilon_aux)
        within(0, 1, kappa=kappa)
    positive(epsilon=epsilon, beta=beta)
    within(0, d, beta=beta)
    log = np.log(max([n, *(source[0] for source in sources)]))
    total = min(n * epsilon**2 / (K**2 * log), (n / (K * log)) ** ((2 + 2 * d) / (2 + d)))
    for n_aux, epsilon_aux, gamma, kappa in sources:
        private = (kappa**2 * n_aux * epsilon_aux**2 / (K**2 * log)) ** ((2 + 2 * d) / (2 + 2 * d + 2 * gamma))
        plain = (kappa * n_aux / (K * log)) ** ((2 + 2 * d) / (2 + d + gamma))
        total += min(private, plain)
    return float(n * total ** (-(1 + beta) / (2 + 2 * d)))
