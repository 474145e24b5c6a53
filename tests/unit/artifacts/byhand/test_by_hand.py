"""What is worked out by hand is held against cases that can be done on paper; each measure can come out wrong."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from privarms.artifacts.byhand import _second, inference
from privarms.artifacts.byhand._examples import Example
from privarms.artifacts.byhand._expected import _beyond, every_history, first_epoch, without_chance
from privarms.artifacts.byhand._indices import RULES, kl_above, laplace_quantile, next_count
from privarms.artifacts.byhand._pieces import EXAMPLES
from privarms.artifacts.byhand.claims import MEASURES
from privarms.artifacts.byhand.inference import INFERENCE

ROOT = Path(__file__).parents[4]


class Table:
    """Results with one inference table."""

    def __init__(self, **rows):
        self.table = pd.DataFrame(rows)

    def inference(self, name):
        return self.table


def test_counts_of_batches():
    assert counts("adap_ucb", 8, {}) == [0, 1, 2, 4, 8]
    # ceil of 1.3, 1.69, 2.197, 2.8561, 3.71, 4.83, 6.27, 8.16, 10.6
    assert counts("dp_imed", 10, {"ratio": 1.3}) == [0, 2, 3, 4, 5, 7, 9, 11]


def counts(policy, most, cell):
    found = [0]
    while found[-1] < most:
        found.append(next_count(policy, found[-1], cell))
    return found


def test_quantiles_of_laplace_sums():
    assert laplace_quantile(1, 1e-4) == pytest.approx(-math.log(2e-4), rel=1e-9)
    # Two: P(X > x) = (1 + x / 2) e^-x / 2.
    x = laplace_quantile(2, 1e-3)
    assert (1 + x / 2) * math.exp(-x) / 2 == pytest.approx(1e-3, rel=1e-8)


def test_an_index_at_one():
    assert kl_above(np.array(1.0), np.array(0.1)) == 1
    assert kl_above(np.array(0.999), np.array(3.0)) == 1
    assert kl_above(np.array(0.0), np.array(0.1)) == pytest.approx(1 - math.exp(-0.1))


def test_the_first_rounds_of_ucb1():
    # After a pull each, arm 0 leads by 1. Round 5: 1 + sqrt(2 ln 5 / 3) = 2.036 against sqrt(2 ln 5) = 1.794; and so on
    # until n rounds make sqrt(2 ln t) the larger: first at t = 14, 2.297 against 1 + sqrt(2 ln 14 / 12) = 1.663.
    first = next(t for t in range(3, 99) if math.sqrt(2 * math.log(t)) > 1 + math.sqrt(2 * math.log(t) / (t - 2)))
    before, after = (without_chance("ucb1", np.array([1.0, 0.0]), {"horizon": t, "K": 2}) for t in (first - 1, first))
    assert list(before) == [first - 2, 1]
    assert list(after) == [first - 2, 2]


def test_successive_elimination_leaves_once():
    means = np.array([1.0, 0.0])
    long = without_chance("successive_elimination", means, {"horizon": 10_000})
    s = int(long[1])
    width = [2 * math.sqrt(math.log(5 * 2 * n**2 * 10_000) / n) for n in (s - 1, s)]
    assert width[0] > 1 >= width[1]
    assert list(without_chance("successive_elimination", means, {"horizon": 11})) == [6, 5]


def test_every_history_of_three_rounds():
    # Round 3 goes to arm 0 unless arm 1 alone paid: 1 - .4 * .7 = .72 (ties go to arm 0).
    pulls = every_history("ucb1", np.array([0.6, 0.7]), {"horizon": 3, "K": 2})
    assert pulls == pytest.approx([1.72, 1.28])
    assert every_history("uniform", np.array([0.6, 0.7]), {"horizon": 3}) == pytest.approx([1.5, 1.5])


def test_the_difference_of_two_laplace_draws():
    rng = np.random.default_rng(5)
    x = np.array([-1.0, 0.0, 0.5, 2.0])
    difference = rng.laplace(0, 2, 1_000_000) - rng.laplace(0, 2, 1_000_000)
    shares = (difference[:, None] > x).mean(axis=0)
    assert _beyond(x, 2.0) == pytest.approx(shares, abs=4.5 * 0.5e-3)
    assert list(_beyond(x, 0)) == [1, 0, 0, 0]


def test_far_gaps_leave_in_the_first_epoch_and_small_ones_in_the_second():
    cell = {"horizon": 1_000_000, "K": 2, "epsilon": 1.0}
    first, second = (math.ceil(32 * math.log(16 * e**2 * 1e6) * 4**e + 1) for e in (1, 2))
    assert first_epoch("dp_se", np.array([0.9, 0.1]), cell)[1] == pytest.approx(first)
    assert first_epoch("dp_se", np.array([0.52, 0.5]), cell)[1] == pytest.approx(first + second)


def test_the_second_implementation_counts_by_a_tree():
    """A count n has as many nodes as n has ones, and consecutive counts share those that they keep."""
    everyone, zero = np.arange(40_000), np.zeros(40_000, int)
    nodes = np.zeros((40_000, 1, 4))
    rng = np.random.default_rng(3)
    noises = [_second._count_by_tree(nodes, everyone, zero, zero + n, 1.0, rng) for n in range(1, 8)]
    ones = np.array([1, 1, 2, 1, 2, 2, 3])
    # Of a variable of variance 2 a node, and kurtosis 3 a node at most: se below 2 k sqrt(5 / runs).
    assert np.var(noises, axis=1) == pytest.approx(2 * ones, abs=4.5 * 6 * math.sqrt(5 / 40_000))
    kept = np.cov(noises[5], noises[6])[0, 1]
    assert kept == pytest.approx(4, abs=4.5 * 6 * math.sqrt(5 / 40_000))


def test_the_second_implementation_without_noise_is_every_history(monkeypatch):
    monkeypatch.setattr(_second, "RUNS", 20_000)
    means, cell = np.array([0.9, 0.1]), {"horizon": 16, "K": 2, "epsilon": 1e9}
    pulls, errors = _second.with_noise("private_ucb_noise_only", means, cell)
    assert every_history("ucb", means, cell) == pytest.approx(pulls, abs=4.5 * errors.max())


def test_all_rules_choose_the_better_of_two_equal_counts():
    cell = {"K": 2, "horizon": 100, "epsilon": 1.0, "width": "chan", "delta": 0.9, "ratio": 2.0}
    n, s = np.array([[40.0, 40.0]]), np.array([[10.0, 30.0]])
    chosen = {policy: int(rule(n, s, 81, cell)[0]) for policy, rule in RULES.items()}
    assert set(chosen.values()) == {1}, chosen


def test_pulls_off_is_the_largest_difference_or_spread():
    rows = {"study": "without_chance", "policy": "ucb1", "width": None, "horizon": 10, "arm": [0, 1]}
    exact = Table(**rows, pulls=[7.0, 3.0], expected=[7.0, 3.0], spread=0.0)
    assert MEASURES["pulls_off"](exact, "ucb1").value == 0
    other = Table(**rows, pulls=[8.0, 2.0], expected=[7.0, 3.0], spread=0.0)
    assert MEASURES["pulls_off"](other, "ucb1").value == 1
    spread = Table(**rows, pulls=[7.0, 3.0], expected=[7.0, 3.0], spread=[2.0, 2.0])
    assert MEASURES["pulls_off"](spread, "ucb1").value == 2


def test_share_off_holds_all_arms_together():
    rows = {"study": "with_noise", "policy": "dp_ucb", "variant": None, "horizon": 10, "replicates": 10_000}
    rows |= {"arm": [0, 1], "pulls_se": 0.003, "expected_se": 0.004, "pulls": [7.1, 2.9], "expected": [7.0, 3.0]}
    found = MEASURES["share_off"](Table(**rows), "with_noise", "dp_ucb")
    # A standard error of .005 over ten rounds, 3.48 of which hold two intervals at once.
    assert (found.value, found.low, found.high) == pytest.approx((0.01, 0.01 - 0.00174, 0.01 + 0.00174), abs=2e-5)
    found = MEASURES["relative_off"](Table(**rows), "with_noise", "dp_ucb")
    assert (found.value, found.high) == pytest.approx((0.1 / 3, (0.1 + 3.29 * 0.005) / 3), abs=2e-5)
    equal = MEASURES["share_off"](Table(**(rows | {"pulls": [7.0, 3.0]})), "with_noise", "dp_ucb")
    assert (equal.value, equal.low) == (0, 0)


def test_a_worked_example_that_is_off_is_seen():
    rows = {"module": ["bias", "bias", "atoms"], "function": ["a", "b", "c"], "off": [1e-12, 0.5, np.nan]}
    assert MEASURES["example_off"](Table(**rows), "bias").value == 0.5
    assert MEASURES["example_off"](Table(**rows), "atoms").value == np.inf


def test_another_number_of_numbers_is_none_of_them(monkeypatch):
    one_less = {"atoms": lambda: iter([Example("atoms", [2, 1], [2, 1, 1], "counted")])}
    monkeypatch.setattr(inference, "EXAMPLES", one_less)
    worked = INFERENCE["examples"](None)
    assert worked["off"].isna().all()
    assert list(worked["expected"]) == [2, 1, 1]


def test_every_module_of_examples_has_some():
    worked = INFERENCE["examples"](None)
    assert set(worked["module"]) == {*EXAMPLES}
    assert np.isfinite(worked[["found", "expected"]]).all(axis=None)
    assert list(worked.loc[worked["expected"] == 0, "off"]) == list(worked.loc[worked["expected"] == 0, "found"].abs())


def test_every_module_of_examples_has_a_claim():
    entries = yaml.safe_load((ROOT / "config/claims/byhand.yaml").read_text(encoding="utf-8"))["claims"]
    (named,) = (entry["each"]["module"] for entry in entries if entry["claim"] == "worked_examples_{module}")
    assert sorted(named) == sorted(EXAMPLES)


@pytest.mark.parametrize(
    ("policy", "cell"),
    [
        ("private_ucb_noise_only", {"horizon": 16, "epsilon": 4, "variant": "as_printed"}),
        ("private_ucb_noise_only", {"horizon": 16, "epsilon": 4, "variant": "as_released"}),
        ("dp_imed", {"horizon": 64, "epsilon": 1, "ratio": 2.0}),
        ("dp_klucb", {"horizon": 64, "epsilon": 1, "ratio": 2.0}),
    ],
)
def test_half_of_the_noise_leaves_what_is_allowed(monkeypatch, policy, cell):
    monkeypatch.setattr(_second, "RUNS", 40_000)
    means = np.array([0.9, 0.1])
    (whole, error), (half, _) = (_second.with_noise(policy, means, cell | {"K": 2}, noise) for noise in (1.0, 0.5))
    assert abs(whole[1] - half[1]) / cell["horizon"] > 0.01 + 4 * 2**0.5 * error[1] / cell["horizon"]
