"""What a protocol does not take from a policy or an environment: an arm that there is not, and what is no number."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba.extending import overload


class Checked(NamedTuple):
    """A `policies.Policy` whose arms are checked as it plays, an extension's; of other policies tests do that once."""

    init: Callable
    choose: Callable
    learn: Callable


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


class RecordError(ValueError):
    """A fast path left a record that no run leaves."""


def admit(policy, arm, arms, t):
    """ArmError for an arm of a `Checked` policy that is none of 0 to arms - 1; of any other policy nothing, at no cost.

    Out of range an arm would be read and written outside of arrays, or, if negative, counted from their ends.
    """
    if isinstance(policy, Checked) and not 0 <= arm < arms:
        raise ArmError(arm, arms, t)


@overload(admit)
def _(policy, arm, arms, t):
    # Which it is says the type: loops around other policies are compiled without a check.
    if getattr(policy, "instance_class", None) is not Checked:
        return lambda policy, arm, arms, t: None

    def checked(policy, arm, arms, t):
        if not 0 <= arm < arms:
            raise ArmError(arm, arms, t)

    return checked


def refuse_not_finite(**measured: np.ndarray) -> None:
    """NotFiniteError for the first of these arrays that holds nan or an infinity."""
    for name, values in measured.items():
        if not np.isfinite(values).all():
            raise NotFiniteError(name)


def refuse_impossible(means: np.ndarray, checkpoints: np.ndarray, regret: np.ndarray, pulls: np.ndarray) -> None:
    """RecordError for pulls and regret, [R, K] and [R, C], of a bandit's fast path that no run can leave."""
    horizon, gaps = checkpoints[-1], means.max() - means
    if (pulls < 0).any() or (pulls.sum(axis=1) != horizon).any():
        raise RecordError(f"record.pulls: expected numbers of at least 0 that add up to the horizon, {horizon:,}")
    rounding = 1e-6 * (1 + horizon * gaps.max())
    steps = np.diff(regret, axis=1, prepend=0.0)
    if (steps < -rounding).any() or (steps > np.diff(checkpoints, prepend=0) * gaps.max() + rounding).any():
        raise RecordError("record.regret: expected that it grows from each checkpoint to the next, by gaps of arms")
    if (np.abs(regret[:, -1] - pulls @ gaps) > rounding).any():
        raise RecordError("record.regret: expected at the horizon the sum of pulls times gaps of record.pulls")
