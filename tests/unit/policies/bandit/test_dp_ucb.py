"""Check DP-UCB: parameters, first rounds against values worked by hand, and the fast path in deterministic runs."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma

from privarms import fast_paths
from privarms.environments import bernoulli
from privarms.environments.bernoulli import Environment, pull
from privarms.mechanisms.laplace import laplace
from privarms.policies.bandit import dp_ucb, ucb1
from privarms.policies.bandit.dp_ucb import laplace_sum_quantile, private_width
from privarms.protocols.bandit import new_record

from .both import run

FAST, FAST_UCB1 = (fast_paths.find(policy, "bernoulli") for policy in (dp_ucb, ucb1))
WIDTHS = ("log2.5", "log3", "chan", "exact")
T = 50_000_000


def test_the_scale_and_the_levels_of_the_tree():
    for horizon, L, levels in ((1024, 10, 11), (1025, 11, 11), (T, 26, 26), (2, 1, 2)):
        params = dp_ucb.configure(2, horizon, 0.25, "log3")
        assert params.node_scale == L / 0.25
        assert params.levels == levels
        assert params.width.shape == (levels + 2,)


def test_the_widths_that_do_not_depend_on_the_count():
    # At T = 1024, L = 10 and ln T = 10 ln 2.
    assert private_width("log2.5", 1024, 0.5, 4, 5) == pytest.approx(
        [math.exp(2.5 * math.log(10)) * math.log(2) * 2] * 5
    )
    assert private_width("log3", 1024, 0.5, 4, 5) == pytest.approx([1000 * math.log(2) * 2] * 5)


def test_the_width_of_mishra_and_thakurta_and_natural_logarithms():
    log = math.log(1024)
    own = 3 * log**2 * math.log(3 * 1024 * log * 1024) / 0.5
    assert private_width("mishra_thakurta", 1024, 0.5, 2, 3) == pytest.approx([own] * 3)
    assert private_width("ln3", 1024, 0.5, 2, 3) == pytest.approx([log**3 / 0.5] * 3)
    assert private_width("ln2.5", 1024, 0.5, 2, 3) == pytest.approx([log**2.5 / 0.5] * 3)
    # Each of the K trees has 1/K of the budget.
    assert dp_ucb.configure(3, 1024, 0.5, "mishra_thakurta").node_scale == 3 * 10 / 0.5


def test_the_width_of_the_printed_counter_is_that_of_all_its_nodes():
    params = dp_ucb.configure(2, 1000, 0.25, "exact", counter="path")
    assert params.path
    assert params.levels == 10
    assert params.width == pytest.approx([laplace_sum_quantile(10, 1 / 2000) * 40] * 12)


def test_the_printed_counter_is_the_same_round_by_round_and_fast():
    environment, checkpoints = bernoulli.configure(3, 0.75, 0.25), np.array([1, 3, 10, 700, 20_000])
    params = dp_ucb.configure(3, 20_000, 2.0, "exact", counter="path")
    plain, fast = (run(dp_ucb, params, environment, checkpoints, fast, seed=7) for fast in (False, True))
    assert (plain.pulls == fast.pulls).all()
    assert plain.pulls.min() > 1
    assert plain.regret == pytest.approx(fast.regret)
    assert (plain.reward_sums == fast.reward_sums).all()


def test_the_width_of_chan():
    # T = 8: L = 3 and ln 16 = 2.77..., between two nodes and three.
    width = private_width("chan", 8, 1.0, 4, 5)
    assert width[:3] == pytest.approx([3 * math.log(16) * math.sqrt(8)] * 3)
    assert width[3:] == pytest.approx([3 * math.sqrt(8 * k * math.log(16)) for k in (3, 4)])


def test_the_exact_width_of_one_node_and_of_two():
    # P(|X| > x) is exp(-x), and exp(-x) (2 + x) / 2 for two nodes: two-sided, as the width of Chan et al.
    width = private_width("exact", T, 0.25, 2, 5) * 0.25 / 26
    assert width[0] == 0
    assert width[1] == pytest.approx(math.log(T), rel=1e-12)
    assert math.exp(-width[2]) * (2 + width[2]) / 2 * T == pytest.approx(1, rel=1e-10)


def test_less_noise_is_less_noise_and_no_other_width():
    whole, half = (dp_ucb.configure(2, 1024, 0.25, "exact", noise=noise) for noise in (1.0, 0.5))
    assert (whole.node_scale, half.node_scale) == (40, 20)
    assert (whole.width == half.width).all()
    assert (whole.width == dp_ucb.configure(2, 1024, 0.25, "exact").width).all()


@pytest.mark.parametrize("tail", [0.2, 1e-3, 1 / T, 1e-9])
@pytest.mark.parametrize("count", [1, 2, 3, 10, 27, 31])
def test_the_quantile_by_quadrature(count, tail):
    x = laplace_sum_quantile(count, tail)
    law = gamma(count)
    pieces = pairwise(np.linspace(0, 4 * count + 60, 25))
    parts = [quad(lambda y: law.pdf(y) * law.sf(x + y), a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pieces]
    # The tail falls like exp(-x) at most: its relative error is the absolute one of x.
    assert sum(parts) / tail == pytest.approx(1, rel=1e-9)


def test_the_median_is_zero():
    assert laplace_sum_quantile(5, 0.5) == 0
    assert laplace_sum_quantile(0, 0.1) == 0


def by_hand(t, pulls, reward_sums, noises, width):
    params = dp_ucb.Params(len(pulls), 4, 1.0, np.asarray(width, float))
    state = dp_ucb.init(params)
    state.pulls[:], state.reward_sums[:], state.noises[:] = pulls, reward_sums, noises
    return dp_ucb.choose(params, state, np.empty(0), t, np.random.default_rng(0))


def test_the_first_rounds_by_hand():
    flat = np.full(6, 3.0)
    assert [by_hand(t, [0, 0, 0], [0] * 3, [0] * 3, flat) for t in (1, 2, 3)] == [0, 1, 2]
    # One pull per arm: 1 - 4 + 3, 0 + 2 + 3 and 1 + 0 + 3, with equal radii.
    assert by_hand(4, [1, 1, 1], [1, 0, 1], [-4, 2, 0], flat) == 1
    # (2 - 1 + 3) / 2 + sqrt(ln 5) = 3.27 against (0 - 1 + 3) + sqrt(2 ln 5) = 3.79, and 3.19 with noise -1.6.
    assert by_hand(5, [2, 1], [2, 0], [-1, -1], flat) == 1
    assert by_hand(5, [2, 1], [2, 0], [-1, -1.6], flat) == 0
    # (4 - 1 + 3) / 4 + sqrt(ln 5 / 2) = 2.40 against (0 - 2.3 + 3) + sqrt(2 ln 5) = 2.49.
    assert by_hand(5, [4, 1], [4, 0], [-1, -2.3], flat) == 1
    # Ties go to the lowest arm.
    assert by_hand(3, [1, 1], [1, 1], [0, 0], flat) == 0


def test_the_width_goes_by_the_bits_of_the_count():
    # 3 = 11b has two nodes, 4 = 100b one: (0 + 9) / 3 + sqrt(2 ln 8 / 3) = 4.18 against (0 + 3) / 4 + 1.02.
    assert by_hand(8, [4, 3], [0, 0], [0, 0], [0, 3, 9, 0, 0, 0]) == 1
    assert by_hand(8, [4, 3], [0, 0], [0, 0], [0, 9, 3, 0, 0, 0]) == 0


def test_learning_adds_the_reward_and_a_node():
    params = dp_ucb.configure(2, 100, 0.5, "log3")
    state, rng, same = dp_ucb.init(params), np.random.default_rng(1), np.random.default_rng(1)
    draws = []
    for t, reward in enumerate((1.0, 0.0, 1.0), start=1):
        state = dp_ucb.learn(params, state, np.empty(0), 1, reward, t, rng)
        draws.append(laplace(7 / 0.5, same))
    assert list(state.pulls) == [0, 3]
    assert list(state.reward_sums) == [0, 2]
    # 3 = 2 + 1: the second node covers the first.
    assert state.noises == pytest.approx([0, draws[1] + draws[2]])


# Indices are never equal, because both would then draw.
@pytest.mark.parametrize("means", [[1.0, 0.0], [0.0, 1.0]])
@pytest.mark.parametrize("width", ["none", *WIDTHS])
def test_without_noise_and_chance_the_fast_path_is_the_plain_one(means, width):
    horizon, environment = 5000, Environment(pull, np.array(means))
    checkpoints = np.array([1, 2, 3, 7, 64, 65, 500, 4096, 4999, 5000])
    params = dp_ucb.configure(len(means), horizon, 0.7, "log3" if width == "none" else width)
    params = params._replace(node_scale=0.0, width=params.width * (width != "none"))
    plain, fast = (run(dp_ucb, params, environment, checkpoints, fast) for fast in (False, True))
    for a, b in zip(plain, fast, strict=True):
        assert list(a) == list(b)
    if width == "none":
        params = ucb1.configure(len(means))
        plain, fast = (run(ucb1, params, environment, checkpoints, fast) for fast in (False, True))
        assert list(plain.pulls) == list(fast.pulls)
        assert list(plain.regret) == list(fast.regret)


@pytest.mark.parametrize("T", [2, 3, 4, 5, 8, 9, 63, 64, 65, 1000, 1 << 16])
def test_a_fast_run_of_any_length_adds_up(T):
    for K in (2, 3, 20):
        environment, checkpoints = bernoulli.configure(K, 0.75, 0.25), np.unique([1, 2, T // 3 + 1, T])
        for epsilon in (1e-4, 1.0, 1e6):
            for simulate, params in (
                *((FAST, dp_ucb.configure(K, max(T, K), epsilon, width)) for width in WIDTHS),
                (FAST_UCB1, ucb1.configure(K)),
            ):
                record = new_record(len(checkpoints), K)
                record.regret[:] = np.nan
                simulate(params, environment, checkpoints, np.random.default_rng(T), record)
                assert record.pulls.sum() == T
                assert (record.pulls[: min(T, K)] >= 1).all()
                assert (record.reward_sums <= record.pulls).all()
                assert record.regret[-1] == pytest.approx(record.pulls @ (0.75 - environment.means), abs=1e-6)
                assert (np.diff(record.regret) >= 0).all()


def test_the_regret_inside_a_block_is_that_of_a_run_cut_there():
    # With the same stream, draws and decisions are the same up to the last checkpoint.
    environment, params = bernoulli.configure(3, 0.75, 0.25), dp_ucb.configure(3, 100_000, 1.0, "exact")
    every = np.unique(np.geomspace(1, 100_000, 60).astype(np.int64))
    whole, last = new_record(len(every), 3), new_record(1, 3)
    FAST(params, environment, every, np.random.default_rng(3), whole)
    FAST(params, environment, every[-1:], np.random.default_rng(3), last)
    assert whole.regret[-1] == last.regret[0]
    for i in range(0, len(every), 7):
        last = new_record(1, 3)
        FAST(params, environment, every[i : i + 1], np.random.default_rng(3), last)
        assert last.regret[0] == pytest.approx(whole.regret[i], abs=1e-9)
