"""What a study plays: its protocol, its environment or audit, and its policies, looked up once and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from privarms.errors import PrivarmsError, check_known
from privarms.execution import result_columns
from privarms.planning.studies import AUDIT, Entry, Study
from privarms.registry import contract, extensions, library, source_files
from privarms.registry.library import Argument

OWN_KEYS = tuple(Entry.model_fields)


@dataclass(frozen=True)
class Parts:
    """What the modules of a study say about themselves.

    environment, policies : the parameters that the environment and each policy take
    provided : the parameters that the environment tells a policy
    needs_horizon, two_inputs : whether the protocol needs a horizon, and whether it plays two neighbouring inputs
    """

    environment: Mapping[str, Argument]
    policies: Mapping[str, Mapping[str, Argument]]
    provided: tuple[str, ...]
    needs_horizon: bool
    two_inputs: bool


def look_up(where: str, study: Study) -> Parts:
    """Return what the modules of a study take; where: the file and the key of the study.

    Raises PrivarmsError with file and key for an unknown name or parameter, a policy that does not fit the protocol,
    or a parameter with the name of a column of the results.
    """
    _check_names(where, study)
    parts = _of(study)
    _check_parameters(where, study, parts)
    _check_columns(where, study, parts)
    return parts


def _of(study: Study) -> Parts:
    protocol = library.attributes("protocols", study.protocol)
    environment = study.environment.name
    return Parts(
        environment=library.environment_arguments(environment),
        policies={entry.policy: library.arguments("policies", entry.policy) for entry in study.policies},
        provided=library.attributes("environments", environment).get("TELLS", ()),
        needs_horizon=protocol.get("NEEDS_HORIZON", False),
        two_inputs=protocol.get("FAMILY", "") is None,
    )


def _check_names(where: str, study: Study) -> None:
    """Check the names of the modules and of the records, and that each policy fits."""
    protocol, environment = study.protocol, study.environment.name
    kind, room = ("audit", "audits") if protocol == AUDIT else ("environment", "environments")
    check_known(f"{where}.protocol", "name", protocol, library.names("protocols"))
    check_known(f"{where}.{kind}.name", "name", environment, library.names(room))
    records = library.attributes("protocols", protocol).get("RECORDS", ())
    for at, entry in study.entries(where):
        if entry.policy not in library.names("mechanisms"):
            check_known(f"{at}.policy", "name", entry.policy, library.names("policies"))
        contract.check(f"{at}.policy", entry.policy, protocol, environment)
        _refuse_another_epsilon(entry.policy)
        if (record := entry.record or study.record) and record not in records:
            expected = ", ".join(records) or "no such key for this protocol"
            raise PrivarmsError(f"{at}.record: expected {expected}; found {record!r}")


def _check_parameters(where: str, study: Study, parts: Parts) -> None:
    """Check the names of the parameters that the study gives to the environment, to policies and as axes."""
    kind = "audit" if study.protocol == AUDIT else "environment"
    for key in study.environment.parameters:
        check_known(f"{where}.{kind}.{key}", "parameter", key, parts.environment)
    for at, entry in study.entries(where):
        for key in entry.parameters:
            check_known(f"{at}.{key}", "parameter", key, parts.policies[entry.policy])
    known = {*parts.environment, "horizon", "panel", "tag"}.union(*parts.policies.values())
    grids = [(where, study.grid), *((at, entry.grid or []) for at, entry in study.entries(where))]
    for at, grid in grids:
        for axes in grid:
            for key in axes.parameters:
                place = f"{axes.place}, column {key}" if axes.place else f"{at}.grid.{key}"
                check_known(place, "parameter of this study", key, sorted(known))


def _check_columns(where: str, study: Study, parts: Parts) -> None:
    """Check that no parameter has the name of a column of the results or of a key of a study."""
    protocol, environment = study.protocol, study.environment.name
    taken = result_columns.taken(protocol)
    _refuse_result_columns("environments", environment, protocol, parts.environment, taken | {"name"})
    for policy, takes in parts.policies.items():
        _refuse_result_columns("policies", policy, protocol, takes, taken | {*OWN_KEYS} - {"horizon"})
    places: dict[str, str] = {}
    for at, entry in study.entries(where):
        axes = [key for one in study.grid_of(entry) for key in one.parameters]
        given = [*study.environment.parameters, *axes, *entry.parameters]
        takes = {*parts.environment, *parts.policies[entry.policy]} - {"horizon", "variant"}
        places = {key: f"{at}.{key}" for key in given if key in takes} | places
    for record in {entry.record or study.record for entry in study.policies}:
        result_columns.refuse_parameters(places, protocol, record)


def _refuse_result_columns(room: str, name: str, protocol: str, takes: Mapping, taken: set[str]) -> None:
    """Raise PrivarmsError if a module takes a parameter with a name that is `taken`."""
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
