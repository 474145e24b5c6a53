"""Check that bits of integers are the same in a kernel and in Python."""

import numpy as np
import pytest
from numba import njit

from privarms.jit.intrinsics import lowest_bit, popcount

NUMBERS = [*range(1, 300), 2**31 - 1, 2**31, 2**40 + 2**20, 2**62, 2**62 - 1, 2**63 - 1]


@njit
def both(numbers):
    actual = np.zeros((2, len(numbers)), np.int64)
    for i in range(len(numbers)):
        actual[0, i], actual[1, i] = popcount(numbers[i]), lowest_bit(numbers[i])
    return actual


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_bits(kind):
    ones = [bin(n).count("1") for n in NUMBERS]
    zeros = [len(bin(n)) - len(bin(n).rstrip("0")) for n in NUMBERS]
    assert both(np.array(NUMBERS, kind)).tolist() == [ones, zeros]
    for numbers in (NUMBERS, np.array(NUMBERS, kind)):
        assert [popcount(n) for n in numbers] == ones
        assert [lowest_bit(n) for n in numbers] == zeros
