"""Check UCB and private UCB with a constant delta against independently written formulas."""

import math

import numpy as np
import pytest

from privarms.environments import bernoulli, reward_laws
from privarms.mechanisms.laplace import laplace
from privarms.policies.bandit import private_ucb, private_ucb_constant_delta, ucb, ucb_constant_delta

from .both import run

K, T, EPSILON, DELTA = 4, 300, 20.0, 0.95
LADDER = bernoulli.configure(K, top=0.9, bottom=0.3)


def written_out(private, arms, rng):
    """Return the pulls of a run, with the index term by term and the released counter."""
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
        sums[arm] += arms.pull(arms, arm, rng)
        pulls[arm] += 1
        noises[arm] = laplace(2 * math.log2(T) / EPSILON, rng) / (pulls[arm] + 1) if private else 0.0
    return pulls


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("law", ["bernoulli", *reward_laws.LAWS])
def test_a_run_is_the_run_written_out(law, private, seed):
    params = ucb_constant_delta.configure(K, T, DELTA)
    if private:
        params = private_ucb_constant_delta.configure(K, T, EPSILON, DELTA, "as_released")
    arms = LADDER if law == "bernoulli" else reward_laws.configure(K, 1.0, 0.85, law)
    assert list(run(ucb, params, arms, [T], seed=seed).pulls) == written_out(private, arms, np.random.default_rng(seed))


def test_gamma_takes_the_constant_delta():
    params = private_ucb_constant_delta.configure(K, T, EPSILON, DELTA, "as_printed")
    expected = K * math.log(T) ** 2 / EPSILON * math.log(K * T * math.log(T) / DELTA)
    assert private_ucb.private_bonus(params, 7) == pytest.approx(expected, rel=1e-12)
    assert params.levels == private_ucb.configure(K, T, EPSILON, "as_printed").levels
