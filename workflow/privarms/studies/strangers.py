"""Runs of what an extension brings: with bounds checked, looked at before they begin, faults told by file and line.

An array that is indexed outside of it is an error there and no damage: kernels are compiled with bounds checks in a job
that runs an extension's module, and arms are checked as they are chosen. That changes no result, only how long it
takes, and jobs that run our modules alone are compiled without.
"""

import contextlib
import inspect
import json
import logging
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np

from privarms.errors import PrivarmsError, StudyError
from privarms.policies import Policy
from privarms.protocols._checks import ArmError, Checked, NotFiniteError, RecordError
from privarms.studies import cost, library, source_faults
from privarms.studies.cells import Cell, plain
from privarms.studies.streams import stream

log = logging.getLogger(__name__)

# A first look takes as long as that, if the runs do.
LOOK_SECONDS = 0.05
LOOK_ROUNDS = 100
# Nobody waits longer for the first rounds without a word, nor for a line that is looked for.
PATIENCE = 120.0

# How the arguments of a policy's functions are typed, by their names in the contract of its family.
_NUMBERS = {"t": numba.int64, "feature": numba.int64, "reward": numba.float64, "total": numba.float64}
_VECTOR, _MATRIX = numba.types.Array(numba.float64, 1, "C"), numba.types.Array(numba.float64, 2, "C")

# Of this process: the type of each policy's parameters, and the seconds of a run of what was looked at, if known.
_seen: dict[str, object] = {}
_looked_at: dict[tuple[str, str, str], float | None] = {}


def at_work(cell: Cell) -> bool:
    """Whether an extension's policy, environment or protocol runs in a cell."""
    return bool(library.extensions()) and any(
        library.is_extension(library.source_file(room, name)) for room, name in _modules(cell)
    )


def _modules(cell: Cell) -> tuple[tuple[str, str], ...]:
    return ("policies", cell.policy), ("environments", cell.environment), ("protocols", cell.protocol)


def check_bounds() -> None:
    """Compile what is compiled from here on with bounds checks."""
    numba.config.BOUNDSCHECK = 1


def checked(policy: ModuleType) -> ModuleType | SimpleNamespace:
    """The module, with a POLICY whose arms its protocol checks."""
    bundled = getattr(policy, "POLICY", None)
    return SimpleNamespace(**{**vars(policy), "POLICY": Checked(*bundled)}) if type(bundled) is Policy else policy


class Run(NamedTuple):
    """One block of a cell, as another process can run it again; prepared: the file of each dataset."""

    cell: Cell
    block: int
    seed: int
    prepared: Mapping[str, Path | str]


def look(cell: Cell, policy, configured: Callable, seed: int) -> dict:
    """Before the runs of a cell: types, a short run, and how long the whole would take. Returns what was configured.

    configured: gives parameters, environment and what runs a number of replicates of a cell on two streams
    Raises PrivarmsError for functions that numba cannot compile or that give another type than the contract says, for
    runs that cannot be repeated, and whatever the short run raises; warns of parameters that compile anew and of runs
    that take much longer than said.
    """
    params, environment, run_block = configured()
    before = kept(params, environment)
    with waited_for(cell, PATIENCE):
        _check_params(cell, params)
        if not numba.config.DISABLE_JIT:
            if cell.policy not in _seen and library.is_extension(library.source_file("policies", cell.policy)):
                _check_types(cell, policy, params)
            _warn_of_new_types(cell, params)
        if library.is_extension(library.source_file("environments", cell.environment)):
            _check_environment(cell, environment)
        if _looked_for(cell) in _looked_at:
            return before
        seconds = _seconds_of_a_run(cell, run_block, seed, lambda: refuse_changed(cell, before, params, environment))
        _looked_at[_looked_for(cell)] = seconds
    if seconds is not None and not numba.config.DISABLE_JIT:
        for said in cost.warnings(cell, seconds):
            warn(said)
    return before


def _looked_for(cell: Cell) -> tuple[str, str, str]:
    return cell.study, cell.policy, cell.environment


def patience(cell: Cell, blocks: int) -> float:
    """How long some blocks of a cell may take without a word, in seconds: much longer than by what is known of it."""
    of_a_run = _looked_at.get(_looked_for(cell)) or cell.seconds
    return PATIENCE + cost.FACTOR * of_a_run * cell.block * blocks


def kept(params, environment) -> dict:
    """A copy of the numbers and arrays that all replicates share, by their names."""
    found = dict(_numbers("params", params))
    # One of real data shuffles its users in place, on a stream.
    found |= {} if hasattr(environment, "shuffle") else dict(_numbers("environment", environment))
    return {name: np.array(value) for name, value in found.items()}


def _numbers(name: str, value) -> Iterator[tuple[str, object]]:
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        for field, part in zip(names, value, strict=True):
            yield from _numbers(f"{name}.{field}", part)
    elif isinstance(value, np.ndarray | np.generic | int | float):
        yield name, value


def refuse_changed(cell: Cell, before: Mapping, params, environment, configured_anew: bool = False) -> None:
    """PrivarmsError for the first of the parameters that is not what it was; configured_anew: they were made again."""
    for name, value in kept(params, environment).items():
        if name in before and not _same(before[name], value):
            of_policy = name.startswith("params")
            room, module = ("policies", cell.policy) if of_policy else ("environments", cell.environment)
            function = "configure" if configured_anew else "learn" if of_policy else "pull"
            place = source_faults.line(library.source_file(room, module), function)
            if configured_anew:
                raise PrivarmsError(f"{place}: configure gives another {name} for the same values when called again")
            raise PrivarmsError(
                f"{place}: {cell.policy} on {cell.environment}: {name} changed in a run: expected that it stays, for "
                "all replicates share it; what changes belongs into the state, which init makes anew"
            )


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    inexact = np.issubdtype(one.dtype, np.inexact) and np.issubdtype(other.dtype, np.inexact)
    return np.array_equal(one, other, equal_nan=inexact)


@contextlib.contextmanager
def waited_for(cell: Cell, seconds: float) -> Iterator[None]:
    """Another process waits, and says it where what runs within takes longer or ends this process without an error."""
    where = f"{files(cell)}: {cell.policy} on {cell.environment}"
    slow = f"is not through after {cost.duration(seconds)}: a loop that does not end, say? Ctrl-C ends the run"
    died = (
        "ended its process without an error: it was killed, or compiled code crashed, in a recursion without end, say"
    )
    about = {"seconds": seconds, "slow": f"warning: {where} {slow}\n", "died": f"error: {where} {died}\n"}
    _tell_who_waits(json.dumps(about))
    try:
        yield
    finally:
        _tell_who_waits("")


def _tell_who_waits(line: str) -> None:
    # Nobody waits for who waits, nor minds if that process was ended.
    with contextlib.suppress(OSError):
        _who_waits().stdin.write(line.encode() + b"\n")


@cache
def _who_waits() -> subprocess.Popen:
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_waiting.py"))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)


def files(cell: Cell) -> str:
    """The extension's modules in a cell, as messages name them."""
    files = (library.source_file(room, name) for room, name in _modules(cell))
    return ", ".join(library.shown(file) for file in files if library.is_extension(file))


@cache
def warn(said: str) -> None:
    """To the log and the terminal, once."""
    log.warning(said)
    print(f"warning: {said}", file=sys.stderr)


def _seconds_of_a_run(cell: Cell, run_block: Callable, seed: int, refuse: Callable) -> float | None:
    """Of one replicate, from a short one; None where the protocol runs none that is shorter than the cell's.

    PrivarmsError where two runs on the same streams differ, or `refuse` says so after the first.
    """
    horizon = min(cell.horizon or LOOK_ROUNDS, LOOK_ROUNDS)
    while True:
        short = replace(cell, horizon=horizon if cell.horizon else None, replicates=1, block=1)
        found = []
        for _ in range(2):  # the first one compiles
            streams = stream(seed, cell.environment_identity, 0), stream(seed, cell.identity, 0)
            # Of the processor, which others may share.
            began = time.process_time()
            try:
                found.append(run_block(short, 1, *streams))
            except StudyError:
                # The whole run will say it, if it is a fault and not what comes of a horizon that is not the study's.
                return None
            seconds = time.process_time() - began
            refuse()
        for column in found[0]:
            if not np.array_equal(*(run[column] for run in found), equal_nan=found[0][column].dtype.kind == "f"):
                raise PrivarmsError(
                    f"{files(cell)}: two runs of {cell.policy} on {cell.environment} on one random stream differ in "
                    f"{column}: expected all randomness from `rng`, and arrays that init makes and fills anew"
                )
        if seconds >= LOOK_SECONDS or horizon >= (cell.horizon or 0):
            return seconds * max((cell.horizon or 1) / horizon, 1)
        horizon = min(10 * horizon, cell.horizon)


def _check_params(cell: Cell, params) -> None:
    """Whether a policy's Params have what its protocol reads of them."""
    file = library.source_file("policies", cell.policy)
    for field, what in library.literals("protocols", cell.protocol).get("PARAMS", {}).items():
        if library.is_extension(file) and not hasattr(params, field):
            raise PrivarmsError(
                f"{source_faults.line(file, 'configure')}: configure gives no {field}; the protocol {cell.protocol} "
                f"reads {field} of Params: {what}"
            )


def _check_environment(cell: Cell, environment) -> None:
    """Whether an environment has what its protocol asks of one; of a bandit's also rewards, some of each arm."""
    file = library.source_file("environments", cell.environment)
    for field, expected in library.literals("protocols", cell.protocol).get("ENVIRONMENT", {}).items():
        place = f"{source_faults.line(file, 'configure')}: configure"
        if not hasattr(environment, field):
            raise PrivarmsError(
                f"{place} gives no {field}; the protocol {cell.protocol} needs {_asked(field, expected)}"
            )
        value = getattr(environment, field)
        if isinstance(expected, str):
            kind, _, size = expected.partition("[")
            found = f"{value.dtype}[{value.ndim}d]" if isinstance(value, np.ndarray) else type(value).__name__
            if size and found != f"{kind}[{size.count(',') + 1}d]":
                raise PrivarmsError(f"{place} gives {field} of type {found}; expected {_asked(field, expected)}")
            continue
        function = getattr(value, "py_func", value)
        if not callable(function) or len(inspect.signature(function).parameters) != len(expected):
            where = source_faults.line(file, getattr(function, "__name__", field))
            raise PrivarmsError(f"{where}: expected {_asked(field, expected)}")
    if cell.protocol == "bandit":
        _check_rewards(cell, environment, source_faults.line(file, "pull"))


def _asked(field: str, expected: tuple | str) -> str:
    return f"{field}: {expected}" if isinstance(expected, str) else f"{field}({', '.join(expected)})"


def _check_rewards(cell: Cell, environment, place: str) -> None:
    rng = np.random.default_rng(0)
    for arm in range(len(environment.means)):
        rewards = [environment.pull(environment, arm, rng) for _ in range(LOOK_ROUNDS)]
        if not all(isinstance(one, int | float | np.number | np.bool_) for one in rewards):
            raise PrivarmsError(f"{place}: pull gives {type(rewards[0]).__name__}; expected a reward, a number")
        if not np.isfinite([*rewards, environment.means[arm]]).all():
            raise PrivarmsError(f"{place}: arm {arm}: expected that its mean and all its rewards are finite numbers")
        outside = [one for one in rewards if not 0 <= one <= 1]
        if outside and "epsilon" in cell.policy_parameters:
            private = f"the noise of private policies, {cell.policy} say, is made for rewards in [0, 1]"
            warn(f"{place}: arm {arm} gives the reward {outside[0]:.3g}; {private}")
            return


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
            raise PrivarmsError(f"numba cannot compile {name}: {_of_numba(error)}") from error
        place = source_faults.line(library.source_file("policies", cell.policy), name)
        if name == "init":
            known["state"] = returned
        elif name == "choose" and not isinstance(returned, numba.types.Integer):
            raise PrivarmsError(f"{place}: choose gives {_in_words(returned)}; expected an arm, an int, on every path")
        elif name in ("learn", "ask") and returned != known["state"]:
            unified = numba.core.registry.cpu_target.typing_context.unify_types(returned, known["state"])
            if unified is None or isinstance(unified, numba.types.Optional):
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


def explain(error: BaseException, cell: Cell, run: Run | None = None) -> str:
    """What went wrong in a cell, with file and line of the extension's module if that is where; run: in which."""
    policy = library.source_file("policies", cell.policy)
    environment = library.source_file("environments", cell.environment)
    if isinstance(error, ArmError):
        return f"{source_faults.line(policy, 'choose')}: {cell.policy}: {error}"
    if isinstance(error, RecordError | NotFiniteError):
        fast = library.functions(policy, "SIMULATE").get(cell.environment)
        if library.is_extension(environment):
            place = source_faults.line(environment, "pull")
        else:
            place = source_faults.line(policy, fast or "learn")
        return f"{place}: {cell.policy} on {cell.environment}: {error}"
    if isinstance(error, numba.core.errors.NumbaError):
        return f"numba cannot compile {cell.policy} on {cell.environment}: {_of_numba(error)}"
    place, what = innermost(error), f"{type(error).__name__}: {error}"
    if place:
        return f"{place}: {what}"
    if run is not None and (found := _in_plain_python(run, type(error).__name__)):
        return found
    return f"{files(cell)}: {what}, in what numba compiled of {cell.policy} on {cell.environment}"


def _in_plain_python(run: Run, kind: str) -> str | None:
    """The same run without numba, which knows the line of an error: what it says, if it comes to the same kind."""
    if numba.config.DISABLE_JIT:
        return None
    given = {**run._asdict(), "cell": plain(run.cell), "prepared": {k: str(v) for k, v in run.prepared.items()}}
    command = [sys.executable, "-c", "from privarms.studies import strangers; strangers.run_again()"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(given),
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return None
    said = done.stdout.strip()
    return said if f": {kind}: " in said else None


def run_again() -> None:
    """Print what is wrong with the run that stands, as JSON, on standard input."""
    from privarms.studies import run
    from privarms.studies.shards import Piece

    given = json.load(sys.stdin)
    try:
        run.run_piece(
            Piece(Cell(**given["cell"]), given["block"], given["block"] + 1), given["seed"], given["prepared"]
        )
    except StudyError as error:
        print(error.reason)


def innermost(error: BaseException) -> str | None:
    """File and line of the extension that an error came from last; None where compiled code raised it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if library.is_extension(Path(f.filename))]
    return f"{library.shown(Path(frames[-1].filename))}:{frames[-1].lineno}" if frames else None


def _of_numba(error: Exception) -> str:
    """The place in the extension's files that numba's pages of text name last, and the reason that stands first."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    places = [(Path(f).resolve(), line) for f, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    own = [f"{library.shown(f)}:{line}" for f, line in places if library.is_extension(f)]
    return f"{own[-1]}: {' '.join(_reasons(text))}" if own else " ".join(_reasons(text))


_WITHOUT_NJIT = re.compile(r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'function'>")


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
            "Return of",
            "Return statement",
            "^",
        )
        line = line.removesuffix("<source elided>").strip()
        if line and not line.startswith(skipped):
            yield _WITHOUT_NJIT.sub(r"\1 is plain Python: numba compiles what has @njit; add it", line)
            found += 1
            if found == 2:
                return
