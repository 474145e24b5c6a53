"""Modules of the library and of extensions: find them by name and import them.

Policies, environments and protocols have unique names within their kind, whatever their package, because names are
hashed into random streams. A policy is in the package of its family, an environment in `environments`, an audit in
`audits`. Modules that start with an underscore are private. An audit may also be about a mechanism, which is then
loaded like a policy. The parameters of a module are the arguments of its `configure`.

An extension is a researcher's own folder with some of these folders (`room` below: the folder of a kind of modules).
Its modules are imported as `privarms_extensions.{folder}.{...}`.
"""

import hashlib
import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from privarms.errors import PrivarmsError, check_known
from privarms.registry import extensions, imported
from privarms.registry.extensions import ROOT, is_extension, shown
from privarms.registry.imported import remembered
from privarms.registry.source_files import dotted_name, full_name, sources

# Used as the family of a mechanism.
MECHANISMS = "mechanisms"
AUDITS, EVENTS = "audits", "audits/events"
# The study of an audit has a mechanism in the place of a policy, and the audit in the place of an environment.
INSTEAD = {"policies": MECHANISMS, "environments": AUDITS}


# The policies that `given` provides, by name.
_given: dict[str, ModuleType] = {}


def refresh() -> None:
    """Notice the files that were edited, added or removed since the last call; edited extensions are imported again.

    Raises PrivarmsError if an imported file of the library was edited.
    """
    if edited := imported.forget():
        raise PrivarmsError(f"{', '.join(map(shown, edited))}: edited after Python imported this file; restart Python")


def names(room: str) -> list[str]:
    """Return the public modules of "policies", "environments", "protocols" ..., with those of extensions, sorted."""
    return sorted([*_modules(room), *(_given if room == "policies" else ())])


@contextmanager
def given(policy: object, name: str) -> Iterator[None]:
    """Let a policy that is an object, such as a class or a namespace, be found by a name for a while.

    It has the attributes of a policy's module; FAMILY names its family, by default "bandit". It has no fast path.
    """
    module = ModuleType(name)
    own = {key: getattr(policy, key) for key in dir(policy) if not key.startswith("__")}
    vars(module).update({"FAMILY": "bandit"} | own)
    check_known(name, "FAMILY", module.FAMILY, families())
    keys = ("configure", *load_family(module.FAMILY).CONTRACT)
    functions = [f for key in keys if (f := getattr(module, key, None)) is not None]
    code = [getattr(inspect.unwrap(getattr(f, "py_func", f)), "__code__", None) for f in functions]
    files = [one.co_filename for one in code if one]
    module.__file__ = file = next(iter(files), name)
    _given[name] = module
    try:
        with extensions.files_of(name, [*files, file]):
            yield
    finally:
        del _given[name]


def is_given(policy: str) -> bool:
    """Return whether a policy is an object that `given` provides."""
    return policy in _given


@remembered
def _modules(room: str) -> dict[str, Path]:
    """Return name -> file of all public modules of a kind. Raises PrivarmsError for a name that is used twice."""
    files: list[Path] = []
    for root in _roots() if room in extensions.OPEN_ROOMS else (ROOT,):
        folder = root / (EVENTS if room == AUDITS and root is ROOT else room)
        files += sorted([*folder.glob("*.py"), *folder.glob("*/*.py")])
    modules: dict[str, Path] = {}
    others = _modules(INSTEAD[room]) if room in INSTEAD else {}
    for file in (file for file in files if not file.stem.startswith("_")):
        if other := others.get(file.stem) or modules.get(file.stem):
            raise PrivarmsError(
                f"{shown(file)}: {file.stem}: duplicate name among the {room}, also in {shown(other)}. Names are "
                "hashed into random streams; rename one of the two modules"
            )
        modules[file.stem] = file
    return modules


def source_file(room: str, name: str) -> Path:
    """Return the file of a module; "policies" include the mechanisms, and "environments" the audits."""
    if room == "policies" and name in _given:
        return Path(_given[name].__file__ or name)
    return (_modules(room) | (_modules(INSTEAD[room]) if room in INSTEAD else {}))[name]


def paper_modules(paper: str, kind: str) -> list[str]:
    """Return the dotted names of a paper's modules `{kind}.py` and `{kind}_*.py`.

    kind : inference, figures or tables
    """
    places = (root / "papers" / paper for root in extensions.folders())
    folder = next((p for p in places if p.is_dir()), ROOT / "papers" / paper)
    return [dotted_name(file) for file in sorted([*folder.glob(f"{kind}.py"), *folder.glob(f"{kind}_*.py")])]


def families() -> list[str]:
    """Return the families of policies, sorted."""
    return sorted(p.parent.name for root in _roots() for p in (root / "policies").glob("*/__init__.py"))


def _roots() -> tuple[Path, ...]:
    return (ROOT, *extensions.folders())


def load_family(family: str) -> ModuleType:
    """Import the package of a family of policies. Raises PrivarmsError for one without CONTRACT."""
    packages = [root / "policies" / family for root in _roots()]
    package = next(p for p in packages if (p / "__init__.py").is_file())
    module = load_module(dotted_name(package))
    if not hasattr(module, "CONTRACT"):
        expected = "expected CONTRACT, the functions of each policy with the names of their arguments"
        raise PrivarmsError(f"{shown(package / '__init__.py')}: {expected}; found none")
    return module


def load(room: str, name: str) -> ModuleType:
    """Import a module by name."""
    return _given[name] if room == "policies" and name in _given else _imported(room, name)


@remembered
def _imported(room: str, name: str) -> ModuleType:
    return load_module(dotted_name(source_file(room, name)))


def load_module(dotted: str) -> ModuleType:
    """Import a module. Raises PrivarmsError with file and line for any error in an extension's module."""
    imported.use_finder()
    try:
        module = importlib.import_module(full_name(dotted))
        if module.__file__ and is_extension(module.__file__):
            imported.watch(sources(dotted))
        return module
    except PrivarmsError:
        raise
    except (Exception, SystemExit) as error:
        place = extensions.line_of_error(error)
        if place is None:
            raise
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise PrivarmsError(f"{place}: {type(error).__name__}: {reason}") from error


def imported_texts(*modules: str) -> str | None:
    """Return a digest of the `sources` of some modules, as they were imported; None if one was edited since.

    It includes the constants of modules of extensions.

    Raises ModuleNotFoundError for an unknown module.
    """
    files = sources(*modules)
    digests = "".join(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files)
    return None if any(map(imported.is_edited, files)) else digests + imported.constants(files)
