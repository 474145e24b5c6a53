"""Checks of a study against the modules that it names: its protocol, its environment or audit, and its policies."""

from privarms.errors import PrivarmsError, check_known
from privarms.execution import result_columns
from privarms.planning.studies import Entry, Study
from privarms.registry import contract, library
from privarms.registry.modules import EnvironmentModule, Module, PolicyModule, ProtocolModule

OWN_KEYS = tuple(Entry.model_fields)


def check_study(where: str, study: Study) -> None:
    """Check a study; where: its file and key.

    Raises PrivarmsError with file and key for an unknown name or parameter, a policy that does not fit the protocol,
    or a parameter with the name of a column of the results.
    """
    _check_names(where, study)
    _check_parameters(where, study)
    _check_columns(where, study)


def _check_names(where: str, study: Study) -> None:
    """Check the names of the modules and of the records, and that each policy fits."""
    check_known(f"{where}.protocol", "name", study.protocol, library.names("protocols"))
    kind = study.environment_key
    check_known(f"{where}.{kind}.name", "name", study.environment.name, library.names(f"{kind}s"))
    protocol, environment = ProtocolModule(study.protocol), EnvironmentModule(study.environment.name)
    for at, entry in study.entries(where):
        if entry.policy not in library.names(library.MECHANISMS):
            check_known(f"{at}.policy", "name", entry.policy, library.names("policies"))
        contract.check(f"{at}.policy", PolicyModule(entry.policy), protocol, environment)
        if (record := entry.record or study.record) and record not in protocol.records:
            expected = ", ".join(protocol.records) or "no such key for this protocol"
            raise PrivarmsError(f"{at}.record: expected {expected}; found {record!r}")


def _check_parameters(where: str, study: Study) -> None:
    """Check the names of the parameters that the study gives to the environment, to policies and as axes."""
    around = EnvironmentModule(study.environment.name).arguments
    for key in study.environment.parameters:
        check_known(f"{where}.{study.environment_key}.{key}", "parameter", key, around)
    for at, entry in study.entries(where):
        for key in entry.parameters:
            check_known(f"{at}.{key}", "parameter", key, PolicyModule(entry.policy).arguments)
    of_policies = (PolicyModule(entry.policy).arguments for entry in study.policies)
    known = {*around, "horizon", "panel", "tag"}.union(*of_policies)
    grids = [(where, study.grid), *((at, entry.grid or []) for at, entry in study.entries(where))]
    for at, grid in grids:
        for axes in grid:
            for key in axes.parameters:
                place = f"{axes.place}, column {key}" if axes.place else f"{at}.grid.{key}"
                check_known(place, "parameter of this study", key, sorted(known))


def _check_columns(where: str, study: Study) -> None:
    """Check that no parameter has the name of a column of the results or of a key of a study."""
    protocol, environment = ProtocolModule(study.protocol), EnvironmentModule(study.environment.name)
    taken = result_columns.taken(protocol)
    _refuse_result_columns(environment, protocol, taken | {"name"})
    places: dict[str, str] = {}
    for at, entry in study.entries(where):
        policy = PolicyModule(entry.policy)
        _refuse_result_columns(policy, protocol, taken | {*OWN_KEYS} - {"horizon"})
        axes = [key for one in study.grid_of(entry) for key in one.parameters]
        given = [*study.environment.parameters, *axes, *entry.parameters]
        takes = {*environment.arguments, *policy.arguments} - {"horizon", "variant"}
        places = {key: f"{at}.{key}" for key in given if key in takes} | places
    for record in {entry.record or study.record for entry in study.policies}:
        result_columns.refuse_parameters(places, protocol, record)


def _refuse_result_columns(module: Module, protocol: ProtocolModule, taken: set[str]) -> None:
    """Raise PrivarmsError if a module takes a parameter with a name that is `taken`."""
    for parameter in module.arguments:
        if parameter in taken:
            raise PrivarmsError(
                f"{module.shown}: the parameter name {parameter!r} clashes with "
                f"a result column or a study key (protocol {protocol.name}: {', '.join(sorted(taken))}); rename "
                "it in the module's `configure`"
            )
