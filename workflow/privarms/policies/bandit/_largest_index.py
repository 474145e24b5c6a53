"""The arm of the largest index, with the indices of four arms at once in a processor's vectors.

An arm's index is level + root * spread + gamma * weight, of which root and gamma are all arms' and change in every
round, and the other three the arm's own, its numbers, and change when it is pulled.

They lie in a table, float64[2, 3, blocks, LANES], with the arms down the columns. Of its two halves one is read and the
other one written. A number that is written by itself cannot be read as part of a vector until all that was before it is
done; a vector that is written whole can be read at once.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import lower_builtin, type_callable

LANES = 4
# Of LANES = 4: the first quarter of the arms is in column 0, the second in column 2, the third in column 1. The largest
# of a column is compared with that of the column two further on first, so that of equals the lower arm's is kept.
COLUMNS = (0, 2, 1, 3)


@njit
def new_table(arms):
    """A table of `arms` arms whose levels are -inf, and so are those of the places that are left over, for ever."""
    table = np.zeros((2, 3, (arms + LANES - 1) // LANES, LANES))
    table[:, 0] = -np.inf
    return table


@njit
def put(table, half, arm, level, spread, weight):
    """Write an arm's numbers to one half, in place."""
    blocks = table.shape[2]
    block, column = arm % blocks, COLUMNS[arm // blocks]
    table[half, 0, block, column] = level
    table[half, 1, block, column] = spread
    table[half, 2, block, column] = weight


def largest_of_others(table, half, left, level, spread, weight, arm, root, gamma):
    """The arm of the largest index but that of `arm`, the lowest of equals, and this index.

    half: 0 or 1, where the numbers are; they are copied to the other half, but for those of the arm `left`, which are
    level, spread and weight; left = -1 for no such arm. Kernels do the same in vectors.
    """
    table[1 - half] = table[half]
    if left >= 0:
        put(table, 1 - half, left, level, spread, weight)
    blocks = table.shape[2]
    best_arm, best_index = 0, -np.inf
    for other in range(blocks * LANES):
        its_level, its_spread, its_weight = table[1 - half, :, other % blocks, COLUMNS[other // blocks]]
        index = its_level + root * its_spread + gamma * its_weight
        if other != arm and index > best_index:
            best_arm, best_index = other, index
    return best_arm, best_index


@type_callable(largest_of_others)
def _(context):
    def found(table, half, left, level, spread, weight, arm, root, gamma):
        return types.Tuple((types.int64, types.float64)) if table == types.float64[:, :, :, ::1] else None

    return found


_WHOLE, _PLACE = ir.IntType(64), ir.IntType(32)
_NUMBERS, _ARMS = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(_WHOLE, LANES)
_NUMBER = types.float64
_GIVEN = (types.Array, types.Integer, types.Integer, *3 * (_NUMBER,), types.Integer, _NUMBER, _NUMBER)


@lower_builtin(largest_of_others, *_GIVEN)
def _(context, builder, signature, arguments):
    table = context.make_array(signature.args[0])(context, builder, arguments[0])
    half, left, arm = (context.cast(builder, arguments[i], signature.args[i], types.int64) for i in (1, 2, 6))
    blocks = builder.extract_value(table.shape, 2)
    length = builder.mul(blocks, ir.Constant(_WHOLE, LANES))
    size = builder.mul(length, ir.Constant(_WHOLE, 3))
    read = builder.mul(size, half)
    written = builder.sub(size, read)
    rows = [
        [
            builder.gep(table.data, [builder.add(first, builder.mul(length, ir.Constant(_WHOLE, i)))])
            for first in (read, written)
        ]
        for i in range(3)
    ]
    left, level, spread, weight, arm, root, gamma = (
        _of_all(builder, value) for value in (left, *arguments[3:6], arm, *arguments[7:])
    )
    never = ir.Constant(_NUMBERS, [float("-inf")] * LANES)
    first_arms = builder.mul(_of_all(builder, blocks), ir.Constant(_ARMS, list(COLUMNS)))

    before, loop, after = builder.block, builder.append_basic_block("blocks"), builder.append_basic_block("columns")
    builder.branch(loop)
    builder.position_at_end(loop)
    at, others, best, best_arm = (builder.phi(kind) for kind in (_WHOLE, _ARMS, _NUMBERS, _ARMS))
    is_left = builder.icmp_signed("==", others, left)
    numbers = []
    for row_read_written, given in zip(rows, (level, spread, weight), strict=True):
        source, target = (builder.bitcast(builder.gep(row, [at]), _NUMBERS.as_pointer()) for row in row_read_written)
        number = builder.select(is_left, given, builder.load(source, align=8))
        builder.store(number, target, align=8)
        numbers.append(number)
    index = builder.fadd(numbers[0], builder.fmul(root, numbers[1]))
    index = builder.fadd(index, builder.fmul(gamma, numbers[2]))
    index = builder.select(builder.icmp_signed("==", others, arm), never, index)
    above = builder.fcmp_ordered(">", index, best)
    best_then, best_arm_then = builder.select(above, index, best), builder.select(above, others, best_arm)
    at_then, others_then = (
        builder.add(at, ir.Constant(_WHOLE, LANES)),
        builder.add(others, ir.Constant(_ARMS, [1] * LANES)),
    )
    for value, first, then in (
        (at, ir.Constant(_WHOLE, 0), at_then),
        (others, first_arms, others_then),
        (best, never, best_then),
        (best_arm, first_arms, best_arm_then),
    ):
        value.add_incoming(first, before)
        value.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed("<", at_then, length), loop, after)

    builder.position_at_end(after)
    best, best_arm = best_then, best_arm_then
    while best.type.count > 1:
        (best, rival), (best_arm, its_arm) = _halves(builder, best), _halves(builder, best_arm)
        above = builder.fcmp_ordered(">", rival, best)
        best, best_arm = builder.select(above, rival, best), builder.select(above, its_arm, best_arm)
    found = [builder.extract_element(vector, ir.Constant(_PLACE, 0)) for vector in (best_arm, best)]
    return context.make_tuple(builder, signature.return_type, found)


def _of_all(builder, value):
    """A vector of LANES times a value."""
    nothing = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(_PLACE, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_PLACE, LANES), [0] * LANES))


def _halves(builder, vector):
    """The first and the second half of a vector."""
    count = vector.type.count // 2
    nothing = ir.Constant(vector.type, ir.Undefined)
    places = (ir.Constant(ir.VectorType(_PLACE, count), list(range(first, first + count))) for first in (0, count))
    return [builder.shuffle_vector(vector, nothing, place) for place in places]
