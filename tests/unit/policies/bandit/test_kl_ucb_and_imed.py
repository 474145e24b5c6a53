"""Check KL-UCB and IMED: indices against values worked by hand, and rounds that the fast paths skip."""

import math

import numpy as np
import pytest

from privarms.fast_paths.bandit import imed__bernoulli, kl_ucb__bernoulli
from privarms.inference.divergences import kl
from privarms.policies.bandit import imed, kl_ucb


def test_indices_by_hand():
    assert kl(0.3, kl_ucb.index(100, 30.0, 500)) == pytest.approx(math.log(500) / 100, rel=1e-9)
    pulls = np.array([100, 20, 5])
    # Means 0.6, 0.5, 0.4: ln 100 = 4.605; 20 kl(0.5, 0.6) + ln 20 = 3.404; 5 kl(0.4, 0.6) + ln 5 = 2.015.
    rng = np.random.default_rng(1)
    assert imed.smallest(pulls, np.array([60.0, 10.0, 2.0]), rng) == 2
    assert imed.smallest(pulls, np.array([60.0, 2.0, 0.0]), rng) == 0
    drawn = {imed.smallest(np.array([4, 4, 4]), np.array([2.0, 3.0, 3.0]), rng) for _ in range(50)}
    assert drawn == {1, 2}, "one of equals"


def test_the_leader_of_kl_ucb_leads_as_long_as_said():
    rng = np.random.default_rng(1)
    longer = 0
    for _ in range(300):
        pulls = np.array([int(10 ** rng.uniform(1, 5)), *rng.integers(5, 2000, 3)])
        sums = np.floor(pulls * np.array([0.75, 0.6, 0.5, 0.3]))
        t = int(pulls.sum()) + 1
        leader, level, last = kl_ucb__bernoulli._leader(pulls, sums, t, 10**9, rng)
        block = kl_ucb__bernoulli._sure_rounds(pulls[leader], sums[leader], level, t, min(10**4, last - t + 1))
        longer += block > 1
        for ahead in {0, block // 2, block - 1}:
            # The worst case: no reward at all.
            later = pulls.copy()
            later[leader] += ahead
            state = kl_ucb.State(later, sums)
            assert kl_ucb.choose(kl_ucb.configure(4), state, np.empty(0), t + ahead, rng) == leader
    assert longer > 50


def test_the_choice_of_imed_stays_as_long_as_said():
    rng = np.random.default_rng(2)
    longer = 0
    for _ in range(300):
        pulls = np.array([int(10 ** rng.uniform(1, 5)), *rng.integers(5, 2000, 3)])
        sums = np.floor(pulls * np.array([0.75, 0.6, 0.5, 0.3]))
        chosen = imed.smallest(pulls, sums, rng)
        block = imed__bernoulli._sure_rounds(pulls, sums, chosen, 10**4)
        longer += block > 1
        for ahead in {0, block // 2, block - 1}:
            later = pulls.copy()
            later[chosen] += ahead
            assert imed.smallest(later, sums, rng) == chosen
    assert longer > 50
