"""A disk cache of compiled kernels, so one job compiles a kernel and the others load it.

numba caches machine code (`cache=True`), but not for kernels whose arguments are functions. Our kernels receive
policies and environments this way. numba also looks for edits in only one file. Each call is therefore written as a
module, which names the functions and takes the other arguments, and numba caches the code of that module. The folder of
the module is named by a digest of the kernel's source files, the versions and the options.
"""

import atexit
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import traceback
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba
import numpy as np
from numba.extending import intrinsic, is_jitted

from privarms.jit import refcounts

FOLDER_VARIABLE = "PRIVARMS_KERNELS"
ENTRY = "call"


class _Cache(NamedTuple):
    above: Path
    texts: Callable[..., str | None]


class _Parts(NamedTuple):
    """A tuple among the arguments that contains functions: its type and the shape of each part."""

    kind: type
    parts: tuple


_cache: _Cache | None = None


def place() -> Path:
    """Return the folder of the cache: PRIVARMS_KERNELS, or a folder in the user's cache folder."""
    above = os.environ.get(FOLDER_VARIABLE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "privarms/kernels")
    try:
        return Path(above).expanduser()
    except RuntimeError:
        # The user of a container may have no home folder.
        return Path(tempfile.gettempdir(), "privarms-kernels")


def use(texts: Callable[..., str | None]) -> None:
    """Cache the machine code of this process's kernels from now on.

    texts: returns a digest of the texts of the named modules and of their imports, as this process imported them, or
    None if one of the files was edited since; raises ModuleNotFoundError for an unknown module. In both last cases
    kernels are compiled without caching, so the machine code in a folder always belongs to the text in its name.
    """
    global _cache
    now = _Cache(place(), texts)
    if now != _cache:
        _cache = now
        _module.cache_clear()


def compiled(kernel: Callable) -> Callable:
    """Return the same `@njit` function, with machine code from disk if `use` was called.

    Its arguments may be `@njit` functions, or NamedTuples and tuples that contain such functions.
    """
    return lambda *arguments: bound(kernel, *arguments)()


def bound(kernel: Callable, *arguments) -> Callable:
    """Bind a compiled kernel to its arguments, for many calls with the same ones; return a function without arguments.

    A call through `compiled` looks for functions in all its arguments, which may take longer than a short kernel.
    """
    if not is_jitted(kernel):
        return partial(kernel, *arguments)  # plain Python, because numba is switched off
    leaves: list = []
    function = None
    if _cache is not None:
        function = _module(kernel, tuple([_shape(argument, leaves) for argument in arguments]))
    if function is None:
        return partial(kernel, *arguments)

    def call():
        try:
            return function(*leaves)
        except Exception as error:
            if not _before_the_call(error):
                raise
            # The cached file is damaged, or the disk is full. The next process compiles it again.
            shutil.rmtree(Path(function.py_func.__code__.co_filename).parent, ignore_errors=True)
            _module.cache_clear()
            return kernel(*arguments)

    return call


def _before_the_call(error: Exception) -> bool:
    """Return whether reading or writing the cache raised an error, before the kernel began.

    Frames of machine code have no globals. A `NumbaError` is a fault of the kernel's source.
    """
    if isinstance(error, numba.NumbaError):
        return False
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith("numba.") for frame, _ in frames)


def constant(function: Callable) -> Callable:
    """Return an intrinsic that provides an `@njit` function as a value of a kernel.

    The function's type identifies the function. numba's own constant is the address in this process, which prevents
    caching of the machine code.
    """
    kind = numba.typeof(function)

    @intrinsic
    def value(typing_context):
        return kind(), lambda context, builder, signature, arguments: context.get_dummy_value()

    return value


def _shape(value, leaves: list):
    """Return the part of an argument in the module's text: a function, the parts of a tuple with functions, or None.

    Not nested in `bound`: a recursive closure would keep the arguments, large arrays, until the next collection of
    garbage.
    """
    if isinstance(value, tuple) and _holds_functions(value):
        return _Parts(type(value), tuple([_shape(part, leaves) for part in value]))
    if is_jitted(value):
        return value
    leaves.append(value)
    return None


def _holds_functions(value: tuple) -> bool:
    return any(is_jitted(part) or (isinstance(part, tuple) and _holds_functions(part)) for part in value)


@cache
def _module(kernel, shapes: tuple) -> Callable | None:
    """Return the function `call` of the module for a kernel and its arguments; None if it cannot be cached."""
    names: dict = {}
    leaves: list[str] = []
    call = ", ".join(_text(shape, names, leaves) for shape in shapes)
    known = (getattr(sys.modules.get(f.__module__), f.__qualname__, None) is f for f in (kernel, *names))
    if not all(known):
        return None
    folder = _folder({thing.__module__ for thing in (kernel, *names)})
    if folder is None:
        return None
    imports = [f"from {thing.__module__} import {thing.__qualname__} as {name}" for thing, name in names.items()]
    constants = [f"{name} = constant({name})" for thing, name in names.items() if is_jitted(thing)]
    text = "\n".join(
        [
            "from numba import njit",
            "from privarms.jit.cache import constant",
            f"from {kernel.__module__} import {kernel.__qualname__} as kernel",
            *imports,
            *constants,
            "@njit(cache=True)",
            f"def {ENTRY}({', '.join(leaves)}):",
            f"    return kernel({call})\n",
        ]
    )
    name = f"kernel_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    path = folder / f"{name}.py"
    with suppress(OSError):
        if not path.exists():
            # Jobs that start together write the same module, each under a name of its own.
            temporary = folder / f"{uuid.uuid4().hex}.part"
            try:
                temporary.write_text(text, encoding="utf-8")
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
        return _load(path)
    return None


def _folder(modules: Iterable[str]) -> Path | None:
    """Return the folder of the kernels made from some modules; None if there cannot be one."""
    try:
        texts = _cache.texts(*modules)
    except (ModuleNotFoundError, OSError):
        return None
    if texts is None:
        return None
    options = (numba.config.BOUNDSCHECK, numba.config.OPT, numba.config.USING_SVML, refcounts.are_plain())
    versions = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
    digest = hashlib.sha256(repr((versions, options, texts)).encode())
    folder = _cache.above / digest.hexdigest()[:32]
    try:
        # numba writes machine code there, or elsewhere if this fails.
        (folder / "__pycache__").mkdir(parents=True, exist_ok=True)
        return folder if os.access(folder / "__pycache__", os.W_OK) else _copy(folder)
    except OSError:
        return None


@cache
def _copy(folder: Path) -> Path:
    """Return this process's copy of a folder that is not writable, because numba ignores the cache in such a folder."""
    above = tempfile.mkdtemp(prefix="privarms-kernels-")
    atexit.register(shutil.rmtree, above, ignore_errors=True)
    return Path(shutil.copytree(folder, Path(above, folder.name)))


def _text(shape, names: dict, leaves: list[str]) -> str:
    """Return the text of an argument in the module; add to the imported names, or to the arguments of `call`."""
    if shape is None:
        leaves.append(f"a{len(leaves)}")
        return leaves[-1]
    if isinstance(shape, _Parts):
        parts = ", ".join(_text(part, names, leaves) for part in shape.parts)
        if not hasattr(shape.kind, "_fields"):
            return f"({parts},)"
        return f"{names.setdefault(shape.kind, f'f{len(names)}')}({parts})"
    return f"{names.setdefault(shape, f'f{len(names)}')}()"


def _load(path: Path) -> Callable:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # numba finds the module of a loaded function by its name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, ENTRY)
