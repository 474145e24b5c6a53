"""Prepare the process that starts jobs as forks (`forkserver`), on import: load libraries, compile common functions.

Forks inherit machine code. Without it each kernel of a first run compiles these functions again, which takes about a
second. In later runs they inherit what numba loads when it compiles its first function, which takes an eighth of a
second per job. Frozen objects are left alone by a fork's garbage collections, so their memory stays shared.
"""

# ruff: noqa: F401
import gc
from contextlib import suppress

import matplotlib.backends.backend_agg
import matplotlib.backends.backend_pdf
import matplotlib.backends.backend_svg
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import scipy.stats
from matplotlib.mathtext import MathTextParser
from numba import njit

from privarms.execution import aggregate, run
from privarms.jit import cache, refcounts
from privarms.jit.binomial import binomial
from privarms.mechanisms.laplace import laplace, laplace_sum
from privarms.planning import results
from privarms.plots import sheet


@njit
def typical(n, rng):
    """Use the functions of most kernels: arrays, random draws and noise."""
    floats, counts, flags = np.zeros(n), np.zeros(n, np.int64), np.ones(n, np.bool_)
    table = np.zeros((n, n))
    table[0, 0] = np.empty((n, n))[0, 0]
    limited = min(n, 2) + max(n, 2) + min(rng.random(), 1.0) + max(floats[0], 1.0) + int(floats[0]) + abs(floats[0])
    drawn = binomial(n, 0.5, rng) + laplace(1.0, rng) + laplace_sum(1.0, n, rng)
    drawn += rng.standard_normal() + rng.standard_exponential()
    return limited + drawn + floats.max() + floats.sum() + counts.sum() + flags.sum() + np.argmax(floats)


refcounts.make_plain()
MathTextParser("agg").parse("$x$")  # builds the grammar of formulas
# Later runs load their kernels from the cache. A folder that cannot be read has none.
kernels = ()
with suppress(OSError):
    kernels = tuple(cache.place().glob("*"))
if kernels:
    njit(lambda: 0)()
else:
    typical(2, np.random.default_rng(0))
gc.freeze()
