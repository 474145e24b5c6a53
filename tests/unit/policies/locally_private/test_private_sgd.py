"""Linear and NN: messages against gradients from differences, choices, what sources change, bad input."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import labelled_users
from privarms.mechanisms import l2_ball
from privarms.policies.locally_private import ldp_linear, ldp_nn
from privarms.policies.locally_private._auxiliary import users_and_budgets
from privarms.protocols.locally_private import new_record, run

SIZES = {"K": 3, "dimensions": 2, "source_users": [5, 3]}


@pytest.fixture
def environment(data):
    return labelled_users.configure(str(data[0]))


def layers(weights, d, width):
    """W [width, d], b [width], v [width] and c of one arm."""
    W, rest = weights[: width * d].reshape(width, d), weights[width * d :]
    return W, rest[:width], rest[width : 2 * width], rest[-1]


def score(weights, x, width):
    """z: w x + b, or v max(W x + b, 0) + c."""
    if width == 0:
        return weights[:-1] @ x + weights[-1]
    W, b, v, c = layers(weights, len(x), width)
    return v @ np.maximum(W @ x + b, 0) + c


def loss(weights, x, reward, width):
    z = score(weights, x, width)
    return math.log1p(math.exp(z)) - reward * z


def differences(weights, x, reward, width):
    """The gradient of the loss, from differences."""
    steps = np.eye(len(weights)) * 1e-6
    return [(loss(weights + e, x, reward, width) - loss(weights - e, x, reward, width)) / 2e-6 for e in steps]


@pytest.mark.parametrize(("policy", "width"), [(ldp_linear, 0), (ldp_nn, 4)])
def test_messages_are_private_gradients_and_a_batch_is_a_step(policy, width):
    params = policy.configure(horizon=7, epsilon=2.0, epsilon_aux="1 4", batch=4, rate=3.0, clip=0.5, **SIZES)
    rng = np.random.default_rng(2)
    state = policy.init(params, rng)
    state.weights[:] = rng.normal(size=state.weights.shape)
    release = l2_ball.Mechanism(state.weights.size, 0.5, params.truths[0], params.norms[0])
    noise, same_noise = np.random.default_rng(1), np.random.default_rng(1)
    messages = []
    # Steps after users 4 and 7: a batch, and what is left.
    for user, arm in enumerate([0, 2, 1, 1, 0, 2, 2]):
        x, reward, before = rng.random(2), float(user % 2), state.weights.copy()
        gradient = np.zeros_like(before)
        gradient[arm] = differences(before[arm], x, reward, width)
        message = np.zeros(before.size)
        l2_ball.release(release, gradient.ravel(), same_noise, message)
        messages.append(message)
        policy.learn(params, state, 0, user, x, arm, reward, noise)
        step = user in (3, 6)
        moved = 3.0 * np.sum(messages, axis=0).reshape(before.shape) / 4 if step else 0.0
        assert state.weights == pytest.approx(before - moved, rel=1e-5)
        messages = [] if step else messages


@pytest.mark.parametrize(("policy", "width"), [(ldp_linear, 0), (ldp_nn, 4)])
def test_the_arm_with_the_largest_score_is_pulled_and_ties_are_broken_at_random(policy, width):
    params = policy.configure(horizon=60, epsilon=2.0, **SIZES)
    rng = np.random.default_rng(3)
    state = policy.init(params, rng)
    for _ in range(30):
        state.weights[:] = rng.normal(size=state.weights.shape)
        x = rng.random(2)
        assert policy.choose(params, state, x, rng) == np.argmax([score(w, x, width) for w in state.weights])
    state.weights[:] = state.weights[0]
    pulls = np.bincount([policy.choose(params, state, x, rng) for _ in range(3000)], minlength=3)
    # 5 standard deviations of a binomial.
    assert pulls == pytest.approx(1000, abs=5 * math.sqrt(3000 * 2 / 9))


@pytest.mark.parametrize("policy", [ldp_linear, ldp_nn])
@pytest.mark.parametrize("auxiliary", ["with", "without"])
def test_compiled_and_plain_loops_are_the_same_run(environment, policy, auxiliary):
    params = policy.configure(horizon=60, epsilon=2.0, epsilon_aux="1 4", auxiliary=auxiliary, batch=7, **SIZES)
    checkpoints = np.array([1, 7, 20, 60])
    plain = SimpleNamespace(init=policy.init, choose=policy.choose, learn=lambda *arguments: policy.learn(*arguments))
    record, reference = new_record(4, 3), new_record(4, 3)
    state = run(policy, params, environment, checkpoints, np.random.default_rng(1), record)
    other = run(plain, params, environment, checkpoints, np.random.default_rng(1), reference)
    assert (state.weights == other.weights).all()
    for name in ("regret", "rewards", "pulls"):
        assert getattr(record, name).tolist() == getattr(reference, name).tolist()
    # A user earns 1 or loses 1.
    assert (record.rewards + record.regret).tolist() == checkpoints.tolist()
    assert record.pulls.sum() == 60


def test_each_source_is_released_with_its_own_budget():
    params = ldp_linear.configure(horizon=60, epsilon=2.0, epsilon_aux="1 4", **SIZES)
    assert params.truths == pytest.approx([1 / (1 + math.exp(-e)) for e in (2, 1, 4)])
    # Three arms of two coordinates and an intercept: 9 dimensions; see test_l2_ball for the norm.
    assert params.norms[1] / params.norms[0] == pytest.approx(math.tanh(1) / math.tanh(0.5))
    assert ldp_linear.configure(horizon=60, epsilon=2.0, learnt="first", **SIZES).users.tolist() == [60, 5]
    assert ldp_linear.configure(horizon=60, epsilon=2.0, auxiliary="without", **SIZES).users.tolist() == [60]


@pytest.mark.parametrize(("policy", "width"), [(ldp_linear, 0), (ldp_nn, 4)])
def test_what_a_study_gives_is_what_runs(policy, width):
    # In two dimensions the released network has four units.
    default = policy.configure(horizon=60, epsilon=2.0, epsilon_aux="1 4", **SIZES)
    assert (default.n_arms, default.dimensions, default.width) == (3, 2, width)
    assert (default.batch, default.rate, default.clip) == (100, 0.01, 1.0)
    assert default.users.tolist() == [60, 5, 3]
    # The right half with probability e^epsilon / (1 + e^epsilon), each with its own budget.
    assert default.truths == pytest.approx([0.880797, 0.731059, 0.982014], abs=1e-6)
    given = policy.configure(horizon=60, epsilon=2.0, batch=7, rate=0.3, clip=0.5, **SIZES)
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
        ldp_linear.configure(**{"horizon": 60, "epsilon": 1.0, **SIZES, **changes})


def test_a_network_needs_a_unit():
    with pytest.raises(ValueError, match="width: expected at least 1"):
        ldp_nn.configure(horizon=60, epsilon=1.0, width=0, **SIZES)


def test_users_and_budgets_of_sources():
    users, budgets = users_and_budgets(100, 1.0, epsilon_aux="2 8", source_users=[30, 5])
    assert (users.tolist(), budgets.tolist()) == ([100, 30, 5], [1, 2, 8])
    users, budgets = users_and_budgets(100, 1.0, M=2, n_aux=7, epsilon_aux=4)
    assert (users.tolist(), budgets.tolist()) == ([100, 7, 7], [1, 4, 4])
    users, budgets = users_and_budgets(100, 1.0, M=2, n_aux=7, epsilon_aux="2 8", auxiliary="without")
    assert (users.tolist(), budgets.tolist()) == ([100], [1])
