"""Reward functions with one bump per arm along the first coordinate: section 4.1 of Ma et al. (2025)."""

from typing import Literal

import numpy as np
from numba import njit

from privarms.environments._covariate_shift import POINT, Environment, arrive, behave, checked_shrink
from privarms.ranges import at_least, of_choices


@njit(forceinline=True)
def best(environment, source, user, context):
    """Return the arm with the nearest centre; the centres are spacing * (1, ..., K)."""
    nearest = int(context[0] / environment.spacing + 0.5) - 1
    return min(max(nearest, 0), environment.n_arms - 1)


@njit(forceinline=True)
def mean(environment, source, user, context, arm):
    """Return 2 e / (1 + e) with e = exp(-2 K^2 (x^1 - centre)^2)."""
    distance = environment.n_arms * (context[0] - (arm + 1) * environment.spacing)
    return 2 / (1 + np.exp(2 * distance * distance))


@of_choices
def configure(
    K: int,
    variant: Literal["as_printed", "as_released"],
    dimensions: int = 2,
    gamma: float = 0.0,
    kappa: float = 1.0,
    centres: Literal["variant", "as_printed", "as_released"] = "variant",
) -> Environment:
    """Return K >= 2 arms on [0, 1]^d; the sources have gamma >= 0 and kappa in [0, 1]. Raises ValueError.

    as_printed: the centre of arm k = 1..K is k / K; as_released: k / (K + 1). See `_covariate_shift` for gamma.
    centres: those of the variant, or of the named one for any variant
    """
    at_least(2, K=K)
    shrink = checked_shrink(dimensions, gamma, kappa, variant)
    printed = (variant if centres == "variant" else centres) == "as_printed"
    spacing = 1 / K if printed else 1 / (K + 1)
    return Environment(arrive, behave, best, mean, int(K), int(dimensions), shrink, float(kappa), spacing, POINT)
