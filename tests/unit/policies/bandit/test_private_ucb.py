"""Check UCB and private UCB of Neel & Roth 2018 against independently written formulas."""

import math

import numpy as np
import pytest

from privarms.environments import bernoulli
from privarms.mechanisms.laplace import laplace
from privarms.policies import Policy, functions
from privarms.policies.bandit import private_ucb, private_ucb_gamma_only, private_ucb_noise_only, ucb
from privarms.protocols.bandit import new_record, play

K, T, EPSILON = 4, 300, 20.0
LADDER = bernoulli.configure(K, top=0.9, bottom=0.3)
POLICIES = {
    "ucb": ucb.configure(K, T),
    "as_printed": private_ucb.configure(K, T, EPSILON, "as_printed"),
    "as_released": private_ucb.configure(K, T, EPSILON, "as_released"),
    "gamma_only": private_ucb_gamma_only.configure(K, T, EPSILON),
    "noise_only as_printed": private_ucb_noise_only.configure(K, T, EPSILON, "as_printed"),
    "noise_only as_released": private_ucb_noise_only.configure(K, T, EPSILON, "as_released"),
}


def written_out(name, rng):
    """Return the run as a list of (arm, reward), with tree nodes by intervals and the index term by term."""
    bonus = name in ("as_printed", "as_released", "gamma_only")
    tree, fresh = name.endswith("as_printed"), name.endswith("as_released")
    rewards = [[] for _ in range(K)]
    nodes = [{} for _ in range(K)]
    noise = [0.0] * K
    history = []
    for t in range(1, T + 1):
        inverse_delta = 1 + t * math.log(t) ** 2
        values = []
        for arm in range(K):
            n = len(rewards[arm])
            if n == 0:
                values.append(math.inf)
                continue
            value = sum(rewards[arm]) / n + math.sqrt(math.log(2 * inverse_delta) / (2 * n))
            if bonus:
                gamma = K * math.log(T) ** 2 * math.log(K * T * math.log(T) * inverse_delta) / EPSILON
                value += gamma / n
            values.append(value + noise[arm])
        arm = values.index(max(values))
        reward = 1.0 if rng.random() < LADDER.means[arm] else 0.0
        history.append((arm, reward))
        rewards[arm].append(reward)
        n = len(rewards[arm])
        if tree:
            length = n & -n
            nodes[arm][n - length, n] = laplace(math.log2(T) / EPSILON, rng)
            total, end = 0.0, n
            while end:
                start = end - (end & -end)
                total += nodes[arm][start, end]
                end = start
            noise[arm] = total / n
        elif fresh:
            noise[arm] = laplace(2 * math.log2(T) / EPSILON, rng) / (n * (n + 1))
    return history


def run(params, environment, checkpoints, seed):
    """Return the record of a run and the next draw of its generator."""
    rng, record = np.random.default_rng(seed), new_record(len(checkpoints), len(environment.means))
    play(functions(Policy, private_ucb), params, environment, np.array(checkpoints), rng, record)
    return record, rng.random()


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_run_is_the_run_written_out(name, seed):
    rng = np.random.default_rng(seed)
    history = written_out(name, rng)
    record, draw = run(POLICIES[name], LADDER, [5, 77, T], seed)
    arms = np.array([arm for arm, _ in history])
    assert list(record.pulls) == list(np.bincount(arms, minlength=K))
    assert list(record.reward_sums) == [sum(r for a, r in history if a == arm) for arm in range(K)]
    gaps = (LADDER.means[0] - LADDER.means[arms]).cumsum()
    assert record.regret == pytest.approx(gaps[[4, 76, T - 1]], rel=1e-12)
    assert draw == rng.random()


def test_ties_go_to_the_lowest_arm():
    params, rng = ucb.configure(3, 10), np.random.default_rng(0)
    state = private_ucb.init(params)
    for arm in (2, 1, 0, 0, 2, 1):
        state = private_ucb.learn(params, state, np.empty(0), arm, 0.5, 1, rng)
    assert private_ucb.choose(params, state, np.empty(0), 7, rng) == 0
    state = private_ucb.learn(params, state, np.empty(0), 0, 0.5, 7, rng)
    assert private_ucb.choose(params, state, np.empty(0), 8, rng) == 1


def test_the_bonus_without_the_factor_K():
    usual, other = (private_ucb.configure(K, T, EPSILON, "as_printed", factor) for factor in (True, False))
    assert private_ucb.private_bonus(usual, 7) == pytest.approx(K * private_ucb.private_bonus(other, 7))
    assert usual.node_scale == other.node_scale


def test_experiment_1_is_round_robin_and_so_says_nothing_of_adaptivity():
    # Only the bonus of about 3e5 over the pulls matters, so every arm has T / K pulls in every run.
    ladder = bernoulli.configure(20, top=1.0, bottom=0.05)
    for variant in ("as_printed", "as_released"):
        params = private_ucb.configure(20, 500, 0.05, variant)
        assert 3e5 < private_ucb.private_bonus(params, 500) < 4e5
        for seed in range(200):
            assert list(run(params, ladder, [500], seed)[0].pulls) == [25] * 20
