"""Uniform play pulls every arm as often, and every order of the users is as likely."""

import numpy as np
import pytest
from scipy import stats

from privarms.policies.bandit import uniform

pytestmark = pytest.mark.statistical

ALARM = 1e-5


def evenly(counts):
    """Whether counts may be those of equally likely outcomes, by the chi-square test."""
    return bool(stats.chisquare(counts).pvalue > ALARM)


def test_uniform_play_is_uniform():
    for K in (2, 3, 7):
        params, rng = uniform.configure(K), np.random.default_rng(K)
        state = uniform.init(params)
        arms = np.array([uniform.choose(params, state, np.empty(0), t, rng) for t in range(1, 30_001)])
        assert evenly(np.bincount(arms, minlength=K))
    # Rounding to the nearest arm, which is half as likely to give the first or the last, is found out.
    wrong = np.rint(np.random.default_rng(0).random(30_000) * 2).astype(int)
    assert not evenly(np.bincount(wrong))
