"""Check ABSE: constants and runs worked by hand, and every decision against a reference implementation."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.policies import Policy, functions
from privarms.policies.contextual import absse
from privarms.protocols.contextual import play_contextual


class Recorded(NamedTuple):
    """Environment that records the arm of each user."""

    pull: object
    contexts: np.ndarray
    rewards: np.ndarray
    pulled: np.ndarray
    n_arms: int


@njit
def pull(environment, user, arm, rng):
    environment.pulled[user] = arm
    return environment.rewards[user, arm]


def run(params, contexts, rewards):
    """Return the arms of one run over all users in order, and the reward after each round."""
    n = len(contexts)
    environment = Recorded(pull, contexts, rewards, np.full(n, -1), rewards.shape[1])
    order, rounds, totals = np.arange(n), np.arange(1, n + 1), np.zeros(n)
    play_contextual(functions(Policy, absse), params, environment, order, rounds, np.random.default_rng(0), totals)
    return environment.pulled, totals


class Bin:
    """Active bin of the reference: remaining arms, arms to pull in this round, and statistics."""

    def __init__(self, arms):
        self.active, self.pending, self.rounds = list(arms), list(arms), 0
        self.sums = dict.fromkeys(arms, 0.0)


def reference(K, n, d, beta, L, contexts, rewards):
    """Run the reference of Perchet & Rigollet 2013, Policy 3 with Policy 1; bins by (depth, coordinates)."""

    def U(s, T):
        return 2 * math.sqrt(2 * max(math.log(T / s), 1.0) / s)  # (2.1)

    k_0 = 0
    while 2.0**-k_0 > (K * math.log(K) / n) ** (1 / (d + 2 * beta)):  # (5.1)
        k_0 += 1
    c_0 = 2 * L * d ** (beta / 2)
    live = {(0, (0,) * d): Bin(range(K))}
    arms = []
    dropped = 0
    for x, reward in zip(contexts, rewards, strict=True):
        depth = 0
        while True:
            B = (depth, tuple(min(math.floor(2**depth * c), 2**depth - 1) for c in x))
            if B in live:
                break
            depth += 1
        se, side = live[B], 2.0**-depth
        T = n * side**d
        arm = se.pending.pop(0)
        arms.append(arm)
        se.sums[arm] += reward[arm]
        if se.pending:
            continue
        se.rounds += 1
        means = {i: se.sums[i] / se.rounds for i in se.active}
        if len(se.active) > 1:
            kept = [i for i in se.active if means[i] >= max(means.values()) - 2 * U(se.rounds, T)]
            dropped += len(se.active) - len(kept)
            se.active = kept
        se.pending = list(se.active)
        # (5.2): U decreases, so s >= l_B if and only if U(s, T) is within the bound.
        if depth < k_0 and len(se.active) >= 2 and U(se.rounds, T) <= 2 * c_0 * side**beta:
            del live[B]
            for child in np.ndindex((2,) * d):
                live[depth + 1, tuple(2 * b + c for b, c in zip(B[1], child, strict=True))] = Bin(se.active)
    return np.array(arms), len(live), dropped


CASES = [
    # K, n, d, smoothness, L; minimum numbers of final bins and of eliminations
    (2, 20_000, 3, 1.0, 1.0, 500, 0),
    (2, 20_000, 2, 1.0, 0.2, 10, 10),
    (2, 6_000, 1, 1.0, 0.05, 2, 2),
    (3, 8_000, 2, 0.5, 0.05, 10, 4),
    (5, 8_000, 2, 1.0, 4.0, 50, 0),
    (2, 300, 3, 0.4, 0.2, 1, 0),
    (62, 4_000, 1, 1.0, 1.0, 4, 0),
    (2, 1, 1, 1.0, 1.0, 1, 0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case[:5])))
def test_every_decision_is_the_references(case):
    K, n, d, beta, L, fewest_bins, fewest_dropped = case
    rng = np.random.default_rng([K, n, d])
    # Coordinates on a grid include faces of bins, 0 and 1. Some rewards are not 0 or 1.
    contexts = np.where(rng.random((n, d)) < 0.3, rng.integers(0, 9, (n, d)) / 8, rng.random((n, d)))
    best = (contexts[:, 0] * K).astype(int).clip(0, K - 1)
    probability = np.where(np.arange(K) == best[:, None], 0.95, 0.05)
    rewards = (rng.random((n, K)) < probability) * np.where(rng.random((n, 1)) < 0.2, 0.7, 1.0)
    expected, bins, dropped = reference(K, n, d, beta, L, contexts, rewards)
    # Else the comparison would say little.
    assert bins >= fewest_bins
    assert dropped >= fewest_dropped
    pulled, totals = run(absse.configure(K, n, d, beta, L), contexts, rewards)
    assert np.array_equal(pulled, expected)
    np.testing.assert_allclose(totals, rewards[np.arange(n), expected].cumsum(), rtol=1e-12)


def test_constants_of_adult_by_hand():
    # n = 41,292, K = 2, d = 3, beta = 1: (2 ln 2 / n)^(1/5) = 0.127, so k_0 = 3; c_0 = 2 sqrt(3) = 3.46.
    # Bounds 6.93, 3.46, 1.73. U(1) = 9.22 and U(2) = 6.30 for T = n; U(4) = 3.79 and U(5) = 3.33 for n / 8;
    # U(10) = 1.83 and U(11) = 1.72 for n / 64. The finest bins never burst.
    params = absse.configure(K=2, horizon=41_292, dimensions=3)
    assert params.depths["last_round"].tolist() == [2, 5, 11, 41_293]
    assert params.depths["T"].tolist() == [41_292, 5161.5, 645.1875, 80.6484375]
    # (62 ln 62 / 10,000)^(1/3) = 0.29, so k_0 = 2; without the logarithm it would be 0.18 and 3.
    assert len(absse.configure(K=62, horizon=10_000, dimensions=1).depths) == 3
    # 1 + 8 + 64 + 512: these few users create every bin.
    assert params.max_bins == 585


def test_a_useless_arm_goes_after_the_round_by_hand():
    # Means 1 and 0: arm 1 is out after the first s with 4 sqrt(2 ln(1000 / s) / s) < 1, that is 32 ln(1000 / s) < s:
    # 32 ln(12.5) = 80.8 > 80 and 32 ln(12.346) = 80.4 < 81. With a tiny L nothing bursts before.
    params = absse.configure(K=2, horizon=1000, dimensions=1, lipschitz=1e-6)
    contexts = np.random.default_rng(0).random((1000, 1))
    rewards = np.tile([1.0, 0.0], (1000, 1))
    pulled, _ = run(params, contexts, rewards)
    assert pulled.tolist() == [0, 1] * 81 + [0] * (1000 - 162)


@pytest.mark.parametrize(("K", "n", "d", "L"), [(2, 3000, 2, 1e6), (2, 5000, 3, 0.1), (4, 500, 4, 1.0)])
def test_the_tree_stays_within_its_room(K, n, d, L):
    # Equal rewards eliminate no arm. A run beyond its horizon writes only inside its arrays.
    params = absse.configure(K, n, d, 1.0, L)
    state = absse.init(params)
    rng = np.random.default_rng(2)
    for contexts in (np.zeros((n, d)), rng.random((3 * n, d))):
        for t, context in enumerate(contexts, 1):
            arm = absse.choose(params, state, context, t, rng)
            state = absse.learn(params, state, context, arm, 0.0, t, rng)
            assert state.n_bins[0] <= params.max_bins == len(state.bins)
