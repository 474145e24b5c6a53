"""Numbers and arrays held against their range: a ValueError names what lies outside, and what was expected."""

from collections.abc import Callable

import numpy as np


def positive(**values) -> None:
    """Raise ValueError for a number that is not finite and above 0."""
    _check(values, "a finite number > 0", lambda x: (x > 0) & (x < np.inf))


def at_least(least: float, **values) -> None:
    """Raise ValueError for a number below `least` or infinite."""
    _check(values, f"at least {least}", lambda x: (x >= least) & (x < np.inf))


def within(low: float, high: float, **values) -> None:
    """Raise ValueError for a number outside [low, high]."""
    _check(values, f"a number in [{low}, {high}]", lambda x: (x >= low) & (x <= high))


def strictly_within(low: float, high: float, **values) -> None:
    """Raise ValueError for a number outside (low, high)."""
    _check(values, f"a number in ({low}, {high})", lambda x: (x > low) & (x < high))


def _check(values: dict, expected: str, holds: Callable) -> None:
    for name, value in values.items():
        numbers = np.asarray(value)
        outside = ~np.asarray(holds(numbers))
        if outside.any():
            raise ValueError(f"{name}: expected {expected}; found {numbers[outside].ravel()[0]}")
