"""Checks of every protocol: arms must exist, and numbers must be finite."""

import numpy as np
from numba import TypingError, types
from numba.extending import overload

from privarms.errors import ArmError, NotFiniteError


def admit(policy, arm, arms, t):
    """Raise ArmError for an arm outside 0 to arms - 1, which would access memory outside of arrays."""
    if not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
        raise ArmError(arm, arms, t)


@overload(admit)
def _(policy, arm, arms, t):
    if not isinstance(arm, types.Integer):
        raise TypingError(f"choose returns {arm}; expected an arm (an int) on every path")

    def in_range(policy, arm, arms, t):
        if not 0 <= arm < arms:
            raise ArmError(arm, arms, t)

    return in_range


def refuse_not_finite(**measured: np.ndarray) -> None:
    """Raise NotFiniteError for the first of these arrays with a nan or an infinity."""
    for name, values in measured.items():
        if not np.isfinite(values).all():
            raise NotFiniteError(f"{name} is not a finite number; expected finite means and rewards")
