"""Covariate shift as in section 4.1 of Ma et al. (2025): sources differ from the target in contexts and choice of arms.

Rewards have the same distribution given context and arm. The target's contexts are uniform on the unit cube. A source's
have a density that is a power of ||x - 1/2||_inf. Its users pull arm k with probability kappa / K + (2 - 2 kappa) k /
(K (K - 1)), k = 0..K-1.
"""

from collections.abc import Callable
from typing import NamedTuple

from numba import njit

from privarms.ranges import at_least, within

# Every coordinate of the point at which the local performance is measured.
POINT = 0.33


class Environment(NamedTuple):
    """Users, by source (0 for the target) and number within it.

    arrive(environment, source, user, context, rng): overwrites the float64[d] `context` by the user's context
    behave(environment, source, user, rng) -> the arm that a user of an auxiliary source has pulled
    best(environment, source, user, context) -> the arm with the largest expected reward
    mean(environment, source, user, context, arm) -> the expected reward, in [0, 1]; rewards are Bernoulli
    shrink: the exponent e, in (-1, 0], in `arrive`; spacing: of the reward centres, for environments that have them
    point: every coordinate of the point at which the local performance is measured
    """

    arrive: Callable
    behave: Callable
    best: Callable
    mean: Callable
    n_arms: int
    dimensions: int
    shrink: float
    kappa: float
    spacing: float
    point: float


@njit(forceinline=True)
def arrive(environment, source, user, context, rng):
    """Draw a context uniform on the cube; for a source, multiply y = 2 x - 1 by ||y||_inf^e.

    ||y||_inf is u^(1/d) for a uniform u and independent of y / ||y||_inf, so the radius becomes u^((1 + e)/d).
    """
    radius = 0.0
    for k in range(environment.dimensions):
        context[k] = rng.random()
        radius = max(radius, abs(2 * context[k] - 1))
    if source > 0 and environment.shrink != 0 and radius > 0:
        factor = radius**environment.shrink / 2
        for k in range(environment.dimensions):
            # Rounding must not move the point out of the cube.
            context[k] = min(max(0.5 + factor * (2 * context[k] - 1), 0.0), 1.0)


@njit(forceinline=True)
def behave(environment, source, user, rng):
    K, kappa = environment.n_arms, environment.kappa
    u = rng.random() * K
    arm = 0
    chance = kappa
    step = (2 - 2 * kappa) / (K - 1)
    # Compute all steps: the branch that ends a loop at the arm would be unpredictable.
    for k in range(1, K):
        arm += u >= chance
        chance += kappa + step * k
    return arm


def checked_shrink(dimensions: int, gamma: float, kappa: float, variant: str) -> float:
    """Return the exponent e of `arrive`. Raises ValueError for values out of range.

    as_printed: density proportional to ||x - 1/2||_inf^gamma, so radius u^(1/(d + gamma)); as_released: radius
    u^(1/(d (gamma + 1))), so the true exponent is d gamma
    """
    at_least(1, dimensions=dimensions)
    at_least(0, gamma=gamma)
    within(0, 1, kappa=kappa)
    return dimensions / (dimensions + gamma) - 1 if variant == "as_printed" else 1 / (gamma + 1) - 1
