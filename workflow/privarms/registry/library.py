"""Modules of the library and of extensions: find them by name, import them, list their parameters and files.

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args, get_origin

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
    check_known(name, "FAMILY", module.FAMILY, _families())
    keys = ("configure", *family_module(module.FAMILY)["CONTRACT"])
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


def module(room: str, name: str) -> str:
    """Return the dotted name of a module below the package: "policies", "dp_se" -> "policies.bandit.dp_se"."""
    return dotted_name(source_file(room, name))


def paper_modules(paper: str, kind: str) -> list[str]:
    """Return the dotted names of a paper's modules `{kind}.py` and `{kind}_*.py`.

    kind : inference, figures or tables
    """
    places = (root / "papers" / paper for root in extensions.folders())
    folder = next((p for p in places if p.is_dir()), ROOT / "papers" / paper)
    return [dotted_name(file) for file in sorted([*folder.glob(f"{kind}.py"), *folder.glob(f"{kind}_*.py")])]


def fast_path(policy: str, environment: str) -> str | None:
    """Return the dotted name of the fast path of a policy in an environment; None if there is none."""
    if policy in _given:
        return None
    file, name = source_file("policies", policy), attributes("policies", policy).get("FAST_PATHS_OF", policy)
    folder = file.parents[2] / "fast_paths" / file.parent.name
    files = (folder / f"{name}__{environment}.py", folder / f"{name}.py")
    return next((dotted_name(path) for path in files if path.is_file()), None)


def family(policy: str) -> str:
    """Return the family of a policy: the package that contains it. Raises PrivarmsError for one outside any package."""
    if policy in _given:
        return _given[policy].FAMILY
    package = source_file("policies", policy).parent.name
    check_known(f"{policy_file(policy)}: the folder", "family", package, (*_families(), MECHANISMS))
    return package


def _families() -> list[str]:
    return sorted(p.parent.name for root in _roots() for p in (root / "policies").glob("*/__init__.py"))


def _roots() -> tuple[Path, ...]:
    return (ROOT, *extensions.folders())


def family_module(family: str) -> Mapping:
    """Return the attributes of the package of a family: CONTRACT and, if it has fast paths, FAST_PATH."""
    packages = [root / "policies" / family for root in _roots()]
    return vars(load_module(dotted_name(next(p for p in packages if (p / "__init__.py").is_file()))))


def policy_file(policy: str) -> str:
    """Return the file of a policy as messages name it."""
    return shown(source_file("policies", policy))


def load(room: str, name: str) -> ModuleType:
    """Import a module by name."""
    return _given[name] if room == "policies" and name in _given else _imported(room, name)


@remembered
def _imported(room: str, name: str) -> ModuleType:
    return load_module(module(room, name))


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


def label(policy: str) -> str:
    """Return the name of a policy that readers see."""
    return attributes("policies", policy).get("LABEL", policy)


def attributes(room: str, name: str) -> Mapping:
    """Return the attributes of a module by name: LABEL, FAMILY, KEYS ..."""
    return vars(load(room, name))


def arguments(room: str, name: str) -> dict[str, Argument]:
    """Return the arguments of the `configure` of a module, in order; none if it has no such function."""
    configure = getattr(load(room, name), "configure", None)
    return function_arguments(configure) if configure else {}


@cache
def function_arguments(function: Callable) -> dict[str, Argument]:
    """Return the arguments of a function, compiled or not, in order."""
    signature = inspect.signature(getattr(function, "py_func", function), eval_str=True)
    return {name: _argument(parameter) for name, parameter in signature.parameters.items()}


def _argument(parameter: inspect.Parameter) -> Argument:
    hint = parameter.annotation
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    types = sorted(kind.__name__ for kind in get_args(hint) or [hint] if kind in (int, float, str, bool))
    required = parameter.default is parameter.empty
    return Argument(required, choices, () if choices else tuple(types), None if required else parameter.default)


def environment_arguments(name: str) -> dict[str, Argument]:
    """Return the parameters of an environment; one with data takes the name of a dataset instead of `data`."""
    takes = arguments("environments", name)
    if not attributes("environments", name).get("DATASET"):
        return takes
    return {"dataset": Argument(required=True), **{k: v for k, v in takes.items() if k != "data"}}


def claims_epsilon(policy: str) -> bool:
    """Return whether a policy has a privacy budget: the parameter `epsilon`, unless its module sets PRIVATE = False."""
    return "epsilon" in arguments("policies", policy) and attributes("policies", policy).get("PRIVATE", True)


@remembered
def audits() -> dict[str, tuple[str, ...]]:
    """Return the audits by name with their subjects, policies or mechanisms; audits of families have none."""
    subjects = {name: load(AUDITS, name).AUDIT.subjects for name in names(AUDITS)}
    return {name: (one,) if isinstance(one, str) else one for name, one in subjects.items()}


def audited_families(environment: str) -> tuple[str, ...]:
    """Return the families of which an environment audits any policy; empty for all other environments."""
    audit = attributes("environments", environment).get("AUDIT")
    return audit.families if audit else ()


def has_audit(policy: str) -> bool:
    """Return whether a policy of the library is a named subject of an audit."""
    return not is_extension(source_file("policies", policy)) and any(policy in one for one in audits().values())


def imported_texts(*modules: str) -> str | None:
    """Return a digest of the `sources` of some modules, as they were imported; None if one was edited since.

    It includes the constants of modules of extensions.

    Raises ModuleNotFoundError for an unknown module.
    """
    files = sources(*modules)
    digests = "".join(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files)
    return None if any(map(imported.is_edited, files)) else digests + imported.constants(files)
