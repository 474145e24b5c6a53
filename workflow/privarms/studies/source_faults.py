"""What is seen to be wrong in an extension's modules without running them: from their source text, with the line."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.studies import library

COMPILERS = ("njit", "jit")
# Randomness that no stream of ours seeds, by the beginning of its full name, and what of that is none.
UNSEEDED = ("numpy.random.", "random.", "secrets.", "os.urandom", "uuid.uuid")
HARMLESS = ("Generator", "BitGenerator", "SeedSequence", "PCG64")
# Options of numba that make something else of a function than what a run needs.
OPTIONS = {
    ("cache", True): "a cached kernel runs on after an edit in another file",
    ("parallel", True): "threads would share one random stream",
    ("forceobj", True): "that is Python object mode, hundreds of times slower",
    ("nopython", False): "that allows Python object mode, hundreds of times slower",
}


def check(room: str, name: str) -> None:
    """PrivarmsError naming file and line for a fault in a module of an extension, or in what it uses of extensions."""
    file = library.source_file(room, name)
    if not library.is_extension(file):
        return
    for used in map(Path, library.sources(library.module(room, name))):
        if library.is_extension(used) and used.suffix == ".py":
            for fault in _faults(used):
                raise PrivarmsError(fault)
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
    def compiles(node: ast.expr) -> bool:
        node = node.func if isinstance(node, ast.Call) else node
        return getattr(node, "attr", getattr(node, "id", None)) in COMPILERS

    if any(compiles(decorator) for decorator in function.decorator_list):
        return True
    # f = njit(f)
    values = [n.value for n in library.tree(file).body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return any(compiles(v.func) and v.args and getattr(v.args[0], "id", None) == function.name for v in values)


@cache
def _faults(file: Path) -> tuple[str, ...]:
    tree = library.tree(file)
    found = []
    names = _imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and (used := _full_name(node, names)):
            known = used.startswith(UNSEEDED) and used.rpartition(".")[2] not in HARMLESS
            if known and not _is_seeded(tree, node, used):
                found.append(
                    f"{_at(file, node)}: {used}: expected all randomness from the `rng` that a function is given, for "
                    "other draws are not seeded and no run could be repeated; use rng.random(), say"
                )
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", None)) in COMPILERS:
            for keyword in node.keywords:
                reason = OPTIONS.get((keyword.arg, getattr(keyword.value, "value", None)))
                if reason:
                    found.append(f"{_at(file, node)}: {ast.unparse(keyword)}: {reason}; expected @njit without it")
    return tuple(found)


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
