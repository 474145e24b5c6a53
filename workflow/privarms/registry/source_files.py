"""The files that modules of the library and of extensions use, from the imports in their texts."""

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from privarms.registry import extensions, imported
from privarms.registry.extensions import ROOT
from privarms.registry.imported import EXTENSIONS, PACKAGE, remembered

SCRIPTS = ROOT.parent / "scripts"


@remembered
def sources(*modules: str, script: str | None = None) -> tuple[str, ...]:
    """Return the files that some modules (dotted, below the package or in full) use, directly or not, sorted.

    Files next to a module with its name (such as a template) belong to it. Modules of the user's own, outside of an
    extension and not installed, count if an extension imports them.

    script: a file workflow/scripts/{script}.py, whose imports count too
    """
    pending = list(_imports(SCRIPTS / f"{script}.py")) if script else []
    for dotted in modules:
        if not _file_of(full_name(dotted)):
            raise ModuleNotFoundError(f"no module {dotted}")
        pending += _with_packages(full_name(dotted))
    used: set[Path] = set()
    while pending:
        file = pending.pop()
        if file not in used:
            used.add(file)
            pending.extend(_imports(file))
    return tuple(sorted({*map(str, used), *(str(p) for f in used for p in imported.beside(f) if p.is_file())}))


def dotted_name(file: Path) -> str:
    """Return the dotted name of a file: below the package, or in full for a file of an extension."""
    for place in extensions.folders():
        if file.is_relative_to(place):
            return ".".join((EXTENSIONS, place.name, *file.relative_to(place).with_suffix("").parts))
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def full_name(dotted: str) -> str:
    return dotted if dotted.startswith((f"{EXTENSIONS}.", f"{PACKAGE}.")) else f"{PACKAGE}.{dotted}"


@remembered
def _imports(file: Path) -> frozenset[Path]:
    """Return the files of the library and of extensions that a file imports, at any place in it."""
    targets: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), filename=str(file))):
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                package = full_name(dotted_name(file)).rpartition(".")[0]
                origin = importlib.util.resolve_name("." * node.level + origin, package)
            targets |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
    found = {one for dotted in targets for one in _with_packages(dotted)}
    if not file.is_relative_to(ROOT.parent):
        found |= {one for dotted in targets for one in _outside(dotted)}
    return frozenset(found)


def _outside(dotted: str) -> Iterator[Path]:
    """Yield the files of a module and its packages, by its full name, if it is the user's own and not installed."""
    package, *parts = dotted.split(".")
    if package in (PACKAGE, EXTENSIONS, "") or package in sys.stdlib_module_names:
        return
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    # A package without a file of its own has only folders.
    folders = [Path(place) for place in spec.submodule_search_locations or ()]
    files = [Path(spec.origin or "")]
    for depth in range(1, len(parts) + 1):
        places = [folder.joinpath(*parts[:depth]) for folder in folders]
        files += [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    for file in files:
        if file.suffix == ".py" and file.is_file() and not {"site-packages", "dist-packages"} & {*file.parts}:
            yield file.resolve()


def _with_packages(dotted: str) -> Iterator[Path]:
    """Return the files of a module and of its packages, by its full name; none for a module of another project."""
    parts = dotted.split(".")
    return filter(None, (_file_of(".".join(parts[:depth])) for depth in range(2, len(parts) + 1)))


def _file_of(dotted: str) -> Path | None:
    """Return the file of a module or package of the library or of an extension, by its full name."""
    package, *parts = dotted.split(".")
    roots = {PACKAGE: ROOT}
    if package == EXTENSIONS and parts:
        package, *parts = parts
        roots = {place.name: place for place in extensions.folders()}
    if package not in roots or not parts:
        return None
    file = roots[package].joinpath(*parts)
    return next((p for p in (file.with_suffix(".py"), file / "__init__.py") if p.is_file()), None)
