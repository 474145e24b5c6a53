"""Kernels whose machine code is kept on disk, so that it is compiled once and not by every job.

numba keeps machine code itself (`cache=True`), but not that of kernels that get functions as arguments, as ours get
policies and environments, and it goes by one file, so that an edit of another one would run stale code.
Here a call is written down as a module of its own, in which functions are named and not passed, under a digest of every
file of the library that they use, directly or not, and of the versions; numba keeps the machine code of that. Where
there is a process that compiles for all jobs, `compiler`, it is asked first.
"""

import hashlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba
import numba.experimental.function_type
import numpy as np
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from privarms import compiler, edits, pcg64
from privarms.ahead import ahead, settle
from privarms.files.whole import write_text
from privarms.inlined import ENTRY, inlined
from privarms.studies import library

FOLDER_VARIABLE = "PRIVARMS_KERNELS"
# Machine code that no job has used for so long is removed.
KEPT_DAYS = 60
# Besides tuples and Generators.
_PLAIN = (bool, int, float, str, np.generic, np.ndarray, type(None))
_OPTIONS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "CPU_NAME", "CPU_FEATURES")


def compiled(kernel: Callable) -> Callable:
    """The same function: an `@njit` function of which the machine code comes from disk, if it is there, or goes there.

    Its arguments may be functions of the library or hold some, in NamedTuples. Generators among them draw ahead while
    it runs (`ahead`), the same numbers; it cannot return one. Whatever cannot be kept (a function that is not the
    library's or has no name in its module, an argument that numba does not know by itself, a folder that cannot be
    written, a library that has been edited since this process imported it) is compiled here and now.
    """
    if not isinstance(kernel, Dispatcher):
        return kernel  # plain Python, where numba is switched off

    def call(*arguments):
        leaves: list = []
        try:
            shapes = tuple([_shape(value, leaves) for value in arguments])
            kept = _kept(_written(kernel, shapes), int(bool(numba.config.BOUNDSCHECK)))
        except _NotKept:
            return kernel(*arguments)
        try:
            with inlined():
                return kept(*leaves)
        except OSError:
            # Kernels know no files: the disk is full. The machine code is there, but is not kept.
            return kernel(*arguments)

    return call


def has_looked() -> bool:
    """Whether this process has looked for a kernel."""
    return _kept.cache_info().misses > 0


def begin() -> None:
    """Have numba do what it does once a process, a quarter of a second, before it finds or compiles a first kernel."""
    _first(1)


@njit
def _first(n):
    return np.zeros(n)


class _NotKept(Exception):
    """This call has functions that only this process knows, or is not of what is in the files, or there is no place."""


class _Stream(NamedTuple):
    """A Generator among the arguments: its place among the leaves, and whether the kernel draws ahead from it."""

    place: int
    is_ahead: bool


class _Parts(NamedTuple):
    """A tuple among the arguments that holds functions: its type, and the shape of each part."""

    kind: type
    parts: tuple


# What decides the text is found at every call, and the text written where that is new: a run of a policy takes a few
# calls, and to write each down would take longer than what it does for a few hundred users.
# Not within `call`: a function that knows itself and the arguments keeps them until somebody looks for garbage, and
# these are all arrays of a run.
def _shape(value, leaves: list) -> Dispatcher | _Parts | _Stream | int:
    """What of a value decides a module's text: a function itself, or the place among the leaves, to which it adds."""
    kind = type(value)
    if _is_function(kind):
        return value
    if issubclass(kind, tuple):
        if _has(value, _is_function):
            return _Parts(kind, tuple([_shape(part, leaves) for part in value]))
        # Of a Generator that a tuple holds nobody would know that it draws ahead elsewhere.
        if _has(value, _is_generator):
            raise _NotKept
    elif _is_generator(kind):
        for place, known in enumerate(leaves):
            # One stream of random numbers, of which a kernel cannot draw ahead twice.
            if _is_generator(type(known)) and known.bit_generator is value.bit_generator:
                return _Stream(place, pcg64.is_known(value))
        leaves.append(value)
        return _Stream(len(leaves) - 1, pcg64.is_known(value))
    elif not _is_plain(kind):
        # Of other types numba's machine code would be that of their methods, which no digest knows.
        raise _NotKept
    leaves.append(value)
    return len(leaves) - 1


# Asked of types, which are few, and kept: asked of every value at every call these would be most of it.
@cache
def _is_function(kind: type) -> bool:
    return issubclass(kind, Dispatcher)


@cache
def _is_generator(kind: type) -> bool:
    return issubclass(kind, np.random.Generator)


@cache
def _is_plain(kind: type) -> bool:
    return issubclass(kind, _PLAIN)


def _has(value: tuple, asked: Callable[[type], bool]) -> bool:
    """Whether a tuple, or one that it holds, has something of a type."""
    found, tuples = _of_kinds(tuple(map(type, value)), asked)
    return found or any(_has(value[place], asked) for place in tuples)


@cache
def _of_kinds(kinds: tuple[type, ...], asked: Callable[[type], bool]) -> tuple[bool, list[int]]:
    """Whether one of the types is asked for, and the places of those that are tuples."""
    return any(map(asked, kinds)), [place for place, kind in enumerate(kinds) if issubclass(kind, tuple)]


@cache
def _written(kernel: Dispatcher, shapes: tuple) -> str:
    """A module's text, whose `call` calls a kernel with functions in place and the other arguments in their order."""
    names: dict[str, str] = {}
    leaves: dict[int, bool] = {}
    said = ", ".join(_said(shape, names, leaves) for shape in shapes)
    call = f"{_said(kernel, names, leaves)}({said})"
    given = ", ".join(f"a{place}" for place in leaves)
    streams = [f"a{place}" for place, is_ahead in leaves.items() if is_ahead]
    lines = [f"{name} = {_named(ahead, names)}({name})" for name in streams]
    lines += [f"found = {call}", *(f"{_named(settle, names)}({name})" for name in streams), "return found"]
    imports = "\n".join(f"{line} as {name}" for line, name in names.items())
    function = "\n    ".join([f"@njit(cache=True)\ndef {ENTRY}({given}):", *lines])
    return f"from numba import njit\n{imports}\n\n\n{function}\n"


def _said(shape, names: dict[str, str], leaves: dict[int, bool]) -> str:
    """How a module's text calls a value; adds to the imports' names, or to the leaves, with whether they draw ahead."""
    if isinstance(shape, Dispatcher):
        return _named(_with_name(shape), names)
    if isinstance(shape, _Parts):
        parts = ", ".join(_said(part, names, leaves) for part in shape.parts)
        return f"{_named(shape.kind, names)}({parts})" if hasattr(shape.kind, "_fields") else f"({parts},)"
    place, is_ahead = shape if isinstance(shape, _Stream) else (shape, False)
    leaves[place] = is_ahead
    return f"a{place}"


def _named(thing, names: dict[str, str]) -> str:
    module, name = thing.__module__, thing.__qualname__
    if not module.startswith(f"{library.PACKAGE}.") or getattr(sys.modules.get(module), name, None) is not thing:
        raise _NotKept
    return names.setdefault(f"from {module} import {name}", f"f{len(names)}")


def _with_name(function: Dispatcher) -> Dispatcher:
    if not hasattr(function, "__qualname__"):
        raise _NotKept
    return function


@cache
def _kept(text: str, bounds: int) -> Callable:
    """The function `call` of a module with this text. Raises _NotKept where none can be written."""
    # Before and after: a file that is being written need not be one that can be read.
    _look_for_edits()
    digest = hashlib.sha256(f"{text}{bounds}".encode())
    for said in settings():
        digest.update(said.encode())
    for file in _sources(text):
        digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    _look_for_edits()
    name = f"kernel_{digest.hexdigest()[:32]}"
    path = folder() / name / f"{name}.py"
    try:
        if path.exists():
            os.utime(path)
        else:
            _remove_unused()
            write_text(path, text)
        (path.parent / "__pycache__").mkdir(exist_ok=True)
    except Exception as error:
        raise _NotKept from error
    _remove_broken(path.parent / "__pycache__")
    return loaded(path)


def _look_for_edits() -> None:
    """Raises _NotKept if a kernel would be of what was imported, but under what the files say since."""
    if edits.looks() != edits.AT_IMPORT:
        raise _NotKept


def folder() -> Path:
    """Where machine code is kept: PRIVARMS_KERNELS, or below the user's cache."""
    given = os.environ.get(FOLDER_VARIABLE)
    return Path(given or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "privarms", "kernels")).expanduser()


def settings() -> Iterator[str]:
    """What kernels depend on besides the library: versions, and numba's options."""
    yield f"{sys.version} {numba.__version__} {llvmlite.__version__} {np.__version__}"
    yield repr([getattr(numba.config, option, None) for option in _OPTIONS])


def _sources(text: str) -> tuple[str, ...]:
    """The files of the library that a written module uses, directly or not."""
    lines = (line.split() for line in text.splitlines() if line.startswith(f"from {library.PACKAGE}."))
    named = {line[1].removeprefix(f"{library.PACKAGE}.") for line in lines}
    # How all are compiled is in these.
    return library.sources(*sorted(named | {"jit.cache", "inlined"}))


def loaded(path: Path) -> Callable:
    """The function `call` of a written module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # numba looks a kept function's module up by its name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    kernel = getattr(module, ENTRY)
    kernel._cache = _AskingCache(kernel.py_func, path)
    return kernel


class _AskingCache(FunctionCache):
    """What numba keeps of a written module, with what another process compiles when it is asked."""

    def __init__(self, function: Callable, path: Path):
        super().__init__(function)
        self._path = path

    def _load_overload(self, sig, target_context):
        found = super()._load_overload(sig, target_context)
        if found is None and compiler.ask(self._path, list(settings()), sig):
            found = super()._load_overload(sig, target_context)
        return found


def _remove_broken(place: Path) -> None:
    """numba renames whole files; one that is empty is what a machine leaves that went down."""
    for file in place.glob("*.nb[ic]"):
        if file.stat().st_size == 0:
            file.unlink(missing_ok=True)


def _remove_unused() -> None:
    before = time.time() - KEPT_DAYS * 86_400
    for path in folder().glob("kernel_*/kernel_*.py"):
        if path.stat().st_mtime < before:
            for file in (*path.parent.glob("__pycache__/*"), path):
                file.unlink(missing_ok=True)
