"""Check expected pulls against values without simulation: from all histories, or from an epoch's distribution."""

import math
from collections import defaultdict

import numpy as np
import pytest
import scipy.signal
import scipy.stats

from .indices import RULES
from .simulated import mean_pulls

# In standard errors. The probability of a false alarm is 7e-6 per comparison.
WIDTH = 4.5


def by_enumeration(policy, means, T):
    """Return the expected pulls, float64[K], summed over all histories of Bernoulli rewards."""
    K = len(means)
    states = {((0,) * K, (0,) * K): 1.0}
    for t in range(1, T + 1):
        following = defaultdict(float)
        n, s = (np.array([state[i] for state in states], float) for i in (0, 1))
        shares = np.eye(K)[[t - 1] * len(states)] if t <= K else chances(RULES[policy](n, s, t, T, None), policy)
        for ((pulls, sums), probability), share in zip(states.items(), shares, strict=True):
            for arm in np.flatnonzero(share):
                one_more = tuple(p + (i == arm) for i, p in enumerate(pulls))
                paid = tuple(s + (i == arm) for i, s in enumerate(sums))
                following[one_more, paid] += probability * share[arm] * means[arm]
                following[one_more, sums] += probability * share[arm] * (1 - means[arm])
        states = following
    return sum(probability * np.array(pulls, float) for (pulls, _), probability in states.items())


def chances(indices, policy):
    """Return the probability of each choice, float64[..., K]; equal arms share it, with "ucb" the lowest gets it."""
    if policy == "ucb":
        return np.eye(indices.shape[1])[indices.argmax(axis=1)]
    largest = indices == indices.max(axis=1, keepdims=True)
    return largest / largest.sum(axis=1, keepdims=True)


def test_the_enumeration_of_three_rounds():
    # UCB1 plays arm 0 in round 3 if only arm 0 paid, .6 * .3 = .18. If both or none paid, it plays arm 0 in half of
    # the cases, (.42 + .12) / 2 = .27.
    assert by_enumeration("ucb1", [0.6, 0.7], 3) == pytest.approx([1.45, 1.55])
    # The first of equal arms: 1 - .4 * .7 = .72.
    assert by_enumeration("ucb", [0.6, 0.7], 3) == pytest.approx([1.72, 1.28])


@pytest.mark.parametrize("policy", ["ucb1", "ucb", "kl_ucb", "imed"])
def test_pulls_are_those_of_all_histories(policy):
    means, T = [0.8, 0.3], 40
    parameters = {"K": 2, "horizon": T} if policy == "ucb" else {"K": 2}
    pulls, errors = mean_pulls(policy, parameters, means, T, runs=100_000)
    assert errors.max() < 0.02
    assert pulls == pytest.approx(by_enumeration(policy, means, T), abs=WIDTH * errors.max())


def epoch_length(e, epsilon, beta):
    """Return R_e of two arms: Sajed & Sheffet 2019, Algorithm 3, line 8."""
    sampling = 32 * math.log(16 * e**2 / beta) * 4**e
    noise = 8 * math.log(8 * e**2 / beta) * 2**e / epsilon
    return max(sampling, noise) + 1


def pulls_of_the_worse(means, T, epsilon):
    """Return the expected pulls of the worse of two arms that is eliminated in epoch 1 or 2; beta = 1 / T.

    With epsilon = inf the algorithm has no radius of line 16, no noise of line 17 and no second term of R_e.
    """
    R = epoch_length(1, epsilon, 1 / T)
    r = math.ceil(R)
    margin = 2 * math.sqrt(math.log(16 * T) / (2 * R)) + 2 * math.log(8 * T) / (R * epsilon)
    better, worse = (scipy.stats.binom.pmf(np.arange(r + 1), r, mean) for mean in means)
    leads = np.arange(-r, r + 1) / r
    eliminated = scipy.signal.fftconvolve(better, worse[::-1]) @ above(margin - leads, 1 / (epsilon * r))
    return r + (1 - eliminated) * math.ceil(epoch_length(2, epsilon, 1 / T))


def above(x, scale):
    """Return the probability that the difference of two Laplace variables of this scale exceeds x."""
    if scale == 0:
        return (x < 0).astype(float)
    tail = (0.5 + np.abs(x) / scale / 4) * np.exp(-np.abs(x) / scale)
    return np.where(x > 0, tail, 1 - tail)


@pytest.mark.parametrize(
    ("means", "epsilon"),
    # At these gaps epoch 1 eliminates the worse arm sometimes, by noise and by sampling, and epoch 2 always.
    [
        ((0.65, 0.48), 0.01),
        ((0.65, 0.495), 0.01),
        ((0.65, 0.49), 1.0),
        ((0.65, 0.51), 1.0),
        ((0.65, 0.51), math.inf),
        ((0.65, 0.53), math.inf),
    ],
)
def test_the_worse_arm_is_eliminated_as_often_as_the_distribution_of_epoch_1_says(means, epsilon):
    T = 1_000_000
    expected = pulls_of_the_worse(means, T, epsilon)
    policy, parameters = "epoch_se", {"K": 2, "horizon": T}
    if epsilon < math.inf:
        policy, parameters = "dp_se", parameters | {"epsilon": epsilon}
    pulls, errors = mean_pulls(policy, parameters, means, T, runs=200_000)
    assert 0.001 * expected < errors[1] * WIDTH < 0.02 * expected, "neither certain nor undecided"
    assert pulls[1] == pytest.approx(expected, abs=WIDTH * errors[1])
