"""Two arms, each the better one in two opposite quarters of the square: the second setting of Ma et al. (2025).

The formula is that of the released program; the supplement that prints it is not available.
"""

from typing import Literal

import numpy as np
from numba import njit

from privarms.environments._covariate_shift import POINT, Environment, arrive, behave, checked_shrink
from privarms.ranges import of_choices


@njit(forceinline=True)
def best(environment, source, user, context):
    """Return arm 1 if both coordinates are on the same side of 1/2, else arm 0."""
    return 1 if (context[0] - 0.5) * (context[1] - 0.5) > 0 else 0


@njit(forceinline=True)
def mean(environment, source, user, context, arm):
    """Return 1/2 +- 1/2 (1 - 4 max_i |(2 x_i mod 1) / 2 - 1/4|): 1 and 0 mid-quarter, 1/2 at a quarter's edges."""
    side = (context[0] - 0.5) * (context[1] - 0.5)
    if side == 0:
        return 0.5
    first, second = 2 * context[0] - np.floor(2 * context[0]), 2 * context[1] - np.floor(2 * context[1])
    away = max(abs(first / 2 - 0.25), abs(second / 2 - 0.25))
    height = (1 - 4 * away) / 2
    return 0.5 + height if (side > 0) == (arm == 1) else 0.5 - height


@of_choices
def configure(
    variant: Literal["as_printed", "as_released"],
    K: Literal[2] = 2,
    dimensions: Literal[2] = 2,
    gamma: float = 0.0,
    kappa: float = 1.0,
) -> Environment:
    """Return K = 2 arms on the unit square; `_covariate_shift` explains the other arguments. Raises ValueError."""
    shrink = checked_shrink(2, gamma, kappa, variant)
    return Environment(arrive, behave, best, mean, 2, 2, shrink, float(kappa), 0.0, POINT)
