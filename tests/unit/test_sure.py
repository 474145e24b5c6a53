"""Calls that nothing looks after: the same values, one way out, and apart where they are rare."""

import numba
import numpy as np
import pytest
from numba import njit

from privarms.sure import sure

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@njit(error_model="numpy")
def ratio(a, b):
    return a / b


@njit(error_model="numpy")
def note(place, value):
    place[0] += value


def kernel(ratio, note):
    @njit
    def total(x):
        place, found = np.zeros(1), 0.0
        for i in range(1, len(x)):
            found += ratio(x[i - 1], x[i])
            if x[i] > 8:
                note(place, x[i])
        return found, place[0]

    return total


@pytest.mark.parametrize("rare", [False, True])
def test_it_is_the_same_function(rare):
    x = np.arange(1.0, 12.0)
    total = kernel(sure(ratio, rare), sure(note, rare))
    assert total(x) == kernel(ratio, note)(x)
    assert total(x)[1] == 9 + 10 + 11
    # For whole numbers as well.
    assert total(np.arange(1, 12))[0] == pytest.approx(total(x)[0])


def test_python_calls_the_function():
    for rare in (False, True):
        assert sure(ratio, rare)(1.0, 4.0) == 0.25
        # And what was written, with which it is tried.
        assert sure(ratio, rare).py_func is ratio.py_func
        place = np.zeros(1)
        sure(note, rare)(place, 3.0)
        assert place[0] == 3


def test_what_is_rare_is_called_and_not_taken_in():
    x = np.arange(1.0, 12.0)
    for rare in (False, True):
        total = kernel(sure(ratio, rare), sure(note, rare))
        total(x)
        machine_code = next(iter(total.inspect_asm().values()))
        assert ("apart_" in machine_code) == rare
