"""A choice without a branch: of what it makes in a kernel and in Python."""

import math

import numpy as np
import pytest
from numba import njit

from privarms.jit.intrinsics import either


@njit
def chosen(conditions, ones, others):
    found = np.zeros(len(conditions))
    for i in range(len(conditions)):
        found[i] = either(conditions[i], ones[i], others[i])
    return found


@pytest.mark.parametrize("choose", [chosen, chosen.py_func])
def test_one_or_the_other_whatever_they_are(choose):
    conditions = np.array([True, False, True, False])
    ones, others = np.array([1.5, math.nan, -math.inf, 7.0]), np.array([math.nan, -0.0, 2.0, math.inf])
    found = choose(conditions, ones, others)
    assert found.tolist() == [1.5, 0.0, -math.inf, math.inf]
    assert math.copysign(1, found[1]) == -1


def test_a_kernel_has_no_branch_for_it():
    @njit
    def least(x):
        return either(x > 0, x, -x)

    assert least(-3.0) == 3.0
    (machine,) = least.inspect_llvm().values()
    body = machine.split("define i32", 1)[-1].split("\n}", 1)[0]
    assert "select" in body or "fabs" in body
    assert "br i1" not in body
