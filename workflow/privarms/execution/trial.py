"""Runs of extensions: their files in a cell, a short run before a long one, and errors with file and line."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np

from privarms.errors import ArmError, StudyError
from privarms.execution.cell import Cell
from privarms.execution.streams import stream
from privarms.registry import extensions
from privarms.registry.modules import EnvironmentModule, PolicyModule, ProtocolModule

# numba sets these attributes when it is imported, so their types are unknown.
config: Any = numba.config
ROUNDS = 100
# Rounds after which a state is searched for a nan.
STATE_ROUNDS = 1_000


def files(cell: Cell) -> list[str]:
    """Return the extensions' files that run in a cell, as messages name them; none if all modules are built in."""
    modules = PolicyModule(cell.policy), EnvironmentModule(cell.environment), ProtocolModule(cell.protocol)
    return [module.shown for module in modules if module.in_extension] if extensions.are_used() else []


@contextmanager
def bounds_checked(check: bool = True) -> Iterator[None]:
    """Compile with bounds checks for a while, so an index outside of an array is an error; `check`: whether to."""
    before = config.BOUNDSCHECK
    config.BOUNDSCHECK = 1 if check else before
    try:
        yield
    finally:
        config.BOUNDSCHECK = before


def run(cell: Cell, run_block: Callable, seed: int) -> Mapping | None:
    """Run one replicate of at most ROUNDS rounds; run_block: runs replicates of a cell on two streams.

    Returns the columns of its rows; None for an audit that cannot run in so few rounds.
    """
    short = replace(cell, horizon=min(cell.horizon, ROUNDS) if cell.horizon else None, replicates=1, block=1)
    try:
        return run_block(short, 1, stream(seed, cell.environment_identity, 0), stream(seed, cell.identity, 0))
    except StudyError:
        # The inputs of an audit may not fit the short horizon.
        if ProtocolModule(cell.protocol).family is not None:
            raise
        return None


def refuse_nan(cell: Cell, policy, params, environment) -> None:
    """Raise ValueError if the state of an extension's bandit has a nan, which makes comparisons false."""
    if ProtocolModule(cell.protocol).family != "bandit" or cell.horizon is None:
        return
    rounds = min(cell.horizon, STATE_ROUNDS)
    # Most protocols of this family have environments that `bandit` can play too, and no `state_after` of their own.
    protocols = (ProtocolModule(name).module for name in (cell.protocol, "bandit"))
    play = next(p.state_after for p in protocols if hasattr(p, "state_after"))
    state = play(policy, params, environment, rounds, np.random.default_rng(0))
    values = state._asdict() if hasattr(state, "_asdict") else {"state": state}
    for name, value in values.items():
        numbers = np.asarray(value)
        if np.issubdtype(numbers.dtype, np.floating) and np.isnan(numbers).any():
            raise ValueError(
                f"its state has a nan in {name!r} after {rounds} rounds, and comparisons with a nan are always false; "
                "expected numbers (the mean of no rewards is 0/0); mark unknown values by another number"
            )


def explain(error: BaseException, cell: Cell) -> str:
    """Return the error in a cell on one line, with the file of the extension and, if known, the line."""
    reason, place = f"{type(error).__name__}: {error}", extensions.line_of_error(error)
    if isinstance(error, numba.NumbaError):
        text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
        # numba's text starts with the innermost place, and names files relative to the working directory if it can.
        places = [(Path(file).resolve(), line) for file, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
        place = next((f"{extensions.shown(f)}:{line}" for f, line in places if extensions.is_extension(f)), None)
        # The message of an overloaded function about its arguments, else the first line of text.
        reasons = re.findall(r"TypingError: (?!Failed in)(.+)", text) + re.findall(r"(?m)^(?!Failed in)(.+)", text)
        reason = f"numba cannot compile this: {reasons[0]}"
    elif isinstance(error, ArmError):
        place = extensions.line(PolicyModule(cell.policy).module.choose)
    elif place is None and not isinstance(error, ValueError):
        given = PolicyModule(cell.policy).is_given
        advice = "remove @njit" if given else "run `NUMBA_DISABLE_JIT=1 privarms check FOLDER`"
        reason += f"; {advice} to see the line"
    return f"{place or ', '.join(files(cell))}: {cell.policy} on {cell.environment}: {' '.join(reason.split())}"
