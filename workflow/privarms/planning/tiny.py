"""Scale `tiny`: the studies of scale quick, cut by one rule, for a first try and for the tests of the pipeline.

| of a study | at scale tiny |
|---|---|
| `replicates`, `block` | at most RUNS and BLOCK; 1 in an audit |
| `horizon`, `n_aux`, and `first` and `count` of its checkpoints | n becomes `fewer(n)` |
| `batch`, the users between two updates | divided by BATCH, because there are so much fewer users |
| an axis of more than LONG numbers | its first LONG |

Different horizons stay different, in the same order. An audit keeps its horizon and its grid, because they decide
whether the audited event can happen. The rule knows no name of a study or policy.
"""

import math
from collections.abc import Mapping
from typing import Any

from privarms.planning.studies import Axes

RUNS, BLOCK = 2, 1
ROUNDS, BATCH, LONG = 100, 20, 2


def fewer(rounds: int) -> int:
    """Return a number of rounds or users: up to ROUNDS unchanged, then ten more for each further power of ten."""
    return rounds if rounds <= ROUNDS else ROUNDS + math.ceil(10 * math.log10(rounds / ROUNDS))


# Of these keys a study, an entry of its policies and a grid may have some.
RULES = {
    "replicates": lambda runs: min(runs, RUNS),
    "block": lambda runs: min(runs, BLOCK),
    "horizon": fewer,
    "n_aux": fewer,
    "batch": lambda users: max(users // BATCH, 1),
}


def cut(study: Mapping, audit: bool = False) -> dict:
    """Return a study, or an entry of its policies, of scale quick at scale tiny."""
    audit = audit or "audit" in study
    changed: dict[str, Any]
    if audit:
        changed = {key: 1 for key in ("replicates", "block") if key in study}
    else:
        changed = _shorter(study)
        if "checkpoints" in study:
            rule = study["checkpoints"]
            changed["checkpoints"] = {**rule, "count": min(rule["count"], 8), "first": fewer(rule["first"])}
        if "grid" in study:
            grid = study["grid"]
            changed["grid"] = [_few(one) for one in grid] if isinstance(grid, list) else _few(grid)
    if "policies" in study:
        changed["policies"] = [cut(entry, audit) for entry in study["policies"]]
    return {**study, **changed}


def _shorter(values: Mapping) -> dict:
    """Return the values with a rule for each number, in the same order, without repetition."""
    changed = {}
    for key in RULES.keys() & values.keys():
        value = values[key]
        many = list(dict.fromkeys(RULES[key](one) for one in value)) if isinstance(value, list) else RULES[key](value)
        changed[key] = many
    return changed


def _few(grid: Mapping | Axes) -> Mapping | Axes:
    """Return a grid with shorter horizons and few values of long axes; it may be the row of a table."""
    if isinstance(grid, Axes):
        return Axes.model_validate(_few(grid.parameters)).at(grid.place)
    few = dict(grid)
    for key, axis in grid.items():
        if isinstance(axis, list) and len(axis) > LONG and not any(isinstance(one, str) for one in axis):
            few[key] = axis[:LONG]
    return few | _shorter(few)
