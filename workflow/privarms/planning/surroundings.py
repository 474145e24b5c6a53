"""Checks of a run's folders: one clear error at the start instead of a later or silent failure."""

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

from privarms.errors import PrivarmsError

# Tolerance for clocks that differ a little.
TOLERATED_SECONDS = 300
# Folders of a run that people replace by links to a larger disk.
FOLDERS = ("results", "logs", ".snakemake", "data", "data/raw", "data/prepared")
# Folders in which a run makes folders, with names without a suffix; it replaces links to files.
DEEP = ("results", "logs")
# Packages that make the numbers.
NUMERICAL = ("numpy", "numba", "llvmlite", "scipy", "pandas", "pyarrow")
# Snakemake's options for files and for single keys, with their other names.
CONFIGURATION = {"--configfile": ("--configfile", "--configfiles"), "--config": ("--config", "-C")}


def configuration(arguments: Sequence[str]) -> str:
    """Return the configuration options of a command line, for a command that makes the same again.

    Raises PrivarmsError for several `--configfile` or several `--config`, of which Snakemake reads only the last.
    """
    kept: list[str] = []
    found: list[str] = []
    option = None
    for argument in arguments:
        if argument.startswith("-"):
            word = argument.partition("=")[0]
            option = next((option for option, names in CONFIGURATION.items() if word in names), None)
            found += [option] if option else []
        if option:
            kept.append(argument)
    for option in CONFIGURATION:
        if found.count(option) > 1:
            raise PrivarmsError(f"write {option} once, with everything after it; Snakemake reads only the last one")
    return shlex.join(kept)


def check(project: Path, folder: Path) -> None:
    """Check the project's folder and the folder of the run.

    Raises PrivarmsError for a Python that removes docstrings, a path with braces, a Python file that hides a package,
    and a folder of the run that is a broken link, also deep in `results` and `logs`. Below `data/raw` and `config` it
    does so for every broken link and for a file dated in the future.
    """
    if sys.flags.optimize > 1:
        raise PrivarmsError("PYTHONOPTIMIZE=2: removes docstrings, which are captions of figures; unset PYTHONOPTIMIZE")
    for path in (project, folder):
        if {"{", "}"} & set(str(path)):
            raise PrivarmsError(f"{path}: expected a path without braces, which Snakemake reads as wildcards; move it")
    hidden = {file.stem: file for file in sorted(folder.glob("*.py"))}
    if hidden:
        known = {*sys.stdlib_module_names, *packages_distributions()}
        for name in hidden.keys() & known:
            raise PrivarmsError(f"{hidden[name]}: hides the Python package {name} from every job; rename it")
    for place in (folder / name for name in FOLDERS):
        _refuse_broken(place)
    for top in DEEP:
        for place, _, others in os.walk(folder / top):
            for name in others:
                if "." not in name:
                    _refuse_broken(Path(place, name))
    latest = time.time() + TOLERATED_SECONDS
    for place in (folder / "data/raw", folder / "config"):
        for file in sorted(place.rglob("*")):
            _refuse_broken(file)
            if file.stat().st_mtime > latest:
                raise PrivarmsError(f"{file}: dated in the future, so its jobs would run again each time; touch it")


def other_versions() -> Iterator[str]:
    """Yield a line for each package that makes the numbers and hides another version of itself.

    PYTHONPATH, which modules of clusters set, and packages in the user's home come before those of the environment.
    """
    for name in NUMERICAL:
        used, *others = ((found.version, found.locate_file("")) for found in distributions(name=name))
        hidden = next((other for other in others if other[0] != used[0]), None)
        if hidden:
            yield (
                f"{name}: version {used[0]} of {used[1]} is used, and not version {hidden[0]} of {hidden[1]}; "
                "if you did not choose this, unset PYTHONPATH and set PYTHONNOUSERSITE=1"
            )


def _refuse_broken(link: Path) -> None:
    if link.is_symlink() and not link.exists():
        raise PrivarmsError(f"{link}: broken link to {link.readlink()}; correct or remove the link")
