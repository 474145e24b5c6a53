"""The exceptions that a user is meant to read."""

from collections.abc import Iterable
from pathlib import Path


class PrivarmsError(Exception):
    """Bad input: the message names the file and the key, what was expected and what to do."""


def check_known(where: str, kind: str, name: str, names: Iterable) -> None:
    """Check that a name is one of some names. Raises PrivarmsError that lists them.

    where: the file and the key; kind: what is named, for the message
    """
    if name not in (listed := list(names)):
        expected = ", ".join(map(str, listed)) or "none"
        raise PrivarmsError(f"{where}: unknown {kind} {name!r}; expected one of {expected}")


class DamagedError(PrivarmsError):
    """A file that the pipeline made and that cannot be read any more."""

    def __init__(self, path: Path | str, reason: str):
        super().__init__(f"{path}: damaged: {reason}; delete it and run again")


class NoCellsError(PrivarmsError):
    """Of a table that a claim reads none of the cells are there on which it rests."""


class StudyError(PrivarmsError):
    """A fault in a study that is found while it runs.

    paper: whose file it is; key: where in it; reason: what is wrong and what to do
    """

    def __init__(self, paper: str, key: str, reason: str):
        super().__init__(f"{paper}/studies.yaml: {key}: {reason}")


class ArmError(ValueError):
    """A policy chose an arm that does not exist. arm: which; arms: how many there are; t: the round, from 1"""

    def __init__(self, arm, arms, t):
        super().__init__(arm, arms, t)

    def __str__(self):
        arm, arms, t = self.args
        return f"choose gave arm {arm} in round {t}; expected 0 to {arms - 1}"


class NotFiniteError(ValueError):
    """Runs left a number that is not finite."""
