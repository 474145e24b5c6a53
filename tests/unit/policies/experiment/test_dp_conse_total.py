"""Check DP-ConSE with epsilon for the whole experiment: lengths and scales worked by hand, and random streams."""

import numpy as np
import pytest
from scipy.stats import binom

from privarms.mechanisms import lap_plus
from privarms.mechanisms.laplace import laplace
from privarms.policies.experiment import dp_conse, dp_conse_total

rng = np.random.default_rng


def test_the_budget_of_an_experiment_is_shared_out():
    # One patient of the first half, then one of the second: two releases each, and the part shared by all trials.
    assert 2 * dp_conse_total.BATCH_LENGTH + 2 * dp_conse_total.MEAN + dp_conse_total.SHARED_LENGTH == 1
    assert 2 * dp_conse_total.OWN_LENGTH + 2 * dp_conse_total.ESTIMATE == 1


def test_the_trial_with_a_budget_for_the_experiment_by_hand():
    # ln 8000 = 8.987197.
    params = dp_conse_total.configure(M=2, horizon=1000, alpha=0.5, epsilon=0.8)
    assert dp_conse_total.T_min(params.design, np.array([400, 100])) == pytest.approx(16 * 8.987197 / 0.8, rel=1e-6)
    assert dp_conse_total.T_min(params.design._replace(alpha=0.0), np.array([400, 300])) == 300
    # e^(-.4 |k|) is e^(-epsilon |k| / 2) with .8, e^(-.2 |k|) with .4; lengths below 1 and 0 are cut off.
    planned = [dp_conse_total.planned_length(params, 30.7, rng(i)) for i in range(200)]
    assert planned == [max(1, 30 + lap_plus.two_sided(0.8, rng(i))) for i in range(200)]
    lengths = [dp_conse_total.trial_length(params, 3, rng(i)) for i in range(200)]
    assert lengths == [max(0, 3 + lap_plus.two_sided(0.4, rng(i))) for i in range(200)]
    assert min(lengths) == 0
    # At least 200 - 8.987197 / .2 = 155.064 patients, of whom an arm has 77.532 - sqrt(155.064 * 8.987197 / 2).
    scale = 1 / (0.2 * (77.532 - 26.397))
    assert dp_conse_total.estimate_scale(params, 200, 3) == pytest.approx(scale, rel=1e-4)
    # At least one patient per arm.
    assert dp_conse_total.estimate_scale(params, 20, 3) == pytest.approx(5)
    state = dp_conse_total.init(params)
    state.trial.lengths[0], state.trial.floor_T_min[0] = 3, 200
    for t, (arm, reward) in enumerate([(0, 0.5), (1, 1.0), (1, 0.5)], 501):
        state = dp_conse_total.learn(params, state, 0, arm, reward, t, rng(5))
    assert state.trial.estimates[0] == pytest.approx(0.25 + laplace(scale, rng(5)), rel=1e-4)


def test_the_batches_with_a_budget_for_the_experiment_by_hand():
    params = dp_conse_total.configure(M=2, horizon=1000, alpha=0.5, epsilon=0.8)
    # R_1 with epsilon / 8 = .1: 16 * 8.987197 / .1 + 1 = 1438.95, above 128 ln 16,000 + 1 = 1240.1.
    length = dp_conse_total.epoch_length(params, 1)
    assert length == pytest.approx(1438.9515, rel=1e-6)
    # 1438.95 - 8.987197 / .1 = 1349.08 patients at least: 674.54 - sqrt(1349.08 * 8.987197 / 2) = 596.68 per arm.
    scale = 1 / (0.1 * 596.68)
    assert dp_conse_total.mean_scale(params, 1) == pytest.approx(scale, rel=1e-4)
    assert dp_conse_total.privacy_radius(params, 1) == pytest.approx(8.987197 * scale, rel=1e-4)
    h = np.sqrt(np.log(16_000) / (2 * length))
    assert dp_conse_total.elimination_margin(params, 1) == pytest.approx(2 * h + 2 * 8.987197 * scale, rel=1e-4)
    # e^(-.1 |k|)
    assert dp_conse_total.draw_length(params, 1, rng(3)) == float(lap_plus.lap_plus(1438, 0.2, rng(3)))
    assert dp_conse.released_mean(scale, 4, 3.0, rng(3)) == pytest.approx(0.75 + laplace(scale, rng(3)))


@pytest.mark.parametrize("patients", [1, 40, 1000, 20_000])
def test_an_arm_has_fewer_than_for_certain_once_in_eight_n(patients):
    n = 1000
    count = dp_conse_total.certain_count(n, float(patients))
    assert count >= 1
    # A mean of no rewards changes at most as with a count of 1.
    assert count == 1 or binom.cdf(np.ceil(count) - 1, patients, 0.5) <= 1 / (8 * n)
