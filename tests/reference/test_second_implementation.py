"""Compare the library's pulls with a second implementation in plain numpy, in settings where noise matters."""

import math

import numpy as np
import pytest

from .indices import RULES
from .simulated import mean_pulls

MEANS, RUNS = np.array([0.9, 0.1]), 50_000
WIDTH = 4.5
FORGETS = ("adap_ucb", "adap_klucb")
"""Policies whose index uses the last batch alone."""


def chosen(indices, rng):
    """Return the arm with the largest index in each run; ties are broken at random."""
    return np.where(indices == indices.max(axis=1, keepdims=True), rng.random(indices.shape), -1.0).argmax(axis=1)


def round_by_round(policy, T, epsilon, noise, rng):
    """Return int64[RUNS, K], the pulls of DP-UCB, whose sums are released by a binary tree."""
    runs, K = np.arange(RUNS), len(MEANS)
    n, s, released = np.zeros((RUNS, K), int), np.zeros((RUNS, K)), np.zeros((RUNS, K))
    # nodes[run, arm, b]: the noise of the node of 2^b rewards in the arm's current sum.
    nodes = np.zeros((RUNS, K, T.bit_length()))
    scale = noise * math.ceil(math.log2(T)) / epsilon
    for t in range(1, T + 1):
        arm = np.full(RUNS, t - 1) if t <= K else chosen(RULES[policy](n, s + released, t, T, epsilon), rng)
        n[runs, arm] += 1
        s[runs, arm] += rng.random(RUNS) < MEANS[arm]
        released[runs, arm] = count_by_tree(nodes, arm, n[runs, arm], scale, rng)
    return n


def count_by_tree(nodes, arm, count, scale, rng):
    """Return the noise of each count: one node per binary digit 1 of the count; only the lowest node is new."""
    runs, lowest = np.arange(len(count)), np.log2(count & -count).astype(int)
    own = nodes[runs, arm]
    own[np.arange(own.shape[1]) <= lowest[:, None]] = 0
    own[runs, lowest] = rng.laplace(0, scale, len(runs))
    nodes[runs, arm] = own
    return own.sum(axis=1)


def in_batches(policy, T, epsilon, noise, rng):
    """Return int64[RUNS, K], the pulls of a policy that releases the sum of each batch with Laplace noise."""
    K, runs = len(MEANS), np.arange(RUNS)
    n, in_index, sums = np.zeros((RUNS, K), int), np.ones((RUNS, K)), np.zeros((RUNS, K))
    while len(runs):
        t = n[runs].sum(axis=1)
        first = n[runs] == 0
        arm = np.where(
            first.any(axis=1),
            first.argmax(axis=1),
            chosen(RULES[policy](in_index[runs], sums[runs], t[:, None] + 1, T, epsilon), rng),
        )
        before = n[runs, arm]
        # AdaP doubles its batches from 1 pull. The policies of 2025 use powers of the ratio 2.
        batch = np.where(before > 0, before, 1 if policy in FORGETS else 2)
        batch = np.minimum(batch, T - t)
        released = rng.binomial(batch, MEANS[arm]) + rng.laplace(0, noise / epsilon, len(runs))
        n[runs, arm] += batch
        if policy in FORGETS:
            in_index[runs, arm], sums[runs, arm] = batch, released
        else:
            in_index[runs, arm] = n[runs, arm]
            sums[runs, arm] += released
        runs = runs[t + batch < T]
    return n


@pytest.mark.parametrize(
    ("policy", "T", "epsilon", "parameters", "second"),
    [
        ("dp_ucb", 128, 4.0, {"horizon": 128, "width": "chan"}, round_by_round),
        ("adap_ucb", 64, 1.0, {}, in_batches),
        ("adap_klucb", 64, 8.0, {}, in_batches),
        ("dp_klucb", 64, 0.5, {"ratio": 2.0}, in_batches),
        ("dp_imed", 64, 1.0, {"ratio": 2.0}, in_batches),
    ],
)
def test_the_library_pulls_as_often(policy, T, epsilon, parameters, second):
    pulls, errors = mean_pulls(policy, {"K": 2, "epsilon": epsilon} | parameters, MEANS, T, runs=200_000)

    def distance(noise):
        """Return the difference of the better arm's mean pulls, in standard errors; `noise` multiplies every scale."""
        other = second(policy, T, epsilon, noise, np.random.default_rng(2))[:, 0]
        return abs(pulls[0] - other.mean()) / math.hypot(errors[0], other.std() / math.sqrt(RUNS))

    assert distance(noise=1.0) < WIDTH
    # The comparison must detect half of the noise.
    assert distance(noise=0.5) > 2 * WIDTH
