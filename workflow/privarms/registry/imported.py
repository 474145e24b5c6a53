"""The texts of modules as they were imported, and edits of their files since.

Python runs the text that it imported, whatever happens to the file later. A result, and a kernel in the cache, must
belong to the text that ran. This module imports the modules of extensions, so it knows the text of each, and `forget`
lets Python import them again. For the library, and for modules of the user's own outside of an extension, it compares
each file's date and size with those at the start.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TypeVar, cast

from privarms.registry import extensions
from privarms.registry.extensions import ROOT

PACKAGE = ROOT.name
EXTENSIONS = "privarms_extensions"

# File of an extension -> digest of its text at the import: modules, and files next to a module with its name.
_texts: dict[str, str | None] = {}
# The number of calls of `forget` that found a change.
_edits = 0

F = TypeVar("F", bound=Callable)


def beside(module: Path) -> list[Path]:
    """Return the files next to a module with its name, such as a table that it reads; they belong to it."""
    if module.stem == "__init__":
        return []
    return [file for file in sorted(module.parent.glob(f"{module.stem}.*")) if file.suffix not in (".py", ".pyc")]


class _Loader(SourceFileLoader):
    """Compile the text of the file. Bytecode on disk is ignored: it does not notice an edit within the same second."""

    def get_code(self, fullname):
        text = self.get_data(self.path)
        _texts[self.path] = hashlib.sha256(text).hexdigest()
        _texts.update((str(file), digest(str(file))) for file in beside(Path(self.path)))
        return self.source_to_code(text, self.path)


class _Finder(MetaPathFinder):
    """Find the modules `privarms_extensions.{folder}.{...}` in the folders in use."""

    def find_spec(self, fullname, path=None, target=None):
        package, *parts = fullname.split(".")
        if package != EXTENSIONS:
            return None
        if not parts:
            return _folder(fullname, [])
        places = {place.name: place for place in extensions.folders()}
        if parts[0] not in places:
            return None
        place = places[parts[0]].joinpath(*parts[1:])
        files = (place.with_suffix(".py"), place / "__init__.py") if len(parts) > 1 else ()
        file = next((f for f in files if f.is_file()), None)
        if file is None:
            return _folder(fullname, [str(place)]) if place.is_dir() else None
        inside = [str(place)] if file.name == "__init__.py" else None
        loader = _Loader(fullname, str(file))
        return spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=inside)


def _folder(fullname: str, places: Sequence[str]) -> ModuleSpec:
    """Return the specification of a package without a file of its own."""
    spec = ModuleSpec(fullname, None, is_package=True)
    spec.submodule_search_locations = [*places]
    return spec


def _state(file: str) -> tuple[int, int] | None:
    """Return a file's date and size; None without the file."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _of_library() -> dict[str, tuple[int, int] | None]:
    return {str(file): _state(str(file)) for file in ROOT.rglob("*.py")}


def _of_extensions() -> dict[str, str]:
    """Return the digest of each Python file in the folders in use, and of files next to imported modules."""
    rooms = (place / room for place in extensions.folders() for room in extensions.OWN_ROOMS)
    files = {str(file) for room in rooms for file in room.rglob("*.py")}
    files |= {file for file in _texts if extensions.is_extension(file)}
    return {file: text for file in files if (text := digest(file))}


def digest(file: str) -> str | None:
    """Return the digest of a file's text; None without the file."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return None


# The states of the library's files at import.
_library = _of_library()
# Folders in use -> the digests of their files at the last call of `forget` with these folders.
_extensions: dict[tuple[Path, ...], dict[str, str]] = {}
# The files in `_library` that are not in the library.
_watched: set[str] = set()


def use_finder() -> None:
    """Let Python find modules of extensions; other imports do not change."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def watch(files: Iterable[str]) -> None:
    """Notice later edits of those of these imported files that are neither in the library nor in an extension."""
    for file in files:
        if file not in _library and not extensions.is_extension(file):
            _library[file] = _state(file)
            _watched.add(file)


def is_edited(file: str) -> bool:
    """Return whether a file differs from the text that was imported."""
    if file in _texts:
        return digest(file) != _texts[file]
    return file in _library and _state(file) != _library[file]


def constants(files: Collection[str]) -> str:
    """Return the numbers, texts and arrays that modules of extensions have as global names, for a digest.

    numba compiles them into a kernel. A module may have read them from a file, or from an environment variable.
    """
    modules = [(getattr(m, "__file__", None), m) for name, m in [*sys.modules.items()] if name.startswith(EXTENSIONS)]
    return repr(
        sorted(
            (file, name, _plain(value))
            for file, module in modules
            if file in files
            for name, value in vars(module).items()
            if not name.startswith("__")
        )
    )


def _plain(value) -> str:
    """Return a text that differs for different numbers, texts, arrays and tuples of them; empty for anything else."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if not isinstance(value, type) and hasattr(value, "tobytes") and hasattr(value, "dtype"):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    return ""


def remembered(function: F) -> F:
    """Cache a function's results until `forget` finds edits, and for as long as the same extensions are in use."""
    answers = cache(lambda edits, folders, *arguments, **options: function(*arguments, **options))

    @wraps(function)
    def asking(*arguments, **options):
        return answers(_edits, extensions.folders(), *arguments, **options)

    vars(asking)["cache_clear"] = answers.cache_clear
    return cast(F, asking)


def forget() -> list[str]:
    """Forget the modules of extensions if a file of those in use was edited or removed since its import.

    Return the imported files that were edited since the last call and that are in no extension. Those cannot be
    forgotten, because other modules hold their functions.
    """
    global _library, _edits
    folders = extensions.folders()
    library, own = _of_library() | {file: _state(file) for file in _watched}, _of_extensions()
    changed = library != _library or own != _extensions.get(folders, {})
    edited = any(own.get(file) != text for file, text in _texts.items() if extensions.is_extension(file))
    if edited or any(map(_is_elsewhere, folders)):
        changed = True
        for name in [name for name in sys.modules if name.partition(".")[0] == EXTENSIONS]:
            del sys.modules[name]
        _texts.clear()
    files = {getattr(module, "__file__", None) for name, module in [*sys.modules.items()] if name.startswith(PACKAGE)}
    files |= _watched
    kept = {file for file in _library if file in files and library.get(file) != _library[file]}
    # The state of an edited file is kept, so each later call finds the edit too.
    _library, _extensions[folders] = library | {file: _library[file] for file in kept}, own
    _edits += changed
    return sorted(kept)


def _is_elsewhere(place: Path) -> bool:
    """Return whether Python imported the extension with a folder's name from another folder."""
    package = sys.modules.get(f"{EXTENSIONS}.{place.name}")
    return package is not None and [*package.__path__] != [str(place)]
