"""Functions by name: the configuration names a figure, a table or a measure as the function is called."""

import inspect
import sys
from collections.abc import Callable
from types import ModuleType


def functions_of(*modules: str | ModuleType) -> dict[str, Callable]:
    """Return the public functions that these modules define; a module may give its own `__name__`."""
    found = [sys.modules[module] if isinstance(module, str) else module for module in modules]
    return {
        name: value
        for module in found
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
