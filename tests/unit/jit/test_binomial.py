"""Check binomial draws for counts of any size, in deterministic cases."""

import numpy as np
import pytest

from privarms.jit.binomial import DIRECT, binomial


@pytest.mark.parametrize("n", [0, 1, 1000, DIRECT, DIRECT + 1, 10**12, 2**62])
def test_certain_and_impossible_events(n):
    rng = np.random.default_rng(1)
    assert binomial(n, 0.0, rng) == 0
    assert binomial(n, 1.0, rng) == n
    assert 0 <= binomial(n, 0.3, rng) <= n


def test_small_counts_are_plain_draws():
    assert binomial(1000, 0.3, np.random.default_rng(7)) == np.random.default_rng(7).binomial(1000, 0.3)
