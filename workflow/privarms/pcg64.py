"""The numbers of numpy's PCG64, in kernels, a block at a time: the same in a fraction of the time.

A step of PCG64 waits for the one before, and a kernel calls one for each number. Here LANES states lie side by side,
in a processor's vectors, each a step ahead of its neighbour, and all are put LANES steps ahead at once. A state is
multiplied by a constant, plus the stream's own number, modulo 2^128; so is one that is put ahead, by other ones
(O'Neill 2014, "PCG: a family of simple fast space-efficient statistically good algorithms for random number
generation", section 4.3.1). A number is a state's two halves exclusively or'ed and rotated (section 6.3.3, XSL RR).

Of another bit generator, and where PCG64's state does not lie as expected, numbers are drawn one by one.
"""

import ctypes
from functools import partial

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model
from numba.np.random.generator_core import next_double, next_uint32, next_uint64

from privarms.sure import sure

# As many as LLVM makes vectors of: the loop over them is to be short enough to be written out.
LANES = 32
# A block has so many numbers of each lane.
ROWS = 4
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645

_WORD = ir.IntType(64)
# What lies in memory, by words of 64 bits: where the next number is; numpy's state and functions; PCG64's own state, or
# 0 if it is another generator; whether there has been a block, the first lane's state as it was for its first number,
# and what is added when lanes are put ahead. Then the lanes' states, by halves, and the numbers.
AT, STATE, DRAW64, DRAW32, DRAW_DOUBLE, PCG64, BEGUN, FIRST_HIGH, FIRST_LOW, STEP_HIGH, STEP_LOW = range(11)
_HIGH = 16
_LOW, _NUMBERS, _WORDS = _HIGH + LANES, _HIGH + 2 * LANES, _HIGH + (2 + ROWS) * LANES
# numba makes floats of whole numbers where some have a sign and others have none.
HIGH, LOW, NUMBERS, END = (np.uint64(place) for place in (_HIGH, _LOW, _NUMBERS, _WORDS))
ZERO, ONE, HALF, WORD = (np.uint64(number) for number in (0, 1, 32, 64))
LOWER_HALF = np.uint64(2**32 - 1)


def _ahead(steps: int) -> tuple[int, int]:
    """What puts a state so many steps ahead: by what it is multiplied, and how often the stream's number is added."""
    factor, times = 1, 0
    for _ in range(steps):
        factor, times = factor * MULTIPLIER % 2**128, (times * MULTIPLIER + 1) % 2**128
    return factor, times


def _halves(number: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(number >> 64), np.uint64(number % 2**64)


_STEPS = [_ahead(lane + 1) for lane in range(LANES)]
FACTORS_HIGH, FACTORS_LOW = np.array([_halves(factor) for factor, _ in _STEPS]).T.copy()
TIMES_HIGH, TIMES_LOW = np.array([_halves(times) for _, times in _STEPS]).T.copy()
MULTIPLIER_HIGH, MULTIPLIER_LOW = _halves(MULTIPLIER)
FACTOR_HIGH, FACTOR_LOW = _halves(_STEPS[-1][0])


def _next64_address() -> int:
    """Where numpy's function is that draws a number of PCG64; 1, where none is, if the state lies in another way."""
    generator = np.random.PCG64(1)
    words = ctypes.POINTER(ctypes.c_uint64)
    state = ctypes.cast(ctypes.cast(generator.ctypes.state_address, words)[0], words)
    known = (generator.state["state"][name] for name in ("state", "inc"))
    if state[:4] != [int(half) for number in known for half in reversed(_halves(number))]:
        return 1
    return ctypes.cast(generator.ctypes.next_uint64, ctypes.c_void_p).value


# Machine code that is kept knows it by its name.
_NEXT64 = "privarms_pcg64_next64"
binding.add_symbol(_NEXT64, _next64_address())


class Ahead(types.CPointer):
    """A Generator's numbers, ahead: a pointer to words in the memory of the function that called `lay_out`."""

    def __init__(self):
        super().__init__(types.uint64)
        self.name = "Ahead"


register_model(Ahead)(models.PointerModel)


def lay_out(context, builder, signature, arguments):
    """Of a Generator what an `Ahead` points at, before there is a block; generates code, as numba's lowerings do."""
    generator = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
    kind = types.NumPyRandomBitGeneratorType("bit_generator")
    numpy = cgutils.create_struct_proxy(kind)(context, builder, value=generator.bit_generator)
    with builder.goto_entry_block():
        room = builder.alloca(ir.ArrayType(_WORD, _WORDS))
        room.align = 64
    words = builder.bitcast(room, _WORD.as_pointer())
    next64 = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_WORD, (_WORD,)), _NEXT64)
    is_pcg64 = builder.icmp_unsigned("==", numpy.fnptr_next_uint64, builder.ptrtoint(next64, _WORD))
    # numpy's state begins with a pointer to PCG64's own.
    own = builder.load(builder.inttoptr(numpy.state, _WORD.as_pointer()))
    for place, value in (
        (AT, _WORD(_WORDS)),
        (STATE, numpy.state),
        (DRAW64, numpy.fnptr_next_uint64),
        (DRAW32, numpy.fnptr_next_uint32),
        (DRAW_DOUBLE, numpy.fnptr_next_double),
        (PCG64, builder.select(is_pcg64, own, _WORD(0))),
        (BEGUN, _WORD(0)),
    ):
        builder.store(value, builder.gep(words, [_WORD(place)]))
    return words


@intrinsic
def _words_at(context, address):
    """A pointer to the words at an address."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], _WORD.as_pointer())

    return types.CPointer(types.uint64)(types.uint64), generate


def _caller(result):
    @intrinsic
    def call(context, function, argument):
        """What the function at an address gives for an argument."""

        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(context.get_value_type(result), (_WORD,))
            return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), (arguments[1],))

        return result(types.uint64, types.uint64), generate

    return call


_call_for_64, _call_for_32, _call_for_double = (_caller(kind) for kind in (types.uint64, types.uint32, types.float64))


@njit(error_model="numpy", forceinline=True)
def _upper(a, b):
    """The upper half of a product, from products of halves, as vectors have them."""
    a_low, a_high, b_low, b_high = a & LOWER_HALF, a >> HALF, b & LOWER_HALF, b >> HALF
    one, other = a_low * b_high, a_high * b_low
    across = one + other
    carry = np.uint64(across < one)
    middle = across + ((a_low * b_low) >> HALF)
    carry += np.uint64(middle < across)
    return a_high * b_high + (middle >> HALF) + (carry << HALF)


@njit(error_model="numpy", forceinline=True)
def _upper_ahead(high, low, factor_high, factor_low, plus_high, plus_low):
    """The upper half of a state times a factor plus a number; the lower one is low * factor_low + plus_low."""
    product = low * factor_low
    carry = np.uint64(product + plus_low < product)
    return _upper(low, factor_low) + high * factor_low + low * factor_high + plus_high + carry


@njit(error_model="numpy")
def _begin(words):
    """The lanes' states, 1 to LANES steps from where PCG64 is."""
    state = _words_at(words[PCG64])
    low, high, plus_low, plus_high = state[0], state[1], state[2], state[3]
    for lane in range(LANES):
        times_high, times_low = TIMES_HIGH[lane], TIMES_LOW[lane]
        added_high = _upper_ahead(times_high, times_low, plus_high, plus_low, ZERO, ZERO)
        added_low = times_low * plus_low
        words[HIGH + np.uint64(lane)] = _upper_ahead(
            high, low, FACTORS_HIGH[lane], FACTORS_LOW[lane], added_high, added_low
        )
        words[LOW + np.uint64(lane)] = low * FACTORS_LOW[lane] + added_low
        # Those of the last lane stay.
        words[STEP_HIGH], words[STEP_LOW] = added_high, added_low
    words[BEGUN] = ONE


@partial(sure, rare=True)
@njit(error_model="numpy")
def _refill(words):
    """The next block of numbers; of another generator the next one alone."""
    if words[PCG64] == ZERO:
        words[END - ONE] = _call_for_64(words[DRAW64], words[STATE])
        words[AT] = END - ONE
        return
    if words[BEGUN] == ZERO:
        _begin(words)
    words[FIRST_HIGH], words[FIRST_LOW] = words[HIGH], words[LOW]
    step_high, step_low = words[STEP_HIGH], words[STEP_LOW]
    for row in range(np.uint64(ROWS)):
        numbers = NUMBERS + row * np.uint64(LANES)
        for lane in range(np.uint64(LANES)):
            high, low = words[HIGH + lane], words[LOW + lane]
            mixed, turn = high ^ low, high >> np.uint64(58)
            words[numbers + lane] = (mixed >> turn) | (mixed << ((WORD - turn) & np.uint64(63)))
            # Written out: with a factor that it does not know LLVM takes `_upper` for what a processor does at once,
            # but not in vectors.
            product = low * FACTOR_LOW
            stepped = product + step_low
            upper = _upper(low, FACTOR_LOW) + high * FACTOR_LOW + low * FACTOR_HIGH
            words[HIGH + lane] = upper + step_high + np.uint64(stepped < product)
            words[LOW + lane] = stepped
    words[AT] = NUMBERS


@njit(error_model="numpy")
def put_back(words):
    """Put the Generator where it would be if it had drawn the numbers itself."""
    if words[BEGUN] == ZERO:
        return
    state = _words_at(words[PCG64])
    high, low = words[FIRST_HIGH], words[FIRST_LOW]
    for _ in range(words[AT] - NUMBERS - ONE):
        high = _upper_ahead(high, low, MULTIPLIER_HIGH, MULTIPLIER_LOW, state[3], state[2])
        low = low * MULTIPLIER_LOW + state[2]
    state[0], state[1] = low, high


# What numba's own distributions draw from.


@overload(next_uint64)
def _next_uint64(bitgen):
    if not isinstance(bitgen, Ahead):
        return None

    def draw(bitgen):
        if bitgen[AT] == END:
            _refill(bitgen)
        at = bitgen[AT]
        bitgen[AT] = at + ONE
        return bitgen[at]

    return draw


@overload(next_double)
def _next_double(bitgen):
    if not isinstance(bitgen, Ahead):
        return None

    def draw(bitgen):
        if bitgen[AT] == END:
            if bitgen[PCG64] == ZERO:
                return _call_for_double(bitgen[DRAW_DOUBLE], bitgen[STATE])
            _refill(bitgen)
        at = bitgen[AT]
        bitgen[AT] = at + ONE
        return np.int64(bitgen[at] >> np.uint64(11)) * 2.0**-53

    return draw


@overload(next_uint32)
def _next_uint32(bitgen):
    if not isinstance(bitgen, Ahead):
        return None

    def draw(bitgen):
        if bitgen[PCG64] == ZERO:
            return _call_for_32(bitgen[DRAW32], bitgen[STATE])
        # numpy keeps a number's upper half for the next call, behind a flag, in the word after that pointer.
        state = _words_at(bitgen[STATE])
        kept = state[1]
        if kept & LOWER_HALF:
            state[1] = kept & ~LOWER_HALF
            return np.uint32(kept >> HALF)
        number = next_uint64(bitgen)
        state[1] = (number & ~LOWER_HALF) | ONE
        return np.uint32(number & LOWER_HALF)

    return draw
