"""The distance to the uniform law and the rate of rejections."""

import numpy as np
import pytest

from privarms.inference.uniformity import ks_uniform, rejection_rate


def test_distances_worked_by_hand():
    # One point at x: the larger of x and 1 - x, with p-value P(max(U, 1 - U) >= d) = 2 (1 - d).
    assert ks_uniform([0.3]) == pytest.approx((0.7, 0.6))
    # The empirical function is 1/4 at 0.05, 0 before; 3/4 at 0.4; 1 at 0.9: the largest gap is 3/4 - 0.4.
    assert ks_uniform([0.9, 0.05, 0.4, 0.2])[0] == pytest.approx(0.35)
    # The midpoints of n equal cells are as close to uniform as n points can be: 1 / (2n).
    assert ks_uniform((np.arange(50) + 0.5) / 50) == pytest.approx((0.01, 1.0))
    # Any shape is one sample.
    assert ks_uniform([[0.0, 1.0], [0.25, 0.75]]) == ks_uniform([0.0, 0.25, 0.75, 1.0])


def test_the_rejection_rate_counts_the_level_itself():
    rate, se = rejection_rate([0.05, 0.0500001, 0.01, 0.9, 0.5])
    assert rate == pytest.approx(0.4)
    assert se == pytest.approx(np.sqrt(0.4 * 0.6 / 5))
    assert rejection_rate([0.05, 0.2], alpha=0.5) == (1.0, 0.0)
