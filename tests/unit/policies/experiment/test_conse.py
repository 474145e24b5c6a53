"""ConSE and DP-ConSE (Li, Shi & Simchi-Levi 2024): arrivals, the two eliminations, the trial, protocols, the audit."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from privarms.environments import _patients, features_bernoulli, features_normal
from privarms.errors import PrivarmsError
from privarms.mechanisms import lap_plus
from privarms.mechanisms.laplace import laplace
from privarms.policies.experiment import BOTH, conse_exp3e, conse_se, dp_conse
from privarms.policies.experiment import _trial as trial
from privarms.protocols import experiment

POLICIES = {"conse_se": (conse_se, {}), "conse_exp3e": (conse_exp3e, {}), "dp_conse": (dp_conse, {"epsilon": 0.5})}


def rng(seed=1):
    return np.random.default_rng(seed)


def run(name, params, environment, replicates, kind="features_bernoulli", seed=1):
    """The records of the fast path."""
    cell = SimpleNamespace(paper="some2020", study="runs", policy=name, environment=kind)
    return experiment.run(POLICIES[name][0], params, environment, cell, replicates, rng(seed))


# --- arrivals ---------------------------------------------------------------------------------------------------------


def test_stationary_features_come_equally_often():
    environment = features_bernoulli.configure(M=4, horizon=101)
    assert environment.ends.tolist() == [50, 101]
    assert environment.probabilities == pytest.approx(np.full((2, 4), 0.25))
    assert environment.shares == pytest.approx(np.array([[1 / 4, 1 / 3, 1 / 2, 1]] * 2))


def test_the_seasons_swap_the_frequent_features():
    environment = features_bernoulli.configure(M=3, horizon=601, arrivals="seasonal", amplitude=0.5)
    assert environment.ends.tolist() == [200, 300, 500, 601]
    summer, winter = [1 / 2, 1 / 6, 1 / 3], [1 / 6, 1 / 2, 1 / 3]
    assert environment.probabilities == pytest.approx(np.array([summer, winter, winter, summer]))


def expected_counts(environment):
    """f_j(n / 2) and f_j(n), by the rounds' probabilities."""
    lengths = np.diff(np.concatenate([[0], environment.ends]))
    whole = lengths[:, None] * environment.probabilities
    return whole[environment.ends <= environment.ends[-1] // 2].sum(axis=0), whole.sum(axis=0)


@pytest.mark.parametrize("M", [2, 5, 10])
def test_the_seasons_meet_assumption_1_1_and_are_no_stationary_experiment(M):
    half, whole = expected_counts(features_bernoulli.configure(M, 60_000, arrivals="seasonal"))
    expected = np.array([2 / (1 + 0.8 / 3), 2 / (1 - 0.8 / 3)] * M)[:M]
    if M % 2 == 1:
        expected[-1] = 2
    assert whole / half == pytest.approx(expected, rel=1e-3)
    assert half.min() == pytest.approx((whole - half).min(), rel=1e-3)


@pytest.mark.parametrize("M", [1, 2, 7])
@pytest.mark.parametrize("pattern", ["stationary", "seasonal"])
@pytest.mark.parametrize("horizon", [3, 4, 5, 1001])
def test_every_round_brings_one_patient_in_its_half(M, pattern, horizon):
    environment = features_normal.configure(M, horizon, arrivals=pattern)
    counts = np.empty(M, np.int64)
    for half, expected in ((0, horizon // 2), (1, horizon - horizon // 2)):
        _patients.count_arrivals(environment, half, rng(), counts)
        assert counts.sum() == expected
    came = [_patients.arrive(environment, t, rng(t)) for t in range(1, horizon + 1)]
    assert set(came) <= set(range(M))


def test_counts_are_those_of_the_half_s_own_seasons():
    # All of summer's patients but 1 in 20,000 have feature 0, and winter's feature 1.
    environment = features_bernoulli.configure(M=2, horizon=6000, arrivals="seasonal", amplitude=0.9999)
    counts = np.empty(2, np.int64)
    _patients.count_arrivals(environment, 0, rng(), counts)
    assert counts == pytest.approx([2000, 1000], abs=5)
    _patients.count_arrivals(environment, 1, rng(), counts)
    assert counts == pytest.approx([1000, 2000], abs=5)
    came = np.array([_patients.arrive(environment, t, rng(t)) for t in range(1, 6001)])
    assert np.bincount(came[:2000])[0] >= 1995
    assert came[2000:5000].sum() >= 2990
    assert came[5000:].sum() <= 5


@pytest.mark.parametrize("pattern", ["stationary", "seasonal"])
def test_the_rarest_feature_has_its_probability_in_every_season(pattern):
    environment = features_bernoulli.configure(M=3, horizon=3000, arrivals=pattern, rarest=0.01)
    assert environment.probabilities[:, 2] == pytest.approx(0.01)
    assert environment.probabilities.sum(axis=1) == pytest.approx(1)
    never = features_bernoulli.configure(M=3, horizon=3000, arrivals=pattern, rarest=0.0)
    counts = np.empty(3, np.int64)
    _patients.count_arrivals(never, 0, rng(), counts)
    assert counts[2] == 0
    assert counts.sum() == 1500
    assert 2 not in [_patients.arrive(never, t, rng(t)) for t in range(1, 3001)]


def test_gaps_are_equally_spaced_and_one_feature_has_the_middle():
    environment = features_bernoulli.configure(M=3, horizon=10)
    assert environment.means == pytest.approx(np.array([[0.3, 0.6], [0.3, 0.7], [0.3, 0.8]]))
    assert environment.deviations**2 == pytest.approx(np.array([[0.21, 0.24], [0.21, 0.21], [0.21, 0.16]]))
    assert features_bernoulli.configure(M=1, horizon=10).means == pytest.approx(np.array([[0.3, 0.7]]))
    assert features_normal.configure(M=1, horizon=10, deviation=2.0).deviations.tolist() == [[2, 2]]


# --- elimination ------------------------------------------------------------------------------------------------------


def test_the_sequences_by_hand():
    # n = 20,000: ln(16 n) = 12.676076, ln(64 n) = 14.062371, ln(8 n) = 11.982929.
    params = conse_se.configure(M=10, horizon=20_000, alpha=0.3)
    assert dp_conse.epoch_length(params, 1) == pytest.approx(128 * 12.676076 + 1, rel=1e-7)
    assert dp_conse.epoch_length(params, 2) == pytest.approx(512 * 14.062371 + 1, rel=1e-7)
    assert dp_conse.confidence_radius(params, 1) == pytest.approx(np.sqrt(12.676076 / 2 / 1623.537728), rel=1e-7)
    assert dp_conse.privacy_radius(params, 1) == 0
    private = dp_conse.configure(M=1, horizon=20_000, alpha=0.3, epsilon=0.1)
    assert dp_conse.epoch_length(private, 1) == pytest.approx(160 * 11.982929 + 1, rel=1e-7)
    assert dp_conse.privacy_radius(private, 1) == pytest.approx(2 * 11.982929 / 191.826866, rel=1e-6)


def test_what_a_study_gives_is_what_runs():
    given = {"M": 3, "horizon": 1000, "alpha": 0.4}
    public, private = (3, 1000, 0.4, np.inf, 1.0, False, False), (3, 1000, 0.4, 0.2, 1.5, False, True)
    assert tuple(conse_se.configure(**given).design) == public
    assert tuple(dp_conse.configure(**given, epsilon=0.2, noise=1.5, budget="total").design) == private
    assert tuple(conse_exp3e.configure(**given).design) == (*public[:-2], True, False)
    # With 100 patients of the rarest feature a trial has 100^0.6 = 15.8.
    assert trial.T_min(conse_se.configure(**given).design, np.array([400, 100])) == pytest.approx(15.848932)


def test_the_readings_of_the_two_radii():
    given = {"M": 1, "horizon": 5000, "alpha": 0.5, "epsilon": 0.2}
    printed = dp_conse.configure(**given)
    per_arm = dp_conse.configure(**given, confidence="per_arm")
    proof = dp_conse.configure(**given, width="proof")
    h, c = dp_conse.confidence_radius(printed, 3), dp_conse.privacy_radius(printed, 3)
    assert dp_conse.confidence_radius(per_arm, 3) == pytest.approx(np.sqrt(2) * h)
    assert dp_conse.privacy_radius(proof, 3) == pytest.approx(c / 2)
    assert dp_conse.elimination_margin(printed, 3) == pytest.approx(2 * h + 2 * c)
    # Lemma 3.1's proof: h_e < Delta_e / 8, and c_e < Delta_e / 8 with the proof's own c_e.
    for e in (1, 2, 5):
        assert dp_conse.confidence_radius(printed, e) < 2.0**-e / 8
        assert dp_conse.privacy_radius(proof, e) < 2.0**-e / 8


def drive(params, rewards, arms, feature=0, start=1):
    """The state after patients of one feature with these arms and rewards."""
    policy = conse_exp3e if isinstance(params, conse_exp3e.Params) else dp_conse
    state, generator = policy.init(params), rng()
    for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True), start):
        state = policy.learn(params, state, feature, arm, reward, t, generator)
    return state


def test_epoch_0_is_one_patient_whose_reward_is_forgotten():
    params = conse_se.configure(M=2, horizon=20_000, alpha=0.5)
    state = drive(params, [1.0], [0])
    assert state.epochs.tolist() == [1, 0]
    assert state.pulls.sum() == state.reward_sums.sum() == 0
    assert state.lengths[0] == dp_conse.epoch_length(params, 1)
    state = drive(params, [1.0, 1.0, 0.5], [0, 1, 1])
    assert state.pulls.tolist() == [[0, 2], [0, 0]]
    assert state.reward_sums.tolist() == [[0, 1.5], [0, 0]]
    assert state.counts.tolist() == [3, 0]


def test_the_worse_arm_goes_at_the_end_of_an_epoch_and_not_before():
    params = conse_se.configure(M=1, horizon=20_000, alpha=0.5)
    patients = 1 + int(np.ceil(dp_conse.epoch_length(params, 1)))
    arms = np.arange(patients) % 2
    assert drive(params, 1.0 * arms[:-1], arms[:-1]).viable.all()
    state = drive(params, 1.0 * arms, arms)
    assert state.viable.tolist() == [[False, True]]
    assert drive(params, 1.0 - arms, arms).viable.tolist() == [[True, False]]
    # Equal arms stay and the next epoch begins from zero.
    state = drive(params, np.ones(patients), arms)
    assert state.viable.all()
    assert (state.epochs[0], state.rounds[0], state.pulls.sum(), state.reward_sums.sum()) == (2, 0, 0, 0)
    assert state.lengths[0] == dp_conse.epoch_length(params, 2)


def test_the_comparison_is_strict_and_with_the_means_of_each_arm_s_own_patients():
    params = conse_se.configure(M=1, horizon=20_000, alpha=0.5)
    margin = dp_conse.elimination_margin(params, 1)
    pulls = np.array([700, 900])
    for shift, gone in ((-1e-9, -1), (1e-9, 0)):
        sums = np.array([350.0, 900 * (0.5 + margin + shift)])
        assert dp_conse.eliminated_arm(params, 1, pulls, sums, rng()) == gone
    assert dp_conse.eliminated_arm(params, 1, pulls, np.array([700.0, 0.0]), rng()) == 1
    # An arm without a patient has mean 0.
    assert dp_conse.eliminated_arm(params, 1, np.array([0, 5]), np.array([0.0, 5.0]), rng()) == 0


@pytest.mark.parametrize("noise", [1.0, 2.0])
def test_the_noise_of_a_mean_has_scale_two_over_epsilon_R(noise):
    params = dp_conse.configure(M=1, horizon=5000, alpha=0.5, epsilon=0.2, noise=noise)
    generator = rng(9)
    draws = [generator.standard_exponential() - generator.standard_exponential() for _ in range(2)]
    scale = noise * 2 / (0.2 * dp_conse.epoch_length(params, 1))
    lead = dp_conse.elimination_margin(params, 1) - scale * (draws[1] - draws[0])
    pulls = np.array([1000, 1000])
    for shift, gone in ((-1e-6, -1), (1e-6, 0)):
        sums = np.array([100.0, 100.0 + 1000 * (lead + shift)])
        assert dp_conse.eliminated_arm(params, 1, pulls, sums, rng(9)) == gone


def test_private_epochs_are_drawn_around_R_and_others_are_not():
    private = dp_conse.configure(M=1, horizon=5000, alpha=0.5, epsilon=0.2)
    drawn = [dp_conse.draw_length(private, 1, rng(i)) for i in range(50)]
    assert len(set(drawn)) > 10
    assert drawn == [float(lap_plus.lap_plus(dp_conse.epoch_length(private, 1), 0.2, rng(i))) for i in range(50)]
    plain = conse_se.configure(M=1, horizon=5000, alpha=0.5)
    assert dp_conse.draw_length(plain, 1, rng()) == dp_conse.epoch_length(plain, 1)


def test_exp3e_s_constant_is_that_of_the_paper():
    # log(2 / delta) = ln(4 n^2) = 21.193270 at n = 20,000; e^2 + 2 = 9.389056.
    expected = 4 * 9.389056**2 * 21.193270**2
    found = conse_exp3e.configure(M=1, horizon=20_000, alpha=1).C
    assert found == pytest.approx(expected, rel=1e-6)
    assert conse_exp3e.configure(M=1, horizon=20_000, alpha=1, C=3.5).C == 3.5


def test_exp3e_s_probabilities_and_sums_by_hand():
    params = conse_exp3e.configure(M=1, horizon=1000, alpha=1, C=4.0)
    assert conse_exp3e.chance_of_arm_1(4.0, 0, 0.0) == 0.5
    # After one patient with arm 1 and reward 1: the sum is 1 / 0.5 = 2, epsilon_1 = 1/2, so that the odds are e.
    state = drive(params, [1.0], [1])
    assert state.estimates.tolist() == [[0, 2]]
    chance = np.e / (1 + np.e)
    assert conse_exp3e.chance_of_arm_1(4.0, 1, 2.0) == pytest.approx(chance)
    state = drive(params, [1.0, 0.8], [1, 0])
    assert state.estimates[0] == pytest.approx([0.8 / (1 - chance), 2])
    state = drive(params, [1.0, 0.8], [1, 1])
    assert state.estimates[0] == pytest.approx([0, 2 + 0.8 / chance])


def test_exp3e_eliminates_above_two_roots_of_C_n():
    # One patient, arm 1, reward r: the lead is 2 r, the threshold 2 sqrt(C).
    params = conse_exp3e.configure(M=1, horizon=1000, alpha=1, C=0.25)
    assert drive(params, [0.4999], [1]).viable.all()
    state = drive(params, [0.5001], [1])
    assert state.viable.tolist() == [[False, True]]
    # From then on the sums stand still.
    state = drive(params, [0.5001, 1.0], [1, 1])
    assert state.estimates[0] == pytest.approx([0, 1.0002])
    assert state.counts.tolist() == [2]


def test_exp3e_as_printed_eliminates_nothing_in_a_million_patients():
    environment = features_bernoulli.configure(M=1, horizon=1_000_000, lower=0.0, smallest_gap=1.0, largest_gap=1.0)
    records = run("conse_exp3e", conse_exp3e.configure(1, 1_000_000, 0.5), environment, 3)
    assert (records.kept == BOTH).all()
    assert (records.first_half_regret > 100_000).all()


# --- the trial --------------------------------------------------------------------------------------------------------


def design(**more):
    return trial.checked_design(**{"M": 2, "n": 1000, "alpha": 0.5, **more})


def test_T_min_by_hand():
    # ln 1000 = 6.907755.
    counts = np.array([400, 100])
    assert trial.T_min(design(), counts) == pytest.approx(10)
    assert trial.T_min(design(alpha=1.0), counts) == pytest.approx(6.907755, rel=1e-6)
    assert trial.T_min(design(alpha=0.0), counts) == 100
    assert trial.T_min(design(epsilon=0.1), counts) == pytest.approx(69.07755, rel=1e-6)
    assert trial.T_min(design(epsilon=2.0), counts) == pytest.approx(10)
    assert trial.T_min(design(), np.array([400, 0])) == pytest.approx(6.907755, rel=1e-6)
    for some in (design(), design(epsilon=0.5)):
        assert trial.planned_length(some, 6.9, rng()) == 6
    assert trial.trial_length(design(), 6, rng()) == 6
    assert trial.trial_length(design(epsilon=0.5), 6, rng(3)) == lap_plus.lap_plus(6, 0.5, rng(3))


def run_by_hand(the_design, length, patients, planned=0):
    """A trial of one feature after patients (arm, reward)."""
    state = trial.new_trial(the_design)
    state.lengths[0], state.floor_T_min[0] = length, planned
    for arm, reward in patients:
        trial.learn(the_design, state, 0, arm, reward, rng(5))
    return state


def test_the_estimate_comes_with_the_last_patient_of_the_trial():
    patients = [(0, 0.5), (1, 1.0), (1, 0.5), (0, 9.0), (1, 9.0)]
    assert np.isnan(run_by_hand(design(), 3, patients[:2]).estimates).all()
    state = run_by_hand(design(), 3, patients)
    assert state.estimates[0] == pytest.approx(0.75 - 0.5)
    assert np.isnan(state.estimates[1])
    assert state.pulls[0].tolist() == [1, 2]
    assert state.reward_sums[0].tolist() == [0.5, 1.5]
    assert state.arrivals[0] == 5
    # Line 33 of EXP3E: inverse propensity weights, over T_min whether or not as many came.
    weighted = design(inverse_propensity=True)
    assert run_by_hand(weighted, 3, patients).estimates[0] == pytest.approx(2 * (1.5 - 0.5) / 3)
    assert run_by_hand(weighted, 3, patients[:1]).estimates[0] == pytest.approx(-2 * 0.5 / 3)
    assert np.isnan(run_by_hand(weighted, 3, []).estimates[0])
    # A trial of no patients ends with none.
    assert np.isnan(run_by_hand(design(epsilon=1.0), 0, patients).estimates[0])
    assert run_by_hand(design(), 2, [(1, 0.5), (1, 1.0)]).estimates[0] == 0.75


def test_the_private_estimate_has_noise_of_scale_two_over_epsilon_T_j():
    patients = [(0, 0.5), (1, 1.0), (1, 0.5)]
    for noise in (1.0, 3.0):
        found = run_by_hand(design(epsilon=0.4, noise=noise), 3, patients).estimates[0]
        generator = rng(5)
        draw = generator.standard_exponential() - generator.standard_exponential()
        assert found == pytest.approx(0.25 + noise * 2 / (0.4 * 3) * draw, rel=1e-12)


def test_the_budget_of_an_experiment_is_shared_out():
    # One patient of the first half, then of the second: two of each, and once what all trials share.
    assert 2 * dp_conse.BATCH_LENGTH + 2 * dp_conse.MEAN + trial.SHARED_LENGTH == 1
    assert 2 * trial.OWN_LENGTH + 2 * trial.ESTIMATE == 1


def test_the_trial_with_a_budget_for_the_experiment_by_hand():
    # ln 8000 = 8.987197.
    total = design(epsilon=0.8, total=True)
    assert trial.T_min(total, np.array([400, 100])) == pytest.approx(16 * 8.987197 / 0.8, rel=1e-6)
    assert trial.T_min(design(epsilon=0.8, total=True, alpha=0.0), np.array([400, 300])) == 300
    # e^(-.4 |k|) is e^(-epsilon |k| / 2) with .8, e^(-.2 |k|) with .4; lengths below 1 and 0 are cut off.
    planned = [trial.planned_length(total, 30.7, rng(i)) for i in range(200)]
    assert planned == [max(1, 30 + lap_plus.two_sided(0.8, rng(i))) for i in range(200)]
    lengths = [trial.trial_length(total, 3, rng(i)) for i in range(200)]
    assert lengths == [max(0, 3 + lap_plus.two_sided(0.4, rng(i))) for i in range(200)]
    assert min(lengths) == 0
    # At least 200 - 8.987197 / .2 = 155.064 patients, of whom an arm has 77.532 - sqrt(155.064 * 8.987197 / 2).
    scale = 1 / (0.2 * (77.532 - 26.397))
    assert trial.estimate_scale(total, 200, 3) == pytest.approx(scale, rel=1e-4)
    # No fewer than one patient an arm.
    assert trial.estimate_scale(total, 20, 3) == pytest.approx(5)
    found = run_by_hand(total, 3, [(0, 0.5), (1, 1.0), (1, 0.5)], planned=200).estimates[0]
    generator = rng(5)
    draw = generator.standard_exponential() - generator.standard_exponential()
    assert found == pytest.approx(0.25 + scale * draw, rel=1e-4)


def test_the_batches_with_a_budget_for_the_experiment_by_hand():
    total = dp_conse.configure(M=2, horizon=1000, alpha=0.5, epsilon=0.8, budget="total")
    # R_1 with epsilon / 8 = .1: 16 * 8.987197 / .1 + 1 = 1438.95, above 128 ln 16,000 + 1 = 1240.1.
    assert dp_conse.epoch_length(total, 1) == pytest.approx(1438.9515, rel=1e-6)
    # 1438.95 - 8.987197 / .1 = 1349.08 patients for certain: 674.54 - sqrt(1349.08 * 8.987197 / 2) = 596.68 an arm.
    scale = 1 / (0.1 * 596.68)
    assert dp_conse.mean_scale(total, 1) == pytest.approx(scale, rel=1e-4)
    assert dp_conse.privacy_radius(total, 1) == pytest.approx(8.987197 * scale, rel=1e-4)
    noisier = dp_conse.configure(M=2, horizon=1000, alpha=0.5, epsilon=0.8, budget="total", noise=2.0)
    assert dp_conse.mean_scale(noisier, 1) == pytest.approx(2 * scale, rel=1e-4)
    assert dp_conse.privacy_radius(noisier, 1) == pytest.approx(8.987197 * scale, rel=1e-4)
    # e^(-.1 |k|)
    assert dp_conse.draw_length(total, 1, rng(3)) == float(lap_plus.lap_plus(1438, 0.2, rng(3)))
    assert dp_conse.released_mean(scale, 4, 3.0, rng(3)) == pytest.approx(0.75 + laplace(scale, rng(3)))


@pytest.mark.parametrize("patients", [1, 40, 1000, 20_000])
def test_an_arm_has_fewer_than_for_certain_once_in_eight_n(patients):
    n = 1000
    count = trial.certain_count(n, float(patients))
    assert count >= 1
    # A count of 1 is what a mean of no rewards moves by at most.
    assert count == 1 or binom.cdf(np.ceil(count) - 1, patients, 0.5) <= 1 / (8 * n)


def test_as_printed_is_what_it_was():
    given = {"M": 2, "horizon": 5000, "alpha": 0.5, "epsilon": 0.2}
    assert dp_conse.configure(**given, budget="printed") == dp_conse.configure(**given)
    environment = features_bernoulli.configure(M=2, horizon=5000)
    records = run("dp_conse", dp_conse.configure(**given), environment, 3, seed=4)
    totals = run("dp_conse", dp_conse.configure(**given, budget="total"), environment, 3, seed=4)
    # ln(5000) / .2 = 42.6, and 16 ln(40,000) / .2 = 848 with noise.
    assert (records.floor_T_min == 42).all()
    assert (totals.floor_T_min > 500).all()


def test_inside_the_trial_arms_are_random_and_after_it_the_one_left_is_pulled():
    state = trial.new_trial(design())
    state.lengths[:] = 4
    viable = np.array([[False, True], [True, True]])
    chosen = [trial.choose(state, viable, 0, rng(i)) for i in range(60)]
    assert 10 < sum(chosen) < 50
    state.arrivals[:] = 4
    assert {trial.choose(state, viable, 0, rng(i)) for i in range(60)} == {1}
    assert {trial.choose(state, ~viable, 0, rng(i)) for i in range(60)} == {0}
    assert 10 < sum(trial.choose(state, viable, 1, rng(i)) for i in range(60)) < 50


@pytest.mark.parametrize(("kept", "after"), [(1, 0), (0, 90), (BOTH, 45)])
def test_after_the_trial_regret_comes_from_the_arm_that_was_left(kept, after):
    environment = features_bernoulli.configure(M=1, horizon=1000)
    record = experiment.Record(*(column[0] for column in experiment.new_records(1, 1)))
    record.length[0], record.regret[0] = 10, 100.0
    trial.run_trial(design(M=1), environment, 0, 100, kept, rng(), record)
    expected = 100 + 0.4 * (record.pulls[0, 0] + after)
    assert record.pulls[0].sum() == 10
    assert record.regret[0] == pytest.approx(expected, abs=0.4 * 20 if kept == BOTH else 1e-9)


# --- whole runs -------------------------------------------------------------------------------------------------------


def run_both(name, params, environment, replicates=4, kind="features_bernoulli"):
    """The records of the fast path and of the plain loop."""
    policy = POLICIES[name][0]
    plain = experiment.new_records(replicates, params.design.M)
    experiment.play_block(policy.POLICY, params, environment, rng(2), plain)
    return run(name, params, environment, replicates, kind), plain


def configured(name, M, n, alpha, **more):
    policy, given = POLICIES[name]
    return policy.configure(M=M, horizon=n, alpha=alpha, **{**given, **more})


@pytest.mark.parametrize("kind", ["fast", "plain"])
def test_certain_rewards_are_told_apart_in_the_first_epoch(kind):
    environment = features_bernoulli.configure(M=2, horizon=20_000, lower=0.0, smallest_gap=1.0, largest_gap=1.0)
    params = configured("conse_se", 2, 20_000, 0.5)
    records = run_both("conse_se", params, environment)[kind == "plain"]
    patients = 1 + np.ceil(dp_conse.epoch_length(params, 1))
    assert (records.eliminated_after == patients).all()
    assert (records.kept == 1).all()
    assert (records.estimate == 1).all()
    # Half of the epoch's patients, and half of the trial's floor(sqrt(5000 less a little)).
    assert records.first_half_regret == pytest.approx(patients / 2, abs=100)
    assert (records.regret - records.first_half_regret == records.pulls[..., 0]).all()
    assert (records.pulls.sum(axis=2) == records.length).all()
    assert (records.length == records.floor_T_min).all()
    assert records.length == pytest.approx(70, abs=2)


@pytest.mark.parametrize("kind", ["fast", "plain"])
@pytest.mark.parametrize("name", ["conse_se", "dp_conse"])
def test_a_feature_that_never_arrives_has_no_estimate_and_the_others_short_trials(name, kind):
    environment = features_bernoulli.configure(M=3, horizon=2000, rarest=0.0)
    records = run_both(name, configured(name, 3, 2000, 0.2), environment)[kind == "plain"]
    assert np.isnan(records.estimate[:, 2]).all()
    assert not np.isnan(records.estimate[:, :2]).any()
    assert (records.regret[:, 2] == 0).all()
    least = np.log(2000) / (0.5 if name == "dp_conse" else 1)
    assert (records.floor_T_min == np.floor(least)).all()


@pytest.mark.parametrize("kind", ["fast", "plain"])
def test_the_inverse_propensity_estimate_is_missing_only_without_any_patient(kind):
    environment = features_bernoulli.configure(M=3, horizon=2000, rarest=0.0)
    records = run_both("conse_exp3e", configured("conse_exp3e", 3, 2000, 0.0), environment)[kind == "plain"]
    assert np.isnan(records.estimate[:, 2]).all()
    assert not np.isnan(records.estimate[:, :2]).any()


def test_with_alpha_0_some_trial_is_often_not_finished():
    environment = features_bernoulli.configure(M=2, horizon=20_000)
    records = run("conse_se", configured("conse_se", 2, 20_000, 0.0), environment, 4000)
    missing = np.isnan(records.estimate)
    # T_min is the smaller count C of the first half; the second half has C' and n/2 - C' patients, of the same law.
    # None is missing where |C' - n/4| <= n/4 - C: two absolute normals in one order, or equal.
    assert missing.any(axis=1).mean() == pytest.approx(0.5, abs=0.05)
    assert (missing == (records.pulls.sum(axis=2) < records.length)).all()
    one = features_bernoulli.configure(M=1, horizon=20_000)
    records = run("conse_se", configured("conse_se", 1, 20_000, 0.0), one, 50)
    assert (records.length == 10_000).all()
    assert not np.isnan(records.estimate).any()


def test_both_arms_left_means_a_random_arm_to_the_end():
    # R_1 is longer than the first half: nothing is eliminated, and half of all patients get the worse arm.
    environment = features_bernoulli.configure(M=1, horizon=2000)
    for records in run_both("conse_se", configured("conse_se", 1, 2000, 1.0), environment, 200):
        assert (records.kept == BOTH).all()
        assert np.isnan(records.eliminated_after).all()
        assert records.regret.mean() == pytest.approx(0.4 * 1000, rel=0.02)
        assert records.first_half_regret.mean() == pytest.approx(0.4 * 500, rel=0.02)
        assert (records.length == 7).all()


def test_a_private_policy_refuses_rewards_outside_0_and_1():
    environment = features_normal.configure(M=2, horizon=3000)
    with pytest.raises(PrivarmsError, match="dp_conse on features_normal: a private policy's noise is for rewards in"):
        run_both("dp_conse", configured("dp_conse", 2, 3000, 0.5), environment, kind="features_normal")


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "dp_conse"])
def test_without_a_gap_there_is_no_regret(name):
    environment = features_normal.configure(M=2, horizon=3000, lower=1.0, smallest_gap=0.0, largest_gap=0.0)
    for records in run_both(name, configured(name, 2, 3000, 0.5), environment, kind="features_normal"):
        assert (records.regret == 0).all()


def test_huge_and_tiny_sizes_are_in_range():
    n = 10**13
    environment = features_bernoulli.configure(M=3, horizon=n)
    params = configured("conse_se", 3, n, 0.1)
    records = run("conse_se", params, environment, 5)
    assert (records.kept == 1).all()
    assert records.estimate == pytest.approx(np.array([[0.3, 0.4, 0.5]] * 5), abs=1e-4)
    # Half of each trial, to six standard deviations.
    spread = np.sqrt(records.length) / 2
    assert (np.abs(records.pulls[..., 0] - records.length / 2) < 6 * spread).all()
    # Without a gap both arms stay for epochs and a second half of billions of patients.
    environment = features_bernoulli.configure(M=1, horizon=n, lower=0.5, smallest_gap=1e-9, largest_gap=1e-9)
    records = run("conse_se", configured("conse_se", 1, n, 1.0), environment, 5)
    assert (records.kept == BOTH).all()
    assert records.regret == pytest.approx(np.full((5, 1), 1e-9 * n / 2), rel=1e-5)
    # Epochs and trials are longer than an int64 can count.
    environment = features_bernoulli.configure(M=2, horizon=3)
    for epsilon in (1e-30, 1e30):
        fast, plain = run_both("dp_conse", configured("dp_conse", 2, 3, 0.0, epsilon=epsilon), environment)
        assert (fast.kept == BOTH).all()
        assert (plain.kept == BOTH).all()
        assert ((fast.floor_T_min > 2**40) == (epsilon < 1)).all()
        assert (fast.length >= 0).all()


def test_a_policy_and_an_environment_of_different_sizes_are_refused():
    for M, n, named in ((2, 100, "M"), (3, 101, "horizon")):
        environment = features_bernoulli.configure(M=M, horizon=n)
        with pytest.raises(
            PrivarmsError, match=f"has {named} = {M if named == 'M' else n} and the policy conse_se was told"
        ):
            run("conse_se", configured("conse_se", 3, 100, 0.5), environment, 1)


def test_new_parameter_values_compile_nothing():
    compiled = []
    for M, n, alpha in ((2, 100, 0.5), (3, 333, 1)):
        for name in POLICIES:
            run_both(name, configured(name, M, n, alpha), features_bernoulli.configure(M, n, arrivals="seasonal"))
        compiled.append(
            (len(experiment.play.signatures), len(dp_conse.simulate.signatures), len(conse_exp3e.simulate.signatures))
        )
    assert len(set(compiled)) == 1


# --- protocols --------------------------------------------------------------------------------------------------------

# About as many patients of a feature in the first half as epochs 0 and 1 take.
M, N = 3, 9200


def rows(record, name="conse_se", alpha=0.0, replicates=50):
    cell = SimpleNamespace(record=record, environment="features_bernoulli")
    environment = features_bernoulli.configure(M, N)
    return experiment.run_block(
        POLICIES[name][0], configured(name, M, N, alpha), environment, cell, replicates, None, rng(6)
    )


def test_a_row_per_replicate_and_feature():
    found = rows("features")
    assert {len(column) for column in found.values()} == {50 * M}
    assert found["replicate"].tolist() == np.repeat(np.arange(50), M).tolist()
    assert found["feature"].tolist() == [1, 2, 3] * 50
    assert found["effect"].reshape(50, M) == pytest.approx(np.array([[0.3, 0.4, 0.5]] * 50))
    assert found["variance_0"] == pytest.approx(0.21)
    assert found["variance_1"][:3] == pytest.approx([0.24, 0.21, 0.16])
    missing = np.isnan(found["estimate"])
    assert (found["missing"] == missing).all()
    assert 0 < missing.sum() < 50 * M
    there = ~missing
    assert found["squared_error"][there] == pytest.approx((found["estimate"] - found["effect"])[there] ** 2)
    assert np.isnan(found["squared_error"][missing]).all()
    means = found["reward_sum_1"] / found["pulls_1"] - found["reward_sum_0"] / found["pulls_0"]
    assert found["estimate"][there] == pytest.approx(means[there])
    assert (found["eliminated"] == ~np.isnan(found["eliminated_after"])).all()
    assert 0.2 < found["eliminated"].mean() < 0.8


def test_a_row_per_replicate_is_the_features_together():
    features_rows, runs = rows("features"), rows("runs")
    by_run = {name: values.reshape(50, M) for name, values in features_rows.items()}
    for name in ("regret", "first_half_regret", "missing", "eliminated", "wrong"):
        assert runs[name] == pytest.approx(by_run[name].sum(axis=1))
    assert runs["squared_error"] == pytest.approx(by_run["squared_error"].max(axis=1), nan_ok=True)
    assert rows(None)["regret"] == pytest.approx(runs["regret"])
    first = rows("first_feature")
    assert set(first["feature"]) == {1}
    assert first["estimate"] == pytest.approx(by_run["estimate"][:, 0], nan_ok=True)
    with pytest.raises(ValueError, match="record: expected"):
        rows("arms")


def test_a_block_s_totals_are_the_sums_of_its_replicates():
    by_run = {name: values.reshape(50, M) for name, values in rows("features").items()}
    totals = rows("totals")
    assert totals["feature"].tolist() == [0, 1, 2, 3]
    assert totals["replicate"].tolist() == [0] * 4
    assert totals["trials"].tolist() == [50] * 4
    for name in ("regret", "first_half_regret", "missing", "eliminated", "wrong"):
        assert totals[name][1:] == pytest.approx(by_run[name].sum(axis=0))
    all_gone = by_run["eliminated"].min(axis=1).sum()
    assert 0 < all_gone < by_run["eliminated"].max(axis=1).sum()
    assert totals["eliminated"][0] == all_gone
    assert totals["regret"][0] == pytest.approx(by_run["regret"].sum())
    assert totals["regret_squares"][0] == pytest.approx((by_run["regret"].sum(axis=1) ** 2).sum())
    assert totals["regret_squares"][1:] == pytest.approx((by_run["regret"] ** 2).sum(axis=0))
    assert totals["squared_error"][1:] == pytest.approx(np.nansum(by_run["squared_error"], axis=0))
    assert totals["squared_error_squares"][1:] == pytest.approx(np.nansum(by_run["squared_error"] ** 2, axis=0))
    complete = by_run["missing"].max(axis=1) == 0
    assert 0 < complete.sum() < 50
    assert totals["missing"][0] == 50 - complete.sum()
    assert totals["squared_error"][0] == pytest.approx(by_run["squared_error"][complete].max(axis=1).sum())


def test_wrong_counts_the_runs_that_lost_the_better_arm():
    environment = features_bernoulli.configure(2, 10, smallest_gap=0.0, largest_gap=0.5)
    records = experiment.new_records(3, 2)
    records.kept[:] = [[0, 0], [1, 1], [-1, -1]]
    found = experiment.measures(environment, records)
    # Feature 1 has no gap, and so no better arm.
    assert found["wrong"].tolist() == [[0, 1], [0, 0], [0, 0]]
    assert found["eliminated"].tolist() == [[1, 1], [1, 1], [0, 0]]


# --- bad input --------------------------------------------------------------------------------------------------------


NAN, INF = float("nan"), float("inf")
BAD = {
    "conse_se": {"confidence": ["wide"]},
    "conse_exp3e": {"C": [0.0, -1.0, INF]},
    "dp_conse": {
        "epsilon": [0.0, -1.0, INF, NAN],
        "noise": [0.0, INF],
        "confidence": ["wide"],
        "width": ["wide"],
        "budget": ["half"],
    },
}


@pytest.mark.parametrize("name", POLICIES)
def test_bad_parameters_of_a_policy_are_refused_by_name(name):
    policy, given = POLICIES[name]
    for named, values in ({"M": [0], "horizon": [2], "alpha": [-0.1, 1.1, NAN]} | BAD[name]).items():
        for value in values:
            with pytest.raises(ValueError, match=f"^{named}: expected"):
                policy.configure(**{"M": 2, "horizon": 100, "alpha": 0.5, **given, named: value})


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"M": 0}, "M"),
        ({"horizon": 2}, "horizon"),
        ({"smallest_gap": 0.6}, "gaps"),
        ({"smallest_gap": -0.1}, "gaps"),
        ({"lower": 0.6}, "lower"),
        ({"lower": -0.1}, "lower"),
        ({"arrivals": "weekly"}, "arrivals"),
        ({"amplitude": 1.0}, "amplitude"),
        ({"rarest": 1.0}, "rarest"),
        ({"rarest": -0.1}, "rarest"),
        ({"M": 1, "rarest": 0.5}, "rarest"),
    ],
)
def test_bad_parameters_of_an_environment_are_refused_by_name(wrong, named):
    with pytest.raises(ValueError, match=f"^{named}: expected"):
        features_bernoulli.configure(**{"M": 2, "horizon": 100, **wrong})
    if named != "lower":
        with pytest.raises(ValueError, match=f"^{named}: expected"):
            features_normal.configure(**{"M": 2, "horizon": 100, **wrong})


def test_a_bad_deviation_is_refused():
    with pytest.raises(ValueError, match=r"^deviation: expected"):
        features_normal.configure(M=1, horizon=10, deviation=-1.0)
