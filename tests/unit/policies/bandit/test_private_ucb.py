"""UCB and private UCB of Neel & Roth 2018: against the formulas written out again, and the two paths draw for draw."""

import math

import numpy as np
import pytest

from privarms.environments import bernoulli
from privarms.mechanisms.laplace import laplace
from privarms.policies.bandit import (
    private_ucb,
    private_ucb_constant_delta,
    private_ucb_gamma_only,
    private_ucb_noise_only,
    ucb,
    ucb_constant_delta,
)
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
    """The run again: nodes of the tree by their intervals, the index term by term, a list of (arm, reward)."""
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


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_paths_are_the_run_written_out(name, seed):
    history = written_out(name, np.random.default_rng(seed))
    for run in (
        lambda params, rng, record: play(ucb.POLICY, params, LADDER, np.array([T]), rng, record),
        lambda params, rng, record: ucb.SIMULATE["bernoulli"](params, LADDER, np.array([T]), rng, record),
    ):
        record = new_record(1, K)
        run(POLICIES[name], np.random.default_rng(seed), record)
        arms = np.array([arm for arm, _ in history])
        assert list(record.pulls) == list(np.bincount(arms, minlength=K))
        assert list(record.reward_sums) == [sum(r for a, r in history if a == arm) for arm in range(K)]
        assert record.regret[0] == pytest.approx((LADDER.means[0] - LADDER.means[arms]).sum(), rel=1e-12)


@pytest.mark.parametrize("name", POLICIES)
def test_the_fast_path_is_the_plain_one_draw_for_draw(name):
    for seed in range(20):
        plain, fast = new_record(3, K), new_record(3, K)
        checkpoints = np.array([5, 77, T])
        generators = np.random.default_rng(seed), np.random.default_rng(seed)
        play(ucb.POLICY, POLICIES[name], LADDER, checkpoints, generators[0], plain)
        ucb.SIMULATE["bernoulli"](POLICIES[name], LADDER, checkpoints, generators[1], fast)
        assert list(plain.pulls) == list(fast.pulls)
        assert list(plain.reward_sums) == list(fast.reward_sums)
        assert plain.regret == pytest.approx(fast.regret, rel=1e-12)
        assert generators[0].random() == generators[1].random()


@pytest.mark.parametrize(
    "means",
    # Arms that are nearly alike have regrets that say which it was.
    [
        [0.6, 0.5],
        [0.5, 0.5 - 1e-9, 0.5 - 3e-9],
        [0.9, 0.5, 0.5, 0.5, 0.8],
        [0.7, 0.4, 0.6, 0.5, 0.3, 0.2, 0.65],
        list(0.5 - 1e-9 * 1.5 ** np.arange(20)),
        list(np.linspace(1, 0, 20)),
    ],
)
def test_what_the_fast_path_does_not_look_at_changes_no_arm(means):
    # Long enough for the largest index to stay where it is for thousands of rounds, and to move in every round.
    arms, horizon, environment = len(means), 10_000, bernoulli.Environment(bernoulli.pull, np.array(means))
    policies = [
        ucb.configure(arms, horizon),
        ucb_constant_delta.configure(arms, horizon, 0.95),
        private_ucb_gamma_only.configure(arms, horizon, 400.0),
        private_ucb_constant_delta.configure(arms, horizon, 5000.0, 0.9, "as_released"),
        *(private_ucb.configure(arms, horizon, epsilon, "as_printed") for epsilon in (1.0, 400.0, 5000.0)),
        *(private_ucb_noise_only.configure(arms, horizon, epsilon, "as_released") for epsilon in (1.0, 100.0)),
    ]
    # A checkpoint a round holds every arm in the order of the rounds.
    checkpoints = np.arange(1, horizon + 1)
    for seed, params in enumerate(policies):
        plain, fast = new_record(horizon, arms), new_record(horizon, arms)
        generators = np.random.default_rng(seed), np.random.default_rng(seed)
        play(ucb.POLICY, params, environment, checkpoints, generators[0], plain)
        ucb.SIMULATE["bernoulli"](params, environment, checkpoints, generators[1], fast)
        assert (plain.regret == fast.regret).all()
        assert list(plain.pulls) == list(fast.pulls)
        assert list(plain.reward_sums) == list(fast.reward_sums)
        assert generators[0].random() == generators[1].random()


def test_every_policy_module_is_the_same_algorithm():
    for module in (private_ucb, private_ucb_gamma_only, private_ucb_noise_only):
        assert module.POLICY is ucb.POLICY
        assert module.SIMULATE is ucb.SIMULATE


def test_ties_go_to_the_lowest_arm():
    params = ucb.configure(3, 10)
    state = private_ucb.init(params)
    state.pulls[:], state.reward_sums[:] = 2, 1
    assert private_ucb.choose(params, state, np.empty(0), 7, np.random.default_rng(0)) == 0


def test_experiment_1_is_round_robin_and_so_says_nothing_of_adaptivity():
    # The bonus of about 3e5 over the pulls decides alone: every arm has T / K pulls in every run.
    ladder = bernoulli.configure(20, top=1.0, bottom=0.05)
    for variant in ("as_printed", "as_released"):
        params = private_ucb.configure(20, 500, 0.05, variant)
        last = params.log_inverse_delta[500]
        assert 3e5 < params.gamma_scale * (params.gamma_log + last) < 4e5
        rng = np.random.default_rng(5)
        for _ in range(200):
            record = new_record(1, 20)
            private_ucb.SIMULATE["bernoulli"](params, ladder, np.array([500]), rng, record)
            assert list(record.pulls) == [25] * 20


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ucb.configure(1, 10), "K: expected at least 2 arms; found 1"),
        (lambda: ucb.configure(5, 4), "horizon: expected at least one round for each of the 5 arms; found 4"),
        (lambda: private_ucb.configure(2, 10, 0, "as_printed"), "epsilon: expected a finite number > 0; found 0"),
        (lambda: private_ucb.configure(2, 10, math.inf, "as_printed"), "epsilon: expected a finite number > 0"),
        (lambda: private_ucb.configure(2, 10, 1, "as_told"), "variant: expected as_printed or as_released"),
        (lambda: private_ucb_noise_only.configure(2, 10, -1, "as_printed"), "epsilon: expected a finite number > 0"),
        (lambda: private_ucb.configure(2, 10, 1e-310, "as_printed"), "epsilon: 1e-310 is so small that noise or bonus"),
        (lambda: private_ucb_gamma_only.configure(2, 10, math.nan), "epsilon: expected a finite number > 0"),
    ],
)
def test_bad_parameters(call, said):
    with pytest.raises(ValueError, match=said):
        call()
