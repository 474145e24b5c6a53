"""Exceptions whose messages are for users."""

from collections.abc import Iterable
from pathlib import Path


class PrivarmsError(Exception):
    """Bad input: the message names the file and the key, the expected value and the remedy."""


def check_known(where: str, kind: str, name: str, names: Iterable) -> None:
    """Raise PrivarmsError unless `name` is in `names`; where: file and key; kind: a noun, such as "policy"."""
    if name not in (listed := list(names)):
        expected = f"expected one of {', '.join(map(str, listed))}" if listed else "none is defined"
        raise PrivarmsError(f"{where}: unknown {kind} {name!r}; {expected}")


class DamagedError(PrivarmsError):
    """A file of the pipeline cannot be read any more."""

    def __init__(self, path: Path | str, reason: str):
        super().__init__(f"{path}: damaged: {reason}; delete it and run again")


class StudyError(PrivarmsError):
    """A fault in a study, found while it runs; paper, key: the place in studies.yaml; reason: fault and remedy."""

    def __init__(self, paper: str, key: str, reason: str):
        super().__init__(f"{paper}/studies.yaml: {key}: {reason}")
        self.reason = reason


class UnnamedInputError(StudyError):
    """A function reads a file that its job does not name as an input."""


class ArmError(ValueError):
    """A policy chose an arm that does not exist. arm: its number; arms: number of arms; t: round, from 1"""

    def __str__(self):
        arm, arms, t = self.args
        return f"choose returned arm {arm} in round {t}; expected 0 to {arms - 1}"


class NotFiniteError(ValueError):
    """A run recorded a number that is not finite."""
