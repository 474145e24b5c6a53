"""Check DP-NAS and DP exponential NAS (Sajed & Sheffet 2019, Algorithms 1 and 2) and their protocol."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms import fast_paths
from privarms.environments import two_point
from privarms.errors import PrivarmsError
from privarms.fast_paths.stopping.dp_nas__two_point import deficit
from privarms.policies import functions
from privarms.policies.stopping import Rule, dp_exponential_nas, dp_nas
from privarms.protocols import stopping

RULES = [dp_nas, dp_exponential_nas]


class Constant(NamedTuple):
    """Return an environment in which every sample is `value`."""

    pull: object
    means: np.ndarray
    R: float


@njit
def pull_mean(environment, arm, rng):
    return environment.means[0]


def constant(value):
    return Constant(pull_mean, np.array([value]), abs(value))


def test_the_scales_of_line_1():
    for rule in RULES:
        params = rule.configure(epsilon=0.5, alpha=0.25, beta=0.1, R=2)
        assert (params.sigma_1, params.sigma_2, params.sigma_3) == (48, 48, 16)
    half = dp_nas.configure(epsilon=0.5, alpha=0.25, beta=0.1, R=2, noise=0.5)
    assert (half.sigma_1, half.sigma_2, half.sigma_3) == (24, 24, 8)


def test_h_and_c_follow_lines_8_and_9():
    params = dp_nas.configure(epsilon=0.5, alpha=0.5, beta=0.1, R=2)
    # By hand: 2 sqrt(2/3 ln(16 * 9 / 0.1)) and 48 ln 40 + 48 ln(8 * 9 / 0.1) + 16 / 0.5 ln 40.
    assert dp_nas.confidence_radius(params, 3, 3) == pytest.approx(4.403755485964, rel=1e-12)
    assert dp_nas.noise_margin(params, 3) == pytest.approx(610.914414505520, rel=1e-12)
    # The 3rd query of Algorithm 2 is at t = 8.
    assert dp_nas.confidence_radius(params, 3, 8) == pytest.approx(4.403755485964 * np.sqrt(3 / 8), rel=1e-12)


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_without_noise_to_speak_of_a_rule_stops_when_the_mean_exceeds_its_margin(value):
    # epsilon = 1e9: line 10 is |mean| = 1 >= 3 sqrt(2/t ln(16 n^2 / 0.5)), n = t or log2 t.
    def stops(n, t):
        return 3 * np.sqrt(2 / t * np.log(32 * n**2)) <= 1

    asked = {dp_nas: [(t, t) for t in range(1, 2000)], dp_exponential_nas: [(k, 2**k) for k in range(1, 12)]}
    for rule in RULES:
        params = rule.configure(epsilon=1e9, alpha=0.5, beta=0.5)
        expected = next(t for n, t in asked[rule] if stops(n, t))
        arguments = params, two_point.configure(value)
        for t, estimate in (
            stopping.play(functions(Rule, rule), *arguments, np.random.default_rng(1)),
            fast_paths.find(rule, "two_point")(*arguments, np.random.default_rng(1)),
        ):
            assert t == expected
            assert estimate == pytest.approx(value, abs=1e-6)


def test_a_run_draws_in_the_order_of_the_algorithm():
    """Run Algorithms 1 and 2 with a generator of the same seed and constant samples."""

    def noise(rng, scale):
        return scale * (rng.standard_exponential() - rng.standard_exponential())

    for rule in RULES:
        for seed in range(60):
            params = rule.configure(epsilon=0.3, alpha=0.6, beta=0.2, R=1.5)
            rng = np.random.default_rng(seed)
            B = noise(rng, 12 * 1.5 / 0.3)
            n = 0
            while True:
                n += 1
                t = n if rule is dp_nas else 2**n
                A = noise(rng, 12 * 1.5 / 0.3)
                h = 1.5 * np.sqrt(2 / t * np.log(16 * n**2 / 0.2))
                c = 60 * np.log(20) + 60 * np.log(8 * n**2 / 0.2) + 20 / 0.6 * np.log(20)
                if h * (1 + 1 / 0.6) + (c + B + A) / t <= 1.2:
                    break
            L = noise(rng, 4 * 1.5 / 0.3)
            stopped, estimate = stopping.play(functions(Rule, rule), params, constant(1.2), np.random.default_rng(seed))
            assert stopped == t
            assert estimate == pytest.approx(1.2 + L / t, rel=1e-9)


def test_the_deficit_falls_by_at_most_r_a_sample():
    params = dp_nas.configure(epsilon=3, alpha=0.7, beta=0.9, R=1)
    rng = np.random.default_rng(3)
    for mu in (0.05, 0.9, -1.0):
        total = np.cumsum(np.where(rng.random(5000) < 0.5 + mu / 2, 1.0, -1.0))
        D = np.array([deficit(params, t, t, total[t - 1], 0.3) for t in range(1, 5001)])
        assert np.diff(D).min() >= -1
    # Before the first sample the sum is 0: the distance to the threshold at t = 1.
    assert D[0] >= deficit(params, 1, 1, 0.0, 0.3) - 1


def test_a_rule_that_cannot_stop_gives_up():
    rng = np.random.default_rng(1)
    params = dp_exponential_nas.configure(epsilon=1, alpha=0.5, beta=0.05)
    t, estimate = fast_paths.find(dp_exponential_nas, "two_point")(params, two_point.configure(1e-13), rng)
    assert t == 2**62
    assert np.isnan(estimate)
    # A run without an estimate is a failure.
    assert run_block(dp_exponential_nas, two_point.configure(1e-13), params=params)["failure"].all()


def run_block(rule, environment, replicates=4, params=None, name="two_point"):
    params = params or rule.configure(epsilon=1, alpha=0.5, beta=0.05)
    cell = SimpleNamespace(paper="some2020", study="s", environment=name, policy="rule")
    return stopping.run_block(rule, params, environment, cell, replicates, None, np.random.default_rng(4))


def test_a_block_has_a_row_per_replicate():
    for rule in RULES:
        columns = run_block(rule, two_point.configure(-0.5), 50)
        assert list(columns) == ["replicate", "stopping_time", "estimate", "relative_error", "failure"]
        assert columns["replicate"].tolist() == list(range(50))
        assert columns["relative_error"] == pytest.approx(np.abs(columns["estimate"] + 0.5) / 0.5)
        assert (columns["failure"] == (columns["relative_error"] >= 0.5)).all()
        assert columns["stopping_time"].min() > 0


def test_samples_beyond_the_range_of_the_rule_are_refused():
    params = dp_nas.configure(epsilon=1, alpha=0.5, beta=0.05, R=1)
    with pytest.raises(PrivarmsError, match=r"has R = 2\.0, but the policy .* has 1\.0"):
        run_block(dp_nas, two_point.configure(0.5, R=2), params=params)
