"""Check Clopper-Pearson intervals."""

import numpy as np
import pytest
from scipy.stats import binom

from privarms.inference.proportions import clopper_pearson


def test_the_ends_at_no_event_and_at_all_events_have_closed_forms():
    assert clopper_pearson(0, 30) == pytest.approx((0, 1 - 0.025 ** (1 / 30)))
    assert clopper_pearson(30, 30) == pytest.approx((0.025 ** (1 / 30), 1))
    assert clopper_pearson(1, 1) == pytest.approx((0.025, 1))


@pytest.mark.parametrize(
    ("events", "trials", "name"),
    [(-1, 5, "events"), (6, 5, "events"), (0, 0, "trials"), ([1, -1], [5, 5], "events"), ([1, 2, 3], [5, 5], "events")],
)
def test_impossible_counts_are_refused(events, trials, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        clopper_pearson(events, trials)


@pytest.mark.parametrize("confidence", [-0.5, 0.0, 1.0, 1.5])
def test_a_confidence_outside_of_0_and_1_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence"):
        clopper_pearson(1, 5, confidence)


def test_each_end_leaves_half_of_the_error_in_its_tail():
    low, high = clopper_pearson(np.array([1, 7, 29]), 30, confidence=0.9)
    assert binom.sf(np.array([1, 7, 29]) - 1, 30, low) == pytest.approx(0.05)
    assert binom.cdf(np.array([1, 7, 29]), 30, high) == pytest.approx(0.05)


def test_the_coverage_is_at_least_the_confidence():
    events = np.arange(41)
    low, high = clopper_pearson(events, 40)
    for p in np.linspace(0.001, 0.999, 97):
        assert binom.pmf(events, 40, p)[(low <= p) & (p <= high)].sum() >= 0.95
