"""A study's cells: its grid crossed with its policies."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from privarms.errors import PrivarmsError, check_known
from privarms.studies import additions, contract, extensions, grids, library
from privarms.studies.configuration import listed
from privarms.studies.streams import digest

OWN_KEYS = ("policy", "grid", "horizon", "replicates", "block", "checkpoints", "record", "seconds_per_step")

# Where neither policy nor audit has an estimate of its own.
SECONDS_PER_RUN, SECONDS_PER_STEP = 1e-5, 1e-7
# The columns of every study's rows and summaries; a protocol's keys stand beside them.
RESULT_COLUMNS = ("cell", "policy", "data", "environment", "panel", "panels", "replicate", "replicates", "t", "regret")


@dataclass(frozen=True)
class Cell:
    """One point of a study's grid, with everything that a run of it needs.

    parameters: what the policy's and the environment's `configure` are given, by name, as columns of the results
    replicates, block: how many runs, and how many of them share one random stream
    checkpoint_rule: {count, first} for a geometric grid of rounds that ends at the horizon, with `quarters` the
    horizon's quarters (rounded down) too; or None for the horizon
    seconds_per_step: what a step is estimated to take where the policy's own estimate does not fit; changes no result
    panels: the names of the grids in which the cell stands, with blanks between; a column of the study, no parameter
    tags: the sets of cells that it belongs to, on which claims rest
    changed: the parameters that its policy's entry sets to other values than their defaults; a claim that does not
    name them does not rest on the cell. Neither tags nor these decide anything about its runs
    """

    paper: str
    study: str
    protocol: str
    policy: str
    environment: str
    horizon: int | None
    policy_parameters: Mapping
    environment_parameters: Mapping
    replicates: int
    block: int
    record: str | None = None
    checkpoint_rule: Mapping | None = field(default=None, hash=False)
    seconds_per_step: float | None = None
    panels: str = ""
    tags: tuple[str, ...] = field(default=(), compare=False)
    changed: tuple[str, ...] = field(default=(), compare=False)

    @property
    def variant(self) -> str:
        """`as_printed`, `as_released`, or empty where the two do not differ; of the policy, if it has one."""
        return self.policy_parameters.get("variant", self.environment_parameters.get("variant", ""))

    @property
    def parameters(self) -> dict:
        """The parameters of environment and policy under one roof; neither is called `horizon` or `variant`."""
        both = {**self.environment_parameters, **self.policy_parameters}
        return {k: v for k, v in both.items() if k not in ("horizon", "variant")}

    @cached_property
    def identity(self) -> str:
        """The digest that names the cell's own streams: nothing about how many runs or how they are recorded."""
        parameters = _undeviated(self.policy, _streamed("policies", self.policy, self.policy_parameters))
        # A policy that was split off from another one has its streams.
        policy = library.attributes("policies", self.policy).get("STREAMED_AS", {}).get("policy", self.policy)
        own = {"policy": policy, "policy_parameters": parameters}
        return digest(self._surroundings() | own)

    @cached_property
    def environment_identity(self) -> str:
        """The same without the policy: the streams that compared policies have in common."""
        return digest(self._surroundings())

    def _surroundings(self) -> dict:
        names = library.attributes("environments", self.environment).get("STREAMED_AS", {})
        return {
            "paper": self.paper,
            "study": self.study,
            "environment": names.get("environment", self.environment).format(policy=self.policy),
            "horizon": self.horizon,
            "environment_parameters": _streamed("environments", self.environment, self.environment_parameters),
        }

    @property
    def name(self) -> str:
        """A short, unique, stable name for the cell's rows."""
        return f"{self.policy}-{self.identity[:12]}"

    @cached_property
    def checkpoints(self) -> np.ndarray | None:
        """The rounds at which the run is recorded, int64, increasing, the last one the horizon."""
        if self.horizon is None:
            return None
        if self.checkpoint_rule is None:
            return np.array([self.horizon], np.int64)
        first, count = self.checkpoint_rule["first"], self.checkpoint_rule["count"]
        grid = np.rint(np.geomspace(min(first, self.horizon), self.horizon, count))
        if self.checkpoint_rule.get("quarters"):
            grid = np.concatenate([grid, np.maximum(np.arange(1, 4) * self.horizon // 4, 1)])
        return np.unique(grid.astype(np.int64))

    @property
    def dataset(self) -> str | None:
        """The dataset that the environment is made of, if it is."""
        return self.environment_parameters.get("dataset")

    @cached_property
    def seconds(self) -> float:
        """Estimated seconds of one replicate on one core."""
        # An audit that does not run the policy through says itself what a trial costs.
        cost = {**library.attributes("policies", self.policy), **library.attributes("environments", self.environment)}
        per_step = self.seconds_per_step or cost.get("SECONDS_PER_STEP", SECONDS_PER_STEP)
        return cost.get("SECONDS_PER_RUN", SECONDS_PER_RUN) + per_step * (self.horizon or 0)

    @property
    def blocks(self) -> int:
        """The number of blocks; the last one may be shorter."""
        return -(-self.replicates // self.block)


# In a grid: its name, or several; a cell may stand in many.
PANEL = "panel"
# In a grid: the set of cells that it belongs to, or several.
TAG = "tag"

FIELDS = tuple(f.name for f in fields(Cell) if f.name not in ("tags", "changed"))


def _streamed(room: str, name: str, parameters: Mapping) -> dict:
    """Parameters by the names under which they are hashed; STREAMED_AS keeps the streams of one that was renamed.

    Its key `policy` or `environment` is the name under which the policy or environment itself is hashed; in the latter
    {policy} is the policy's name."""
    names = library.attributes(room, name).get("STREAMED_AS", {})
    return {names.get(key, key): value for key, value in parameters.items()}


def plain(cell: Cell) -> dict:
    """A cell as a plain mapping, `Cell(**plain(cell)) == cell`; its values are the cell's own, not copies."""
    return {name: getattr(cell, name) for name in FIELDS}


def columns(cell: Cell) -> dict:
    """Return what the columns of its study say of a cell: where it stands, and all parameters; None where one is at
    its default or does not apply."""
    takes = library.environment_arguments(cell.environment) | library.arguments("policies", cell.policy)
    about = {key: getattr(cell, key) for key in ("study", "policy", "environment")}
    return about | dict.fromkeys(takes) | cell.parameters | {"horizon": cell.horizon, "variant": cell.variant or None}


def _undeviated(policy: str, parameters: Mapping) -> dict:
    """A policy's parameters with each deviation (DEVIATIONS: name -> as printed, as released) as the value that it
    sets, which is what a run's streams are named by."""
    sets = library.attributes("policies", policy).get("DEVIATIONS", {})
    found = {k: v for k, v in parameters.items() if k != "deviation" or not sets}
    for name in parameters.get("deviation", "").split() if sets else ():
        found[name] = sets[name][parameters["variant"] == "as_printed"]
    return found


def expand(file: str, paper: str, name: str, study: Mapping) -> list[Cell]:
    """The cells of a validated study (values resolved for a scale), in the order of its policies, then of its grid.

    A parameter of the grid that a policy does not take is dropped for that policy, and cells that then coincide are
    one cell, in the panels of both. Raises PrivarmsError naming file and key for an unknown policy, environment,
    protocol or parameter, a missing one, or a horizon below the number of arms.
    """
    where = f"{file}: studies.{name}"
    _check_study(where, study)
    cells: dict[str, Cell] = {}
    for i, entry in enumerate(study["policies"]):
        own_file, key = additions.place(file, paper, name, i, study)
        at = f"{own_file}: {key}"
        _check_entry(at, where, study, entry)
        chosen_by_policy = _points({k: v for k, v in entry.items() if k not in OWN_KEYS})
        for point, chosen in itertools.product(_points(_grid(study, entry)), chosen_by_policy):
            cell = _cell(at, where, study, entry, point, chosen, paper=paper, study_name=name)
            # What a configuration adds is in no set on which published claims rest.
            _join(at, cells, cell if own_file == file else replace(cell, tags=()))
    _check_axes(where, study)
    if library.attributes("protocols", study["protocol"]).get("FAMILY", "") is None:
        neighbours = {cell.environment_parameters.get("neighbour") for cell in cells.values()}
        if neighbours != {0, 1}:
            found = ", ".join(map(str, sorted(neighbours, key=str)))
            raise PrivarmsError(f"{where}.grid.neighbour: expected [0, 1], both inputs; found {found}")
    return list(cells.values())


def _check_study(where: str, study: Mapping) -> None:
    """Check protocol and environment, and the values of the environment."""
    check_known(f"{where}.protocol", "name", study["protocol"], library.names("protocols"))
    environment = study["environment"]["name"]
    check_known(f"{where}.environment.name", "name", environment, library.names("environments"))
    for key in study["environment"].keys() - {"name"}:
        check_known(f"{where}.environment.{key}", "parameter", key, library.environment_arguments(environment))
    _refuse_result_columns("environments", environment, study["protocol"])


def _check_entry(at: str, where: str, study: Mapping, entry: Mapping) -> None:
    """Check that an entry's policy fits the study, and the values that the entry and its grid give it."""
    policy, protocol, environment = entry["policy"], study["protocol"], study["environment"]["name"]
    if policy not in library.names("mechanisms"):
        check_known(f"{at}.policy", "name", policy, library.names("policies"))
    contract.check(f"{at}.policy", policy, protocol, environment)
    _refuse_result_columns("policies", policy, protocol)
    _refuse_another_epsilon(policy)
    records = library.attributes("protocols", protocol).get("RECORDS", ())
    if "record" in entry | study and (record := entry.get("record", study.get("record"))) not in records:
        expected = ", ".join(records) or "no such key for this protocol"
        raise PrivarmsError(f"{at}.record: expected {expected}; found {record!r}")
    for key in (key for key in entry if key not in OWN_KEYS):
        check_known(f"{at}.{key}", "parameter", key, library.arguments("policies", policy))


def _cell(
    at: str, where: str, study: Mapping, entry: Mapping, point: Mapping, chosen: Mapping, *, paper: str, study_name: str
) -> Cell:
    """The cell at a point of the grid, with the values that are chosen in the policy's entry."""
    protocol, policy, environment = study["protocol"], entry["policy"], study["environment"]["name"]
    takes, environment_takes = library.arguments("policies", policy), library.environment_arguments(environment)
    told = library.attributes("environments", environment).get("TELLS", ())
    settings = {**study, **entry}
    fixed = {k: v for k, v in study["environment"].items() if k != "name"}
    values = {**fixed, **point, **chosen}
    values |= {k: int(values[k]) for k in ("K", "horizon") if k in values}
    horizon = values.setdefault("horizon", settings.get("horizon"))
    if horizon is None:
        if library.attributes("protocols", protocol).get("NEEDS_HORIZON"):
            raise PrivarmsError(f"{where}: the key 'horizon' is missing, the rounds of a run of {protocol}; add it")
        del values["horizon"]
    cell = Cell(
        paper=paper,
        study=study_name,
        protocol=protocol,
        policy=policy,
        environment=environment,
        horizon=horizon,
        policy_parameters=_taken(at, values, takes, f"policy {policy}", told),
        environment_parameters=_taken(where, values, environment_takes, f"environment {environment}"),
        replicates=settings["replicates"],
        block=settings["block"],
        record=settings.get("record"),
        checkpoint_rule=settings.get("checkpoints"),
        seconds_per_step=settings.get("seconds_per_step"),
        panels=point.get(PANEL, ""),
        tags=(point[TAG],) if point.get(TAG) else (),
        changed=tuple(k for k, v in chosen.items() if not takes[k].required and v != takes[k].default),
    )
    arms = cell.parameters.get("K")
    if horizon is not None and arms is not None and horizon < arms:
        raise PrivarmsError(f"{where}.horizon: expected at least the number of arms, K = {arms}; found {horizon}")
    return cell


def _join(at: str, cells: dict[str, Cell], cell: Cell) -> None:
    """Add a cell to the others; one that is there gets its panels and tags."""
    same = cells.setdefault(cell.identity, cell)
    if same is cell:
        return
    if (same.replicates, same.block, same.record) != (cell.replicates, cell.block, cell.record):
        raise PrivarmsError(
            f"{at}: the cell {cell.parameters} of {cell.policy} stands twice with different sizes; give it once"
        )
    panels = dict.fromkeys([*same.panels.split(), *cell.panels.split()])
    tags = dict.fromkeys([*same.tags, *cell.tags])
    cells[cell.identity] = replace(same, panels=" ".join(panels), tags=tuple(tags))


def _grid(study: Mapping, entry: Mapping) -> Mapping | list:
    """The grid of a policy's entry: its own, or that of the study."""
    return entry.get("grid", study.get("grid", {}))


def datasets(study: Mapping) -> set[str]:
    """The datasets that a study names, in its environment or in a grid."""
    axes = [study["environment"], *_all_axes(study)]
    return {name for one in axes if "dataset" in one for name in listed(one["dataset"])}


def _all_axes(study: Mapping) -> list[Mapping]:
    """The axes of all grids of a study, its policies' own included."""
    grids_of_study = [study.get("grid", {}), *(entry.get("grid", {}) for entry in study["policies"])]
    return [axes for grid in grids_of_study for axes in listed(grid)]


def _points(axes: Mapping | list) -> list[dict]:
    """The points of a grid: the product of its listed axes; several grids one after another."""
    if isinstance(axes, list):
        return [point for grid in axes for point in _points(grid)]
    lists = [listed(v) for v in axes.values()]
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*lists)]


def _refuse_result_columns(room: str, name: str, protocol: str) -> None:
    """PrivarmsError where a parameter would overwrite a column of the results, or cannot be given at all."""
    taken = {*RESULT_COLUMNS, *library.attributes("protocols", protocol).get("KEYS", ())}
    taken |= {"name"} if room == "environments" else {key for key in OWN_KEYS if key != "horizon"}
    takes = library.environment_arguments(name) if room == "environments" else library.arguments(room, name)
    for parameter in takes:
        if parameter in taken:
            raise PrivarmsError(
                f"{extensions.shown(library.source_file(room, name))}: its parameter {parameter!r} is called like a "
                f"column of the results or a key of a study (protocol {protocol}: {', '.join(sorted(taken))}); rename "
                "it in the module's configure"
            )


def _refuse_another_epsilon(policy: str) -> None:
    """PrivarmsError for a policy with an epsilon and no privacy: figures and tables take it for a privacy budget."""
    if "epsilon" not in library.arguments("policies", policy) or "PRIVATE" in library.attributes("policies", policy):
        return
    files = library.sources(library.module("policies", policy))
    if not any(Path(file).parent.name == library.MECHANISMS for file in files):
        raise PrivarmsError(
            f"{library.policy_file(policy)}: its parameter 'epsilon' is read as a privacy budget, and the module uses "
            "no mechanism of privarms.mechanisms; rename it (exploration, say), or set PRIVATE = True if it is one"
        )


def _taken(at: str, given: Mapping, takes: Mapping, owner: str, told: tuple = ()) -> dict:
    """The values that are taken; those that an environment tells need not be given."""
    missing = [k for k, argument in takes.items() if argument.required and k not in given and k not in told]
    if missing:
        raise PrivarmsError(f"{at}: {owner} needs {', '.join(missing)}; add it there or to the study's grid")
    return {k: _value(f"{at}.{k}", given[k], takes[k]) for k in takes if k in given}


def _value(at: str, value, argument: library.Argument):
    """Return the value that an argument gets: whole floats may be ints, ints floats."""
    types = argument.types
    if argument.choices:
        if value not in argument.choices:
            raise PrivarmsError(f"{at}: expected one of {', '.join(map(str, argument.choices))}; found {value!r}")
    elif types and type(value).__name__ not in types:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and ("float" in types or ("int" in types and float(value).is_integer()))):
            raise PrivarmsError(f"{at}: expected a value of type {' or '.join(types)}; found {value!r}")
    return int(value) if isinstance(value, float) and types == ("int",) else value


def _check_axes(where: str, study: Mapping) -> None:
    """Check that every axis of a grid is a parameter of something."""
    taken = {*library.environment_arguments(study["environment"]["name"]), "horizon"}
    for entry in study["policies"]:
        taken |= set(library.arguments("policies", entry["policy"]))
    for axes in _all_axes(study):
        for key in axes:
            place = f"{axes.place}, column {key}" if isinstance(axes, grids.Row) else f"{where}.grid.{key}"
            check_known(place, "parameter of this study", key, sorted(taken | {PANEL, TAG}))
