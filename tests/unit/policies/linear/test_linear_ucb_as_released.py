"""The released linear UCB: what it keeps up to date for choices, against decompositions at every pull."""

import numpy as np
import pytest
from numba import njit

from privarms.environments import linear
from privarms.policies.linear import linear_ucb_as_released as released


@njit
def decomposed(gram):
    return np.linalg.pinv(gram, released.RANK_TOLERANCE)


class Decomposing:
    """The program's updates as they are described; the last bits are those of a kernel's own decomposition."""

    def __init__(self, K, d):
        self.K, self.d = K, d
        self.state = released.init(released.configure(K, d))
        self.gram = np.zeros((d, d))

    def learn(self, params, x, arm, reward):
        state = self.state
        n = state.pulls[arm]
        for i in range(self.d):
            for j in range(self.d):
                self.gram[i, j] += x[i] * x[j]
        inverse = decomposed(self.gram) if n <= self.d else None
        # As an arm with more pulls than dimensions, which has its own inverse, and no arm is young.
        state.young[0] = 0
        state.pulls[arm] = max(n, self.d + 1)
        released.learn(params, state, x, arm, reward, 0, None)
        state.pulls[arm] = n + 1
        if inverse is not None:
            state.inverse[arm] = inverse
            for i in range(self.d):
                total = 0.0
                for j in range(self.d):
                    total += inverse[i, j] * state.reward_sums[arm, j]
                state.theta_hat[arm, i] = total
        bonus = np.log((1 + state.pulls[arm] / params.ridge) / params.beta)
        state.radius[arm] = np.sqrt(2 * self.K * bonus)


@pytest.mark.parametrize(("K", "d"), [(5, 5), (4, 3), (2, 7), (3, 1)])
def test_choices_and_what_is_recorded_are_those_of_decompositions(K, d):
    params = released.configure(K, d)
    environment, rng = linear.configure(K, max(d, 2), "as_released"), np.random.default_rng(d)
    contexts = np.zeros((K, max(d, 2)))
    for _ in range(20):
        state, plain = released.init(params), Decomposing(K, d)
        for t in range(1, 121):
            linear.draw_contexts(environment, contexts, rng)
            shown = np.ascontiguousarray(contexts[:, :d])
            arm = released.choose(params, state, shown, t, rng)
            assert arm == released.choose(params, plain.state, shown, t, rng), f"round {t}"
            reward = shown[arm].sum() / 2 + rng.standard_normal()
            released.learn(params, state, shown[arm], arm, reward, t, rng)
            plain.learn(params, shown[arm], arm, reward)
            grown = state.pulls > d
            assert (state.inverse[grown] == plain.state.inverse[grown]).all()
            assert (state.theta_hat[grown] == plain.state.theta_hat[grown]).all()
            assert state.young[0] == (~grown).sum()
            # Rounding of matrices whose condition is up to some 10^8, relative to what is added up.
            sizes = np.abs(plain.state.inverse).max(axis=2) * np.abs(plain.state.reward_sums).sum(axis=1)[:, None]
            assert (np.abs(state.theta_hat - plain.state.theta_hat) <= 1e-7 * sizes).all()
        assert list(state.pulls) == list(plain.state.pulls)
        assert state.rank[0] == d or state.volume[0] <= released.FLAT


@pytest.mark.parametrize("length", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("off", [0.0, 1e-9, 9e-4, 2e-3])
def test_contexts_that_are_nearly_in_a_plane_are_decomposed(off, length):
    # The third is in the plane of the first two but for `off`: the three span 0.8 `off`.
    params = released.configure(3, 3)
    state, plain = released.init(params), Decomposing(3, 3)
    flat = (0.8 * off) ** 2 <= released.FLAT
    for t, x in enumerate(([1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.8, 0.6, off], [0.0, 0.0, 1.0], [0.1, 0.2, 0.5]), 1):
        x = length * np.array(x)
        released.learn(params, state, x, t % 3, 1.0, t, None)
        plain.learn(params, x, t % 3, 1.0)
        if flat and t >= 3:
            assert (state.inverse[t % 3] == plain.state.inverse[t % 3]).all()
        largest = np.abs(plain.state.inverse[t % 3]).max()
        assert state.inverse[t % 3] == pytest.approx(plain.state.inverse[t % 3], abs=1e-6 * largest)
    assert (state.volume[0] <= released.FLAT) == flat
    assert state.rank[0] == 3


def test_rounding_does_not_grow_from_context_to_context():
    # Each is nearly in the span of those before; the contexts' own inverse is known better than that of their squares.
    d, rng, worst = 6, np.random.default_rng(8), 0.0
    for _ in range(200):
        x, state = np.zeros((d, d)), released.init(released.configure(2, d))
        for t in range(d):
            x[t, :t] = rng.standard_normal(t)
            x[t] *= np.sqrt(0.9) / max(np.linalg.norm(x[t]), 1e-300)
            x[t, t] = np.sqrt(0.1) if t else 1.0
            released.learn(released.configure(2, d), state, x[t], 0, 0.0, t + 1, None)
        inverse = np.linalg.inv(x)
        exact = inverse @ inverse.T
        assert state.rank[0] == d
        assert state.volume[0] == pytest.approx(0.1**5)
        worst = max(worst, np.abs(state.shared_inverse - exact).max() / np.abs(exact).max())
    # The condition of their squares is some 10^5, times 2^-53.
    assert worst < 1e-11
