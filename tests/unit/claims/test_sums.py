"""Check intervals of sums of means with different variances, against values worked by hand and simulation."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from privarms.claims.sums import part, resting_on, summed
from privarms.claims.verdict import Measured


def test_equal_means_add_their_degrees_of_freedom():
    # Two means of ten runs with one variance: 18 degrees of freedom.
    assert resting_on([2.0, 2.0], [10, 10]) == pytest.approx(19)
    # A summand with all the variance decides; exact summands do not count.
    assert resting_on([2.0, 0.0], [10, 50]) == pytest.approx(10)
    # Welch's formula: (1 + 4)^2 / (1 / 4 + 16 / 9).
    assert resting_on([1.0, 2.0], [5, 10]) == pytest.approx(1 + 25 / (1 / 4 + 16 / 9))


def test_a_sum_has_students_interval():
    actual = summed(1.0, [0.3, 0.4], [10, 10])
    degrees = 0.25**2 / ((0.09**2 + 0.16**2) / 9)
    half = student.ppf(0.9995, degrees) * 0.5
    assert actual.se == pytest.approx(0.5)
    assert actual.interval == (pytest.approx(1 - half), pytest.approx(1 + half))
    # The stated number of replicates is that of a cell.
    assert actual.replicates == 10
    assert summed(1.0, [math.nan, 0.1], [1, 10]).interval == (-math.inf, math.inf)


def test_runs_that_agree_are_not_exact():
    # If all of 100 runs agree, the share of different runs is at most 1 - tail^(1/100). Each moves the mean by at most
    # the reach.
    def others(runs, tail):
        return 1 - tail ** (1 / runs)

    actual = summed(0.0, [0.0, 0.0], [100, 400], "a note", [(1.0, 0.0), (0.0, 0.5)])
    assert (actual.se, actual.replicates, actual.note) == (0, 100, "a note")
    assert actual.interval == (pytest.approx(-others(100, 0.00025)), pytest.approx(0.5 * others(400, 0.00025)))
    # Together with a varying mean. A summand with reach 0 adds nothing.
    actual = summed(1.0, [1e-17, 0.1, 0.0], [100, 10, 5], "", [(0.2, 0.3), (9.0, 9.0), (0.0, 0.0)])
    half = student.ppf(1 - 0.00025, 9) * 0.1
    assert actual.interval[0] == pytest.approx(1 - half - 0.2 * others(100, 0.00025))
    assert actual.interval[1] == pytest.approx(1 + half + 0.3 * others(100, 0.00025))
    # The reach of different runs may be unknown.
    assert summed(1.0, [0.0, 0.1], [10, 10]).interval == (-math.inf, math.inf)
    assert Measured.largest([part(1.0, [0.0, 0.0], [10, 10]), part(0.5, [0.1], [10])]).interval[1] == math.inf


def test_the_interval_holds_the_difference_of_two_means_as_often_as_it_says():
    """Check that about 20 of 20,000 intervals miss, for two means of 4 and 12 runs with variances 1 and 9.

    This is Welch's approximation. More than 55 or fewer than 2 misses have a probability below 1e-4."""
    rng, runs = np.random.default_rng(5), 20_000
    a, b = rng.normal(0, 1, (runs, 4)), rng.normal(0, 3, (runs, 12))
    errors = np.stack([x.std(axis=1, ddof=1) / math.sqrt(x.shape[1]) for x in (a, b)])
    values = a.mean(axis=1) - b.mean(axis=1)
    degrees = errors.T**2
    freedom = degrees.sum(axis=1) ** 2 / (degrees**2 / np.array([3, 11])).sum(axis=1)
    # The same formula as `summed`, vectorised.
    half = student.ppf(0.9995, freedom) * np.hypot(*errors)
    low, high = summed(values[0], errors[:, 0], [4, 12]).interval
    assert (low, high) == (pytest.approx(values[0] - half[0]), pytest.approx(values[0] + half[0]))
    assert 2 <= (abs(values) > half).sum() <= 55
