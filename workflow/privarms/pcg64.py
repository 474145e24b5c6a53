"""The numbers of numpy's PCG64, in kernels, a block at a time: the same in a fraction of the time.

A step of PCG64 waits for the one before, and a kernel calls one for each number. Here LANES states lie side by side,
in a processor's vectors, each a step ahead of its neighbour, and all are put LANES steps ahead at once. A state is
multiplied by a constant, plus the stream's own number, modulo 2^128; so is one that is put ahead, by other ones
(O'Neill 2014, "PCG: a family of simple fast space-efficient statistically good algorithms for random number
generation", section 4.3.1). A number is a state's two halves exclusively or'ed and rotated (section 6.3.3, XSL RR).
"""

import ctypes
from functools import partial

import numpy as np
from llvmlite import ir
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
# What lies in memory, by words of 64 bits: where the next number is; the address of numpy's state; whether there has
# been a block, the first lane's state as it was for its first number, and what is added when lanes are put ahead. Then
# the lanes' states, by halves, and the numbers.
AT, STATE, BEGUN, FIRST_HIGH, FIRST_LOW, STEP_HIGH, STEP_LOW = range(7)
_HIGH = 8
_LOW, _NUMBERS, _WORDS = _HIGH + LANES, _HIGH + 2 * LANES, _HIGH + (2 + ROWS) * LANES
# numba makes floats of whole numbers where some have a sign and others have none.
HIGH, LOW, NUMBERS, END = (np.uint64(place) for place in (_HIGH, _LOW, _NUMBERS, _WORDS))
ZERO, ONE, HALF, WORD = (np.uint64(number) for number in (0, 1, 32, 64))
LOWER_HALF = np.uint64(2**32 - 1)


def _steps_ahead(steps: int) -> tuple[int, int]:
    """What puts a state so many steps ahead: by what it is multiplied, and how often the stream's number is added."""
    factor, times = 1, 0
    for _ in range(steps):
        factor, times = factor * MULTIPLIER % 2**128, (times * MULTIPLIER + 1) % 2**128
    return factor, times


def _halves(number: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(number >> 64), np.uint64(number % 2**64)


_STEPS = [_steps_ahead(lane + 1) for lane in range(LANES)]
FACTORS_HIGH, FACTORS_LOW = np.array([_halves(factor) for factor, _ in _STEPS]).T.copy()
TIMES_HIGH, TIMES_LOW = np.array([_halves(times) for _, times in _STEPS]).T.copy()
MULTIPLIER_HIGH, MULTIPLIER_LOW = _halves(MULTIPLIER)
FACTOR_HIGH, FACTOR_LOW = _halves(_STEPS[-1][0])


def _lies_as_expected() -> bool:
    """Whether numpy's state begins with PCG64's address: the state and the stream's number, lower halves first."""
    generator = np.random.PCG64(1)
    words = ctypes.POINTER(ctypes.c_uint64)
    state = ctypes.cast(ctypes.cast(generator.ctypes.state_address, words)[0], words)
    known = (generator.state["state"][name] for name in ("state", "inc"))
    return state[:4] == [int(half) for number in known for half in reversed(_halves(number))]


LIES_AS_EXPECTED = _lies_as_expected()


def is_known(generator: np.random.Generator) -> bool:
    """Whether kernels can draw ahead from a Generator: from one of PCG64, on nearly every machine."""
    return LIES_AS_EXPECTED and type(generator.bit_generator) is np.random.PCG64


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
    bit_generator = cgutils.create_struct_proxy(kind)(context, builder, value=generator.bit_generator)
    with builder.goto_entry_block():
        room = builder.alloca(ir.ArrayType(_WORD, _WORDS))
        room.align = 64
    words = builder.bitcast(room, _WORD.as_pointer())
    for place, value in ((AT, _WORD(_WORDS)), (STATE, bit_generator.state), (BEGUN, _WORD(0))):
        builder.store(value, builder.gep(words, [_WORD(place)]))
    return words


@intrinsic
def _words_at(context, address):
    """A pointer to the words at an address."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], _WORD.as_pointer())

    return types.CPointer(types.uint64)(types.uint64), generate


@njit(error_model="numpy", forceinline=True)
def _own_state(words):
    """PCG64's own state and, behind it, what it adds: two words each, the lower ones first."""
    return _words_at(_words_at(words[STATE])[0])


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
    state = _own_state(words)
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
    """The next block of numbers."""
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
            # Not `_upper_ahead`: LLVM compiles it by itself first, and with a factor that it does not know takes
            # `_upper` for what a processor does at once, but not in vectors.
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
    state = _own_state(words)
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
    return lambda bitgen: np.int64(next_uint64(bitgen) >> np.uint64(11)) * 2.0**-53


@overload(next_uint32)
def _next_uint32(bitgen):
    if not isinstance(bitgen, Ahead):
        return None

    def draw(bitgen):
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
