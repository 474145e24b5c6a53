"""Run one shard: its cells, block by block, each block on streams of its own."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from privarms.errors import DamagedError, PrivarmsError, StudyError
from privarms.execution import result_columns, trial
from privarms.execution.cell import Cell, Piece
from privarms.execution.streams import stream
from privarms.files import parquet
from privarms.registry.modules import EnvironmentModule, PolicyModule, ProtocolModule

log = logging.getLogger(__name__)


def run_piece(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> pa.Table:
    """Return the rows of one cell's blocks, as `run_blocks` yields them, in one table."""
    return pa.concat_tables(run_blocks(piece, seed, prepared)).combine_chunks()


def run_blocks(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    """Yield the rows of one cell's blocks, in tables of about a row group.

    Columns: `cell`, `replicate` (within the cell), the protocol's keys and measures. prepared: dataset -> prepared
    file. Audits of families are automatic: if a policy cannot run in one, the table has 0 trials and the log a warning.
    """
    with trial.bounds_checked(bool(trial.files(piece.cell))):
        yield from _run_or_skip(piece, seed, prepared)


def _run_or_skip(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    if not EnvironmentModule(piece.cell.environment).audited_families:
        yield from _run_blocks(piece, seed, prepared)
        return
    try:
        tables = list(_run_blocks(piece, seed, prepared))
    except StudyError as error:
        log.warning("%s is not audited by %s: %s", piece.cell.policy, piece.cell.environment, error)
        none = np.zeros(1, np.int64)
        columns = {"replicate": none + piece.first * piece.cell.block, "trials": none, "events": none}
        tables = [_of_cell(piece.cell, columns)]
    yield from tables


def _run_blocks(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    cell = piece.cell
    run_block = _configured(cell, prepared)
    if trial.files(cell):
        with _faults_of(cell, cell.policy), _fitting(cell, run_block.args[-1]):
            trial.refuse_nan(cell, *run_block.args)
    parts: list[dict[str, np.ndarray]] = []
    rows = 0
    for block in range(piece.first, piece.last):
        replicates = min(cell.block, cell.replicates - block * cell.block)
        own_streams = stream(seed, cell.environment_identity, block), stream(seed, cell.identity, block)
        with _faults_of(cell, cell.policy), _fitting(cell, run_block.args[-1]):
            columns = run_block(cell, replicates, *own_streams)
        result_columns.check_written(cell, columns)
        columns["replicate"] = columns["replicate"] + block * cell.block
        parts.append(columns)
        rows += len(columns["replicate"])
        if rows >= parquet.ROWS_PER_GROUP or block == piece.last - 1:
            yield _of_cell(cell, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
            parts, rows = [], 0


def try_out(cell: Cell, seed: int, prepared: Mapping[str, Path | str]) -> None:
    """Run an extension's modules for a few rounds of a cell, with bounds checked."""
    with trial.bounds_checked():
        run_block = _configured(cell, prepared)
        with _faults_of(cell, cell.policy):
            columns = trial.run(cell, run_block, seed)
            trial.refuse_nan(cell, *run_block.args)
    if columns is not None:
        result_columns.check_written(cell, columns)


def _configured(cell: Cell, prepared: Mapping[str, Path | str]) -> partial:
    """Return a function that runs replicates of a cell on two streams."""
    with _faults_of(cell, "its modules"):
        policy = PolicyModule(cell.policy).module
        protocol = ProtocolModule(cell.protocol).module
    inputs = dict(cell.environment_parameters)
    if cell.dataset is not None:
        inputs["data"] = prepared[inputs.pop("dataset")]
    with _faults_of(cell, f"environment {cell.environment}"):
        around = EnvironmentModule(cell.environment)
        environment = around.module.configure(**inputs)
    with _faults_of(cell, cell.policy):
        takes = PolicyModule(cell.policy).arguments
        values = around.module.tell(environment) if around.tells else {}
        provided = {name: value for name, value in values.items() if name in takes}
        params = policy.configure(**{**provided, **cell.policy_parameters})
    return partial(protocol.run_block, policy, params, environment)


def _of_cell(cell: Cell, columns: Mapping[str, np.ndarray]) -> pa.Table:
    rows = len(columns["replicate"])
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([cell.name]))
    return pa.table({"cell": names, **columns})


@contextlib.contextmanager
def _faults_of(cell: Cell, what: str) -> Iterator[None]:
    """Turn a ValueError, PrivarmsError or any error of an extension into a StudyError that names `what` was running."""
    try:
        yield
    except (DamagedError, StudyError):
        raise
    except (Exception, SystemExit) as error:
        ours = not trial.files(cell)
        if ours and not isinstance(error, ValueError | PrivarmsError):
            raise
        reason = f"{what}: {error}" if ours or isinstance(error, PrivarmsError) else trial.explain(error, cell)
        cause = None if isinstance(error, PrivarmsError) else error
        raise StudyError(cell.paper, f"studies.{cell.study}", reason) from cause


@contextlib.contextmanager
def _fitting(cell: Cell, environment) -> Iterator[None]:
    """Turn a missing attribute of the environment into an error that says that it does not fit the protocol."""
    try:
        yield
    except AttributeError as error:
        if error.obj is not environment or ProtocolModule(cell.protocol).family is None:
            raise
        raise PrivarmsError(
            f"the protocol {cell.protocol} needs an environment with {error.name!r}; {cell.environment} does not have "
            f"it. Expected an environment that a study of this protocol has"
        ) from error


def run_shard(pieces: Iterable[Piece], seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    """Yield the rows of a shard's pieces, in order; memory: one row group and one block of a long piece."""
    for piece in pieces:
        log.info("%s: %s, blocks %d to %d", piece.cell.study, piece.cell.name, piece.first, piece.last - 1)
        yield from run_blocks(piece, seed, prepared)
