"""Exponential, normal and gamma variates of numbers drawn ahead: numpy's, to the bit, as numba has them of Generators.

What happens nearly always is small enough to be taken into a kernel, and the rest lies apart. A ziggurat (Marsaglia &
Tsang 2000, "The ziggurat method for generating random variables") is a pile of layers under a density. A point in one
of them, drawn uniformly, is under the density if it lies within the layer above; nearly every other one is decided by
the straight line between the layer's edges, without the density itself.
"""

from functools import partial

import numpy as np
from llvmlite import binding, ir
from numba import from_dtype, njit, types
from numba.extending import intrinsic, overload_method
from numba.np.random import generator_methods
from numba.np.random._constants import (
    fe_double,
    fi_double,
    ke_double,
    ki_double,
    we_double,
    wi_double,
    ziggurat_exp_r,
    ziggurat_nor_inv_r,
    ziggurat_nor_r,
)
from numba.np.random.distributions import random_standard_gamma
from numba.np.random.generator_core import next_double, next_uint64

from privarms.pcg64 import ZERO, Ahead
from privarms.sure import sure

OWN = ("standard_exponential", "standard_normal", "standard_gamma")
# A row of the tables on edges, of which two numbers are not used, so that a place is a shift.
EDGES = np.uint64(8)
_INNER, _PER_WIDTH, _LEAST_BEND, _MOST_BEND, _HEIGHT, _FALL = (np.uint64(column) for column in range(6))

_tables: dict[str, np.ndarray] = {}


def _table(name: str, rows: np.ndarray):
    """A function that gives kernels a table's numbers, row by row: of an array they would count references."""
    _tables[name] = np.ascontiguousarray(rows)
    number = from_dtype(rows.dtype)
    symbol = f"privarms_{name}"
    binding.add_symbol(symbol, _tables[name].ctypes.data)

    @intrinsic
    def table(context):
        def generate(context, builder, signature, arguments):
            known = builder.module.globals.get(symbol)
            if known is None:
                held = ir.ArrayType(context.get_data_type(number), rows.size)
                known = ir.GlobalVariable(builder.module, held, symbol)
                known.global_constant = True
            return builder.bitcast(known, context.get_data_type(number).as_pointer())

        return types.CPointer(number)(), generate

    return table


def near_edges(density, largest, inside, widths, heights) -> np.ndarray:
    """What decides about points outside the layer above, by layer: float64[layers, EDGES], zeros for the base.

    density: unnormalised; largest: what a layer's width is multiplied by at its outer edge; inside, widths, heights:
    numpy's tables
    From the inner to the outer edge the density falls from one height to the next. v of the way, the share 1 - v + b of
    the fall is left: b, the bend of the density, is small, and a row has its least and largest value.
    """
    way = np.linspace(0, 1, 1025)
    rows = np.zeros((len(widths), int(EDGES)))
    for layer in range(1, len(widths)):
        inner, outer = inside[layer] * widths[layer], largest * widths[layer]
        fall = heights[layer - 1] - heights[layer]
        bend = (density(inner + way * (outer - inner)) - heights[layer]) / fall - (1 - way)
        # Between two points of the grid it is larger by a millionth at most; and far more than is lost to rounding.
        spare = 1e-5 * (bend.max() - bend.min()) + 1e-9
        rows[layer, :6] = inner, 1 / (outer - inner), bend.min() - spare, bend.max() + spare, heights[layer], fall
    return rows


# A layer's width is that of one step of a size. Sizes are compared as the whole numbers that they are, so that it is
# known early whether one is rare.
_exponential_limits = _table("exponential_limits", ke_double)
_exponential_widths = _table("exponential_widths", we_double)
_exponential_edges = _table(
    "exponential_edges", near_edges(lambda x: np.exp(-x), 2.0**53, ke_double, we_double, fe_double)
)
# The sign is the bit above the layer's: with a width of each sign it is looked up together with the layer.
_normal_limits = _table("normal_limits", np.tile(ki_double, 2))
_normal_widths = _table("normal_widths", np.concatenate([wi_double, -wi_double]))
_normal_edges = _table(
    "normal_edges", near_edges(lambda x: np.exp(-0.5 * x * x), 2.0**52, ki_double, wi_double, fi_double)
)


@njit(error_model="numpy", forceinline=True)
def _float(size):
    """A size, which is below 2^53; of a signed number it is one instruction."""
    return float(np.int64(size))


@njit(error_model="numpy", forceinline=True)
def _exponential_point(number):
    """A layer and a size, from the bits of a random number."""
    return (number >> np.uint64(3)) & np.uint64(0xFF), number >> np.uint64(11)


@njit(error_model="numpy", forceinline=True)
def exponential(rng):
    """A standard exponential variate."""
    number = next_uint64(rng)
    layer, size = _exponential_point(number)
    if size >= _exponential_limits()[layer]:
        return _rare_exponential(number, rng)
    return _float(size) * _exponential_widths()[layer]


@partial(sure, rare=True)
@njit(error_model="numpy")
def _rare_exponential(number, rng):
    limits, widths, edges = _exponential_limits(), _exponential_widths(), _exponential_edges()
    while True:
        layer, size = _exponential_point(number)
        x = _float(size) * widths[layer]
        if size < limits[layer]:
            return x
        if layer == ZERO:
            return ziggurat_exp_r - np.log1p(-next_double(rng))
        u, row = next_double(rng), EDGES * layer
        left = u + (x - edges[row + _INNER]) * edges[row + _PER_WIDTH] - 1
        if left < edges[row + _LEAST_BEND]:
            return x
        if left < edges[row + _MOST_BEND] and edges[row + _FALL] * u + edges[row + _HEIGHT] < np.exp(-x):
            return x
        number = next_uint64(rng)


@njit(error_model="numpy", forceinline=True)
def _normal_point(number):
    """A signed layer and a size, from the bits of a random number."""
    return number & np.uint64(0x1FF), (number >> np.uint64(9)) & np.uint64(2**52 - 1)


@njit(error_model="numpy", forceinline=True)
def normal(rng):
    """A standard normal variate."""
    number = next_uint64(rng)
    layer, size = _normal_point(number)
    if size >= _normal_limits()[layer]:
        return _rare_normal(number, rng)
    return _float(size) * _normal_widths()[layer]


@partial(sure, rare=True)
@njit(error_model="numpy")
def _rare_normal(number, rng):
    limits, widths, edges = _normal_limits(), _normal_widths(), _normal_edges()
    while True:
        layer, size = _normal_point(number)
        signed = _float(size) * widths[layer]
        if size < limits[layer]:
            return signed
        x, layer = abs(signed), layer & np.uint64(0xFF)
        if layer == ZERO:
            while True:
                beyond = -ziggurat_nor_inv_r * np.log1p(-next_double(rng))
                height = -np.log1p(-next_double(rng))
                if height + height > beyond * beyond:
                    # In the tail it is another bit that is the sign.
                    return -(ziggurat_nor_r + beyond) if number & np.uint64(1 << 17) else ziggurat_nor_r + beyond
        u, row = next_double(rng), EDGES * layer
        left = u + (x - edges[row + _INNER]) * edges[row + _PER_WIDTH] - 1
        if left < edges[row + _LEAST_BEND]:
            return signed
        if left < edges[row + _MOST_BEND] and edges[row + _FALL] * u + edges[row + _HEIGHT] < np.exp(-0.5 * x * x):
            return signed
        number = next_uint64(rng)


@sure
@njit(error_model="numpy")
def gamma(rng, shape):
    """A standard gamma variate: for shapes above 1 by Marsaglia & Tsang (2000), "A simple method for generating gamma
    variables"."""
    if shape <= 1.0:
        return random_standard_gamma(rng, shape)
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9 * b)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = next_double(rng)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v)):
            return b * v


def _is_plain(*arguments) -> bool:
    """Whether none of a method's optional arguments is given."""
    return not any(isinstance(given, types.Type) and not isinstance(given, types.Omitted) for given in arguments)


@overload_method(Ahead, "standard_exponential")
def _standard_exponential(inst, size=None, dtype=np.float64, method="zig"):
    if not _is_plain(size, dtype, method):
        return generator_methods.NumPyRandomGeneratorType_standard_exponential(inst, size, dtype, method)
    return lambda inst, size=None, dtype=np.float64, method="zig": exponential(inst)


@overload_method(Ahead, "standard_normal")
def _standard_normal(inst, size=None, dtype=np.float64):
    if not _is_plain(size, dtype):
        return generator_methods.NumPyRandomGeneratorType_standard_normal(inst, size, dtype)
    return lambda inst, size=None, dtype=np.float64: normal(inst)


@overload_method(Ahead, "standard_gamma")
def _standard_gamma(inst, shape, size=None, dtype=np.float64):
    if not _is_plain(size, dtype):
        return generator_methods.NumPyRandomGeneratorType_standard_gamma(inst, shape, size, dtype)
    return lambda inst, shape, size=None, dtype=np.float64: gamma(inst, float(shape))
