"""Check the intervals of means."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privarms.plots import curves


def test_interval_is_student_s():
    low, high = curves.interval([1.0, 2.0, 2.0], [0.5, np.nan, 1e-17], [5, 1, 40])
    assert high[0] - 1 == pytest.approx(0.5 * stats.t.ppf(0.975, 4))
    # A single run, or identical runs, have no interval.
    assert np.isnan([*low[1:], *high[1:]]).all()


def test_a_mean_of_few_runs_has_no_interval():
    rows = pd.DataFrame({"mean": 2.0, "se": 0.1, "replicates": [2, curves.FEWEST - 1, curves.FEWEST]})
    for options in ({}, {"normal": True}, {"least": 50}):
        found = curves.with_interval(rows, "mean", "se", **options)
        assert list(found["low"].notna()) == list(found["high"].notna()) == [False, False, True]
    assert curves.with_interval(rows, "mean", "se", fewest=2)["low"].notna().all()
