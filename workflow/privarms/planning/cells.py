"""A study's cells: its grid crossed with its policies."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from privarms.errors import PrivarmsError
from privarms.execution.cell import Cell
from privarms.planning.checks import check_study
from privarms.planning.studies import Entry, Study, listed
from privarms.registry.modules import EnvironmentModule, PolicyModule, ProtocolModule


def expand(file: str, paper: str, name: str, study: Study) -> list[Cell]:
    """Return the cells of a study, in the order of its policies and its grid.

    A grid parameter that a policy does not take is dropped for that policy. Cells that then coincide are one cell, in
    the panels of both. Raises PrivarmsError with file and key for the faults that `checks.check_study` finds, a missing
    parameter, or a horizon below the number of arms.
    """
    where = f"{file}: studies.{name}"
    check_study(where, study)
    cells: dict[str, Cell] = {}
    for at, entry in study.entries(where):
        for values in _points(study, entry):
            _join(at, cells, _cell(at, where, paper, name, study, entry, values))
    if ProtocolModule(study.protocol).family is None:
        _check_neighbours(where, cells)
    return list(cells.values())


def _points(study: Study, entry: Entry) -> Iterator[dict]:
    """Yield the values of a policy's cells: the environment's, then those of the grid, then the policy's own."""
    points = [point for axes in study.grid_of(entry) for point in _product(axes.parameters)] or [{}]
    for point, chosen in itertools.product(points, _product(entry.parameters)):
        yield {**study.environment.parameters, **point, **chosen}


def _product(axes: Mapping) -> list[dict]:
    """Return the points of a grid: the product of its listed axes."""
    lists = [listed(v) for v in axes.values()]
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*lists)]


def _cell(at: str, where: str, paper: str, name: str, study: Study, entry: Entry, values: Mapping[str, Any]) -> Cell:
    """Return the cell of a policy at some values; at, where: the places of the policy and of the study."""
    horizon = values.get("horizon", entry.horizon or study.horizon)
    if horizon is not None:
        values = {**values, "horizon": horizon}
    elif ProtocolModule(study.protocol).needs_horizon:
        raise PrivarmsError(f"{where}: the key 'horizon' is missing (number of rounds for {study.protocol}); add it")
    policy, environment = PolicyModule(entry.policy), EnvironmentModule(study.environment.name)
    checkpoints = entry.checkpoints or study.checkpoints
    cell = Cell(
        paper=paper,
        study=name,
        protocol=study.protocol,
        policy=entry.policy,
        environment=environment.name,
        horizon=values.get("horizon"),
        policy_parameters=_taken(at, values, policy.arguments, f"policy {entry.policy}", environment.tells),
        environment_parameters=_taken(where, values, environment.arguments, f"environment {environment.name}"),
        replicates=entry.replicates or study.replicates,
        block=entry.block or study.block,
        record=entry.record or study.record,
        checkpoint_rule=checkpoints.rule if checkpoints else None,
        seconds_per_step=entry.seconds_per_step or study.seconds_per_step,
        panels=values.get("panel", ""),
        tags=_tags(study, entry, values.get("tag")),
    )
    arms = cell.parameters.get("K")
    if cell.horizon is not None and arms is not None and cell.horizon < arms:
        raise PrivarmsError(f"{where}.horizon: expected at least the number of arms, K = {arms}; found {horizon}")
    return cell


def _taken(at: str, values: Mapping, takes: Mapping, owner: str, provided: tuple = ()) -> dict:
    """Return the values that `takes` lists; those that the environment provides need not be given."""
    missing = [k for k, argument in takes.items() if argument.required and k not in values and k not in provided]
    if missing:
        raise PrivarmsError(f"{at}: {owner} needs {', '.join(missing)}; add the values here or to the study's grid")
    return {k: takes[k].fitting(f"{at}.{k}", values[k]) for k in takes if k in values}


def _tags(study: Study, entry: Entry, tag: str | None) -> tuple[str, ...]:
    """Return the tag of a point of the grid if the policy's entry names it too, or if the grid is the entry's own.

    So a policy that is added to a study has no tag, and no statement uses it. An entry that a configuration adds, which
    has a `place`, has none in any case.
    """
    if not tag or entry.place:
        return ()
    named = entry.grid is not None or tag in (entry.tag or ())
    return (tag,) if named or not any(one.tag is not None for one in study.policies) else ()


def _join(at: str, cells: dict[str, Cell], cell: Cell) -> None:
    """Add a cell to the others; an existing equal cell gets its panels and tags."""
    same = cells.setdefault(cell.identity, cell)
    if same is cell:
        return
    if (same.replicates, same.block, same.record) != (cell.replicates, cell.block, cell.record):
        raise PrivarmsError(
            f"{at}: duplicate cell {cell.parameters} of {cell.policy} with different sizes; keep one of them"
        )
    panels = dict.fromkeys([*same.panels.split(), *cell.panels.split()])
    tags = dict.fromkeys([*same.tags, *cell.tags])
    cells[cell.identity] = replace(same, panels=" ".join(panels), tags=tuple(tags))


def _check_neighbours(where: str, cells: Mapping[str, Cell]) -> None:
    neighbours = {cell.environment_parameters.get("neighbour") for cell in cells.values()}
    if neighbours != {0, 1}:
        result = ", ".join(map(str, sorted(neighbours, key=str)))
        raise PrivarmsError(f"{where}.grid.neighbour: expected [0, 1], both inputs; found {result}")
