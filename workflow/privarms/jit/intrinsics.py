"""Functions that compile to one instruction in a kernel, through numba's documented extension interface."""

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable


def popcount(n: int) -> int:
    """Return the number of set bits of 0 <= n < 2**63."""
    return int(n).bit_count()


def lowest_bit(n: int) -> int:
    """Return the position of the lowest set bit of n >= 1."""
    n = int(n)
    return (n & -n).bit_length() - 1


@type_callable(popcount)
@type_callable(lowest_bit)
def _(context):
    return lambda n: types.int64


@lower_builtin(popcount, types.Integer)
def _(context, builder, signature, arguments):
    return builder.ctpop(context.cast(builder, arguments[0], signature.args[0], types.int64))


@lower_builtin(lowest_bit, types.Integer)
def _(context, builder, signature, arguments):
    n = context.cast(builder, arguments[0], signature.args[0], types.int64)
    return builder.cttz(n, ir.Constant(ir.IntType(1), 1))
