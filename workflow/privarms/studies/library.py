"""What the library holds, read from its source text: no import, so that planning a run costs nothing.

Policies, environments and protocols are modules found by their names, which are unique in a room whatever package of
it a module lies in: they are hashed into random streams. A policy lies in the package of its family; an environment in
`environments`, or in `audits` with what else the audit is made of; modules that start with an underscore are private.
A module's parameters are the arguments of its `configure`; its estimated cost stands in the literals SECONDS_PER_RUN
and SECONDS_PER_STEP; the files that a job uses are the import closure of the modules that it calls.
"""

import ast
import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from privarms.errors import PrivarmsError

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT.name


@dataclass(frozen=True)
class Argument:
    """One argument: whether it must be given, its values if they are enumerated, the types of its annotation."""

    required: bool
    choices: tuple = ()
    types: tuple[str, ...] = ()


def names(room: str) -> list[str]:
    """The modules of a room of the library ("policies", "environments", "protocols"), sorted."""
    return sorted(_modules(ROOT, room))


def module(room: str, name: str) -> str:
    """The dotted name of a room's module below the package: "policies", "dp_se" -> "policies.bandit.dp_se"."""
    found = _modules(ROOT, room)
    if name not in found:
        raise ModuleNotFoundError(f"no module {name} in the room {room} of {ROOT}")
    return found[name]


def source_file(room: str, name: str) -> Path:
    """The file of a room's module."""
    return _file(module(room, name))


def family(policy: str) -> str:
    """The family of a policy: the package in which it lies. PrivarmsError for a policy outside any package."""
    _, *packages, _ = module("policies", policy).split(".")
    if not packages:
        families = ", ".join(sorted(p.parent.name for p in (ROOT / "policies").glob("*/__init__.py")))
        raise PrivarmsError(
            f"{policy_file(policy)}: expected in the package of its family, policies/FAMILY/{policy}.py, FAMILY one "
            f"of {families}"
        )
    return packages[0]


def policy_file(policy: str) -> str:
    """The file of a policy as messages name it."""
    return _shown(source_file("policies", policy))


def _shown(file: Path) -> str:
    return str(file.relative_to(ROOT.parents[1]))


def load(room: str, name: str) -> ModuleType:
    """Import one module of a room."""
    return importlib.import_module(f"{PACKAGE}.{module(room, name)}")


def _file(dotted: str) -> Path:
    return ROOT.joinpath(*dotted.split(".")).with_suffix(".py")


@cache
def _modules(root: Path, room: str) -> dict[str, str]:
    """name -> dotted name below the package, of all public modules of a room. PrivarmsError for a name in use twice."""
    files = sorted([*(root / room).glob("*.py"), *(root / room).glob("*/*.py")])
    if room == "environments":
        # Beside the audits lies what reduces their counts.
        files += [p for p in sorted((root / "audits").glob("*.py")) if _defines(p, "configure")]
    found: dict[str, Path] = {}
    for path in files:
        if path.stem.startswith("_"):
            continue
        if path.stem in found:
            first, second = _shown(found[path.stem]), _shown(path)
            raise PrivarmsError(
                f"{second}: {path.stem}: expected a name that no other module of {room} has, for names are hashed into "
                f"random streams; {first} has it; rename one of them"
            )
        found[path.stem] = path
    return {name: ".".join(path.relative_to(root).with_suffix("").parts) for name, path in found.items()}


def _defines(path: Path, function: str) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == function for node in _tree(path).body)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def literals(room: str, name: str) -> dict:
    """The module-level names of a module that are bound to plain literals (LABEL, SECONDS_PER_STEP, ...)."""
    return _literals(source_file(room, name))


def contract(family: str) -> dict[str, tuple | str]:
    """What a policy of a family exports: a function's arguments by its name, or the text that a name is bound to."""
    package = ROOT / "policies" / family / "__init__.py"
    found = _literals(package).get("CONTRACT") if package.is_file() else None
    if found is None:
        raise PrivarmsError(f"{_shown(package)}: CONTRACT: expected a literal of this name in the package of a family")
    return found


@cache
def _literals(file: Path) -> dict:
    found = {}
    for node in _tree(file).body:
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
    for node in reversed(_tree(file).body):
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
                    module = _library_file(node.module)
                    return definition(module, alias.name) if module else (file, None)
    return file, None


def _imported_module(file: Path, name: str) -> Path | None:
    """The library module that a file imports under a name."""
    for node in _tree(file).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _library_file(f"{node.module}.{alias.name}")
    return None


def _library_file(dotted: str | None) -> Path | None:
    package, *parts = (dotted or "").split(".")
    files = _files_of(parts) if package == PACKAGE else []
    return files[0] if files else None


def _argument(node: ast.arg, required: bool) -> Argument:
    names = {n.id for n in ast.walk(node.annotation) if isinstance(n, ast.Name)} if node.annotation else set()
    return Argument(required, _choices(node.annotation), tuple(sorted(names & {"int", "float", "str", "bool"})))


def functions(file: Path, table: str) -> dict[str, str]:
    """A module-level dict of functions of a file (FIGURES, TABLES, ...): key -> the name of the function, or of the one
    that makes it."""
    for node in _tree(file).body if file.is_file() else ():
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
    """The library files that one file imports, wherever in its text the import stands."""
    found = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            targets = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for target in targets:
            parts = target.split(".")
            if parts[0] == PACKAGE:
                for depth in range(1, len(parts) + 1):
                    found.update(_files_of(parts[1:depth]))
    return found


def _files_of(parts: list[str]) -> list[Path]:
    place = ROOT.joinpath(*parts)
    return [p for p in (place.with_suffix(".py"), place / "__init__.py") if parts and p.is_file()]


@cache
def sources(*modules: str, script: str | None = None) -> tuple[str, ...]:
    """The library files that the given modules (dotted, below the package) use, directly or not, sorted.

    script: a file beside the library, workflow/scripts/<script>.py, whose imports count too

    A job that calls these modules lists these files as inputs, so that an edit re-runs what it touches. Package data
    that stands beside a module under the same name (a template, say) counts with it.
    """
    todo = list(_imported(ROOT.parent / "scripts" / f"{script}.py")) if script else []
    for module in modules:
        parts = module.split(".")
        if not _files_of(parts):
            raise ModuleNotFoundError(f"no module {module} in {ROOT}")
        todo += [p for depth in range(1, len(parts) + 1) for p in _files_of(parts[:depth])]
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        todo.extend(_imported(path))
    beside = {q for p in seen if p.stem != "__init__" for q in p.parent.glob(f"{p.stem}.*") if q.suffix != ".pyc"}
    return tuple(sorted(str(p) for p in seen | beside))


@cache
def is_parameter(name: str) -> bool:
    """Whether some policy or environment has a parameter of this name."""
    return any(name in arguments(room, one) for room in ("policies", "environments") for one in names(room))
