"""Random streams: named by their purpose, never by the order or the place in which jobs run.

Each block of replicates has its own streams. They derive from the master seed, the block's index, and a digest of the
paper, the study and the cell's own parameters. So no number changes with the number of cores, the size of a shard,
another cell in the grid, or an interruption of the run.
"""

import hashlib
import json
from collections.abc import Mapping

import numpy as np


def digest(identity: Mapping) -> str:
    """Return 32 hex digits for a mapping of plain values, in any order of its keys; 1 and 1.0 are one value."""
    text = json.dumps(_plain(identity), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _plain(value):
    # Most values are texts and whole numbers; testing for a mapping first would take ten times as long.
    if isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def stream(seed: int, identity: str, block: int) -> np.random.Generator:
    """Return the generator of one block; identity: a `digest`; seed: the master seed, >= 0; block: its index, >= 0."""
    words = [int(identity[i : i + 8], 16) for i in range(0, 32, 8)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words], spawn_key=(block,))))
