"""Runs of what an extension brings: with bounds checked, looked at before they begin, faults told by file and line.

An array that is indexed outside of it is an error there and no damage: kernels are compiled with bounds checks in a job
that runs an extension's module. That changes no result, only how long it takes.
"""

import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np

from privarms.errors import PrivarmsError, StudyError
from privarms.protocols._checks import ArmError, NotFiniteError
from privarms.studies import cost, library, source_faults
from privarms.studies.cells import Cell
from privarms.studies.streams import stream

log = logging.getLogger(__name__)

# A first look takes as long as that, if the runs do.
LOOK_SECONDS = 0.05
LOOK_ROUNDS = 100

# How the arguments of a policy's functions are typed, by their names in the contract of its family.
_NUMBERS = {"t": numba.int64, "feature": numba.int64, "reward": numba.float64, "total": numba.float64}
_VECTOR, _MATRIX = numba.types.Array(numba.float64, 1, "C"), numba.types.Array(numba.float64, 2, "C")

# Of this process: the type of each policy's parameters, and what a short run was made of.
_seen: dict[str, object] = {}
_looked_at: set[tuple[str, str, str]] = set()


def at_work(cell: Cell) -> bool:
    """Whether an extension's policy, environment or protocol runs in a cell."""
    if not library.extensions():
        return False
    rooms = (("policies", cell.policy), ("environments", cell.environment), ("protocols", cell.protocol))
    return any(library.is_extension(library.source_file(room, name)) for room, name in rooms)


def check_bounds() -> None:
    """Compile what is compiled from here on with bounds checks."""
    numba.config.BOUNDSCHECK = 1


def look(cell: Cell, policy, params, run_block: Callable, seed: int) -> None:
    """Before the runs of a cell: types, a short run, and how long the whole would take.

    run_block: called with a cell, a number of replicates and two streams
    Raises PrivarmsError for functions that numba cannot compile or that give another type than the contract says, and
    whatever the short run raises; warns of parameters that compile anew and of runs that take much longer than said.
    """
    if not numba.config.DISABLE_JIT:
        if cell.policy not in _seen and library.is_extension(library.source_file("policies", cell.policy)):
            _check_types(cell, policy, params)
        _warn_of_new_types(cell, params)
    if (cell.study, cell.policy, cell.environment) in _looked_at:
        return
    _looked_at.add((cell.study, cell.policy, cell.environment))
    seconds = _seconds_of_a_run(cell, run_block, seed)
    if seconds is not None and not numba.config.DISABLE_JIT:
        for said in cost.warnings(cell, seconds):
            warn(said)


def warn(said: str) -> None:
    """To the log and the terminal."""
    log.warning(said)
    print(f"warning: {said}", file=sys.stderr)


def _seconds_of_a_run(cell: Cell, run_block: Callable, seed: int) -> float | None:
    """Of one replicate, from a short one; None where the protocol runs none that is shorter than the cell's."""
    horizon = min(cell.horizon or LOOK_ROUNDS, LOOK_ROUNDS)
    while True:
        short = replace(cell, horizon=horizon if cell.horizon else None, replicates=1, block=1)
        for _ in range(2):  # the first one compiles
            streams = stream(seed, cell.environment_identity, 0), stream(seed, cell.identity, 0)
            began = time.perf_counter()
            try:
                run_block(short, 1, *streams)
            except StudyError:
                # The whole run will say it, if it is a fault and not what comes of a horizon that is not the study's.
                return None
            seconds = time.perf_counter() - began
        if seconds >= LOOK_SECONDS or horizon >= (cell.horizon or 0):
            return seconds * max((cell.horizon or 1) / horizon, 1)
        horizon = min(10 * horizon, cell.horizon)


def _check_types(cell: Cell, policy, params) -> None:
    """Compile the functions of a policy one by one, as its protocol will: none is compiled twice."""
    family = library.family(cell.policy)
    contract = library.contract(family)
    if all(not isinstance(expected, str) for expected in contract.values()):
        return
    known = {**_NUMBERS, "context": _VECTOR, "contexts": _MATRIX, "params": numba.typeof(params)}
    known |= {"rng": numba.typeof(np.random.default_rng(0)), "arm": numba.int64}
    for name, arguments in contract.items():
        function = getattr(policy, name)
        if isinstance(arguments, str) or not hasattr(function, "compile"):
            continue
        given = known if family == cell.protocol or "context" not in arguments else {**known, "context": _VECTOR}
        types = tuple(given[argument] for argument in arguments)
        try:
            function.compile(types)
            returned = function.overloads[types].signature.return_type
        except numba.core.errors.NumbaError as error:
            raise PrivarmsError(f"{cell.policy}: numba cannot compile {name}: {_of_numba(error)}") from error
        place = source_faults.line(library.source_file("policies", cell.policy), name)
        if name == "init":
            known["state"] = returned
        elif name == "choose" and not isinstance(returned, numba.types.Integer | numba.types.Boolean):
            raise PrivarmsError(f"{place}: choose gives {_in_words(returned)}; expected an arm, an int, on every path")
        elif name in ("learn", "ask") and returned != known["state"]:
            unified = numba.core.registry.cpu_target.typing_context.unify_types(returned, known["state"])
            if unified is None:
                raise PrivarmsError(
                    f"{place}: {name} gives {_in_words(returned)}; expected the state of init, "
                    f"{_in_words(known['state'])}, of the same types and fields"
                )


def _in_words(kind) -> str:
    if isinstance(kind, numba.types.NamedTuple | numba.types.NamedUniTuple):
        types = kind.types if hasattr(kind, "types") else [kind.dtype] * len(kind.fields)
        pairs = zip(kind.fields, types, strict=True)
        return f"{kind.instance_class.__name__}({', '.join(f'{f}: {_in_words(t)}' for f, t in pairs)})"
    if isinstance(kind, numba.types.Optional):
        return f"{kind.type} on some paths and None on others"
    return "None" if kind == numba.types.none else re.sub(r"array\((\w+), (\d)d, \w+\)", r"\1[\2d]", str(kind))


def _warn_of_new_types(cell: Cell, params) -> None:
    """Warn where another value of a parameter makes parameters of another type, for which everything compiles anew."""
    kind = numba.typeof(params)
    before = _seen.setdefault(cell.policy, kind)
    if kind != before:
        place = source_faults.line(library.source_file("policies", cell.policy), "configure")
        warn(
            f"{place}: other values compile {cell.policy} anew: configure gave {_in_words(before)} and now "
            f"{_in_words(kind)}; expected one type whatever the values: int(K), float(epsilon), arrays for tuples"
        )


def explain(error: Exception, cell: Cell) -> str:
    """What went wrong in a cell, with file and line of the extension's module if that is where."""
    policy = library.source_file("policies", cell.policy)
    environment = library.source_file("environments", cell.environment)
    if isinstance(error, ArmError):
        return f"{source_faults.line(policy, 'choose')}: {cell.policy}: {error}"
    if isinstance(error, NotFiniteError):
        where = environment if library.is_extension(environment) else policy
        return f"{library.shown(where)}: {cell.policy} on {cell.environment}: {error}"
    if isinstance(error, numba.core.errors.NumbaError):
        return f"numba cannot compile {cell.policy} on {cell.environment}: {_of_numba(error)}"
    place = _innermost(error)
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, IndexError) and place is None:
        files = [library.shown(f) for f in (policy, environment) if library.is_extension(f)]
        return f"{', '.join(files)}: {what} of an array of {cell.policy} or {cell.environment}; correct the index"
    return f"{place}: {what}" if place else what


def _innermost(error: BaseException) -> str | None:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if library.is_extension(Path(f.filename))]
    return f"{library.shown(Path(frames[-1].filename))}:{frames[-1].lineno}" if frames else None


def _of_numba(error: Exception) -> str:
    """The place in the extension's files that numba's pages of text name last, and the reason that stands first."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    places = [(Path(f).resolve(), line) for f, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    own = [f"{library.shown(f)}:{line}" for f, line in places if library.is_extension(f)]
    return f"{own[-1]}: {' '.join(_reasons(text))}" if own else " ".join(_reasons(text))


def _reasons(text: str) -> Iterator[str]:
    found = 0
    for line in map(str.strip, text.splitlines()):
        skipped = (
            "Failed in",
            "During",
            "File",
            "There are",
            "-",
            "Overload",
            "With argument",
            "No match",
            "*",
            "def ",
        )
        if line and not line.startswith(skipped):
            yield line
            found += 1
            if found == 2:
                return
