"""Shards: the work of one job, consecutive blocks of one policy's cells up to an estimated time.

The cuts and the names of shards depend only on the cells near the cut. If another cell, study or dataset is added, only
the shards that contain it change.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from privarms.execution import trial
from privarms.execution.cell import Cell, Piece, plain
from privarms.execution.streams import digest

# A shard may be closed before a cell, by the cell's identity, once it is this full.
FULL_ENOUGH = 1 / 2


@dataclass(frozen=True)
class Shard:
    """The work of one job: one policy, protocol and record; one environment, or built-in ones without data."""

    pieces: tuple[Piece, ...]

    @cached_property
    def name(self) -> str:
        """Return the policy and a digest of all values that determine the rows."""
        held = [{**plain(p.cell), "first": p.first, "last": p.last} for p in self.pieces]
        for piece in held:
            # The time estimate does not change the rows.
            del piece["seconds_per_step"]
        return f"{self.pieces[0].cell.policy}-{digest({'pieces': held})[:12]}"

    @property
    def seconds(self) -> float:
        """Return the estimated seconds on one core, without start-up and compilation."""
        return sum(p.seconds for p in self.pieces)


def plan(cells: Iterable[Cell], seconds: float, own_data: frozenset[str] = frozenset()) -> list[Shard]:
    """Cut the cells of a paper's studies into shards of at most about `seconds` each.

    Cells of one kind keep their order, from study to study: cells that share a job compile its kernels only once.

    own_data: the user's own datasets; they get shards of their own, so their faults do not block other results
    """
    kinds: dict[tuple, list[Cell]] = {}
    for cell in cells:
        # Data may be missing, and extensions may have faults, so cells of other environments do not wait for them.
        environment = cell.environment if cell.dataset or trial.files(cell) else None
        own = cell.dataset if cell.dataset in own_data else None
        kinds.setdefault((cell.policy, environment, cell.protocol, cell.record, own), []).append(cell)
    return [shard for kind in kinds.values() for shard in _cut(kind, seconds)]


def _cut(cells: list[Cell], seconds: float) -> list[Shard]:
    shards: list[list[Piece]] = []
    # The filled share of the last shard; infinite if it takes no further cell.
    filled = math.inf
    for cell in cells:
        whole = Piece(cell, 0, cell.blocks)
        share = whole.seconds / seconds
        if whole.seconds > seconds:
            shards += [[part] for part in _parts(whole, seconds)]
            filled = math.inf
            continue
        # On average, the identities of cells end a shard once per half shard.
        ends_here = int(cell.identity[:8], 16) / 2**32 < 2 * share
        if filled + share > 1 or (filled >= FULL_ENOUGH and ends_here):
            shards.append([])
            filled = 0.0
        shards[-1].append(whole)
        filled += share
    return [Shard(tuple(pieces)) for pieces in shards]


def _parts(whole: Piece, seconds: float) -> list[Piece]:
    """Return the pieces of a cell that is too long for one shard, cut evenly."""
    cell, blocks = whole.cell, whole.cell.blocks
    count = -(-blocks // max(1, int(seconds // (cell.seconds * cell.block))))
    edges = [i * blocks // count for i in range(count + 1)]
    return [Piece(cell, a, b) for a, b in itertools.pairwise(edges)]
