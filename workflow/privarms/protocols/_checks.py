"""What a protocol does not take from a policy or an environment: an arm that there is not, and what is no number."""

import numpy as np
from numba import njit


class ArmError(ValueError):
    """A policy chose an arm that there is not. arm: which; arms: how many there are; t: the round, from 1"""

    def __init__(self, arm, arms, t):
        super().__init__(arm, arms, t)
        self.arm, self.arms, self.t = arm, arms, t

    def __str__(self):
        return f"choose gave arm {self.arm} in round {self.t}; expected 0 to {self.arms - 1}"


class NotFiniteError(ValueError):
    """Runs left something that is no finite number. what: the name of what is not"""

    def __init__(self, what):
        super().__init__(what)
        self.what = what

    def __str__(self):
        return f"{self.what} is not a finite number; expected that every mean and every reward is one"


@njit
def refuse_arm(arm, arms, t):
    """ArmError; called where an arm is out of range, and never inlined: the loop around stays as fast as it is."""
    raise ArmError(arm, arms, t)


def refuse_not_finite(**measured: np.ndarray) -> None:
    """NotFiniteError for the first of these arrays that holds nan or an infinity."""
    for name, values in measured.items():
        if not np.isfinite(values).all():
            raise NotFiniteError(name)
