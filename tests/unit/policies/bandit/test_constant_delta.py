"""UCB and private UCB with a constant delta: against the formulas written out again."""

import math
from functools import partial

import numpy as np
import pytest

from privarms.environments import bernoulli, reward_laws
from privarms.mechanisms.laplace import laplace
from privarms.policies.bandit import private_ucb, private_ucb_constant_delta, ucb, ucb_constant_delta
from privarms.protocols.bandit import new_record, play

K, T, EPSILON, DELTA = 4, 300, 20.0, 0.95
LADDER = bernoulli.configure(K, top=0.9, bottom=0.3)


def written_out(private, rng):
    """The pulls of a run: the index term by term; the released counter."""
    pulls, sums, noises = [0] * K, [0.0] * K, [0.0] * K
    gamma = K * math.log(T) ** 2 * math.log(K * T * math.log(T) / DELTA) / EPSILON if private else 0.0
    for t in range(T):
        arm = t
        if t >= K:
            index = [
                (sums[i] + noises[i] + gamma) / pulls[i] + math.sqrt(2 * math.log(1 / DELTA) / pulls[i])
                for i in range(K)
            ]
            arm = index.index(max(index))
        sums[arm] += 1.0 if rng.random() < LADDER.means[arm] else 0.0
        pulls[arm] += 1
        noises[arm] = laplace(2 * math.log2(T) / EPSILON, rng) / (pulls[arm] + 1) if private else 0.0
    return pulls


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("private", [False, True])
def test_both_paths_are_the_run_written_out(private, seed):
    params = ucb_constant_delta.configure(K, T, DELTA)
    if private:
        params = private_ucb_constant_delta.configure(K, T, EPSILON, DELTA, "as_released")
    expected = written_out(private, np.random.default_rng(seed))
    for run in (
        lambda rng, record: play(ucb.POLICY, params, LADDER, np.array([T]), rng, record),
        lambda rng, record: ucb.SIMULATE["bernoulli"](params, LADDER, np.array([T]), rng, record),
    ):
        record = new_record(1, K)
        run(np.random.default_rng(seed), record)
        assert list(record.pulls) == expected


def test_gamma_takes_the_constant_delta():
    params = private_ucb_constant_delta.configure(K, T, EPSILON, DELTA, "as_printed")
    gamma = params.gamma_scale * (params.gamma_log + params.log_inverse_delta[7])
    assert gamma == pytest.approx(K * math.log(T) ** 2 / EPSILON * math.log(K * T * math.log(T) / DELTA), rel=1e-12)
    assert params.levels == private_ucb.configure(K, T, EPSILON, "as_printed").levels


@pytest.mark.parametrize("delta", [0, 1, 1.5, math.nan])
def test_a_delta_that_is_none_is_refused(delta):
    with pytest.raises(ValueError, match="delta: expected a number in"):
        ucb_constant_delta.configure(K, T, delta)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("law", reward_laws.LAWS)
@pytest.mark.parametrize("private", [False, True])
def test_both_paths_are_one_run_on_every_law_of_rewards(private, law, seed):
    params = ucb_constant_delta.configure(K, T, DELTA)
    if private:
        params = private_ucb_constant_delta.configure(K, T, EPSILON, DELTA, "as_released")
    arms = reward_laws.configure(K, 1.0, 0.85, law)
    found = []
    for path in (partial(play, ucb.POLICY), ucb.SIMULATE["reward_laws"]):
        rng, record = np.random.default_rng(seed), new_record(2, K)
        path(params, arms, np.array([T // 2, T]), rng, record)
        found.append((record.regret.tolist(), record.pulls.tolist(), record.reward_sums.tolist(), rng.random()))
    assert found[0] == found[1]
    assert sum(found[0][1]) == T
