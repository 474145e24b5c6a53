"""Linear and NN: the fast loop against the formulas, the gradients against differences, what sources change."""

import math

import numpy as np
import pytest

from privarms.environments import labelled_users
from privarms.policies.locally_private import _private_sgd, _user_by_user_sgd, ldp_linear, ldp_nn
from privarms.policies.locally_private._auxiliary import users_and_budgets
from privarms.protocols.locally_private import new_record, run

TOLD = {"K": 3, "dimensions": 2, "source_users": [5, 3]}


@pytest.fixture
def environment(data):
    return labelled_users.configure(str(data[0]))


@pytest.mark.parametrize("policy", [ldp_linear, ldp_nn])
@pytest.mark.parametrize("auxiliary", ["with", "without"])
def test_the_loop_is_the_algorithm(environment, policy, auxiliary):
    params = policy.configure(
        horizon=60, epsilon=2.0, epsilon_aux="1 4", auxiliary=auxiliary, batch=7, rate=3.0, clip=0.5, **TOLD
    )
    checkpoints = np.array([1, 7, 20, 60])
    record, reference = new_record(4, 3), new_record(4, 3)
    weights = run(policy, params, environment, checkpoints, np.random.default_rng(1), record)
    plain = run(_user_by_user_sgd, params, environment, checkpoints, np.random.default_rng(1), reference)
    assert np.abs(plain).max() > 1
    assert weights == pytest.approx(plain, rel=1e-9)
    for name in ("regret", "rewards", "pulls"):
        assert getattr(record, name).tolist() == getattr(reference, name).tolist()
    # A user earns 1 or loses 1.
    assert (record.rewards + record.regret).tolist() == checkpoints.tolist()
    assert record.pulls.sum() == 60


@pytest.mark.parametrize("width", [0, 4])
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_gradients_are_those_of_the_logistic_loss(width, reward):
    rng = np.random.default_rng(2)
    x = rng.random(3)
    weights = rng.normal(size=_private_sgd.parameters(3, width))

    def loss(w):
        z = _user_by_user_sgd.score(w, x, width)
        return math.log1p(math.exp(z)) - reward * z

    steps = np.eye(len(weights)) * 1e-6
    differences = [(loss(weights + step) - loss(weights - step)) / 2e-6 for step in steps]
    assert _user_by_user_sgd.gradient(weights, x, reward, width) == pytest.approx(differences, abs=1e-8)
    # The loop's own, for the second of two arms.
    both, hidden, gradient = np.stack([weights, weights]), np.zeros((2, width)), np.full(2 * len(weights), 9.0)
    estimate = 1 / (1 + math.exp(-_private_sgd._score(both, width, 1, x, hidden)))
    _private_sgd._gradient(both, width, 1, x, hidden, estimate - reward, gradient)
    assert gradient == pytest.approx(np.concatenate([np.zeros(len(weights)), differences]), abs=1e-8)


def test_a_network_of_one_large_linear_unit_scores_like_linear():
    x, w, b = np.array([0.2, 0.7]), np.array([1.5, -0.4]), 0.3
    linear = _private_sgd._score(np.array([[*w, b]]), 0, 0, x, np.zeros((1, 0)))
    # One unit that is never cut off, shifted back behind it.
    network = _private_sgd._score(np.array([[*w, 10.0, 1.0, b - 10.0]]), 1, 0, x, np.zeros((1, 1)))
    assert linear == pytest.approx(0.32)
    assert network == pytest.approx(linear)


def test_each_source_is_released_with_its_own_budget():
    params = ldp_linear.configure(horizon=60, epsilon=2.0, epsilon_aux="1 4", **TOLD)
    assert params.truths == pytest.approx([1 / (1 + math.exp(-e)) for e in (2, 1, 4)])
    # Three arms of two coordinates and an intercept: 9 dimensions; see test_l2_ball for the norm.
    assert params.norms[1] / params.norms[0] == pytest.approx(math.tanh(1) / math.tanh(0.5))
    assert ldp_linear.configure(horizon=60, epsilon=2.0, learnt="first", **TOLD).users.tolist() == [60, 5]
    assert ldp_linear.configure(horizon=60, epsilon=2.0, auxiliary="without", **TOLD).users.tolist() == [60]


@pytest.mark.parametrize(("policy", "width"), [(ldp_linear, 0), (ldp_nn, 4)])
def test_what_a_study_gives_is_what_runs(policy, width):
    # In two dimensions the released network has four units.
    default = policy.configure(horizon=60, epsilon=2.0, epsilon_aux="1 4", **TOLD)
    assert (default.n_arms, default.dimensions, default.width) == (3, 2, width)
    assert (default.batch, default.rate, default.clip) == (100, 0.01, 1.0)
    assert default.users.tolist() == [60, 5, 3]
    # The right half with probability e^epsilon / (1 + e^epsilon), each with its own budget.
    assert default.truths == pytest.approx([0.880797, 0.731059, 0.982014], abs=1e-6)
    given = policy.configure(horizon=60, epsilon=2.0, batch=7, rate=0.3, clip=0.5, **TOLD)
    assert (given.batch, given.rate, given.clip) == (7, 0.3, 0.5)
    assert given.norms[0] == pytest.approx(default.norms[0] / 2)


def test_a_private_learner_of_an_easy_rule_finds_it():
    # Labels 0 and 1 by the first coordinate, 50,000 users: nearly all are served rightly in the second half.
    rng = np.random.default_rng(3)
    n = 50_000
    contexts = rng.random((n, 1))
    labels = (contexts[:, 0] > 0.5).astype(np.int64)
    functions = [getattr(labelled_users, f) for f in ("arrive", "behave", "best", "mean", "shuffle")]
    easy = labelled_users.Environment(*functions, contexts, labels, np.arange(n), np.array([0, n]), 2, 1, 0.5)
    for policy, width in ((ldp_linear, {}), (ldp_nn, {"width": 8})):
        params = policy.configure(2, n, 4.0, 1, rate=0.3, **width)
        record = new_record(2, 2)
        run(policy, params, easy, np.array([n // 2, n]), rng, record)
        assert (record.rewards[1] - record.rewards[0]) / (n / 2) > 0.85


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": 1}, "K: expected at least 2"),
        ({"dimensions": 0}, "dimensions: expected at least 1"),
        ({"batch": 0}, "batch: expected at least 1"),
        ({"rate": 0.0}, "rate: expected a finite number > 0"),
        ({"clip": math.inf}, "clip: expected a finite number > 0"),
        ({"learnt": "last"}, "learnt: expected all or first"),
        ({"epsilon": 0.0}, "epsilon: expected a finite number > 0"),
        ({"epsilon_aux": "1 2 3"}, "epsilon_aux: expected one budget, or one for each of the 2 sources"),
        ({"auxiliary": "some"}, "auxiliary: expected with or without"),
        ({"source_users": []}, "auxiliary: there are no auxiliary sources in the data"),
    ],
)
def test_values_out_of_range_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        ldp_linear.configure(**{"horizon": 60, "epsilon": 1.0, **TOLD, **changes})


def test_a_network_needs_a_unit():
    with pytest.raises(ValueError, match="width: expected at least 1 unit"):
        ldp_nn.configure(horizon=60, epsilon=1.0, width=0, **TOLD)


def test_users_and_budgets_of_sources():
    users, budgets = users_and_budgets(100, 1.0, epsilon_aux="2 8", source_users=[30, 5])
    assert (users.tolist(), budgets.tolist()) == ([100, 30, 5], [1, 2, 8])
    users, budgets = users_and_budgets(100, 1.0, M=2, n_aux=7, epsilon_aux=4)
    assert (users.tolist(), budgets.tolist()) == ([100, 7, 7], [1, 4, 4])
    users, budgets = users_and_budgets(100, 1.0, M=2, n_aux=7, epsilon_aux="2 8", auxiliary="without")
    assert (users.tolist(), budgets.tolist()) == ([100], [1])
