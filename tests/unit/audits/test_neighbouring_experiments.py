"""Check the audits of DP-ConSE's releases and whole experiments: exact probabilities, losses, counts."""

import itertools

import numpy as np
import pytest

from privarms.audits.events import neighbouring_experiments, whole_experiments
from privarms.mechanisms import lap_plus
from privarms.policies.experiment import dp_conse, dp_conse_total


def configured(M, epsilon, policy=dp_conse, **more):
    return policy.configure(M=M, horizon=100, alpha=0, epsilon=epsilon, **more)


def chance(release, M, epsilon, run):
    inputs = neighbouring_experiments.configure(release, run)
    return neighbouring_experiments.probability(configured(M, epsilon), inputs)


def loss(release, M, epsilon, policy=dp_conse, **more):
    """Return the events of a release, or of the whole experiment."""
    params = configured(M, epsilon, policy, **more)
    if release == "experiment":
        return whole_experiments.AUDIT.loss(params, [whole_experiments.configure(run) for run in (0, 1)])
    runs = [neighbouring_experiments.configure(release, run) for run in (0, 1)]
    return neighbouring_experiments.AUDIT.loss(params, runs)


def test_the_losses_of_the_three_releases():
    for M, epsilon in itertools.product((1, 2, 3, 10), (0.5, 2.0)):
        for release in ("lengths", "lengths_from_actions"):
            assert loss(release, M, epsilon) == pytest.approx(M * epsilon / 2, rel=1e-9)
        assert loss("estimate", M, epsilon) == pytest.approx(min(M, 2) * epsilon)
        assert loss("estimate", M, epsilon, noise=4.0) == pytest.approx(min(M, 2) * epsilon / 4)
    assert neighbouring_experiments.AUDIT.claimed(0.5) == 0.25


def test_the_lengths_probabilities_by_enumeration():
    # In short trials the cut-off at 0 matters.
    for run, M in itertools.product((0, 1), (1, 3)):
        T, epsilon = 4, 0.5
        value = np.arange(400)
        chances = lap_plus.pmf(value, T + run, epsilon)
        expected = chances[value >= T + 1].sum() ** M
        params = configured(M, epsilon)
        assert neighbouring_experiments.lengths_probability(params, T, run) == pytest.approx(expected)
        behind = sum(chances[v] * sum(0.5 ** (g + 1) for g in range(v - T)) for v in range(T + 1, 400))
        actual = neighbouring_experiments.lengths_probability(params, T, run, from_actions=True)
        assert actual == pytest.approx(behind**M)


def test_the_loss_of_the_first_half():
    # Means over 12 rewards per arm in batches of R = 25.5 patients: 2 / (epsilon R) for a change of 1/12.
    for M, epsilon in itertools.product((1, 2, 10), (0.5, 2.0)):
        params = configured(M, epsilon)
        R = dp_conse.epoch_length(params, 1)
        mean = epsilon * R / 2 / (int(R) // 2)
        expected = mean if M == 1 else 2 * mean + epsilon
        assert loss("first_half", M, epsilon) == pytest.approx(expected, rel=1e-9)
        assert loss("first_half", M, epsilon) == pytest.approx(epsilon if M == 1 else 3 * epsilon, rel=2e-3)


def test_the_first_half_s_probabilities_by_enumeration():
    params = configured(2, 0.5)
    R = dp_conse.epoch_length(params, 1)
    value = np.arange(int(R) + 400)
    chances = lap_plus.pmf(value, R, 0.5)
    # Run 1: the first batch has at least R patients, the second at most R, one of them only in this run.
    ends = chances[value >= int(R)].sum() * chances[value - 1 < int(R)].sum()
    assert chance("first_half", 2, 0.5, 1) == pytest.approx(ends / 4)
    assert chance("first_half", 1, 0.5, 1) == 0.5


def test_with_a_budget_for_the_experiment_no_loss_is_above_it():
    for M, epsilon in itertools.product((1, 2, 10), (0.5, 2.0)):
        for release in neighbouring_experiments.RELEASES:
            assert 0.05 * epsilon < loss(release, M, epsilon, dp_conse_total) <= 0.5 * epsilon * (1 + 1e-9)
        assert 0.05 * epsilon < loss("experiment", M, epsilon, dp_conse_total) < epsilon
        as_printed = epsilon if M == 1 else (3 + M / 2) * epsilon
        assert loss("experiment", M, epsilon) == pytest.approx(as_printed, rel=2e-3)


def two_sided(epsilon, reach=300):
    """Return the whole numbers from -reach to reach with probabilities proportional to e^(-epsilon |k|)."""
    value = np.arange(-reach, reach + 1)
    weights = np.exp(-epsilon * np.abs(value))
    return value, weights / weights.sum()


@pytest.mark.parametrize("from_actions", [False, True])
def test_the_shared_length_s_probabilities_by_enumeration(from_actions):
    epsilon, T, M = 2.0, 4, 3
    params = configured(M, epsilon, dp_conse_total)
    for run in (0, 1):
        expected = 0.0
        for k, weight in zip(*two_sided(epsilon / 2), strict=True):
            noise, chances = two_sided(epsilon / 4)
            length = np.maximum(0, max(1, T + run + k) + noise)
            # The last pull of the losing arm is after patient T.
            seen = np.where(length > T, 1 - 0.5 ** np.maximum(length - T, 0.0), 0.0) if from_actions else length > T
            expected += weight * (chances @ seen) ** M
        actual = neighbouring_experiments.lengths_probability(params, T, run, from_actions)
        assert actual == pytest.approx(expected, rel=1e-9)


def test_the_event_of_the_proof_has_a_probability_below_one_half():
    for R, epsilon in itertools.product((1624.5, 2000.0, 7201.3), (0.1, 1.0)):
        q = np.exp(-epsilon / 2)
        # If R_e is not whole, the length is the next whole number.
        expected = (1 if R == 2000.0 else q) / (1 + q)
        assert lap_plus.survival(int(np.ceil(R)), R, epsilon) == pytest.approx(expected, rel=1e-9)
