"""What is seen to be wrong in an extension's modules without running them: from their source text, with the line."""

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.studies import library

COMPILERS = ("njit", "jit")
# Randomness that no stream of ours seeds, by the beginning of its full name, and what of that is none.
UNSEEDED = ("numpy.random.", "random.", "secrets.", "os.urandom", "uuid.uuid")
WHOLE = ("numpy.random", "random", "secrets")
HARMLESS = ("Generator", "BitGenerator", "SeedSequence", "PCG64")
# What `from MODULE import *` brings of that.
STARS = {"numpy": {"random": "numpy.random"}}
# Options of numba that make something else of a function than what a run needs.
OPTIONS = {
    ("cache", True): "a cached kernel runs on after an edit in another file",
    ("parallel", True): "threads would share one random stream",
    ("forceobj", True): "that is Python object mode, hundreds of times slower",
    ("nopython", False): "that allows Python object mode, hundreds of times slower",
    ("boundscheck", False): "an index outside of an array would damage memory",
}
# What reads and writes memory that bounds checks do not guard.
UNGUARDED = ("as_strided", "carray", "farray", "intrinsic")


def check(room: str, name: str) -> None:
    """PrivarmsError naming file and line for a fault in a module of an extension, or in what it uses of extensions."""
    file = library.source_file(room, name)
    if not library.is_extension(file):
        return
    for used in map(Path, library.sources(library.module(room, name))):
        if library.is_extension(used) and used.suffix == ".py":
            for fault in _faults(used):
                raise PrivarmsError(fault)
    if room == "policies":
        _check_fast_paths(file, name)
    for function in _compiled_by_protocols(room, name):
        where, node = library.definition(file, function)
        if isinstance(node, ast.FunctionDef) and library.is_extension(where) and not _is_compiled(where, node):
            raise PrivarmsError(
                f"{_at(where, node)}: {node.name} has no @njit: expected that numba compiles it; add it"
            )


def line(file: Path, function: str) -> str:
    """file:line of a function, as messages name it; the file alone where it has none."""
    where, node = library.definition(file, function)
    return _at(where, node) if node is not None else library.shown(file)


def _at(file: Path, node: ast.AST) -> str:
    return f"{library.shown(file)}:{node.lineno}"


def _check_fast_paths(file: Path, policy: str) -> None:
    """SIMULATE names environments that there are, and functions with the arguments of the family's fast paths."""
    _, table = library.definition(file, "SIMULATE")
    if table is None:
        return
    at, family = _at(file, table), library.family(policy)
    wanted = library.fast_path(family)
    if wanted is None:
        raise PrivarmsError(f"{at}: SIMULATE: the family {family} has no fast paths; remove it")
    functions = library.functions(file, "SIMULATE") if isinstance(table, ast.Dict) else {}
    if not isinstance(table, ast.Dict) or len(functions) != len(table.keys):
        raise PrivarmsError(
            f'{at}: SIMULATE: expected functions of this module by the names of environments, {{"bernoulli": simulate}}'
            f"; found {ast.unparse(table)}"
        )
    for environment, function in functions.items():
        if environment not in library.names("environments"):
            known = ", ".join(library.names("environments"))
            raise PrivarmsError(f"{at}: SIMULATE: unknown environment {environment!r}; expected one of {known}")
        if library.definition(file, function)[1] is None:
            raise PrivarmsError(f"{at}: SIMULATE: no function {function} in this module; define it")
        found = tuple(library.function_arguments(file, function))
        if found != wanted:
            raise PrivarmsError(
                f"{line(file, function)}: a fast path of the family {family}: expected "
                f"{function}({', '.join(wanted)}); found {function}({', '.join(found)})"
            )


def _compiled_by_protocols(room: str, name: str) -> Iterator[str]:
    file = library.source_file(room, name)
    tree = library.tree(file)
    if room == "policies":
        family = library.family(name)
        contract = library.contract(family) if family != library.MECHANISMS else {}
        # Where a name bundles the functions they go into a kernel; others are called one by one.
        if any(isinstance(expected, str) for expected in contract.values()):
            yield from (function for function, expected in contract.items() if not isinstance(expected, str))
        yield from library.functions(file, "SIMULATE").values()
        return
    # What an environment hands to the protocol: functions that stand as values in `configure`.
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for configure in (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "configure"):
        for call in (node for node in ast.walk(configure) if isinstance(node, ast.Call)):
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            yield from (v.id for v in values if isinstance(v, ast.Name) and v.id in functions)


def _is_compiled(file: Path, function: ast.FunctionDef) -> bool:
    if any(_compiles(decorator) for decorator in function.decorator_list):
        return True
    # f = njit(f)
    values = [n.value for n in library.tree(file).body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return any(_compiles(v.func) and v.args and getattr(v.args[0], "id", None) == function.name for v in values)


def _compiles(node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return getattr(node, "attr", getattr(node, "id", None)) in COMPILERS


@cache
def _faults(file: Path) -> tuple[str, ...]:
    tree = library.tree(file)
    found = []
    names = _imported_names(tree)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    instead = (
        "expected all randomness from the `rng` that a function is given, for other draws are not seeded and no run "
        "could be repeated; use rng.random(), say"
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in WHOLE and any(a.name == "*" for a in node.names):
            found.append(f"{_at(file, node)}: {ast.unparse(node)}: {instead}")
        if isinstance(node, ast.Attribute | ast.Name) and (used := _full_name(node, names)):
            known = used.startswith(UNSEEDED) and used.rpartition(".")[2] not in HARMLESS
            # Under another name of a module anything of it may be drawn.
            known = known or (used in WHOLE and id(node) not in inner)
            if known and not _is_seeded(tree, node, used):
                found.append(f"{_at(file, node)}: {used}: {instead}")
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", None)) in COMPILERS:
            for keyword in node.keywords:
                reason = OPTIONS.get((keyword.arg, getattr(keyword.value, "value", None)))
                if reason:
                    found.append(f"{_at(file, node)}: {ast.unparse(keyword)}: {reason}; expected @njit without it")
        for target in getattr(node, "targets", ()):
            changed = _full_name(target, names) if isinstance(target, ast.Attribute) else None
            if changed and changed.startswith(f"{library.PACKAGE}."):
                found.append(f"{_at(file, node)}: {ast.unparse(node)}: expected that what is ours stays as it is")
        index = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(index, ast.Attribute) and index.attr == "flat":
            found.append(f"{_at(file, node)}: {ast.unparse(node)}: no bounds are checked there; index the array itself")
        if (getattr(node, "attr", None) or getattr(node, "id", None)) in UNGUARDED:
            found.append(f"{_at(file, node)}: {ast.unparse(node)}: no bounds are checked there; expected plain arrays")
        if isinstance(node, ast.With) and any("objmode" in ast.unparse(item.context_expr) for item in node.items):
            found.append(
                f"{_at(file, node)}: objmode: that is Python in the middle of a kernel; expected numba's alone"
            )
        if isinstance(node, ast.FunctionDef) and any(_compiles(decorator) for decorator in node.decorator_list):
            found += _changed_parameters(file, node)
            found += _prints(file, node)
    found += _not_there(file, tree)
    return tuple(found)


def _changed_parameters(file: Path, function: ast.FunctionDef) -> Iterator[str]:
    """Assignments into `params`, which all replicates of a cell share."""
    for node in ast.walk(function):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        for target in targets if isinstance(node, ast.Assign | ast.AugAssign) else ():
            within = target
            while isinstance(within, ast.Attribute | ast.Subscript):
                within = within.value
            if within is not target and getattr(within, "id", None) == "params":
                yield (
                    f"{_at(file, node)}: {ast.unparse(target)}: expected that params stay as they are, for all "
                    "replicates share them; what changes belongs into the state, which init makes anew"
                )


def _prints(file: Path, function: ast.FunctionDef) -> Iterator[str]:
    """Calls of print in what is compiled."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
            yield (
                f"{_at(file, node)}: {ast.unparse(node)}: it would print in every round of every run, millions of "
                "lines; remove it"
            )


def _not_there(file: Path, tree: ast.Module) -> Iterator[str]:
    """What a module imports at its start and what is not there."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            wanted = [library.absolute(file, node)]
        else:
            continue
        for dotted in wanted:
            package = dotted.split(".")[0]
            ours = package in (library.PACKAGE, library.EXTENSIONS)
            # A package may have no file of its own.
            there = library.is_there(dotted) if ours else importlib.util.find_spec(package) is not None
            if not there:
                yield f"{_at(file, node)}: import of {dotted}: no such module here; correct its name, or install it"


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """What the names that a module imports stand for, in full."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {
                a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
            if any(a.name == "*" for a in node.names):
                found |= STARS.get(node.module, {})
    return found


def _full_name(node: ast.expr, names: dict[str, str]) -> str | None:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *reversed(parts)])


def _is_seeded(tree: ast.Module, node: ast.expr, used: str) -> bool:
    """default_rng(3), of which parameters may be made."""
    calls = (call for call in ast.walk(tree) if isinstance(call, ast.Call) and call.func is node)
    return used == "numpy.random.default_rng" and any(call.args or call.keywords for call in calls)
