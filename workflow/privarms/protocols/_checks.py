"""What a protocol refuses: an arm that does not exist, and numbers that are not finite."""

import numpy as np
from numba import TypingError, types
from numba.extending import overload

from privarms.errors import ArmError, NotFiniteError


def admit(policy, arm, arms, t):
    """Raise ArmError for an arm outside 0 to arms - 1: it would be read and written outside of arrays."""
    if not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
        raise ArmError(arm, arms, t)


@overload(admit)
def _(policy, arm, arms, t):
    if not isinstance(arm, types.Integer):
        raise TypingError(f"choose gives {arm}; expected an arm, an int, on every path")

    def in_range(policy, arm, arms, t):
        if not 0 <= arm < arms:
            raise ArmError(arm, arms, t)

    return in_range


def refuse_not_finite(**measured: np.ndarray) -> None:
    """Raise NotFiniteError for the first of these arrays that has a nan or an infinity."""
    for name, values in measured.items():
        if not np.isfinite(values).all():
            raise NotFiniteError(f"{name} is not a finite number; expected that every mean and every reward is one")
