"""Check ratios at the ends of their range."""

import math

from privarms.inference.intervals import fieller, ratio


def test_a_ratio_to_zero_is_no_number_and_no_error():
    assert all(map(math.isnan, ratio(0.0, 0.0, 0.0, 0.0)))
    assert ratio(1.0, 0.1, 0.0, 0.1)[0] == math.inf
    assert fieller(1.0, 0.1, 0.0, 0.1) == (-math.inf, math.inf)
    value, se = ratio(6.0, 0.6, 3.0, 0.0)
    assert (value, round(se, 12)) == (2.0, 0.2)
