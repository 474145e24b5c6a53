"""Loops of protocols: compiled by numba, or plain Python if a policy or environment is plain Python."""

from collections.abc import Callable
from functools import cache, partial
from types import FunctionType

from privarms.jit import cache as kernels


def loop(kernel: Callable) -> Callable:
    """Return the compiled kernel as a function; it runs as plain Python if an argument contains plain Python."""
    return lambda *arguments: bound_loop(kernel, *arguments)()


def bound_loop(kernel: Callable, *arguments) -> Callable:
    """Bind a compiled kernel to its arguments, for many calls with the same ones."""
    if any(map(_holds_plain_python, arguments)):
        return partial(in_python(kernel), *(in_python(a) if hasattr(a, "py_func") else a for a in arguments))
    return kernels.bound(kernel, *arguments)


def _holds_plain_python(value) -> bool:
    return isinstance(value, FunctionType) or (isinstance(value, tuple) and any(map(_holds_plain_python, value)))


@cache
def in_python(kernel: Callable) -> Callable:
    """Return a kernel in plain Python, which also calls the kernels of its own module in plain Python."""
    if not hasattr(kernel, "py_func"):
        return kernel
    function = kernel.py_func
    names = dict(function.__globals__)
    plain = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    for name in function.__code__.co_names:
        if getattr(names.get(name), "__module__", None) == function.__module__:
            names[name] = in_python(names[name])
    return plain
