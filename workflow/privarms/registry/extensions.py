"""Extensions: a researcher's own folders with policies, environments, audits, studies and their figures and tables.

The files of a policy that is given as an object, such as the cells of a notebook, count as an extension's.
"""

import inspect
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from privarms.errors import PrivarmsError

ROOT = Path(__file__).resolve().parents[1]
# Jobs read the folders from this environment variable.
VARIABLE = "PRIVARMS_EXTENSIONS"
OPEN_ROOMS = ("policies", "environments", "audits", "protocols", "fast_paths")
OWN_ROOMS = (*OPEN_ROOMS, "mechanisms", "papers")
# What a name is, in messages.
NAME = "a name of lower-case letters, digits and _"
# The folders in use instead of those of the variable.
_chosen: tuple[Path, ...] | None = None
# The files of policies that are objects -> the policy's name.
_files: dict[str, str] = {}


def extend(folders: Sequence[Path | str]) -> None:
    """Use the modules of these folders, in this process and in those that it starts.

    Raises PrivarmsError for a folder without usable modules, or whose name is not a package name.
    """
    os.environ[VARIABLE] = os.pathsep.join(map(str, _places(folders, "extensions")))


@contextmanager
def only(folders: Sequence[Path | str], where: str) -> Iterator[None]:
    """Use the modules of these folders, and of no other extension, in this process for a while.

    where: the beginning of messages. Raises PrivarmsError as `extend`.
    """
    global _chosen
    places, before = _places(folders, where), _chosen
    _chosen = places
    try:
        yield
    finally:
        _chosen = before


def _places(folders: Sequence[Path | str], where: str) -> tuple[Path, ...]:
    places: list[Path] = []
    for folder in folders:
        place = Path(folder).resolve()
        if place in places:
            continue
        if not any((place / room).is_dir() for room in OWN_ROOMS):
            expected = f"expected a folder that contains one of {', '.join(OWN_ROOMS)}"
            raise PrivarmsError(f"{where}: {folder}: {expected}; found none at {place}")
        if not is_name(place.name) or place.name in (p.name for p in places):
            expected = f"expected {NAME} that no other extension has"
            raise PrivarmsError(f"{where}: {folder}: {expected}; rename the folder {place.name}")
        places.append(place)
    return tuple(places)


def is_name(text: str) -> bool:
    """Return whether a folder of an extension, or a module that `privarms new` writes, can have a name."""
    return re.fullmatch("[a-z][a-z0-9_]*", text) is not None


def folders() -> tuple[Path, ...]:
    """Return the folders in use."""
    if _chosen is not None:
        return _chosen
    return tuple(map(Path, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))))


@contextmanager
def files_of(name: str, files: Iterable[str]) -> Iterator[None]:
    """Treat files outside of the library as an extension's for a while.

    name: of their policy; messages use it for a file that is not on the disk, such as a cell of a notebook
    """
    own = {place: name for file in files for place in (file, str(Path(file).resolve()))}
    own = {place: name for place in own if not Path(place).is_relative_to(ROOT)}
    _files.update(own)
    try:
        yield
    finally:
        for place in own:
            del _files[place]


def are_used() -> bool:
    """Return whether any extension is in use."""
    return bool(_files or folders())


def is_extension(file: Path | str) -> bool:
    """Return whether a file lies in an extension."""
    return str(file) in _files or any(Path(file).is_relative_to(place) for place in folders())


def shown(file: Path | str) -> str:
    """Return a file as messages name it: relative to the project, or for an extension to the working directory."""
    file = Path(file)
    if str(file) in _files and not file.exists():
        return _files[str(file)]
    above = Path.cwd() if is_extension(file) else ROOT.parents[1]
    return str(file.relative_to(above)) if file.is_relative_to(above) else str(file)


def line(function: Callable) -> str:
    """Return file:line of a function, compiled or not."""
    code = inspect.unwrap(getattr(function, "py_func", function)).__code__
    return f"{shown(Path(code.co_filename))}:{code.co_firstlineno}"


def line_of_error(error: BaseException) -> str | None:
    """Return file:line of the last line of an extension in an error's traceback; None if there is none."""
    if isinstance(error, SyntaxError) and error.filename and is_extension(error.filename):
        return f"{shown(Path(error.filename))}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_extension(f.filename)]
    return f"{shown(Path(frames[-1].filename))}:{frames[-1].lineno}" if frames else None
