"""Check normal intervals, and ratios and their intervals, against values worked out by hand."""

import math

import numpy as np
import pytest

from privarms.inference.intervals import fieller, normal_interval, ratio


@pytest.mark.parametrize(("confidence", "z"), [(0.95, 1.959963985), (0.999, 3.290526731)])
def test_a_normal_interval_is_z_standard_errors_to_either_side(confidence, z):
    assert normal_interval(1.0, 2.0, confidence) == pytest.approx((1 - 2 * z, 1 + 2 * z), rel=1e-9)
    assert normal_interval(1.0, 2.0) == normal_interval(1.0, 2.0, 0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, math.nan])
def test_a_confidence_outside_of_0_and_1_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence"):
        normal_interval(1.0, 2.0, confidence)


def test_the_relative_errors_of_a_ratio_add_as_squares():
    # 5% and 12% give 13%.
    assert ratio(6.0, 0.3, 3.0, 0.36) == pytest.approx((2.0, 0.26))
    assert ratio(-6.0, 0.3, 3.0, 0.36) == pytest.approx((-2.0, 0.26)), "an error is not negative"


def test_the_ends_of_fieller_s_interval():
    # If only one of the means has an error, the ends are ratios of its interval's ends.
    assert fieller(6.0, 0.5, 3.0, 0.0) == pytest.approx((5.5 / 3, 6.5 / 3))
    assert fieller(6.0, 0.0, 3.0, 0.4) == pytest.approx((6 / 3.4, 6 / 2.6))
    # Otherwise they solve (6 - 3 r)^2 = 0.6^2 + 0.4^2 r^2, in any unit.
    ends = pytest.approx(sorted(np.roots([9 - 0.16, -36, 36 - 0.36])))
    assert fieller(6.0, 0.6, 3.0, 0.4) == ends
    assert fieller(0.6, 0.06, 0.3, 0.04) == ends


def test_a_denominator_that_may_be_0_gives_no_end():
    whole_line = (-math.inf, math.inf)
    assert fieller(1.0, 0.1, 0.0, 0.1) == whole_line
    assert fieller(1.0, 0.1, 0.5, 0.5) == whole_line
    assert fieller(1.0, math.nan, 3.0, 0.4) == whole_line
    assert fieller(1.0, 0.1, math.nan, 0.4) == whole_line
    assert fieller(math.nan, 0.1, 3.0, 0.4) == whole_line
    assert fieller(1.0, math.inf, 3.0, 0.4) == whole_line


def test_a_ratio_to_zero_is_no_number_and_no_error():
    assert all(map(math.isnan, ratio(0.0, 0.0, 0.0, 0.0)))
    assert ratio(1.0, 0.1, 0.0, 0.1)[0] == math.inf
