"""Check linear bandits: policies against regressions with explicit inverses, and records of the protocol."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import linear
from privarms.errors import PrivarmsError
from privarms.policies.bandit import uniform
from privarms.policies.linear import linear_ucb_as_released, oful, private_linear_ucb
from privarms.protocols import linear as protocol

K, D, T = 4, 3, 150


class Regressions:
    """Rows of each arm, and of all arms in the order of the pulls."""

    def __init__(self):
        self.rows = [np.empty((0, D)) for _ in range(K)]
        self.rewards = [np.empty(0) for _ in range(K)]
        self.every = np.empty((0, D))

    def add(self, arm, x, y):
        self.rows[arm] = np.vstack([self.rows[arm], x])
        self.rewards[arm] = np.append(self.rewards[arm], y)
        self.every = np.vstack([self.every, x])

    def best(self, index):
        indices = np.array([index(arm) for arm in range(K)])
        # The lowest arm of those with equal indices up to rounding.
        return int(np.flatnonzero(indices >= indices.max() - 1e-12 * abs(indices.max()))[0])

    def sums(self, arm):
        return self.rows[arm].T @ self.rewards[arm]


class Oful(Regressions):
    def __init__(self, ridge=1.0, beta=0.05):
        super().__init__()
        self.ridge, self.beta = ridge, beta

    def gram(self, arm):
        return self.ridge * np.eye(D) + self.rows[arm].T @ self.rows[arm]

    def estimate(self, arm):
        return np.linalg.inv(self.gram(arm)) @ self.sums(arm), np.linalg.inv(self.gram(arm))

    def index(self, arm, x):
        theta, inverse = self.estimate(arm)
        n = len(self.rewards[arm])
        radius = math.sqrt(D * math.log((1 + n / self.ridge) / self.beta)) + math.sqrt(self.ridge)
        return theta @ x + radius * math.sqrt(x @ inverse @ x)

    def choose(self, contexts, t):
        return self.best(lambda arm: self.index(arm, contexts[arm]))


class AsReleased(Regressions):
    def __init__(self, shared=True):
        super().__init__()
        self.shared = shared
        self.base, self.first = [None] * K, [0] * K

    def add(self, arm, x, y):
        earlier = len(self.rewards[arm])
        super().add(arm, x, y)
        if earlier <= D:
            contexts = self.every if self.shared else self.rows[arm]
            self.base[arm], self.first[arm] = contexts.T @ contexts, earlier + 1

    def estimate(self, arm):
        own = self.rows[arm][self.first[arm] :]
        inverse = np.linalg.pinv(self.base[arm] + own.T @ own, rcond=1e-12, hermitian=True)
        return inverse @ self.sums(arm), inverse

    def choose(self, contexts, t):
        if t <= K:
            return t - 1

        def index(arm):
            theta, inverse = self.estimate(arm)
            width = math.sqrt(2 * K * math.log((1 + len(self.rewards[arm]) / 0.001) / 0.99))
            return theta @ contexts[arm] + width * (contexts[arm] @ inverse @ contexts[arm])

        return self.best(index)


class Private(Oful):
    """Return the nodes: one vector per arm and dyadic range of the arm's pulls."""

    def __init__(self, rng, epsilon, clip=4.0, bonus=True):
        super().__init__()
        self.rng, self.clip = rng, clip
        levels = math.floor(math.log2(T)) + 1
        self.scale = 2 * clip * math.sqrt(D) * levels / epsilon
        doubt = math.log(2 / 0.05)
        self.gamma = self.scale * math.sqrt(8 * doubt) * max(math.sqrt(levels), math.sqrt(doubt)) if bonus else 0.0
        self.nodes = {}

    def add(self, arm, x, y):
        super().add(arm, x, y)
        n = len(self.rewards[arm])
        length = n & -n
        pairs = self.rng.standard_exponential((D, 2))
        rows = slice(n - length, n)
        exact = self.rows[arm][rows].T @ np.clip(self.rewards[arm][rows], -self.clip, self.clip)
        self.nodes[arm, n - length, n] = exact + self.scale * (pairs[:, 0] - pairs[:, 1])

    def sums(self, arm):
        n, total = len(self.rewards[arm]), np.zeros(D)
        while n > 0:
            total += self.nodes[arm, n - (n & -n), n]
            n -= n & -n
        return total

    def index(self, arm, x):
        return super().index(arm, x) + self.gamma * np.linalg.norm(self.estimate(arm)[1] @ x)


def environment_draws(rng, law):
    """Return the true coefficients; the next draws are contexts and noise in turn."""

    def directions(first=0):
        shape = (K, D - first)
        x = 2 * rng.random(shape) - 1 if law == "as_released" else rng.standard_normal(shape)
        return np.pad(x / np.linalg.norm(x, axis=1, keepdims=True), ((0, 0), (first, 0)))

    theta = directions(1 if law == "as_printed" else 0)
    return theta, directions, rng.standard_normal


POLICIES = {
    "oful": (oful, {}, lambda rng: Oful()),
    "oful other": (oful, {"ridge": 0.1, "beta": 0.5}, lambda rng: Oful(0.1, 0.5)),
    "as released": (linear_ucb_as_released, {}, lambda rng: AsReleased()),
    "own contexts": (linear_ucb_as_released, {"shared_contexts": False}, lambda rng: AsReleased(shared=False)),
    "private": (private_linear_ucb, {"horizon": T, "epsilon": 30.0}, lambda rng: Private(rng, 30.0)),
    "no bonus": (
        private_linear_ucb,
        {"horizon": T, "epsilon": 200.0, "clip": 1.0, "bonus": False},
        lambda rng: Private(rng, 200.0, 1.0, False),
    ),
}


def cell(horizon=T):
    return SimpleNamespace(paper="some2020", study="s", policy="toy", environment="linear", horizon=horizon)


def run(policy, params, law="as_printed", replicates=1, horizon=T, seed=1, arms=K, dimensions=D):
    rngs = np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    environment = linear.configure(arms, dimensions, law)
    return protocol.run_block(policy, params, environment, cell(horizon), replicates, *rngs), rngs


@pytest.mark.parametrize("law", ["as_printed", "as_released"])
@pytest.mark.parametrize("name", POLICIES)
def test_same_draws_same_choices_same_record(name, law):
    policy, parameters, reference = POLICIES[name]
    params = policy.configure(K, D, **parameters)
    for seed in range(5):
        theta, directions, noise = environment_draws(np.random.default_rng(seed), law)
        plain, rng = reference(np.random.default_rng(seed + 1000)), np.random.default_rng(seed + 1000)
        state, regret = policy.init(params), 0.0
        for t in range(1, T + 1):
            contexts = directions()
            arm = plain.choose(contexts, t)
            assert policy.choose(params, state, contexts, t, rng) == arm, f"round {t}"
            means = (theta * contexts).sum(axis=1)
            reward = means[arm] + noise()
            regret += means.max() - means[arm]
            plain.add(arm, contexts[arm], reward)
            state = policy.learn(params, state, contexts[arm], arm, reward, t, rng)
            assert state.theta_hat[arm] == pytest.approx(plain.estimate(arm)[0], rel=1e-7, abs=1e-9)
        pulls = [len(rewards) for rewards in plain.rewards]
        assert min(pulls) > D
        assert list(state.pulls) == pulls
        arm = int(np.argmax(pulls))
        tested = [0, int(np.argmax(np.abs(theta[arm])))]

        actual, _ = run(policy, params, law, seed=seed)
        assert list(actual["coordinate"]) == ["zero", "largest"]
        assert list(actual["arm"]) == [arm] * 2
        assert list(actual["pulls"]) == [pulls[arm]] * 2
        assert actual["regret"] == pytest.approx([regret] * 2)
        assert actual["truth"] == pytest.approx(theta[arm, tested])
        estimate, inverse = plain.estimate(arm)
        assert actual["policy_estimate"] == pytest.approx(estimate[tested], rel=1e-7)
        assert actual["policy_variance"] == pytest.approx(np.diag(inverse)[tested], rel=1e-7)
        X = plain.rows[arm]
        assert actual["variance"] == pytest.approx(np.diag(np.linalg.inv(X.T @ X))[tested], rel=1e-7)
        # This uses the original rewards, even if the policy clips them.
        least, *_ = np.linalg.lstsq(X, plain.rewards[arm])
        assert actual["estimate"] == pytest.approx(least[tested], rel=1e-7)


def test_policies_meet_the_same_environment_and_draw_from_their_own_stream():
    states, own = [], []
    for policy, params in (
        (oful, oful.configure(K, D)),
        (linear_ucb_as_released, linear_ucb_as_released.configure(K, D)),
        (private_linear_ucb, private_linear_ucb.configure(K, D, T, 1.0)),
        (uniform, uniform.configure(K)),
    ):
        _, (environment_rng, policy_rng) = run(policy, params, replicates=7)
        states.append(environment_rng.bit_generator.state)
        own.append(policy_rng.bit_generator.state)
    assert states[0] == states[1] == states[2] == states[3]
    untouched = np.random.default_rng(1001).bit_generator.state
    assert [state == untouched for state in own] == [True, True, False, False]


def test_too_few_rows_have_no_estimate():
    # Four rounds, one for each of K = 4 arms.
    actual, _ = run(linear_ucb_as_released, linear_ucb_as_released.configure(K, D), horizon=K)
    assert list(actual["pulls"]) == [1, 1]
    assert list(actual["arm"]) == [0, 0]
    assert np.isnan([actual["estimate"], actual["variance"]]).all()
    assert np.isfinite([actual["policy_estimate"], actual["policy_variance"], actual["truth"]]).all()


def test_the_private_scale_and_width():
    # T = 500 has 9 levels; at delta = 2 exp(-16), l = 16 exceeds the levels.
    params = private_linear_ucb.configure(5, 5, 500, 2.0)
    assert params.levels == 9
    assert params.node_scale == pytest.approx(36 * math.sqrt(5))
    assert params.private_width == pytest.approx(params.node_scale * math.sqrt(8 * math.log(40)) * 3)
    params = private_linear_ucb.configure(5, 5, 500, 2.0, beta=2 * math.exp(-16), bonus=True)
    assert params.private_width == pytest.approx(params.node_scale * math.sqrt(8 * 16) * 4)
    assert private_linear_ucb.configure(5, 5, 500, 2.0, bonus=False).private_width == 0


def test_one_changed_reward_is_worth_epsilon():
    params = private_linear_ucb.configure(K, D, T, 0.7)
    quiet, x, rng = params._replace(node_scale=0.0), np.full(D, D**-0.5), np.random.default_rng(1)
    changed, nodes = {}, {}
    for reward in (-1e9, 1e9):
        state = private_linear_ucb.init(quiet)
        for t in range(1, T + 1):
            # The first reward changes, and every level has a node with this reward.
            state = private_linear_ucb.learn(quiet, state, x, 2, reward if t == 1 else 0.5, t, rng)
            nodes[t] = state.private_sums[2].copy()
        changed[reward] = [nodes[1 << level] for level in range(params.levels)]
    worth = np.abs(np.array(changed[1e9]) - np.array(changed[-1e9])).sum() / params.node_scale
    assert worth == pytest.approx(0.7)


@pytest.mark.parametrize(("arms", "dimensions", "name"), [(K + 1, D, "K"), (K, D + 1, "dimensions")])
def test_policy_and_environment_must_agree(arms, dimensions, name):
    with pytest.raises(PrivarmsError, match=rf"the environment linear has {name} = .* the policy toy has"):
        run(oful, oful.configure(K, D), arms=arms, dimensions=dimensions)
