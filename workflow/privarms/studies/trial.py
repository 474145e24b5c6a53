"""Short runs of policies and environments of extensions before their long ones, and errors that name file and line."""

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np

from privarms.errors import ArmError, NotFiniteError, StudyError
from privarms.studies import extensions, library
from privarms.studies.cells import Cell
from privarms.studies.streams import stream

ROUNDS = 100

# What this process has tried: study, policy, environment and files.
_tried: set[tuple[str, ...]] = set()


def files(cell: Cell) -> list[str]:
    """Return the extensions' files that run in a cell, as messages name them; none where all are ours."""
    modules = ("policies", cell.policy), ("environments", cell.environment), ("protocols", cell.protocol)
    used = [library.source_file(room, name) for room, name in modules] if extensions.folders() else []
    return [extensions.shown(file) for file in used if extensions.is_extension(file)]


def check_bounds() -> None:
    """Compile with bounds checks from here on: an index outside of an array is then an error."""
    numba.config.BOUNDSCHECK = 1


def run(cell: Cell, configured: Callable, seed: int) -> None:
    """Run one replicate of at most ROUNDS rounds; a second cell of a study with the same modules is not tried.

    configured: returns parameters, environment and a function that runs replicates of a cell on two streams
    Raises whatever the run raises, and NotFiniteError for a reward or mean of a bandit that is not a finite number.
    """
    key = cell.study, cell.policy, cell.environment, *files(cell)
    if key in _tried:
        return
    _, environment, run_block = configured()
    if cell.protocol == "bandit":
        _check_rewards(environment)
    short = replace(cell, horizon=min(cell.horizon, ROUNDS) if cell.horizon else None, replicates=1, block=1)
    # The short horizon may not fit the study's other values. Where it is a fault, the whole run names it.
    with contextlib.suppress(StudyError):
        run_block(short, 1, stream(seed, cell.environment_identity, 0), stream(seed, cell.identity, 0))
    _tried.add(key)


def _check_rewards(environment) -> None:
    rng = np.random.default_rng(0)
    for arm, mean in enumerate(environment.means):
        rewards = [environment.pull(environment, arm, rng) for _ in range(ROUNDS)]
        if None in rewards or not np.isfinite([mean, *rewards]).all():
            raise NotFiniteError(f"arm {arm}: expected that its mean and its rewards are finite numbers")


def explain(error: BaseException, cell: Cell) -> str:
    """Return what went wrong in a cell on one line, with the file of the extension and, where it is known, the line."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, ArmError):
        return f"{_line(cell.policy, 'choose')}: {what}"
    if isinstance(error, NotFiniteError):
        return f"{', '.join(files(cell))}: {cell.policy} on {cell.environment}: {error}"
    if isinstance(error, numba.NumbaError):
        return _of_numba(str(error), cell)
    if place := extensions.line_of_error(error):
        return f"{place}: {what}"
    hint = "run `NUMBA_DISABLE_JIT=1 privarms check FOLDER` to see the line"
    return f"{', '.join(files(cell))}: {what} in compiled code of {cell.policy} on {cell.environment}; {hint}"


def _line(policy: str, function: str) -> str:
    return extensions.line(getattr(library.load("policies", policy), function))


def _of_numba(text: str, cell: Cell) -> str:
    """Return the innermost place in an extension that numba's pages of text name, and the reason."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    # numba names files from the working directory where it can.
    places = [(Path(file).resolve(), line) for file, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    own = [f"{extensions.shown(file)}:{line}" for file, line in places if extensions.is_extension(file)]
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith(("Failed in", "-"))]
    # What an overloaded function says of its arguments, such as `admit` of arms.
    reasons = re.findall(r"TypingError: (?!Failed in)(.+)", text) or [" ".join(lines[:2])]
    where = own[0] if own else ", ".join(files(cell))
    return f"{where}: numba cannot compile {cell.policy} on {cell.environment}: {reasons[0]}"
