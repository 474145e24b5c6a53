"""A study's cells: its grid crossed with its policies."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from privarms.errors import PrivarmsError, check_known
from privarms.execution import result_columns
from privarms.execution.cell import Cell
from privarms.planning.studies import AUDIT, Axes, Entry, Study, listed
from privarms.registry import contract, extensions, library, source_files

OWN_KEYS = tuple(Entry.model_fields)


def expand(file: str, paper: str, name: str, study: Study) -> list[Cell]:
    """Return the cells of a study, in the order of its policies and its grid.

    A grid parameter that a policy does not take is dropped for that policy. Cells that then coincide are one cell, in
    the panels of both. Raises PrivarmsError with file and key for an unknown name or parameter, a missing parameter, or
    a horizon below the number of arms.
    """
    where = f"{file}: studies.{name}"
    _check_study(where, study)
    cells: dict[str, Cell] = {}
    places: dict[str, str] = {}
    for i, entry in enumerate(study.policies):
        at = entry.place or f"{where}.policies[{i}]"
        _check_entry(at, study, entry)
        points = [point for axes in study.grid_of(entry) for point in _points(axes.parameters)] or [{}]
        for point, chosen in itertools.product(points, _points(entry.parameters)):
            cell = _cell(at, where, study, entry, point, chosen, paper=paper, study_name=name)
            places |= {key: f"{at}.{key}" for key in cell.parameters if key not in places}
            # A cell that a configuration adds has no tag, so no statement uses it.
            _join(at, cells, replace(cell, tags=()) if entry.place else cell)
    _check_axes(where, study)
    for record in {cell.record for cell in cells.values()}:
        result_columns.refuse_parameters(places, study.protocol, record)
    if library.attributes("protocols", study.protocol).get("FAMILY", "") is None:
        neighbours = {cell.environment_parameters.get("neighbour") for cell in cells.values()}
        if neighbours != {0, 1}:
            result = ", ".join(map(str, sorted(neighbours, key=str)))
            raise PrivarmsError(f"{where}.grid.neighbour: expected [0, 1], both inputs; found {result}")
    return list(cells.values())


def _check_study(where: str, study: Study) -> None:
    """Check protocol and environment, and the names of the environment's parameters."""
    check_known(f"{where}.protocol", "name", study.protocol, library.names("protocols"))
    environment, is_audit = study.environment.name, study.protocol == AUDIT
    kind, room = ("audit", "audits") if is_audit else ("environment", "environments")
    check_known(f"{where}.{kind}.name", "name", environment, library.names(room))
    for key in study.environment.parameters:
        check_known(f"{where}.{kind}.{key}", "parameter", key, library.environment_arguments(environment))
    _refuse_result_columns("environments", environment, study.protocol)


def _check_entry(at: str, study: Study, entry: Entry) -> None:
    """Check that an entry's policy fits the study, and the names of the parameters that the entry gives it."""
    policy, protocol, environment = entry.policy, study.protocol, study.environment.name
    if policy not in library.names("mechanisms"):
        check_known(f"{at}.policy", "name", policy, library.names("policies"))
    contract.check(f"{at}.policy", policy, protocol, environment)
    _refuse_result_columns("policies", policy, protocol)
    _refuse_another_epsilon(policy)
    records = library.attributes("protocols", protocol).get("RECORDS", ())
    if (record := entry.record or study.record) and record not in records:
        expected = ", ".join(records) or "no such key for this protocol"
        raise PrivarmsError(f"{at}.record: expected {expected}; found {record!r}")
    for key in entry.parameters:
        check_known(f"{at}.{key}", "parameter", key, library.arguments("policies", policy))


def _cell(
    at: str, where: str, study: Study, entry: Entry, point: Mapping, chosen: Mapping, *, paper: str, study_name: str
) -> Cell:
    """Return the cell at a point of the grid, with the values chosen in the policy's entry."""
    protocol, policy, environment = study.protocol, entry.policy, study.environment.name
    takes, environment_takes = library.arguments("policies", policy), library.environment_arguments(environment)
    provided = library.attributes("environments", environment).get("TELLS", ())
    values = {**study.environment.parameters, **point, **chosen}
    whole = library.Argument(required=True, types=("int",))
    values |= {k: whole.fitting(f"{at}.{k}", values[k]) for k in ("K", "horizon") if k in values}
    horizon = values.setdefault("horizon", entry.horizon or study.horizon)
    if horizon is None:
        if library.attributes("protocols", protocol).get("NEEDS_HORIZON"):
            raise PrivarmsError(f"{where}: the key 'horizon' is missing (number of rounds for {protocol}); add it")
        del values["horizon"]
    checkpoints = entry.checkpoints or study.checkpoints
    cell = Cell(
        paper=paper,
        study=study_name,
        protocol=protocol,
        policy=policy,
        environment=environment,
        horizon=horizon,
        policy_parameters=_taken(at, values, takes, f"policy {policy}", provided),
        environment_parameters=_taken(where, values, environment_takes, f"environment {environment}"),
        replicates=entry.replicates or study.replicates,
        block=entry.block or study.block,
        record=entry.record or study.record,
        checkpoint_rule=checkpoints.rule if checkpoints else None,
        seconds_per_step=entry.seconds_per_step or study.seconds_per_step,
        panels=point.get("panel", ""),
        tags=_tags(study, entry, point),
    )
    arms = cell.parameters.get("K")
    if horizon is not None and arms is not None and horizon < arms:
        raise PrivarmsError(f"{where}.horizon: expected at least the number of arms, K = {arms}; found {horizon}")
    return cell


def _tags(study: Study, entry: Entry, point: Mapping) -> tuple[str, ...]:
    """Return the tag of a point of the grid if the policy's entry names it too, or if the grid is the entry's own.

    So a policy that is added to a study has no tag, and no statement uses it.
    """
    if not point.get("tag"):
        return ()
    named = entry.grid is not None or point["tag"] in (entry.tag or ())
    return (point["tag"],) if named or not any(one.tag is not None for one in study.policies) else ()


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


def datasets(study: Study) -> set[str]:
    """Return the datasets that a study names, in its environment or in a grid."""
    named = [study.environment.parameters, *(axes.parameters for axes in _all_axes(study))]
    return {name for one in named if "dataset" in one for name in listed(one["dataset"])}


def _all_axes(study: Study) -> list[Axes]:
    """Return the axes of all grids of a study, its policies' own included."""
    return [*study.grid, *(axes for entry in study.policies for axes in entry.grid or ())]


def _points(axes: Mapping) -> list[dict]:
    """Return the points of a grid: the product of its listed axes."""
    lists = [listed(v) for v in axes.values()]
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*lists)]


def _refuse_result_columns(room: str, name: str, protocol: str) -> None:
    """Raise PrivarmsError if a parameter has the name of a column of every study, or cannot be set in a study."""
    taken = result_columns.taken(protocol)
    taken |= {"name"} if room == "environments" else {key for key in OWN_KEYS if key != "horizon"}
    takes = library.environment_arguments(name) if room == "environments" else library.arguments(room, name)
    for parameter in takes:
        if parameter in taken:
            raise PrivarmsError(
                f"{extensions.shown(library.source_file(room, name))}: the parameter name {parameter!r} clashes with "
                f"a result column or a study key (protocol {protocol}: {', '.join(sorted(taken))}); rename "
                "it in the module's `configure`"
            )


def _refuse_another_epsilon(policy: str) -> None:
    """Raise PrivarmsError for an epsilon without privacy, because figures and tables treat it as a privacy budget."""
    if "epsilon" not in library.arguments("policies", policy) or "PRIVATE" in library.attributes("policies", policy):
        return
    if library.is_given(policy):  # such a policy is in no figure with the published ones
        return
    files = source_files.sources(library.module("policies", policy))
    if not any(Path(file).parent.name == library.MECHANISMS for file in files):
        raise PrivarmsError(
            f"{library.policy_file(policy)}: the parameter 'epsilon' means a privacy budget, but the module uses "
            "no mechanism of privarms.mechanisms; rename it (such as exploration), or set PRIVATE = True if it is one"
        )


def _taken(at: str, values: Mapping, takes: Mapping, owner: str, provided: tuple = ()) -> dict:
    """Return the values that `takes` lists; those that the environment provides need not be given."""
    missing = [k for k, argument in takes.items() if argument.required and k not in values and k not in provided]
    if missing:
        raise PrivarmsError(f"{at}: {owner} needs {', '.join(missing)}; add the values here or to the study's grid")
    return {k: takes[k].fitting(f"{at}.{k}", values[k]) for k in takes if k in values}


def _check_axes(where: str, study: Study) -> None:
    """Check that every axis of a grid is a parameter of the environment or of a policy."""
    taken = {*library.environment_arguments(study.environment.name), "horizon"}
    for entry in study.policies:
        taken |= set(library.arguments("policies", entry.policy))
    for axes in _all_axes(study):
        for key in axes.parameters:
            place = f"{axes.place}, column {key}" if axes.place else f"{where}.grid.{key}"
            check_known(place, "parameter of this study", key, sorted(taken | {"panel", "tag"}))
