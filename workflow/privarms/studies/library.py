"""What the library holds, read from its source text: no import, so that planning a run costs nothing.

Policies, environments and protocols are modules found by their names, which are unique in a room whatever package of
it a module lies in: they are hashed into random streams. A policy lies in the package of its family; an environment in
`environments`, or in `audits` with what else the audit is made of; modules that start with an underscore are private.
What an audit is about may be a mechanism too, which is then found where a policy is. A module's parameters are the
arguments of its `configure`; its estimated cost stands in the literals SECONDS_PER_RUN
and SECONDS_PER_STEP; the files that a job uses are the import closure of the modules that it calls.

Extensions, folders of a researcher's own, have some of the same rooms. Their modules are found by name like ours, and
are imported below `privarms_extensions`, each folder a package: the dotted name of such a module begins with that.
"""

import ast
import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from privarms.errors import PrivarmsError

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT.name

EXTENSIONS = "privarms_extensions"
# The process that the user started tells its jobs of the folders.
EXTENSIONS_VARIABLE = "PRIVARMS_EXTENSIONS"
OPEN_ROOMS = ("policies", "environments", "audits", "protocols")
OWN_ROOMS = (*OPEN_ROOMS, "mechanisms", "studies", "claims", "published", "artifacts")
# The family, in words of an audit, of what is no policy.
MECHANISMS = "mechanisms"
# Searched for and not parsed: parsing all audits takes most of a tenth of a second, and every job asks.
DEFINES_CONFIGURE = re.compile(r"^def\s+configure\b", re.MULTILINE)


@dataclass(frozen=True)
class Argument:
    """One argument: whether it must be given, its values if they are enumerated, the types of its annotation."""

    required: bool
    choices: tuple = ()
    types: tuple[str, ...] = ()


def extend(folders: Sequence[Path | str]) -> None:
    """Take the modules of these folders too, here and in the processes that are started from here.

    PrivarmsError for a folder that is not there, that holds nothing for us, or whose name cannot be a package's.
    """
    places: list[Path] = []
    for folder in folders:
        place, at = Path(folder).resolve(), f"extensions: {folder}"
        if not place.is_dir():
            raise PrivarmsError(f"{at}: no such folder, looked for at {place}; expected one with policies/, studies/")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", place.name):
            raise PrivarmsError(
                f"{at}: expected a folder whose name has small letters, digits and _ alone; rename {place.name}"
            )
        if place.name in (p.name for p in places):
            raise PrivarmsError(f"{at}: expected folders of different names; two are called {place.name}")
        if not any((place / room).is_dir() for room in OWN_ROOMS):
            raise PrivarmsError(f"{at}: expected one of the folders {', '.join(OWN_ROOMS)} in it; found none")
        for room in OWN_ROOMS:
            one = f"{room.removesuffix('ies')}y" if room.endswith("ies") else room.removesuffix("s")
            if one != room and (place / one).is_dir():
                raise PrivarmsError(f"{at}: {one}/: nobody reads a folder of this name; call it {room}/")
        for room in OPEN_ROOMS:
            for file in sorted((place / room).rglob("*.py")):
                if not file.stem.isidentifier():
                    raise PrivarmsError(
                        f"{shown(file)}: expected a name that a Python module can have, of letters, digits and _ "
                        f"alone; rename it, to {re.sub(r'[^a-z0-9_]', '_', file.stem.lower())}.py, say"
                    )
        places.append(place)
    os.environ[EXTENSIONS_VARIABLE] = os.pathsep.join(map(str, places))


def extensions() -> tuple[Path, ...]:
    """The folders that were taken."""
    return _folders(os.environ.get(EXTENSIONS_VARIABLE, ""))


@cache
def _folders(listed: str) -> tuple[Path, ...]:
    return tuple(map(Path, filter(None, listed.split(os.pathsep))))


def is_extension(file: Path | str) -> bool:
    """Whether a file lies in an extension."""
    return any(Path(file).is_relative_to(place) for place in extensions())


def names(room: str) -> list[str]:
    """The modules of a room of the library and its extensions ("policies", "environments", "protocols"), sorted."""
    return sorted(_modules(_roots(room), room))


def module(room: str, name: str) -> str:
    """The dotted name of a room's module below the package: "policies", "dp_se" -> "policies.bandit.dp_se"."""
    return _dotted(source_file(room, name))


def mechanisms() -> list[str]:
    """The public modules of the room of mechanisms, sorted."""
    return sorted(p.stem for p in (ROOT / MECHANISMS).glob("*.py") if not p.stem.startswith("_"))


def claims_epsilon(policy: str) -> bool:
    """Whether a policy has a privacy budget, the parameter `epsilon`; PRIVATE = False in its module says it is none."""
    return "epsilon" in arguments("policies", policy) and literals("policies", policy).get("PRIVATE", True)


def audits() -> dict[str, tuple[str, ...]]:
    """The audits of the library and its extensions by name, and the policies and mechanisms that each is about.

    Those that are about any policy of a family (FAMILIES) are about none by name.
    """
    found = {}
    for name in names("environments"):
        if source_file("environments", name).parent.name == "audits":
            subjects = literals("environments", name).get("SUBJECT", ())
            found[name] = (subjects,) if isinstance(subjects, str) else tuple(subjects)
    return found


def has_audit(policy: str) -> bool:
    """Whether an audit of the library is about a policy of it, by name."""
    ours = not is_extension(source_file("policies", policy))
    return ours and any(policy in subjects for subjects in audits().values())


def source_file(room: str, name: str) -> Path:
    """The file of a room's module."""
    found = _modules(_roots(room), room)
    if name not in found and room == "policies" and name in mechanisms():
        return ROOT / MECHANISMS / f"{name}.py"
    if name not in found:
        raise ModuleNotFoundError(f"no module {name} in the room {room} of {ROOT}")
    return found[name]


def artifacts_file(paper: str, name: str) -> Path:
    """The file of a module of a paper's artifacts (inference, figures, tables, claims), whether or not it is there."""
    places = [root / "artifacts" / paper for root in (*extensions(), ROOT)]
    return next((p for p in places if p.is_dir()), places[-1]) / f"{name}.py"


def artifacts_module(paper: str, name: str) -> str:
    """Its dotted name."""
    return _dotted(artifacts_file(paper, name))


def _roots(room: str) -> tuple[Path, ...]:
    return (ROOT, *(extensions() if room in OPEN_ROOMS else ()))


def _dotted(file: Path) -> str:
    """A module's name below the package, or in full if it is an extension's."""
    if place := _extension_of(file):
        return ".".join((EXTENSIONS, place.name, *file.relative_to(place).with_suffix("").parts))
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _extension_of(file: Path) -> Path | None:
    return next((place for place in extensions() if file.is_relative_to(place)), None)


def family(policy: str) -> str:
    """The family of a policy: the package in which it lies. PrivarmsError for a policy outside any package."""
    package = source_file("policies", policy).parent
    known = {p.parent.name for root in _roots("policies") for p in (root / "policies").glob("*/__init__.py")}
    if package.name not in (*known, MECHANISMS):
        families = ", ".join(sorted(known))
        raise PrivarmsError(
            f"{policy_file(policy)}: expected in the package of its family, policies/FAMILY/{policy}.py, FAMILY one "
            f"of {families}"
        )
    return package.name


def policy_file(policy: str) -> str:
    """The file of a policy as messages name it."""
    return shown(source_file("policies", policy))


def shown(file: Path) -> str:
    """A source file as messages name it: from the project's folder or, an extension's, from the working directory."""
    above = Path.cwd() if is_extension(file) else ROOT.parents[1]
    return str(file.relative_to(above)) if file.is_relative_to(above) else str(file)


def load(room: str, name: str) -> ModuleType:
    """Import one module of a room."""
    return load_module(module(room, name))


def load_module(dotted: str) -> ModuleType:
    """Import a module of the library or of an extension."""
    if not dotted.startswith(f"{EXTENSIONS}."):
        return importlib.import_module(f"{PACKAGE}.{dotted}")
    for name, places in ((EXTENSIONS, []), *((f"{EXTENSIONS}.{p.name}", [str(p)]) for p in extensions())):
        # Packages without a file of their own; what lies below is found by their paths.
        sys.modules.setdefault(name, ModuleType(name)).__path__ = places
    return importlib.import_module(dotted)


@cache
def _modules(roots: tuple[Path, ...], room: str) -> dict[str, Path]:
    """name -> file, of all public modules of a room. PrivarmsError for a name in use twice."""
    files: list[Path] = []
    for root in roots:
        files += sorted([*(root / room).glob("*.py"), *(root / room).glob("*/*.py")])
        if room == "environments":
            # Beside the audits lies what reduces their counts.
            files += [p for p in sorted((root / "audits").glob("*.py")) if _defines_configure(p)]
    found: dict[str, Path] = {}
    for path in files:
        if path.stem.startswith("_"):
            continue
        if path.stem in found:
            first, second = shown(found[path.stem]), shown(path)
            raise PrivarmsError(
                f"{second}: {path.stem}: expected a name that no other module of {room} has, for names are hashed into "
                f"random streams; {first} has it; rename one of them"
            )
        found[path.stem] = path
    for name in mechanisms() if room == "policies" else ():
        if name in found:
            raise PrivarmsError(
                f"{shown(found[name])}: {name}: expected a name that no mechanism has, for audits are about either; "
                f"mechanisms/{name}.py has it; rename the policy"
            )
    return found


def _defines_configure(path: Path) -> bool:
    if is_extension(path):
        tree(path)  # An extension's file that is not Python is refused before it is found to define nothing.
    return DEFINES_CONFIGURE.search(_text(path)) is not None


@cache
def tree(path: Path) -> ast.Module:
    """A file's source text, parsed; PrivarmsError for one that is not Python."""
    return _parsed(path, _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PrivarmsError(f"{shown(path)}: not UTF-8 text (its byte {error.start + 1}); save it as UTF-8") from error


def _parsed(path: Path, text: str) -> ast.Module:
    try:
        return ast.parse(text, filename=str(path))
    except SyntaxError as error:
        raise PrivarmsError(f"{shown(path)}:{error.lineno}: not valid Python: {error.msg}; correct it") from error


def literals(room: str, name: str) -> dict:
    """The module-level names of a module that are bound to plain literals (LABEL, SECONDS_PER_STEP, ...)."""
    return _literals(source_file(room, name))


def contract(family: str) -> dict[str, tuple | str]:
    """What a policy of a family exports: a function's arguments by its name, or the text that a name is bound to."""
    packages = [root / "policies" / family / "__init__.py" for root in _roots("policies")]
    for package in packages:
        if package.is_file() and "CONTRACT" in _literals(package):
            return _literals(package)["CONTRACT"]
    raise PrivarmsError(f"{shown(packages[0])}: CONTRACT: expected a literal of this name in the package of a family")


def fast_path(family: str) -> tuple[str, ...] | None:
    """The arguments of the fast paths of a family; None for one that has none."""
    packages = [root / "policies" / family / "__init__.py" for root in _roots("policies")]
    return next((_literals(p).get("FAST_PATH") for p in packages if p.is_file()), None)


@cache
def _literals(file: Path) -> dict:
    found = {}
    for node in tree(file).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def arguments(room: str, name: str) -> dict[str, Argument]:
    """The arguments of a module's `configure`, in order."""
    return function_arguments(source_file(room, name), "configure")


@cache
def function_arguments(file: Path, function: str) -> dict[str, Argument]:
    """The arguments of a function that a file defines or imports from the library, in order; none for any other."""
    where, node = definition(file, function)
    if isinstance(node, ast.FunctionDef):
        positional = node.args.posonlyargs + node.args.args
        missing = len(positional) - len(node.args.defaults)
        found = {a.arg: _argument(a, i < missing) for i, a in enumerate(positional)}
        for a, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            found[a.arg] = _argument(a, default is None)
        return found
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
        # partial(f, 1, b=2), or a decorator that is called: njit(f).
        found = function_arguments(where, node.args[0].id)
        bound = [*list(found)[: len(node.args) - 1], *(keyword.arg for keyword in node.keywords)]
        return {k: argument for k, argument in found.items() if k not in bound}
    return {}


def definition(file: Path, name: str) -> tuple[Path, ast.AST | None]:
    """The file and the function or expression to which a module-level name of a file is bound, or None.

    Names for other names and imports from the library are followed.
    """
    # The last binding is the one that holds.
    for node in reversed(tree(file).body):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return file, node
        if isinstance(node, ast.Assign) and name in [getattr(target, "id", None) for target in node.targets]:
            value = node.value
            if isinstance(value, ast.Call) and value.args and getattr(value.args[0], "id", None) == name:
                continue  # f = njit(f)
            if isinstance(value, ast.Name) and value.id != name:
                return definition(file, value.id)
            if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
                module = _imported_module(file, value.value.id)
                return definition(module, value.attr) if module else (file, None)
            return file, value
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    module = _library_file(absolute(file, node))
                    return definition(module, alias.name) if module else (file, None)
    return file, None


def _imported_module(file: Path, name: str) -> Path | None:
    """The library module that a file imports under a name."""
    for node in tree(file).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _library_file(f"{absolute(file, node)}.{alias.name}")
    return None


def _library_file(dotted: str) -> Path | None:
    files = _files_of(dotted)
    return files[0] if files else None


def absolute(file: Path, node: ast.ImportFrom) -> str:
    """The full name of the module from which a file imports."""
    if node.level == 0:
        return node.module or ""
    dotted = _dotted(file)
    own = (dotted if dotted.startswith(f"{EXTENSIONS}.") else f"{PACKAGE}.{dotted}").removesuffix(".__init__")
    # In a package's own file one dot is the package itself.
    up = node.level - (file.stem == "__init__")
    package = own.split(".")[: -up or None]
    return ".".join([*package, *([node.module] if node.module else [])])


def _argument(node: ast.arg, required: bool) -> Argument:
    names = {n.id for n in ast.walk(node.annotation) if isinstance(n, ast.Name)} if node.annotation else set()
    return Argument(required, _choices(node.annotation), tuple(sorted(names & {"int", "float", "str", "bool"})))


def functions(file: Path, table: str) -> dict[str, str]:
    """A module-level dict of functions of a file (FIGURES, TABLES, ...): key -> the name of the function, or of the one
    that makes it."""
    for node in tree(file).body if file.is_file() else ():
        if isinstance(node, ast.Assign) and [getattr(t, "id", None) for t in node.targets] == [table]:
            made = [v.func if isinstance(v, ast.Call) else v for v in node.value.values]
            pairs = zip(node.value.keys, made, strict=True)
            return {k.value: v.id for k, v in pairs if isinstance(k, ast.Constant) and isinstance(v, ast.Name)}
    return {}


def environment_arguments(name: str) -> dict[str, Argument]:
    """The parameters of an environment; one that is made of real data (DATASET) takes a dataset's name for `data`."""
    found = dict(arguments("environments", name))
    if literals("environments", name).get("DATASET"):
        found.pop("data")
        found = {"dataset": Argument(required=True), **found}
    return found


def _choices(annotation: ast.expr | None) -> tuple:
    subscript = isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name)
    if not subscript or annotation.value.id != "Literal":
        return ()
    return tuple(ast.literal_eval(e) for e in getattr(annotation.slice, "elts", [annotation.slice]))


@cache
def _imported(path: Path) -> set[Path]:
    """The files of the library and of extensions that one file imports, wherever in its text the import stands."""
    return {file for target in _imports(path) for file in _with_packages(target)}


def _imports(path: Path) -> list[str]:
    """The full names that a file imports."""
    text = _text(path)
    targets: list[str] = []
    # This very text, and not what the file may hold by now.
    for node in _statements(_parsed(path, text).body):
        if isinstance(node, ast.Import):
            targets += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            of = absolute(path, node) if node.level else node.module or ""
            targets += [of, *(f"{of}.{alias.name}" for alias in node.names)]
    return targets


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a body, those within others too; of a file they are a tenth of what `ast.walk` visits."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, part, []))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(part.body)


def _with_packages(dotted: str) -> Iterator[Path]:
    """The files of a module and of the packages around it; dotted: its full name."""
    parts = dotted.split(".")
    for depth in range(2, len(parts) + 1):
        yield from _files_of(".".join(parts[:depth]))


def is_there(dotted: str) -> bool:
    """Whether there is a module or package of the library or of an extension, by its full name."""
    package, *parts = dotted.split(".")
    if package == EXTENSIONS and parts:
        places = [place.parent for place in extensions() if place.name == parts[0]]
    else:
        places = [ROOT] if package == PACKAGE else []
    return bool(_files_of(dotted)) or any(place.joinpath(*parts).is_dir() for place in places)


def _files_of(dotted: str) -> list[Path]:
    """The file of a module, or of a package, of the library or of an extension, by its full name."""
    package, *parts = dotted.split(".")
    places = [ROOT] if package == PACKAGE else []
    if package == EXTENSIONS and parts:
        name, *parts = parts
        places = [place for place in extensions() if place.name == name]
    candidates = [
        p
        for place in places
        for p in (place.joinpath(*parts).with_suffix(".py"), place.joinpath(*parts, "__init__.py"))
    ]
    return [p for p in candidates if parts and p.is_file()]


def sources(*modules: str, script: str | None = None) -> tuple[str, ...]:
    """The library files that the given modules (dotted, below the package or in full) use, directly or not, sorted.

    script: a file beside the library, workflow/scripts/<script>.py, whose imports count too

    A job that calls these modules lists these files as inputs, so that an edit re-runs what it touches. Package data
    that stands beside a module under the same name (a template, say) counts with it.
    """
    return _sources(modules, script, extensions())


@cache
def _sources(modules: tuple[str, ...], script: str | None, _: tuple[Path, ...]) -> tuple[str, ...]:
    todo = list(_imported(ROOT.parent / "scripts" / f"{script}.py")) if script else []
    for module in modules:
        dotted = module if module.startswith(f"{EXTENSIONS}.") else f"{PACKAGE}.{module}"
        if not _files_of(dotted):
            raise ModuleNotFoundError(f"no module {module} in {ROOT}")
        todo += _with_packages(dotted)
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        todo.extend(_imported(path))
    return tuple(sorted(str(p) for p in seen.union(*map(_of_the_same_name, seen))))


@cache
def _of_the_same_name(path: Path) -> set[Path]:
    """The files that stand beside a module under its name, itself among them."""
    return {p for p in path.parent.glob(f"{path.stem}.*") if p.suffix != ".pyc"} if path.stem != "__init__" else set()


@cache
def is_parameter(name: str) -> bool:
    """Whether some policy or environment has a parameter of this name."""
    return any(name in arguments(room, one) for room in ("policies", "environments") for one in names(room))
