"""Check arguments against ranges or choices; a ValueError names the argument, the expected and the actual value."""

import functools
import inspect
from collections.abc import Callable
from typing import Literal, get_args, get_origin

import numpy as np


def of_choices(function: Callable) -> Callable:
    """Return the function with a check of its arguments against their `Literal` annotations."""
    signature = inspect.signature(function)
    annotations = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    choices = {name: get_args(kind) for name, kind in annotations.items() if get_origin(kind) is Literal}

    @functools.wraps(function)
    def checked(*arguments, **named):
        for name, value in signature.bind(*arguments, **named).arguments.items():
            if name in choices and value not in choices[name]:
                expected = ", ".join(map(str, choices[name]))
                raise ValueError(f"{name}: expected one of {expected}; found {value!r}")
        return function(*arguments, **named)

    return checked


def positive(**values) -> None:
    """Raise ValueError for a number that is not finite and above 0."""
    _check(values, "a finite number > 0", lambda x: (x > 0) & (x < np.inf))


def finite(**values) -> None:
    """Raise ValueError for a number that is not finite."""
    _check(values, "a finite number", np.isfinite)


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
