"""Shards: consecutive blocks of one policy's cells, as many as fit an estimated time."""

from collections.abc import Sequence
from dataclasses import dataclass

from privarms.studies.cells import Cell


@dataclass(frozen=True)
class Piece:
    """Blocks [first, last) of one cell."""

    cell: Cell
    first: int
    last: int


@dataclass(frozen=True)
class Shard:
    """A file of results; all its pieces are of one policy and one dataset, if any. A job writes one shard or some."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def policy(self) -> str:
        """The one policy of the shard."""
        return self.pieces[0].cell.policy

    @property
    def seconds(self) -> float:
        """Estimated seconds on one core, without start-up and compilation."""
        return sum(p.cell.seconds * _replicates(p) for p in self.pieces)


def _replicates(piece: Piece) -> int:
    cell = piece.cell
    return min(piece.last * cell.block, cell.replicates) - piece.first * cell.block


def plan(cells: Sequence[Cell], seconds: float) -> list[Shard]:
    """Cut the cells into shards of about `seconds` each.

    The shards, in order, list the study's blocks in order: cells as given, blocks by index. Cells of one policy are
    expected to be consecutive, as `cells.expand` gives them. A shard holds one policy on one dataset, so that nothing
    else is run again when either changes.
    """
    shards: list[Shard] = []
    counts: dict[str, int] = {}
    pieces: list[Piece] = []
    room = seconds

    def close() -> None:
        nonlocal room
        if pieces:
            policy = pieces[0].cell.policy
            counts[policy] = counts.get(policy, 0) + 1
            shards.append(Shard(f"{policy}-{counts[policy]:03d}", tuple(pieces)))
            pieces.clear()
        room = seconds

    for cell in cells:
        if pieces and (pieces[-1].cell.policy, pieces[-1].cell.dataset) != (cell.policy, cell.dataset):
            close()
        cost = cell.seconds * cell.block
        first = 0
        while first < cell.blocks:
            fit = int(room // cost)
            if fit < 1:
                if pieces:
                    close()
                    continue
                fit = 1
            last = min(cell.blocks, first + fit)
            pieces.append(Piece(cell, first, last))
            room -= (last - first) * cost
            first = last
    close()
    return shards
