"""The list of mutants is whole: each one can be put in, and together they hit everything on which results rest."""

import ast
from functools import cache
from pathlib import Path

import pytest

from privarms.studies import library

from ...mutants.listed import ROOT, load

MUTANTS = load()
INFERENCE = library.ROOT / "inference"
LEAST = 45


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_put_in(mutant):
    text = mutant.path(ROOT).read_text(encoding="utf-8")
    assert text.count(mutant.text) == 1
    assert mutant.becomes != mutant.text
    ast.parse(text.replace(mutant.text, mutant.becomes))
    assert mutant.fault
    assert mutant.tests
    assert all((ROOT / "tests" / test).exists() for test in mutant.tests)
    # A paper without claims would stop the run before its first mutant.
    assert all((ROOT / "config" / "claims" / f"{paper}.yaml").is_file() for paper in mutant.papers)


def test_they_hit_every_policy_every_mechanism_and_every_inference_function():
    assert len(MUTANTS) >= LEAST
    assert unhit(MUTANTS) == []


def test_what_no_mutant_hits_is_named():
    spared = ("policies/bandit/ucb1.py", "mechanisms/l2_ball.py", "inference/uniformity.py", "inference/atoms.py")
    assert unhit([mutant for mutant in MUTANTS if mutant.file not in spared]) == [
        "policies/bandit/ucb1.py",
        "mechanisms/l2_ball.py",
        "inference/atoms.py: atoms",
        "inference/uniformity.py: ks_uniform",
        "inference/uniformity.py: rejection_rate",
    ]


def test_a_function_is_hit_in_its_own_text_or_in_that_of_its_private_helpers():
    (mutant,) = (m for m in MUTANTS if m.name == "max_information_power_of_two")
    assert hits(mutant, "max_information", "corrected_level")
    assert not hits(mutant, "max_information", "log_corrected_level")
    assert not hits(mutant, "uniformity", "ks_uniform")
    assert {"log_corrected_level", "best_beta", "_unit"} <= {
        name for stem, name in rested_upon() if stem == "max_information"
    }
    # Only tests and readers of the library call it.
    assert ("regression", "coefficient_test") not in rested_upon()


def unhit(mutants) -> list[str]:
    """What stands in the library and is hit by no mutant."""
    files = [library.source_file("policies", name) for name in library.names("policies")]
    files += [p for p in sorted((library.ROOT / "mechanisms").glob("*.py")) if not p.stem.startswith("_")]
    whole = [str(path.relative_to(library.ROOT)) for path in files]
    missed = [name for name in whole if all(mutant.file != name for mutant in mutants)]
    for stem, name in sorted(rested_upon()):
        if not name.startswith("_") and not any(hits(mutant, stem, name) for mutant in mutants):
            missed.append(f"inference/{stem}.py: {name}")
    return missed


def hits(mutant, stem: str, function: str) -> bool:
    """Whether the replaced text stands in a function of inference/{stem}.py, or in a private one that it uses."""
    if mutant.file != f"inference/{stem}.py":
        return False
    text = mutant.path(ROOT).read_text(encoding="utf-8")
    at = text.index(mutant.text)
    first = text.count("\n", 0, at) + 1
    last = first + mutant.text.rstrip("\n").count("\n")
    own, todo = set(), [function]
    while todo:
        name = todo.pop()
        if name in own:
            continue
        own.add(name)
        todo += [other for place, other in used(INFERENCE / f"{stem}.py", name) if place == stem and other[0] == "_"]
    return any(
        defined(stem)[name].lineno <= first and last <= defined(stem)[name].end_lineno
        for name in own & set(defined(stem))
    )


@cache
def rested_upon() -> set[tuple[str, str]]:
    """(module, function) of inference/ that the rest of the library calls, directly or through one another."""
    # What only the command `privarms` calls is no result.
    callers = [p for p in library.ROOT.rglob("*.py") if p.parent != INFERENCE and p.name != "command.py"]
    todo = [call for path in callers for call in used(path)]
    found: set[tuple[str, str]] = set()
    while todo:
        stem, name = call = todo.pop()
        if call not in found and name in defined(stem):
            found.add(call)
            todo += used(INFERENCE / f"{stem}.py", name)
    return found


@cache
def defined(stem: str) -> dict[str, ast.FunctionDef]:
    """The functions of a module of inference/."""
    path = INFERENCE / f"{stem}.py"
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


@cache
def used(path: Path, function: str | None = None) -> set[tuple[str, str]]:
    """(module, name) of what a file, or one of its functions, uses of inference/."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules, names = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "privarms.inference":
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("privarms.inference."):
            stem = node.module.rpartition(".")[2]
            names |= {alias.asname or alias.name: (stem, alias.name) for alias in node.names}
    if path.parent == INFERENCE:
        names |= {name: (path.stem, name) for name in defined(path.stem)}
    found = set()
    for node in ast.walk(tree if function is None else defined(path.stem)[function]):
        if isinstance(node, ast.Name) and node.id in names:
            found.add(names[node.id])
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.add((modules[node.value.id], node.attr))
    return found
