"""Check tests of the arm selected by the pulls, on known data."""

import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom

from privarms.environments import bernoulli
from privarms.protocols import adaptive_tests

from . import toy


class Params(NamedTuple):
    period: int


@njit
def choose(params, state, context, t, rng):
    # Arm 1 in every round of the period except the last two, which play arm 2 and arm 0.
    place = t % params.period
    return 2 if place == 1 else 0 if place == 0 else 1


def run(environment, replicates, seed=3):
    policy = toy.policy(choose)
    cell = SimpleNamespace(checkpoints=np.array([50]), environment="bernoulli")
    rngs = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    return adaptive_tests.run_block(policy, Params(5), environment, cell, replicates, *rngs)


def test_the_rows_and_the_selected_arms():
    rows = run(bernoulli.configure(3, top=0.9, bottom=0.1), 4)
    assert list(rows["replicate"]) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert list(rows["selector"]) == ["least_pulled", "most_pulled"] * 4
    # Arms 0 and 2 have 10 pulls each, arm 1 has 30.
    assert set(rows["arm"][::2]) <= {0, 2}
    assert list(rows["arm"][1::2]) == [1] * 4
    assert list(rows["pulls"]) == [10, 30] * 4


def test_ties_are_broken_at_random_behind_all_other_draws():
    rows = run(bernoulli.configure(3, top=0.9, bottom=0.9), 4000)
    # Binomial(4000, 1/2), independent of the arm's rewards. Beyond 4.5 standard deviations: probability 7e-6.
    first = rows["arm"][::2] == 0
    assert abs(first.sum() - 2000) < 4.5 * math.sqrt(1000)
    apart = rows["p_value"][::2][first].mean() - rows["p_value"][::2][~first].mean()
    assert abs(apart) < 4.5 * math.sqrt(4 / 12 / 4000)
    # The tests use the first uniform variates of the stream. With mean 1 the p-value is such a variate.
    sure = run(bernoulli.configure(3, top=1.0, bottom=1.0), 200)
    assert sure["p_value"][::2] == pytest.approx(np.random.default_rng(3).random(200))


def test_the_p_values_are_those_of_the_selected_arms_rewards():
    # Arms 0 and 2 have means 1 and 0, so their rewards are known. Arm 1 has mean 1/2.
    rows = run(bernoulli.configure(3, top=1.0, bottom=0.0), 200)
    u = np.random.default_rng(3).random((2, 200))
    # Bin(10, 1) is 10 always: P(X < 10) + u P(X = 10) = u; and Bin(10, 0) is 0.
    assert rows["p_value"][::2] == pytest.approx(u[0])
    s = np.arange(31)[:, None]
    possible = (1 - u[1]) * binom.sf(s, 30, 0.5) + u[1] * binom.sf(s - 1, 30, 0.5)
    assert np.abs(possible - rows["p_value"][1::2]).min(axis=0).max() < 1e-12
