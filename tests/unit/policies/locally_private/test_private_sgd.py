"""Check Linear and NN: messages against numerical gradients, choices, effects of sources, bad input."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import labelled_users
from privarms.mechanisms import l2_ball
from privarms.policies.locally_private import ldp_linear, ldp_nn
from privarms.protocols.locally_private import new_record, run

SIZES = {"K": 3, "dimensions": 2, "source_users": [5, 3]}


@pytest.fixture
def environment(data):
    return labelled_users.configure(str(data[0]))


def layers(weights, d, width):
    """Return W [width, d], b [width], v [width] and c of one arm."""
    W, rest = weights[: width * d].reshape(width, d), weights[width * d :]
    return W, rest[:width], rest[width : 2 * width], rest[-1]


def score(weights, x, width):
    """Return z: w x + b, or v max(W x + b, 0) + c."""
    if width == 0:
        return weights[:-1] @ x + weights[-1]
    W, b, v, c = layers(weights, len(x), width)
    return v @ np.maximum(W @ x + b, 0) + c


def loss(weights, x, reward, width):
    z = score(weights, x, width)
    return math.log1p(math.exp(z)) - reward * z


def differences(weights, x, reward, width):
    """Return the gradient of the loss, from differences."""
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
    # Steps after users 4 and 7: a full batch, and the remaining users.
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
