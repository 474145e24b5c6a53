"""Check the arguments of the Python functions: an error names the argument, what was expected and what was found."""

import inspect
import math
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from privarms.errors import PrivarmsError, StudyError
from privarms.files.model import checked
from privarms.planning.studies import Axes
from privarms.registry.arguments import Argument
from privarms.registry.modules import EnvironmentModule, PolicyModule

P = ParamSpec("P")
R = TypeVar("R")

# As `Count` and `Checkpoints` in planning/studies.py.
MOST, MOST_CHECKPOINTS = 10**15, 1_000_000
# The extension in use, imported modules and the options of numba and matplotlib belong to the process.
_lock = RLock()
# Whether a function for users is running, which may call another one.
_running = False


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function for users.

    Calls in several threads run one after another. A PrivarmsError begins with the name of the function. Arguments that
    do not fit its signature are such an error, and so are arguments that need too much memory.
    """
    where, signature = f"privarms.{function.__name__}", inspect.signature(function)

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        global _running
        with _lock:
            if _running:
                return function(*given, **named)
            _running = True
            try:
                try:
                    signature.bind(*given, **named)
                except TypeError as error:
                    raise PrivarmsError(f"{error}; expected the arguments {', '.join(signature.parameters)}") from None
                return function(*given, **named)
            except MemoryError as error:
                raise PrivarmsError(f"{where}: these arguments need too much memory: {error}") from error
            except PrivarmsError as error:
                reason = error.reason if isinstance(error, StudyError) else error
                raise PrivarmsError(f"{where}: {reason}") from error.__cause__
            finally:
                _running = False

    return call


def plain(value: Any) -> Any:
    """Return a number of numpy as Python's, and a tuple, range, array or Series as a list."""
    value = value.tolist() if hasattr(value, "tolist") and not isinstance(value, type) else value
    return [plain(one) for one in value] if isinstance(value, list | tuple | range) else value


def found(value: Any) -> str:
    """Return a value as messages show it: one short line."""
    if value is None or isinstance(value, bool | int | float | str | list | dict | Path):
        return " ".join(reprlib.repr(value).split())
    return f"an object of the type {type(value).__name__}"


def refuse(name: str, expected: str, value: Any) -> PrivarmsError:
    """Return the error of a wrong argument."""
    return PrivarmsError(f"{name}: expected {expected}; found {found(value)}")


def text(name: str, value: Any, expected: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise refuse(name, expected, value)
    return value


def known(name: str, value: Any, names: Iterable[str]) -> str:
    """Return a text that is one of some names, which extensions may add to."""
    if text(name, value, "a name") not in (listed := list(names)):
        raise PrivarmsError(
            f"unknown {name} {found(value)}; expected one of {', '.join(listed)}, or one of a folder that `extension` "
            "names in this call"
        )
    return value


def whole(name: str, value: Any, least: int, most: float = MOST) -> int:
    """Return a whole number; 2.0 is one."""
    if not _is_number(value) or not least <= value <= most or value != int(value):
        above = f" to {most:,}" if most < math.inf else ""
        raise refuse(name, f"a whole number from {least}{above}", value)
    return int(value)


def positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    if not _is_number(value) or not 0 < value <= sys.float_info.max:
        raise refuse(name, "a finite number above 0", value)
    return value


def one_or_more(name: str, value: Any, check: Callable, *bounds) -> Any:
    """Return the checked value, or a list of checked values."""
    if not isinstance(value, list):
        return check(name, value, *bounds)
    if not value:
        raise refuse(name, "at least one value", value)
    return [check(name, one, *bounds) for one in value]


def folders(value: Any) -> list[Path]:
    """Return the folders of extensions: none, one or several."""
    values = [value] if isinstance(value, str | os.PathLike) else [] if value is None else value
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise refuse("extension", "a folder or a list of folders", value)
    values = list(values)
    for one in values:
        if not isinstance(one, str | os.PathLike) or not str(one):
            raise refuse("extension", "a folder or a list of folders", one)
    return [*map(Path, values)]


def policy(value: Any) -> Any:
    """Return a policy, if it is a text, a class, a module or has a function `configure`."""
    if not isinstance(value, str | type | ModuleType) and not hasattr(value, "configure"):
        expected = "a policy's name, or a class, module or namespace with LABEL, configure and the family's functions"
        raise refuse("policy", expected, value)
    return value


def parameters(given: Mapping[str, Any], policy: str, environment: str, others: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a policy and an environment, if each is known and has a possible value.

    others: the names of the arguments that the function has itself
    """
    of_environment, of_policy = EnvironmentModule(environment).arguments, PolicyModule(policy).arguments
    takes = {**of_environment, **of_policy}
    for name in given:
        if name not in takes:
            known = ", ".join(sorted({*takes, *others}))
            raise PrivarmsError(
                f"unknown parameter {name!r} for the policy {policy} and the environment {environment}; "
                f"expected one of {known}"
            )
    values = {name: one_or_more(name, value, _value, takes[name]) for name, value in given.items()}
    provided = EnvironmentModule(environment).tells
    for owner, own in ((f"policy {policy}", of_policy), (f"environment {environment}", of_environment)):
        for name, argument in own.items():
            if argument.required and name not in (*values, *provided, *others):
                choices = f", one of {', '.join(map(str, argument.choices))}" if argument.choices else ""
                raise PrivarmsError(f"{name}: the {owner} needs this argument{choices}; found none")
    checked(Axes, values, "parameters")
    return values


def _value(name: str, value: Any, argument: Argument) -> Any:
    if name == "K":
        return whole(name, value, 2)
    if not isinstance(value, bool | int | float | str):
        raise refuse(name, "a number, a text, True or False, or a list of them", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise refuse(name, "a finite number", value)
    return argument.fitting(name, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
