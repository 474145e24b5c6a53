"""The largest index in vectors: what the body written for Python finds, which is held against numpy."""

import numpy as np
import pytest
from numba import njit

from privarms.policies.bandit._largest_index import largest_of_others, new_table, put

ROOT, GAMMA = 0.7, 1.3


@njit
def in_a_kernel(table, half, left, level, spread, weight, arm, root, gamma):
    return largest_of_others(table, half, left, level, spread, weight, arm, root, gamma)


def filled(numbers, half):
    table = new_table(numbers.shape[1])
    for arm, own in enumerate(numbers.T):
        put(table, half, arm, *own)
    return table


@pytest.mark.parametrize("arms", [*range(2, 19), 100])
@pytest.mark.parametrize("path", [largest_of_others, in_a_kernel])
@pytest.mark.parametrize("values", [2, 1000])
def test_the_largest_of_others(path, arms, values):
    # Of two values a number, most largest indices are several arms'.
    rng = np.random.default_rng(arms)
    for trial in range(60):
        numbers = rng.integers(0, values, (3, arms)) / 8.0
        half, left, arm, given = trial % 2, int(rng.integers(-1, arms)), int(rng.integers(arms)), [5 / 8, 0.0, 1 / 8]
        table = filled(numbers, half)
        found, index = path(table, half, left, *given, arm, ROOT, GAMMA)
        if left >= 0:
            numbers[:, left] = given
        indices = numbers[0] + ROOT * numbers[1] + GAMMA * numbers[2]
        indices[arm] = -np.inf
        assert (found, index) == (indices.argmax(), indices.max())
        # The other half is the table now.
        assert (table[1 - half] == filled(numbers, half)[half]).all()


@pytest.mark.parametrize("path", [largest_of_others, in_a_kernel])
def test_an_arm_of_minus_infinity_is_none(path):
    table = new_table(6)
    put(table, 0, 4, -3.0, 0.0, 0.0)
    assert path(table, 0, -1, 0.0, 0.0, 0.0, 5, ROOT, GAMMA) == (4, -3.0)
    assert path(table, 0, -1, 0.0, 0.0, 0.0, 4, ROOT, GAMMA) == (0, -np.inf)
