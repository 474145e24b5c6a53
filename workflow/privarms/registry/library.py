"""Modules of the library and of extensions: find them by name, import them, list their parameters and files.

Policies, environments and protocols have unique names within their kind, whatever their package, because names are
hashed into random streams. A policy is in the package of its family, an environment in `environments`, an audit in
`audits`. Modules that start with an underscore are private. An audit may also be about a mechanism, which is then
loaded like a policy. The parameters of a module are the arguments of its `configure`.

An extension is a researcher's own folder with some of these folders (`room` below: the folder of a kind of modules).
Its modules are imported as `privarms_extensions.{folder}.{...}`.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple, TypeVar, cast, get_args, get_origin

from privarms.errors import PrivarmsError, check_known
from privarms.files import whole
from privarms.registry import extensions, imported
from privarms.registry.extensions import ROOT, is_extension, shown
from privarms.registry.imported import EXTENSIONS, PACKAGE

SCRIPTS = ROOT.parent / "scripts"
# The versions of all packages that jobs use.
LOCK = ROOT.parents[1] / "uv.lock"
# A file with the digest of each file at the start of a run, by the name that messages use. The variable does not have
# the digests themselves, because Grid Engine cuts variables that are longer than about 10,000 bytes.
TEXTS_VARIABLE = "PRIVARMS_TEXTS"
TEXTS_FOLDER = ".snakemake"
# Used as the family of a mechanism.
MECHANISMS = "mechanisms"
AUDITS, EVENTS = "audits", "audits/events"
# The study of an audit has a mechanism in the place of a policy, and the audit in the place of an environment.
INSTEAD = {"policies": MECHANISMS, "environments": AUDITS}


class Digest(str):
    """A digest of files, which Snakemake records and shows as this text; files: the digest of each file's text.

    In a rule it is the result of a function, because Snakemake copies a constant text.
    """

    files: Mapping[str, str]


class Argument(NamedTuple):
    """One argument: whether it is required, its allowed values, the names of its types, its default."""

    required: bool
    choices: tuple = ()
    types: tuple[str, ...] = ()
    default: object = None

    def fitting(self, where: str, value):
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


F = TypeVar("F", bound=Callable)

# The policies that `given` provides, by name.
_given: dict[str, ModuleType] = {}
# The number of calls of `refresh` that found edits.
_edits = 0


def _remembered(function: F) -> F:
    """Cache a function's results until `refresh` finds edits, and for as long as the same extensions are in use."""
    answers = cache(lambda edits, folders, *arguments, **options: function(*arguments, **options))

    @wraps(function)
    def asking(*arguments, **options):
        return answers(_edits, extensions.folders(), *arguments, **options)

    vars(asking)["cache_clear"] = answers.cache_clear
    return cast(F, asking)


def refresh() -> None:
    """Notice the files that were edited, added or removed since the last call; edited extensions are imported again.

    Raises PrivarmsError if an imported file of the library was edited.
    """
    global _edits
    changed, edited = imported.forget()
    _edits += changed
    if edited:
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


@_remembered
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
    return _dotted(source_file(room, name))


def _dotted(file: Path) -> str:
    """Return the dotted name of a file: below the package, or in full for a file of an extension."""
    for place in extensions.folders():
        if file.is_relative_to(place):
            return ".".join((EXTENSIONS, place.name, *file.relative_to(place).with_suffix("").parts))
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _full(dotted: str) -> str:
    return dotted if dotted.startswith((f"{EXTENSIONS}.", f"{PACKAGE}.")) else f"{PACKAGE}.{dotted}"


def paper_modules(paper: str, kind: str) -> list[str]:
    """Return the dotted names of a paper's modules `{kind}.py` and `{kind}_*.py`.

    kind : inference, figures or tables
    """
    places = (root / "papers" / paper for root in extensions.folders())
    folder = next((p for p in places if p.is_dir()), ROOT / "papers" / paper)
    return [_dotted(file) for file in sorted([*folder.glob(f"{kind}.py"), *folder.glob(f"{kind}_*.py")])]


def fast_path(policy: str, environment: str) -> str | None:
    """Return the dotted name of the fast path of a policy in an environment; None if there is none."""
    if policy in _given:
        return None
    file, name = source_file("policies", policy), attributes("policies", policy).get("FAST_PATHS_OF", policy)
    folder = file.parents[2] / "fast_paths" / file.parent.name
    files = (folder / f"{name}__{environment}.py", folder / f"{name}.py")
    return next((_dotted(path) for path in files if path.is_file()), None)


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
    return vars(load_module(_dotted(next(p for p in packages if (p / "__init__.py").is_file()))))


def policy_file(policy: str) -> str:
    """Return the file of a policy as messages name it."""
    return shown(source_file("policies", policy))


def load(room: str, name: str) -> ModuleType:
    """Import a module by name."""
    return _given[name] if room == "policies" and name in _given else _imported(room, name)


@_remembered
def _imported(room: str, name: str) -> ModuleType:
    return load_module(module(room, name))


def load_module(dotted: str) -> ModuleType:
    """Import a module. Raises PrivarmsError with file and line for any error in an extension's module."""
    imported.use_finder()
    try:
        module = importlib.import_module(_full(dotted))
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


@_remembered
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


@_remembered
def sources(*modules: str, script: str | None = None) -> tuple[str, ...]:
    """Return the files that some modules (dotted, below the package or in full) use, directly or not, sorted.

    Files next to a module with its name (such as a template) belong to it. Modules of the user's own, outside of an
    extension and not installed, count if an extension imports them.

    script: a file workflow/scripts/{script}.py, whose imports count too
    """
    pending = list(_imports(SCRIPTS / f"{script}.py")) if script else []
    for dotted in modules:
        if not _file_of(_full(dotted)):
            raise ModuleNotFoundError(f"no module {dotted}")
        pending += _with_packages(_full(dotted))
    used: set[Path] = set()
    while pending:
        file = pending.pop()
        if file not in used:
            used.add(file)
            pending.extend(_imports(file))
    return tuple(sorted({*map(str, used), *(str(p) for f in used for p in imported.beside(f) if p.is_file())}))


def record_texts() -> None:
    """Keep the digest of each file of the library and of extensions for this process and those that it starts.

    On a cluster the Snakemake process of a job reads the files again, perhaps after an edit. The digests are in a file
    of the run's folder, whose name depends on its text: a dry run after an edit does not change it.

    Raises PrivarmsError if the file cannot be written.
    """
    rooms = (ROOT, SCRIPTS, *(place / room for place in extensions.folders() for room in extensions.OWN_ROOMS))
    modules = [file for room in rooms for file in room.rglob("*.py")]
    files = [LOCK, *modules, *(file for module in modules for file in imported.beside(module) if file.is_file())]
    text = json.dumps({shown(file): _text(str(file)) for file in files})
    recorded = Path(TEXTS_FOLDER, f"texts-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json").absolute()
    if not recorded.exists():
        whole.write_text(recorded, text)
    os.environ[TEXTS_VARIABLE] = str(recorded)


def edited(planned: Digest) -> list[str]:
    """Return those files of a digest that have another text now, as messages name them."""
    return [shown(file) for file, text in planned.files.items() if _text(file) != text]


def digest(script: str, *modules: str) -> Digest:
    """Return a digest of a script, of the files that it and some modules use, directly or not, and of uv.lock.

    It is a parameter of the script's jobs, so an edit reruns only the jobs that use the edited file. Snakemake itself
    compares only dates, and an unpacked file may have an old one. The digest starts with "library", because Snakemake
    shows it as the reason.
    """
    own = (LOCK, SCRIPTS / f"{script}.py")
    files = {file: _digest(file) for file in (*map(str, own), *sources(*modules, script=script))}
    found = Digest(f"library {hashlib.sha256(''.join(files.values()).encode()).hexdigest()[:16]}")
    found.files = files
    return found


def imported_texts(*modules: str) -> str | None:
    """Return a digest of the `sources` of some modules, as they were imported; None if one was edited since.

    It includes the constants of modules of extensions.

    Raises ModuleNotFoundError for an unknown module.
    """
    files = sources(*modules)
    digests = "".join(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files)
    return None if any(map(imported.is_edited, files)) else digests + imported.constants(files)


@_remembered
def _digest(file: str) -> str:
    recorded = os.environ.get(TEXTS_VARIABLE)
    return (recorded and _recorded(recorded).get(shown(file))) or _text(file)


@cache
def _recorded(file: str) -> dict[str, str]:
    """Return the digests that `record_texts` kept; none if a job does not see the run's folder."""
    return json.loads(Path(file).read_text(encoding="utf-8")) if Path(file).exists() else {}


def _text(file: str) -> str:
    """Return a short digest of a file's text; empty without the file."""
    return (imported.digest(file) or "")[:16]


@_remembered
def _imports(file: Path) -> frozenset[Path]:
    """Return the files of the library and of extensions that a file imports, at any place in it."""
    targets: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), filename=str(file))):
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                package = _full(_dotted(file)).rpartition(".")[0]
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
