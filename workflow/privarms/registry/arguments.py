"""The arguments of functions, such as the `configure` of a policy: their types, choices and defaults."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_origin

from privarms.errors import PrivarmsError


class Argument(NamedTuple):
    """One argument: whether it is required, its allowed values, the names of its types, its default."""

    required: bool
    choices: tuple = ()
    types: tuple[str, ...] = ()
    default: object = None

    def fitting(self, where: str, value: Any) -> Any:
        """Return the value that the argument gets: whole floats may become ints, and ints may be floats.

        where: the place of the value, for a PrivarmsError if the argument cannot get it
        """
        if self.choices:
            if value not in self.choices:
                raise PrivarmsError(f"{where}: expected one of {', '.join(map(str, self.choices))}; found {value!r}")
        elif self.types and type(value).__name__ not in self.types:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and ("float" in self.types or ("int" in self.types and float(value).is_integer()))):
                raise PrivarmsError(f"{where}: expected a value of type {' or '.join(self.types)}; found {value!r}")
        return int(value) if isinstance(value, float) and self.types == ("int",) else value


@cache
def arguments_of(function: Callable) -> dict[str, Argument]:
    """Return the arguments of a function, compiled or not, in order."""
    signature = inspect.signature(getattr(function, "py_func", function), eval_str=True)
    return {name: _argument(parameter) for name, parameter in signature.parameters.items()}


def _argument(parameter: inspect.Parameter) -> Argument:
    hint = parameter.annotation
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    types = sorted(kind.__name__ for kind in get_args(hint) or [hint] if kind in (int, float, str, bool))
    required = parameter.default is parameter.empty
    return Argument(required, choices, () if choices else tuple(types), None if required else parameter.default)
