"""Check arguments against ranges, shapes or choices; a ValueError names the argument, what was expected and found.

Every check takes numbers and arrays of them, and refuses anything else, such as a text, None or nan. An empty array
passes.
"""

import functools
import inspect
from collections.abc import Callable
from numbers import Real
from typing import Literal, get_args, get_origin

import numpy as np

# Floats above this one leave out whole numbers.
MOST = 2**53
SHAPES = {0: "one number", 1: "a list of numbers", 2: "a table of numbers"}


def of_choices(function: Callable) -> Callable:
    """Return the function with a check of its arguments against their `Literal` annotations."""
    signature = inspect.signature(function)
    annotations = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    choices = {name: get_args(kind) for name, kind in annotations.items() if get_origin(kind) is Literal}

    @functools.wraps(function)
    def checked(*arguments, **named):
        for name, value in signature.bind(*arguments, **named).arguments.items():
            # An array would be compared number by number.
            if name in choices and (np.ndim(value) or value not in choices[name]):
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


def at_least(least: float, /, **values) -> None:
    """Raise ValueError for a number below `least` or infinite."""
    _check(values, f"at least {least}", lambda x: (x >= least) & (x < np.inf))


def above(low: float, /, **values) -> None:
    """Raise ValueError for a number that is not above `low`; inf is allowed."""
    _check(values, f"a number > {low}, or inf", lambda x: x > low)


def within(low: float, high: float, /, **values) -> None:
    """Raise ValueError for a number outside [low, high]; the ends may be infinite."""
    _check(values, f"a number in [{low}, {high}]", lambda x: (x >= low) & (x <= high))


def strictly_within(low: float, high: float, /, **values) -> None:
    """Raise ValueError for a number outside (low, high)."""
    _check(values, f"a number in ({low}, {high})", lambda x: (x > low) & (x < high))


def whole(least: int, /, **values) -> None:
    """Raise ValueError for a number that is not whole, below `least` or above 2^53; 3.0 is whole."""
    for name, value in values.items():
        expected = f"a whole number from {least} to 2^53"
        numbers = _numbers(name, value, expected)
        _refuse(name, expected, numbers, lambda x: (x >= least) & (x <= MOST))
        if numbers.dtype.kind == "f" and not (fits := np.floor(numbers) == numbers).all():
            raise _refusal(name, expected, numbers[~fits])


def part_and_total(**values) -> None:
    """Raise ValueError unless 0 <= part <= total for whole numbers that broadcast.

    values: the part and the total in this order, such as successes=..., pulls=...
    """
    whole(0, **values)
    (part, some), (total, all_) = ((name, np.asarray(value)) for name, value in values.items())
    try:
        exceeds = some > all_
    except ValueError:
        raise ValueError(
            f"{part}: expected a shape that broadcasts with that of {total}, {all_.shape}; found {some.shape}"
        ) from None
    if exceeds.any():
        first = (np.broadcast_to(x, exceeds.shape)[exceeds][0] for x in (some, all_))
        raise ValueError(f"{part}: expected at most {total}; found {' of '.join(map(str, first))}")


def dimensions(number: int, /, **values) -> None:
    """Raise ValueError unless a value has this number of axes: 0 for a single number, 1 for a list, 2 for a table."""
    for name, value in values.items():
        if (numbers := _numbers(name, value, SHAPES[number])).ndim != number:
            raise ValueError(f"{name}: expected {SHAPES[number]}; found the shape {numbers.shape}")


def same_shape(**values) -> None:
    """Raise ValueError unless all values have the shape of the first one, which would otherwise be broadcast."""
    (first, shape), *others = ((name, np.shape(value)) for name, value in values.items())
    for name, other in others:
        if other != shape:
            raise ValueError(f"{name}: expected the shape of {first}, {shape}; found {other}")


def known(value):
    """Return the numbers that are not nan, for a check of an argument in which nan means a missing number."""
    numbers = np.asarray(value)
    return numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else value


def _check(values: dict, expected: str, holds: Callable) -> None:
    for name, value in values.items():
        _refuse(name, expected, _numbers(name, value, expected), holds)


def _refuse(name: str, expected: str, numbers: np.ndarray, holds: Callable) -> None:
    # Every range is an interval, so the least and the largest number are enough. Unlike a comparison of all numbers,
    # they need no array of the same size. With a nan both are nan.
    if numbers.size and not (holds(numbers.min()) and holds(numbers.max())):
        raise _refusal(name, expected, numbers[~holds(numbers)])


def _refusal(name: str, expected: str, outside: np.ndarray) -> ValueError:
    return ValueError(f"{name}: expected {expected}; found {outside.ravel()[0]}")


def _numbers(name: str, value, expected: str) -> np.ndarray:
    """Return an array of integers, floats or booleans; a text such as "3" is refused, and not read as a number."""
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected {expected}; found rows of different lengths") from None
    if numbers.dtype.kind in "biuf":
        return numbers
    # As objects, because numpy turns a list of numbers and one text into texts.
    for one in np.asarray(value, object).ravel():
        if not isinstance(one, Real):
            raise ValueError(f"{name}: expected {expected}; found {one!r}")
    return numbers.astype(float)
