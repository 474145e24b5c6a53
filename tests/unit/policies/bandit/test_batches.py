"""Check policies that pull in batches: sizes, indices, privacy of the sums, a single compilation."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms import fast_paths
from privarms.environments.bernoulli import Environment, pull
from privarms.fast_paths.bandit._batches__bernoulli import simulate
from privarms.inference.divergences import d_epsilon, kl
from privarms.kernels import batches, episodes
from privarms.policies import Policy, functions
from privarms.policies.bandit import adap_klucb, adap_ucb, dp_imed, dp_klucb
from privarms.protocols.bandit import new_record, play, play_block

POLICIES = (adap_ucb, adap_klucb, dp_klucb, dp_imed)


def counts(params, number):
    """Return an arm's pulls after each of its first batches."""
    state, actual = batches.init(params), []
    for _ in range(number):
        state.pulls[0] += params.batch_size(params, state, 0)
        actual.append(int(state.pulls[0]))
    return actual


def test_pulls_grow_by_the_ratio():
    assert counts(dp_imed.configure(2, 1.0), 6) == [2, 4, 8, 16, 32, 64]
    assert counts(dp_imed.configure(2, 1.0, ratio=3), 4) == [3, 9, 27, 81]
    # 1.5, 2.25, 3.375, 5.06, 7.59, 11.39
    assert counts(dp_klucb.configure(2, 1.0, ratio=1.5), 6) == [2, 3, 4, 6, 8, 12]
    # ceil(1.1^m) is 2 for m = 1 to 7 and 3 for m = 8 to 11: no batch is empty.
    assert counts(dp_klucb.configure(2, 1.0, ratio=1.1), 4) == [2, 3, 4, 5]
    # At least 8 / 0.25 = 32 pulls at first, then the same batches as without `first`.
    assert counts(dp_imed.configure(2, 0.25, first=8), 3) == [32, 64, 128]
    assert counts(dp_imed.configure(2, 0.25, ratio=3, first=8), 2) == [81, 243]


def test_every_count_is_a_power_rounded_up():
    rng = np.random.default_rng(1)
    for _ in range(300):
        ratio = 1 + 10 ** rng.uniform(-2, 1)
        actual = counts(dp_imed.configure(2, 1.0, ratio=ratio), 12)
        powers = {math.ceil(ratio**m) for m in range(1, 2000) if m * math.log(ratio) < 40}
        assert set(actual) <= powers
        assert actual == sorted(powers)[:12], ratio


def test_episodes_double_the_pulls():
    params = adap_ucb.configure(2, 1.0)
    state, lengths = batches.init(params), []
    for _ in range(5):
        lengths.append(params.batch_size(params, state, 0))
        state.pulls[0] += lengths[-1]
    assert lengths == [1, 1, 2, 4, 8]


@pytest.mark.parametrize(("policy", "rewards", "total"), [(adap_ucb, 4, 1.0), (dp_imed, 7, 3.0)])
def test_the_sum_of_a_batch_is_released_with_laplace_noise(policy, rewards, total):
    params, rng, noise = policy.configure(2, 0.25, noise=2.0), np.random.default_rng(1), []
    for _ in range(4000):
        state = batches.init(params)
        batches.release(params, state, 1, 3, 2.0, rng)
        noise.append(state.private_sums[1] - 2)
    # |Lap(8)| has mean and standard deviation 8: a false alarm of 6e-7.
    assert abs(np.abs(noise).mean() - 8) < 5 * 8 / math.sqrt(4000)
    # With almost no noise: the second batch replaces the first in AdaP-UCB's statistic, and joins it in DP-IMED's.
    params, state = policy.configure(2, 1e9), batches.init(params)
    for size, batch_sum in ((3, 2.0), (4, 1.0)):
        batches.release(params, state, 1, size, batch_sum, rng)
    assert (state.pulls.tolist(), state.rewards.tolist()) == ([0, 7], [0, rewards])
    assert state.private_sums == pytest.approx([0, total], abs=1e-6)


def released(*arms):
    """Return a state in which each arm has (pulls, rewards in its statistic, private sum)."""
    pulls, rewards, sums = zip(*arms, strict=True)
    return batches.State(np.array(pulls), np.array(rewards), np.array(sums, float), 0, 0, 0, 0.0)


def test_indices_by_hand():
    state, t = released((16, 8, 3.0), (4, 2, -1.0)), 21
    params = adap_ucb.configure(2, 0.5)
    expected = 3 / 8 + math.sqrt(3.1 * math.log(42) / 16) + 3.1 * math.log(21) / (0.5 * 8)
    assert adap_ucb.index(params, state, 0, t) == pytest.approx(expected, rel=1e-12)
    state = released((2000, 1000, 300.0), (2000, 1000, 300.0))
    params = adap_klucb.configure(2, 0.5)
    mean, level = 0.3 + 3.1 * math.log(4001) / 500, 3.1 * math.log(4001) / 1000
    q = adap_klucb.index(params, state, 0, 4001)
    assert q > mean
    assert kl(mean, q) == pytest.approx(level, rel=1e-9)
    params = dp_klucb.configure(2, 0.5)
    q = dp_klucb.index(params, state, 0, 4001)
    assert d_epsilon(0.3, q, 0.5) == pytest.approx(math.log(4001) / 1000, rel=1e-9)
    params, state = dp_imed.configure(2, 0.5), released((64, 64, 48.0), (32, 32, -5.0), (2, 2, 9.0))
    # The largest mean is 1, because means are clipped.
    assert -dp_imed.index(params, state, 0, 9) == pytest.approx(64 * d_epsilon(0.75, 1.0, 0.5) + math.log(64))
    assert -dp_imed.index(params, state, 1, 9) == pytest.approx(32 * d_epsilon(0.0, 1.0, 0.5) + math.log(32))
    assert batches.next_arm(params, state, 9, np.random.default_rng(1)) == 2


def test_one_of_equals_is_drawn():
    early = released((2, 2, 1.0), (2, 2, 1.5), (2, 2, 0.0))
    rng = np.random.default_rng(1)
    for policy in (dp_klucb, adap_klucb):
        # All indices are 1. A count of 3,000 draws with probability 1/3 has a standard deviation below 26.
        drawn = [batches.next_arm(policy.configure(3, 0.01), early, 7, rng) for _ in range(3000)]
        assert (abs(np.bincount(drawn, minlength=3) - 1000) < 5 * 26).all()
    state = released((90, 90, 1.0), (90, 90, 70.0), (90, 90, 70.0))
    assert {batches.next_arm(dp_klucb.configure(3, 5.0), state, 271, rng) for _ in range(50)} == {1, 2}


class Asked(NamedTuple):
    """Return Params of a policy that prefers arm 0; rounds: int64[n], the number of index calls, then their rounds."""

    n_arms: int
    epsilon: float
    noise: float
    rounds: np.ndarray
    index: Callable
    batch_size: Callable
    forget: bool


@njit
def first_arm(params, state, arm, t):
    if arm == 0:
        params.rounds[0] += 1
        params.rounds[params.rounds[0]] = t
    return -arm


def test_the_choice_is_asked_for_the_round_about_to_be_played_and_the_horizon_cuts_the_last_batch():
    environment, checkpoints = Environment(pull, np.array([0.25, 1.0])), np.array([9, 12])
    record, asked = new_record(2, 2), np.zeros(9, np.int64)
    params = Asked(2, 1.0, 1.0, asked, first_arm, episodes.episode_length, True)
    simulate(params, environment, checkpoints, np.random.default_rng(1), record)
    # Arm 0 in round 1, arm 1 in round 2, then arm 0 for 1, 2 and 4 rounds, and for 3 of 8.
    assert asked[1 : 1 + asked[0]].tolist() == [3, 4, 6, 10]
    assert record.pulls.tolist() == [11, 1]
    assert record.reward_sums[1] == 1
    assert record.regret.tolist() == [0.75 * 8, 0.75 * 11]


@pytest.mark.parametrize("policy", POLICIES)
def test_new_parameter_values_compile_nothing(policy):
    environment, compiled = Environment(pull, np.array([0.6, 0.5, 0.4])), []
    fast = fast_paths.find(policy, "bernoulli")
    for epsilon, horizon in ((0.1, 300), (1.0, 1000), (3.0, 77)):
        params, args = policy.configure(3, epsilon), (environment, np.array([horizon]), np.random.default_rng(1))
        record = new_record(1, 3)
        play(functions(Policy, policy), params, *args, record)
        assert record.pulls.sum() == horizon
        play_block(fast, (params,), *args, np.zeros((2, 1)), np.zeros((2, 3), np.int64), np.zeros((2, 3)))
        compiled.append((len(play.signatures), len(fast.signatures), len(policy.choose.signatures)))
    assert len(set(compiled)) == 1
