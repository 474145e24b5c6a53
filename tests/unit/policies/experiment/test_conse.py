"""Check ConSE and DP-ConSE (Li, Shi & Simchi-Levi 2024): both eliminations, the trial, whole runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import features_bernoulli
from privarms.errors import PrivarmsError
from privarms.kernels import trial
from privarms.mechanisms import lap_plus
from privarms.mechanisms.laplace import laplace
from privarms.policies import Policy, functions
from privarms.policies.experiment import conse_exp3e, conse_se, dp_conse
from privarms.protocols import experiment

POLICIES = {
    "conse_se": (conse_se, {}),
    "conse_exp3e": (conse_exp3e, {}),
    "dp_conse": (dp_conse, {"epsilon": 0.5}),
}


def rng(seed=1):
    return np.random.default_rng(seed)


def run(name, params, environment, kind="fast", runs=4):
    """Return the records of some runs of the fast path or of the reference implementation."""
    policy, records = POLICIES[name][0], experiment.new_records(runs, params.design.M)
    if kind == "plain":
        experiment.play_block(experiment.play, (functions(Policy, policy), params), environment, rng(2), records)
        return records
    cell = SimpleNamespace(paper="some2020", study="runs", policy=name, environment="features_bernoulli")
    return experiment.run(policy, params, environment, cell, runs, rng())


def configured(name, M, n, alpha, **more):
    policy, inputs = POLICIES[name]
    return policy.configure(M=M, horizon=n, alpha=alpha, **{**inputs, **more})


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


def test_the_margin_and_the_radii_that_the_proof_needs():
    params = dp_conse.configure(M=1, horizon=5000, alpha=0.5, epsilon=0.2)
    h, c = dp_conse.confidence_radius(params, 3), dp_conse.privacy_radius(params, 3)
    assert dp_conse.elimination_margin(params, 3) == pytest.approx(2 * h + 2 * c)
    # Lemma 3.1's proof: h_e < Delta_e / 8, and c_e < Delta_e / 8 with the proof's own c_e, half of the printed one.
    for e in (1, 2, 5):
        assert dp_conse.confidence_radius(params, e) < 2.0**-e / 8
        assert dp_conse.privacy_radius(params, e) / 2 < 2.0**-e / 8


def drive(params, rewards, arms):
    """Return the state after patients of feature 0 with these arms and rewards."""
    policy = conse_exp3e if isinstance(params, conse_exp3e.Params) else dp_conse
    state, generator = policy.init(params), rng()
    for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True), 1):
        state = policy.learn(params, state, 0, arm, reward, t, generator)
    return state


def sure_arms(M, n, worse):
    """Return M features: the arm `worse` never has a reward, the other arm always."""
    environment = features_bernoulli.configure(M, n, 0.0, 1.0, 1.0)
    return environment if worse == 0 else environment._replace(means=environment.means[:, ::-1].copy())


@pytest.mark.parametrize("kind", ["fast", "plain"])
@pytest.mark.parametrize("worse", [0, 1])
def test_the_regret_counts_the_pulls_of_the_worse_arm_before_the_elimination(kind, worse):
    # With such a small C the first reward, which is the better arm's, eliminates the other arm.
    params = configured("conse_exp3e", 2, 4000, 0.5, C=1e-3)
    records = run("conse_exp3e", params, sure_arms(2, 4000, worse), kind)
    assert (records.kept == 1 - worse).all()
    assert (records.eliminated_after <= 30).all()
    assert (records.first_half_regret == records.eliminated_after - 1).all()


@pytest.mark.parametrize("kind", ["fast", "plain"])
@pytest.mark.parametrize("worse", [0, 1])
def test_after_a_wrong_elimination_all_patients_of_the_first_half_count(kind, worse):
    # The noise is far above the rewards, so the first epoch eliminates either arm.
    params = configured("dp_conse", 1, 20_000, 0.5, noise=1e6)
    records = run("dp_conse", params, sure_arms(1, 20_000, worse), kind, runs=30)
    wrong = records.kept == worse
    before = records.first_half_regret - wrong * (10_000 - records.eliminated_after)
    # Before the elimination half of the patients have the worse arm: a binomial number, within 6 deviations.
    assert (abs(before - records.eliminated_after / 2) < 3 * np.sqrt(records.eliminated_after)).all()
    assert 0 < wrong.sum() < 30


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
    # Equal arms remain, and the next epoch begins at zero.
    state = drive(params, np.ones(patients), arms)
    assert state.viable.all()
    assert (state.epochs[0], state.rounds[0], state.pulls.sum(), state.reward_sums.sum()) == (2, 0, 0, 0)
    assert state.lengths[0] == dp_conse.epoch_length(params, 2)


def test_the_comparison_is_strict_and_with_the_means_of_each_arm_s_own_patients():
    margin, pulls = 0.1, np.array([700, 900])
    for shift, gone in ((-1e-9, -1), (1e-9, 0)):
        sums = np.array([350.0, 900 * (0.5 + margin + shift)])
        assert dp_conse.eliminated_arm(0.0, margin, pulls, sums, rng()) == gone
    assert dp_conse.eliminated_arm(0.0, margin, pulls, np.array([700.0, 0.0]), rng()) == 1
    # An arm without a patient has mean 0.
    assert dp_conse.eliminated_arm(0.0, margin, np.array([0, 5]), np.array([0.0, 5.0]), rng()) == 0


@pytest.mark.parametrize("noise", [1.0, 2.0])
def test_the_noise_of_a_mean_has_scale_two_over_epsilon_R(noise):
    params = dp_conse.configure(M=1, horizon=5000, alpha=0.5, epsilon=0.2, noise=noise)
    scale, margin = dp_conse.mean_scale(params, 1), dp_conse.elimination_margin(params, 1)
    assert scale == pytest.approx(noise * 2 / (0.2 * dp_conse.epoch_length(params, 1)))
    generator = rng(9)
    draws = [generator.standard_exponential() - generator.standard_exponential() for _ in range(2)]
    lead = margin - scale * (draws[1] - draws[0])
    for shift, gone in ((-1e-6, -1), (1e-6, 0)):
        sums = np.array([100.0, 100.0 + 1000 * (lead + shift)])
        assert dp_conse.eliminated_arm(scale, margin, np.array([1000, 1000]), sums, rng(9)) == gone


def test_exp3e_s_constant_is_that_of_the_paper():
    # log(2 / delta) = ln(4 n^2) = 21.193270 at n = 20,000; e^2 + 2 = 9.389056.
    expected = 4 * 9.389056**2 * 21.193270**2
    actual = conse_exp3e.configure(M=1, horizon=20_000, alpha=1).C
    assert actual == pytest.approx(expected, rel=1e-6)
    assert conse_exp3e.configure(M=1, horizon=20_000, alpha=1, C=3.5).C == 3.5


def test_exp3e_s_probabilities_and_sums_by_hand():
    params = conse_exp3e.configure(M=1, horizon=1000, alpha=1, C=4.0)
    assert conse_exp3e.chance_of_arm_1(4.0, 0, 0.0) == 0.5
    # After one patient with arm 1 and reward 1: the sum is 1 / 0.5 = 2, epsilon_1 = 1/2, so the odds are e.
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
    # From then on the sums do not change.
    state = drive(params, [0.5001, 1.0], [1, 1])
    assert state.estimates[0] == pytest.approx([0, 1.0002])
    assert state.counts.tolist() == [2]


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
    plain, private = configured("conse_se", 2, 1000, 0.5), configured("dp_conse", 2, 1000, 0.5)
    assert dp_conse.planned_length(private, 6.9, rng()) == dp_conse.trial_length(plain, 6, rng()) == 6
    assert dp_conse.trial_length(private, 6, rng(3)) == lap_plus.lap_plus(6, 0.5, rng(3))


def run_by_hand(policy, params, length, patients):
    """Return the trial of feature 0 in the second half, after patients (arm, reward)."""
    state = policy.init(params)
    state.trial.lengths[0] = length
    for t, (arm, reward) in enumerate(patients, params.design.n // 2 + 1):
        state = policy.learn(params, state, 0, arm, reward, t, rng(5))
    return state.trial


def test_the_estimate_comes_with_the_last_patient_of_the_trial():
    patients = [(0, 0.5), (1, 1.0), (1, 0.5), (0, 9.0), (1, 9.0)]
    params = configured("conse_se", 2, 1000, 0.5)
    assert np.isnan(run_by_hand(conse_se, params, 3, patients[:2]).estimates).all()
    state = run_by_hand(conse_se, params, 3, patients)
    assert state.estimates[0] == pytest.approx(0.75 - 0.5)
    assert np.isnan(state.estimates[1])
    assert state.pulls[0].tolist() == [1, 2]
    assert state.reward_sums[0].tolist() == [0.5, 1.5]
    assert state.arrivals[0] == 5
    # Line 33 of EXP3E: inverse propensity weights, divided by T_min even if fewer patients arrived.
    weighted = configured("conse_exp3e", 2, 1000, 0.5)
    assert run_by_hand(conse_exp3e, weighted, 3, patients).estimates[0] == pytest.approx(2 * (1.5 - 0.5) / 3)
    assert run_by_hand(conse_exp3e, weighted, 3, patients[:1]).estimates[0] == pytest.approx(-2 * 0.5 / 3)
    assert np.isnan(run_by_hand(conse_exp3e, weighted, 3, []).estimates[0])
    # A trial of length 0 ends without patients. An arm without a patient has mean 0.
    private = configured("dp_conse", 2, 1000, 0.5)
    assert np.isnan(run_by_hand(dp_conse, private, 0, patients).estimates[0])
    assert run_by_hand(conse_se, params, 2, [(1, 0.5), (1, 1.0)]).estimates[0] == 0.75


def test_the_private_estimate_has_noise_of_scale_two_over_epsilon_T_j():
    patients = [(0, 0.5), (1, 1.0), (1, 0.5)]
    for noise in (1.0, 3.0):
        params = configured("dp_conse", 2, 1000, 0.5, epsilon=0.4, noise=noise)
        actual = run_by_hand(dp_conse, params, 3, patients).estimates[0]
        assert actual == pytest.approx(0.25 + laplace(noise * 2 / (0.4 * 3), rng(5)), rel=1e-12)


@pytest.mark.parametrize("kind", ["fast", "plain"])
def test_certain_rewards_are_told_apart_in_the_first_epoch(kind):
    environment = features_bernoulli.configure(M=2, horizon=20_000, lower=0.0, smallest_gap=1.0, largest_gap=1.0)
    params = configured("conse_se", 2, 20_000, 0.5)
    records = run("conse_se", params, environment, kind)
    patients = 1 + np.ceil(dp_conse.epoch_length(params, 1))
    assert (records.eliminated_after == patients).all()
    assert (records.kept == 1).all()
    assert (records.estimate == 1).all()
    # Half of the epoch's patients, and half of the trial's floor(sqrt(slightly below 5000)).
    assert records.first_half_regret == pytest.approx(patients / 2, abs=100)
    assert (records.regret - records.first_half_regret == records.pulls[..., 0]).all()
    assert (records.pulls.sum(axis=2) == records.length).all()
    assert (records.length == records.floor_T_min).all()
    assert records.length == pytest.approx(70, abs=2)


@pytest.mark.parametrize("kind", ["fast", "plain"])
@pytest.mark.parametrize("name", ["conse_se", "conse_exp3e", "dp_conse"])
def test_a_feature_that_never_arrives_has_no_estimate_and_the_others_short_trials(name, kind):
    environment = features_bernoulli.configure(M=3, horizon=2000)
    environment = environment._replace(probabilities=np.array([[0.5, 0.5, 0.0]] * 2))
    records = run(name, configured(name, 3, 2000, 0.2), environment, kind)
    assert np.isnan(records.estimate[:, 2]).all()
    assert not np.isnan(records.estimate[:, :2]).any()
    assert (records.regret[:, 2] == 0).all()
    least = np.log(2000) / (0.5 if name == "dp_conse" else 1)
    assert (records.floor_T_min == np.floor(least)).all()


def test_a_policy_and_an_environment_of_different_sizes_are_refused():
    for M, n, named in ((2, 100, "M = 2"), (3, 101, "horizon = 101")):
        environment = features_bernoulli.configure(M=M, horizon=n)
        with pytest.raises(PrivarmsError, match=f"has {named}, but the policy conse_se has"):
            run("conse_se", configured("conse_se", 3, 100, 0.5), environment)
