"""Check that a policy and its environment agree, for example in the number of arms that the study gives to both."""

from typing import NoReturn

from privarms.errors import StudyError


def agree(cell, **values: tuple) -> None:
    """Raise StudyError for the first value that differs: name=(value of the environment, value of the policy).

    A policy without such a value (None) agrees with every environment.
    """
    for name, (has, configured) in values.items():
        if configured is not None and configured != has:
            refuse(cell, name, has, configured)


def refuse(cell, name: str, has, configured) -> NoReturn:
    """Raise StudyError: environment and policy have different values."""
    raise StudyError(
        cell.paper,
        f"studies.{cell.study}",
        f"the environment {cell.environment} has {name} = {has}, but the policy {cell.policy} has {configured}; "
        "give both the same value",
    )
