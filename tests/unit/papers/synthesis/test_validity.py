"""Check tests and intervals after a bandit, on fully known runs."""

import numpy as np
import pytest

from privarms.inference.max_information import best_beta, log_corrected_level
from privarms.papers.synthesis import _validity
from privarms.papers.synthesis._validity import PROCEDURES, Runs, counted, intervals, rejections, second_highest

MEANS = np.array([0.6, 0.4, 0.4])


def runs(pulls, sums, held_out=None, epsilon=0.1, horizon=100):
    pulls, sums = np.atleast_2d(pulls).astype(float), np.atleast_2d(sums).astype(float)
    held_out = sums if held_out is None else np.atleast_2d(held_out).astype(float)
    return Runs(pulls, sums, held_out, MEANS, epsilon, horizon)


def test_the_arm_of_the_smallest_p_value_is_tested_and_of_equals_the_last():
    chosen, _ = rejections(runs([[50, 30, 20], [40, 40, 20], [40, 40, 20]], [[40, 29, 1], [30, 30, 2], [0, 0, 0]]), 0.4)
    assert chosen.tolist() == [1, 1, 2]


def test_what_each_procedure_asks_for():
    # Arm 0 has 17 of 30 against 0.4: p = 0.049, which K = 3 tests do not allow.
    _, actual = rejections(runs([30, 10, 10], [17, 4, 4]), 0.4)
    assert list(actual) == list(PROCEDURES)
    assert {n for n, rejected in actual.items() if rejected[0]} == {"naive", "sample_splitting"}
    _, actual = rejections(runs([30, 10, 10], [29, 4, 4]), 0.4)
    assert all(rejected[0] for rejected in actual.values())
    _, actual = rejections(runs([30, 10, 10], [29, 4, 4], [12, 4, 4]), 0.4)
    assert not actual["sample_splitting"][0]
    assert actual["e_value"][0]


def test_max_information_is_for_private_policies_and_weaker_the_larger_epsilon():
    data = [60, 20, 20], [48, 8, 8]
    assert "max_information" not in rejections(runs(*data, epsilon=np.nan), 0.4)[1]
    assert rejections(runs(*data, epsilon=0.01), 0.4)[1]["max_information"][0]
    assert not rejections(runs(*data, epsilon=10.0), 0.4)[1]["max_information"][0]
    level = _validity.log_gamma(0.05, runs(*data, epsilon=0.1))
    assert level == pytest.approx(log_corrected_level(0.05, 0.1, 100, best_beta(0.1, 100, 0.05)))


def test_intervals_are_of_the_most_pulled_arm_and_its_gap_to_the_next():
    order, actual = intervals(runs([[20, 50, 30], [40, 40, 20]], [[10, 20, 9], [20, 20, 9]], epsilon=10.0))
    assert order.T.tolist() == [[1, 2], [1, 0]]
    assert set(actual) == set(PROCEDURES) - {"bonferroni", "e_value"}
    for (low, high), (gap_low, gap_high) in actual.values():
        assert low[0] < 20 / 50 < high[0]
        assert gap_low[0] < 20 / 50 - 9 / 30 < gap_high[0]
    widths = {name: (both[0][1] - both[0][0])[0] for name, both in actual.items()}
    assert widths["naive"] < widths["confidence_sequence"] < widths["max_information"]


def test_counts_of_a_cell():
    # The first run rejects a false null of the best arm, the second the null of an arm that is not better.
    actual = counted(runs([[80, 10, 10], [10, 80, 10]], [[60, 4, 4], [4, 60, 4]]))
    assert actual["naive"]["powers"] == 1
    # 60 of 80 is above .6 too: p = .0033. The null holds for all arms.
    assert actual["naive"]["errors"] == 2
    assert actual["confidence_sequence"]["errors"] == 0
    # The mean .6 of the first run's arm is outside (.64, .84), and so is .4 of the second.
    assert actual["naive"]["mean_held"] == 0
    assert actual["confidence_sequence"]["mean_held"] == 1
    assert actual["naive"]["mean_width"] > 0


def test_equal_arms_have_no_power():
    assert np.isnan(second_highest(np.array([0.5, 0.5])))
    assert second_highest(MEANS) == 0.4
    equal = runs([50, 25, 25], [25, 12, 12])._replace(means=np.full(3, 0.5))
    assert "powers" not in counted(equal)["naive"]
