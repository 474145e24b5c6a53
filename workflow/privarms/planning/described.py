"""The settings of cells in words: which policies ran, with which parameters, and how often."""

import re
from collections.abc import Iterable, Sequence

from privarms.execution.cell import Cell
from privarms.registry.modules import EnvironmentModule, PolicyModule

# Longer lists of values are given by their ends.
LISTED = 5
# The name of a parameter in the papers -> its name in a cell.
COLUMNS = {"K": "K", "d": "dimensions", "epsilon": "epsilon", "n": "horizon"}
# Parameters of audits only, and the variant, which has a column of its own.
LEFT_OUT = ("variant", "neighbour", "event")


def settings(cells: Iterable[Cell], artifacts: Iterable[str]) -> list[dict[str, str]]:
    """Return a row of texts per policy, variant and number of runs: policy, variant, COLUMNS, runs and others.

    If panels of the grid have the artifacts' names, up to an underscore, only the cells of these panels count.
    """
    cells = list(cells)
    cells = [cell for cell in cells if any(_is_in(cell, one) for one in artifacts)] or cells
    groups: dict[tuple, list[tuple[dict, dict]]] = {}
    for cell in cells:
        group = cell.policy, cell.variant, cell.replicates
        groups.setdefault(group, []).append((_parameters(cell), _defaults(cell)))
    rows = []
    for (policy, variant, runs), some in groups.items():
        names = dict.fromkeys(name for values, _ in some for name in values)
        # Where only some cells give a parameter, the others have its default.
        values = {k: [{**own, **one}[k] for one, own in some if k in one or k in own] for k in names}
        texts = {name: in_words(found) for name, found in values.items()}
        others = (f"{name} {text}" for name, text in texts.items() if name not in COLUMNS.values())
        label, variant = PolicyModule(policy).label, variant.replace("_", " ")
        variant = "" if label.endswith(f"({variant})") else variant
        about = {"policy": label, "variant": variant, "runs": _grouped(runs)}
        rows.append(about | {name: texts.get(own, "") for name, own in COLUMNS.items()} | {"others": "; ".join(others)})
    return rows


def _is_in(cell: Cell, artifact: str) -> bool:
    return any(f"{artifact}_".startswith(f"{panel}_") for panel in re.split(r"[ |]", cell.panels) if panel)


def _parameters(cell: Cell) -> dict:
    """Return the parameters of a cell, with those of COLUMNS that it leaves at their default."""
    own = _defaults(cell)
    defaults = {k: own[k] for k in COLUMNS.values() if own.get(k) is not None}
    horizon = {"horizon": cell.horizon} if cell.horizon is not None else {}
    return {k: v for k, v in (defaults | cell.parameters | horizon).items() if k not in LEFT_OUT}


def _defaults(cell: Cell) -> dict:
    """Return the defaults of a cell's parameters, without those that its environment provides."""
    takes = {**EnvironmentModule(cell.environment).arguments, **PolicyModule(cell.policy).arguments}
    provided = EnvironmentModule(cell.environment).tells
    return {k: one.default for k, one in takes.items() if not one.required and k not in provided}


def in_words(values: Sequence) -> str:
    """Return the different values: "1, 2, 4", or "0 to 2 (11 values)" if they are many numbers.

    A text of several numbers, such as the budgets of two sources, is in parentheses. None is "default", "" is "none".
    """
    found = list(dict.fromkeys(values))
    if any(value is None or isinstance(value, str) for value in found):
        return ", ".join(map(_in_words, found))
    found.sort()
    texts = list(map(_grouped, found))
    return ", ".join(texts) if len(texts) <= LISTED else f"{texts[0]} to {texts[-1]} ({len(texts)} values)"


def _in_words(value) -> str:
    if value is None:
        return "default"
    if not isinstance(value, str):
        return _grouped(value)
    return f"({', '.join(value.split())})" if re.fullmatch(r"[\d.]+( [\d.]+)+", value) else value or "none"


def _grouped(number: float) -> str:
    """Return a number, in groups of three digits if it has more than four."""
    return f"{number:,}".replace(",", "\u202f") if abs(number) >= 10_000 and number == int(number) else f"{number:g}"
