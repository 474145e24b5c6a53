"""Check that uniform play pulls all arms equally often."""

import numpy as np
import pytest
from scipy import stats

from privarms.policies.bandit import uniform

pytestmark = pytest.mark.statistical

ALARM = 1e-5


def evenly(counts):
    """Return whether counts fit equally likely outcomes, by the chi-square test."""
    return bool(stats.chisquare(counts).pvalue > ALARM)


def test_uniform_play_is_uniform():
    for K in (2, 3, 7):
        params, rng = uniform.configure(K), np.random.default_rng(K)
        state = uniform.init(params)
        arms = np.array([uniform.choose(params, state, np.empty(0), t, rng) for t in range(1, 30_001)])
        assert evenly(np.bincount(arms, minlength=K))
    # The test must detect rounding to the nearest arm, which halves the probability of the first and the last arm.
    wrong = np.rint(np.random.default_rng(0).random(30_000) * 2).astype(int)
    assert not evenly(np.bincount(wrong))
