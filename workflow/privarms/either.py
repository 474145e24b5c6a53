"""A choice without a branch: for one that cannot be predicted, and for loops of which LLVM shall make vectors.

Of `a if condition else b` the compiler makes a branch and, where several ask for the same condition, one long one: it
then finds no vectors in the loop.
"""

from numba.core import types
from numba.extending import lower_builtin, type_callable


def either(condition: bool, one: float, other: float) -> float:
    """`one` if the condition holds, else `other`; both are computed in any case."""
    return one if condition else other


@type_callable(either)
def _(context):
    return lambda condition, one, other: types.float64


@lower_builtin(either, types.Boolean, types.Float, types.Float)
def _(context, builder, signature, arguments):
    return builder.select(*arguments)
