"""Run one shard: its cells, block by block, each block on streams of its own."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from privarms.errors import DamagedError, PrivarmsError, StudyError
from privarms.files import parquet
from privarms.studies import library, strangers
from privarms.studies.cells import Cell
from privarms.studies.shards import Piece
from privarms.studies.streams import stream

log = logging.getLogger(__name__)


def run_piece(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> pa.Table:
    """The rows of one cell's blocks, as `run_blocks` gives them, in one table."""
    return pa.concat_tables(run_blocks(piece, seed, prepared)).combine_chunks()


def run_blocks(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    """The rows of one cell's blocks: `cell`, `replicate` (within the cell), the protocol's keys and measures; in tables
    of about a row group.

    prepared: the prepared file of each dataset that the cell needs
    An audit that fits any policy (FAMILIES) was not asked for: where one cannot be run so, it has no trials.
    """
    if "FAMILIES" not in library.literals("environments", piece.cell.environment):
        yield from _run_blocks(piece, seed, prepared)
        return
    try:
        tables = list(_run_blocks(piece, seed, prepared))
    except StudyError as error:
        strangers.warn(f"{piece.cell.policy} is not audited by {piece.cell.environment}: {error}")
        none = np.zeros(1, np.int64)
        columns = {"trials": none, "events": none, "replicate": none + piece.first * piece.cell.block}
        tables = [_of_cell(piece.cell, columns)]
    yield from tables


def _run_blocks(piece: Piece, seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    cell = piece.cell
    stranger = strangers.at_work(cell)
    if stranger:
        strangers.check_bounds()
    with _faults_of(cell, "its modules"):
        policy = library.load("policies", cell.policy)
        protocol = library.load("protocols", cell.protocol)
    policy = strangers.checked(policy) if stranger else policy

    def configured():
        environment = configure_environment(cell, prepared)
        with _faults_of(cell, cell.policy):
            params = policy.configure(**{**told(cell, environment), **cell.policy_parameters})
        return params, environment, partial(protocol.run_block, policy, params, environment)

    before: dict = {}
    if stranger:
        with _faults_of(cell, cell.policy, strangers.Run(cell, piece.first, seed, prepared)):
            # On parameters and an environment of its own: the runs must not see that there was a look.
            before = strangers.look(cell, policy, configured, seed)
    params, environment, run_block = configured()
    parts: list[dict[str, np.ndarray]] = []
    rows = 0
    with (
        strangers.waited_for(cell, strangers.patience(cell, piece.last - piece.first))
        if stranger
        else contextlib.nullcontext()
    ):
        for block in range(piece.first, piece.last):
            replicates = min(cell.block, cell.replicates - block * cell.block)
            own_streams = stream(seed, cell.environment_identity, block), stream(seed, cell.identity, block)
            with _faults_of(cell, cell.policy, strangers.Run(cell, block, seed, prepared)):
                if stranger and block == piece.first:
                    strangers.refuse_changed(cell, before, params, environment, configured_anew=True)
                columns = run_block(cell, replicates, *own_streams)
                if stranger:
                    strangers.refuse_changed(cell, before, params, environment)
            columns["replicate"] = columns["replicate"] + block * cell.block
            _refuse_overwritten(cell, columns)
            parts.append(columns)
            rows += len(columns["replicate"])
            if rows >= parquet.ROWS_PER_GROUP or block == piece.last - 1:
                yield _of_cell(cell, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
                parts, rows = [], 0


def _refuse_overwritten(cell: Cell, columns: Mapping[str, np.ndarray]) -> None:
    if overwritten := set(columns) & set(cell.parameters):
        raise StudyError(
            cell.paper,
            f"studies.{cell.study}",
            f"{cell.policy} on {cell.environment} has the parameter {', '.join(sorted(overwritten))}, which is what "
            f"the protocol {cell.protocol} calls a column of its results; rename the parameter in its module",
        )


def _of_cell(cell: Cell, columns: Mapping[str, np.ndarray]) -> pa.Table:
    rows = len(columns["replicate"])
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([cell.name]))
    return pa.table({"cell": names, **columns})


def told(cell: Cell, environment) -> dict:
    """What an environment that is made of data tells the policy (TELLS): of its `tell` what the policy takes."""
    if not library.literals("environments", cell.environment).get("TELLS"):
        return {}
    takes = library.arguments("policies", cell.policy)
    told = library.load("environments", cell.environment).tell(environment)
    return {name: value for name, value in told.items() if name in takes}


def configure_environment(cell: Cell, prepared: Mapping[str, Path | str]):
    """The cell's environment; `dataset` becomes the prepared file of that name."""
    given = dict(cell.environment_parameters)
    if cell.dataset is not None:
        given["data"] = prepared[given.pop("dataset")]
    with _faults_of(cell, f"environment {cell.environment}"):
        return library.load("environments", cell.environment).configure(**given)


@contextlib.contextmanager
def _faults_of(cell: Cell, what: str, run: strangers.Run | None = None) -> Iterator[None]:
    """A ValueError or PrivarmsError within names the study and what in it was at work, and so does anything that an
    extension's module raises; the log keeps its traceback. run: what runs within, if anything."""
    try:
        yield
    except DamagedError:
        raise
    except StudyError as error:
        where = strangers.files(cell) if strangers.at_work(cell) else ""
        if not where or any(file in error.reason for file in where.split(", ")):
            raise
        raise StudyError(error.paper, f"studies.{cell.study}", f"{where}: {error.reason}") from error.__cause__
    except (ValueError, PrivarmsError) as error:
        cause = error if isinstance(error, ValueError) else None
        said = f"{what}: {error}"
        if cause and strangers.at_work(cell):
            said = strangers.explain(error, cell, run)
        raise StudyError(cell.paper, f"studies.{cell.study}", said) from cause
    except (Exception, SystemExit) as error:
        if not strangers.at_work(cell):
            raise
        raise StudyError(cell.paper, f"studies.{cell.study}", strangers.explain(error, cell, run)) from error


def run_shard(pieces: Iterable[Piece], seed: int, prepared: Mapping[str, Path | str]) -> Iterator[pa.Table]:
    """The rows of a shard's pieces, in order; of a long piece no more than a row group and a block is in memory."""
    for piece in pieces:
        log.info("%s: %s, blocks %d to %d", piece.cell.study, piece.cell.name, piece.first, piece.last - 1)
        yield from run_blocks(piece, seed, prepared)
