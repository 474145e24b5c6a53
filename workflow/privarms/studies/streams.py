"""Random streams: named by what they are for, never by the order or the place in which jobs run.

A block of replicates has streams of its own, derived from the master seed, a digest of the paper, the study and the
cell's own parameters, and the block's index. So the number of cores, the size of a shard, another cell in the grid or
a run that was killed and resumed change no number.
"""

import hashlib
import json
from collections.abc import Mapping

import numpy as np


def digest(identity: Mapping) -> str:
    """32 hex digits for a mapping of plain values, independent of the order of its keys; 1 and 1.0 are one value."""
    text = json.dumps(_plain(identity), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _plain(value):
    # Most are texts and whole numbers, and to ask whether one is a mapping takes ten times as long.
    if isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def stream(seed: int, identity: str, block: int) -> np.random.Generator:
    """The generator of one block; `identity` is a `digest`, `seed` >= 0 the master seed, `block` >= 0 its index."""
    words = [int(identity[i : i + 8], 16) for i in range(0, 32, 8)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words], spawn_key=(block,))))
