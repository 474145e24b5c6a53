"""Check DP Successive Elimination and its non-private version (Sajed & Sheffet 2019, Algorithm 3)."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.environments.bernoulli import Environment, pull
from privarms.policies.bandit import dp_se, epoch_se, successive_elimination

from .both import run

run_plain, run_fast = (partial(run, dp_se, fast=fast) for fast in (False, True))


class Script(NamedTuple):
    """Deterministic rewards: `early` before an arm's pull number `turn`, then `late`."""

    pull: object
    means: np.ndarray
    early: np.ndarray
    late: np.ndarray
    turn: int
    pulls: np.ndarray


@njit
def read_script(script, arm, rng):
    script.pulls[arm] += 1
    return script.early[arm] if script.pulls[arm] <= script.turn else script.late[arm]


def script(early, late=None, turn=10**9):
    early = np.array(early)
    late = early if late is None else np.array(late)
    return Script(read_script, early, early, late, turn, np.zeros(len(early), np.int64))


# Worked by hand (to 12 digits) from lines 8, 15 and 16 with |S| = 2 and beta = 0.1:
# epoch 1, epsilon 0.5: ln 160 / Delta^2 wins; epoch 2, epsilon 0.5; epoch 1, epsilon 0.05: ln 80 / (epsilon Delta).
@pytest.mark.parametrize(
    ("epsilon", "epoch", "length", "confidence", "privacy"),
    [
        (0.5, 1, 650.622248349824, 0.062451950586, 0.013470263723),
        (0.5, 2, 3309.271706292736, 0.031245278059, 0.003486157383),
        (0.05, 1, 1403.248523095360, None, None),
    ],
)
def test_the_numbers_of_an_epoch_follow_lines_8_15_and_16(epsilon, epoch, length, confidence, privacy):
    params = dp_se.configure(K=2, horizon=100, epsilon=epsilon, beta=0.1)
    assert dp_se.epoch_length(params, 2, epoch) == pytest.approx(length, rel=1e-11)
    assert dp_se.noise_scale(params, 2, epoch) == pytest.approx(1 / (epsilon * np.ceil(length)), rel=1e-12)
    if confidence is not None:
        assert dp_se.confidence_radius(params, 2, epoch) == pytest.approx(confidence, rel=1e-9)
        assert dp_se.privacy_radius(params, 2, epoch) == pytest.approx(privacy, rel=1e-9)
        assert dp_se.elimination_margin(params, 2, epoch) == pytest.approx(2 * confidence + 2 * privacy, rel=1e-9)


def test_beta_is_one_over_the_horizon_by_default():
    assert dp_se.configure(K=5, horizon=50_000_000, epsilon=0.25).beta == 2e-8
    assert epoch_se.configure(K=5, horizon=1000).beta == 1e-3


def test_without_privacy_the_private_term_and_the_noise_go():
    params = epoch_se.configure(K=2, horizon=100, beta=0.1)
    assert dp_se.epoch_length(params, 2, 1) == pytest.approx(650.622248349824, rel=1e-11)
    assert dp_se.privacy_radius(params, 2, 1) == 0
    assert dp_se.noise_scale(params, 2, 1) == 0
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    assert dp_se.eliminate(params, 2, 1, np.ones(2, np.bool_), np.array([400.0, 200.0]), rng) == 1
    assert rng.bit_generator.state == before


# beta = 0.5. |S| = 3: R_1 = 496.51, margin 0.124874; |S| = 2: R_2 = 2485.24, margin 0.062487.
CLEAR = [0.9, 0.8, 0.2]


def test_arms_go_when_their_gap_exceeds_the_margin_of_the_epoch():
    record = run_plain(epoch_se.configure(K=3, horizon=10, beta=0.5), script(CLEAR), [497 * 3, 20_000])
    assert record.pulls.tolist() == [20_000 - 497 * 2 - 2486, 497 + 2486, 497]
    assert record.regret[0] == pytest.approx(497 * (0.1 + 0.7))
    assert record.regret[1] == pytest.approx((497 + 2486) * 0.1 + 497 * 0.7)


def test_a_sweep_goes_in_index_order_and_the_horizon_may_cut_it():
    params = epoch_se.configure(K=3, horizon=10, beta=0.5)
    assert run_plain(params, script(CLEAR), [5]).pulls.tolist() == [2, 2, 1]
    assert run_plain(params, script(CLEAR), [497 * 3 + 2 * 100 + 1]).pulls.tolist() == [598, 597, 497]
    # Arm 0 is eliminated, so the sweeps of epoch 2 start with arm 1.
    assert run_plain(params, script(CLEAR[::-1]), [497 * 3 + 3]).pulls.tolist() == [497, 499, 498]


def test_an_epoch_forgets_the_rewards_before_it():
    # Arm 1 leads by 0.1 in epoch 1 and trails by 0.08 in epoch 2; over both epochs it would trail by 0.05 and remain.
    environment = script([0.9, 1.0, 0.2], [0.9, 0.82, 0.2], turn=497)
    record = run_plain(epoch_se.configure(K=3, horizon=10, beta=0.5), environment, [20_000])
    assert record.pulls.tolist() == [20_000 - 497 * 2 - 2486, 497 + 2486, 497]


def test_the_comparison_of_line_20_is_strict_and_with_the_best():
    params = epoch_se.configure(K=3, horizon=10, beta=0.5)
    at_margin = 497 * dp_se.elimination_margin(params, 3, 1)
    for shift, left in ((-1e-6, 3), (1e-6, 2)):
        viable = np.ones(3, np.bool_)
        sums = np.array([400 - at_margin - shift, 400, 400.0])
        assert dp_se.eliminate(params, 3, 1, viable, sums, np.random.default_rng(1)) == left
        assert viable.tolist() == [left == 3, True, True]


def test_the_noise_of_line_17_is_one_draw_per_arm_of_scale_one_over_epsilon_r():
    params = dp_se.configure(K=2, horizon=10, epsilon=0.5, beta=0.1)
    for noise in (1.0, 0.5):
        rng = np.random.default_rng(5)
        draws = [rng.standard_exponential() - rng.standard_exponential() for _ in range(2)]
        lead = 651 * dp_se.elimination_margin(params, 2, 1) - noise * (draws[0] - draws[1]) / 0.5
        for shift, left in ((-1e-6, 2), (1e-6, 1)):
            sums = np.array([300 + lead + shift, 300])
            rng = np.random.default_rng(5)
            assert dp_se.eliminate(params._replace(noise=noise), 2, 1, np.ones(2, np.bool_), sums, rng) == left


@pytest.mark.parametrize("means", [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0]])
@pytest.mark.parametrize("policy", [dp_se, epoch_se, successive_elimination])
def test_fast_and_plain_are_the_same_run_when_rewards_are_certain(means, policy):
    params = policy.configure(K=len(means), horizon=10, beta=0.9, **({"epsilon": 1e9} if policy is dp_se else {}))
    environment, horizon = Environment(pull, np.array(means)), 401 if policy is successive_elimination else 7001
    plain, fast = (run(policy, params, environment, np.arange(1, horizon + 1), fast) for fast in (False, True))
    assert fast.regret.tolist() == plain.regret.tolist()
    assert fast.pulls.tolist() == plain.pulls.tolist()
    assert fast.reward_sums.tolist() == plain.reward_sums.tolist()


def test_checkpoints_do_not_change_a_fast_run():
    params = dp_se.configure(K=4, horizon=10**6, epsilon=0.25)
    environment = Environment(pull, np.array([0.7, 0.6, 0.5, 0.4]))
    dense = run_fast(params, environment, np.arange(1000, 10**6 + 1, 1000))
    sparse = run_fast(params, environment, [500_000, 10**6])
    assert dense.regret[[499, 999]].tolist() == sparse.regret.tolist()
    assert (np.diff(dense.regret) >= 0).all()


def test_a_huge_horizon_and_a_tiny_epsilon_are_in_range():
    environment = Environment(pull, np.linspace(0.75, 0.25, 64))
    record = run_fast(dp_se.configure(K=64, horizon=10**12, epsilon=0.25), environment, [10**12])
    assert record.pulls.sum() == 10**12
    assert (record.reward_sums <= record.pulls).all()
    # The length of one epoch would exceed an int64.
    record = run_fast(dp_se.configure(K=64, horizon=640, epsilon=1e-30), environment, [640])
    assert record.pulls.tolist() == [10] * 64
