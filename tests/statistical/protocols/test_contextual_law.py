"""Uniform play pulls every arm as often, and every order of the users is as likely."""

import math
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy import stats

from privarms.environments import classification as environment_module
from privarms.policies import Policy
from privarms.policies.bandit import uniform
from privarms.protocols import contextual

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


@njit
def _first(params):
    return params


@njit
def _choose(params, state, context, t, rng):
    # Labels are 0, 1, 2 and this pulls t - 1, so that the rewards tell who came when.
    return t - 1


@njit
def _learn(params, state, context, arm, reward, t, rng):
    return state


def test_every_order_is_as_likely():
    # User i has label i, and arm t - 1 is pulled in round t: the reward says whether user t - 1 came then. Of three
    # users the four patterns of fixed points have 1, 3, 0 and 2 of the 6 orders: 3, 1, 2 and 0 fixed points.
    labels = np.arange(3)
    environment = environment_module.Environment(
        environment_module.pull, np.zeros((3, 1)), labels, 3, np.zeros((0, 1)), labels[:0], np.array([0])
    )
    policy = Policy(_first, _choose, _learn)
    cell = SimpleNamespace(
        horizon=3, checkpoints=np.array([1, 2, 3]), record=None, environment="classification", policy="by round"
    )
    rngs = np.random.default_rng(3), np.random.default_rng(4)
    n = 6000
    columns = contextual.run_block(policy, uniform.Params(3), environment, cell, n, *rngs)
    hits = np.diff(columns["reward"].reshape(n, 3), axis=1, prepend=0).astype(int)
    found = np.bincount(hits @ [1, 2, 4], minlength=8)
    expected = np.zeros(8)
    for order in permutations(range(3)):
        expected[sum(2**t for t in range(3) if order[t] == t)] += n / math.factorial(3)
    assert (found[expected == 0] == 0).all()
    assert stats.chisquare(found[expected > 0], expected[expected > 0]).pvalue > ALARM
    # An order that keeps the first user in place half the time has another law.
    wrong = expected.copy()
    wrong[1] *= 1.5
    assert stats.chisquare(wrong[expected > 0] * n / wrong.sum(), expected[expected > 0]).pvalue < ALARM
