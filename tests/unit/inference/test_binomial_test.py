"""Check exact binomial p-values: distribution under the null by rational enumeration, values against scipy."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from privarms.inference.binomial_test import p_value, randomised_p_value

CASES = [*product((0, 1, 5), (0.0, 1.0)), (0, 0.3), (1, 0.5), (7, 0.3), (40, 0.05), (40, 0.95), (25, 0.999)]


def law(n, mean):
    mean = Fraction(mean)
    return [comb(n, s) * mean**s * (1 - mean) ** (n - s) for s in range(n + 1)]


@pytest.mark.parametrize(("n", "mean"), CASES)
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_under_the_null_the_randomised_p_value_is_exactly_uniform_and_the_plain_one_its_upper_end(n, mean, alternative):
    # Given s the p-value is linear in u, so uniform between its values at u = 0 and u = 1. The mixture over s is
    # uniform on [0, 1] if these intervals tile it in turn and each is as wide as s is probable.
    probability = law(n, mean)
    s = np.arange(n + 1)
    low, half, high = (randomised_p_value(s, n, mean, u, alternative) for u in (0.0, 0.5, 1.0))
    assert half == pytest.approx((low + high) / 2, rel=1e-12)
    upwards = s if alternative == "less" else s[::-1]
    if alternative == "greater":
        assert (p_value(s, n, mean) == high).all()
    exact = Fraction(0)
    for k in upwards:
        assert low[k] == pytest.approx(float(exact), rel=1e-12, abs=0)
        exact += probability[k]
        assert high[k] == pytest.approx(float(exact), rel=1e-12, abs=0)
    assert exact == 1


def test_values_worked_by_hand():
    # Bin(3, 1/2): P(X = 2) = 3/8, P(X = 3) = 1/8.
    assert randomised_p_value(2, 3, 0.5, 0.5, "greater") == pytest.approx(1 / 8 + 3 / 16)
    assert randomised_p_value(2, 3, 0.5, 0.25, "less") == pytest.approx(4 / 8 + 3 / 32)
    assert p_value(2, 3, 0.5) == pytest.approx(4 / 8)
