"""Check that a policy and its environment agree, for example in the number of arms that the study gives to both."""

from typing import NoReturn

from privarms.errors import StudyError

# Values of a study that are fields of another name in a policy's parameters.
FIELDS = {"K": "n_arms", "horizon": "n"}


def agree(cell, params, **sizes: int | None) -> None:
    """Raise StudyError if one of the environment's sizes differs in the policy's parameters; None agrees with any."""
    for name, has in sizes.items():
        configured = getattr(params, FIELDS.get(name, name), None)
        if None not in (has, configured) and configured != has:
            refuse(cell, name, has, configured)


def refuse(cell, name: str, has, configured) -> NoReturn:
    raise StudyError(
        cell.paper,
        f"studies.{cell.study}",
        f"the environment {cell.environment} has {name} = {has}, but the policy {cell.policy} has {configured}; "
        "give both the same value",
    )
