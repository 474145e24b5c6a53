"""Check max-information corrections: closed forms worked by hand, and beta against a dense grid."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from privarms.inference import max_information as mi

# epsilon = 0.1, T = 500, beta = 0.01: 2.5 + 0.1 sqrt(250 ln 200) = 2.5 + 0.1 sqrt(250 * 5.298317366548036)
X = 6.139477080072094


def test_theorem_4():
    assert mi.max_information_nats(0.1, 500, 0.01) == pytest.approx(X, rel=1e-13)
    # epsilon = 1/sqrt(T): 1/2 + sqrt(ln(2/beta)/2), independent of T.
    for T in (1, 500, 10**6):
        actual = mi.max_information_nats(1 / np.sqrt(T), T, 0.02)
        assert actual == pytest.approx(0.5 + np.sqrt(np.log(100) / 2), rel=1e-12)


def test_theorem_3_divides_by_e_to_the_x():
    assert mi.corrected_level(0.05, 0.1, 500, 0.01) == pytest.approx(0.04 * np.exp(-X), rel=1e-12)
    assert mi.log_corrected_level(0.05, 0.1, 500, 0.01) == pytest.approx(np.log(0.04) - X, rel=1e-12)
    for beta in (0.05, 0.06):
        assert mi.corrected_level(0.05, 0.1, 500, beta) == 0
        assert mi.log_corrected_level(0.05, 0.1, 500, beta) == -np.inf


def test_the_logarithm_does_not_underflow():
    # 25000 + 10 sqrt(250 ln 80) nats
    expected = np.log(0.025) - 25000 - 10 * np.sqrt(250 * np.log(80))
    assert mi.log_corrected_level(0.05, 10, 500, 0.025) == pytest.approx(expected, rel=1e-13)
    assert mi.corrected_level(0.05, 10, 500, 0.025) == 0


def test_corollary_2_as_printed_lacks_beta():
    assert mi.printed_level(0.05, 0.1, 500, 0.01) == pytest.approx(0.05 * np.exp(-X), rel=1e-12)
    # This is Theorem 3 at level alpha + beta.
    assert mi.printed_level(0.05, 0.1, 500, 0.01) == pytest.approx(mi.corrected_level(0.06, 0.1, 500, 0.01), rel=1e-12)


def test_the_released_level():
    # x' = 0.2^2 50 / 2 + 0.2 sqrt(50 ln 2) = 1 + 0.2 * 5.887050112577373; alpha / (e x'); ln 2 is not halved.
    assert mi.released_level(0.05, 0.2, 50) == pytest.approx(0.05 / (2.718281828459045 * 2.1774100225154747), rel=1e-12)
    # For few pulls the formula raises the level, even above 1.
    assert mi.released_level(0.05, 0.05, 25) > 0.05
    assert mi.released_level(0.05, 0.001, 1) > 1
    # 1 / (e x') exceeds e^-x', since x' e^(1 - x') <= 1: it allows more than e^-x' would with the same x'.
    assert mi.released_level(0.05, 1, 100) > 0.05 * np.exp(-(50 + np.sqrt(100 * np.log(2))))


EXTREMES = [
    (1e-4, 1, 0.05), (1e-4, 10**6, 0.05), (0.05, 500, 0.05), (0.1, 500, 1e-6), (1.0, 500, 0.5),
    (10.0, 500, 0.05), (400.0, 100_000, 0.01), (400.0, 10**6, 0.05), (400.0, 1, 0.999), (1e-4, 500, 0.999),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "T", "alpha"), EXTREMES)
def test_the_best_beta_is_better_than_a_dense_grid(epsilon, T, alpha):
    best = mi.best_beta(epsilon, T, alpha)
    assert 0 < best < alpha
    # The grid is dense at both ends: beta far below alpha, and alpha - beta far below alpha.
    small = alpha * np.geomspace(1e-12, 0.5, 200_001)
    grid = np.concatenate([small, alpha - small[small / alpha > 1e-9]])
    on_grid = mi.log_corrected_level(alpha, epsilon, T, grid)
    at_best = mi.log_corrected_level(alpha, epsilon, T, best)
    # The result is at least the grid's best up to rounding, and exceeds it at most by the grid spacing.
    slack = 1e-12 * abs(at_best) + 1e-6
    assert on_grid.max() - 1e-12 * abs(at_best) - 1e-9 < at_best < on_grid.max() + slack
    assert best == pytest.approx(grid[on_grid.argmax()], rel=0.01)


def test_the_best_beta_stays_below_alpha_where_floats_end():
    assert 0 < mi.best_beta(1e30, 10**6, 0.05) < 0.05
    assert np.isfinite(mi.log_corrected_level(0.05, 1e30, 10**6, mi.best_beta(1e30, 10**6, 0.05)))


def test_the_corrected_p_value_is_where_the_corrected_level_begins_to_reject():
    p = np.array([1e-9, 1e-6, 1e-5, 1e-4])
    corrected = mi.corrected_p_value(p, 0.1, 500, 0.01)
    assert corrected == pytest.approx(p * np.exp(X) + 0.01, rel=1e-12)
    assert (p <= mi.corrected_level(corrected * (1 + 1e-9), 0.1, 500, 0.01)).all()
    assert (p > mi.corrected_level(corrected * (1 - 1e-9), 0.1, 500, 0.01)).all()


def test_the_corrected_p_value_is_between_beta_and_1():
    assert mi.corrected_p_value(0.0, 0.1, 500, 0.01) == 0.01
    assert mi.corrected_p_value(0.5, 0.1, 500, 0.01) == 1
    with np.errstate(over="raise"):
        # A p-value of 0 may be an underflow, so it does not reject if `corrected_level` is 0.
        assert mi.corrected_p_value([0.0, 1e-300, 1.0], 400, 10**6, 0.02).tolist() == [1.0, 1.0, 1.0]


def test_the_selector_that_answers_with_the_last_reward():
    """Return rejections and the privacy of choices for all sequences of 5 rewards, by enumeration."""
    T, epsilon, level = 5, 0.7, 0.1
    right = np.exp(epsilon) / (1 + np.exp(epsilon))
    streams = np.array(list(itertools.product((0, 1), repeat=T)))
    answers = streams[:, : T - 1][:, None] == np.array(list(itertools.product((0, 1), repeat=T - 1)))[None]
    # [stream, choices]: the probability of the choices, and whether the test rejects.
    probability = np.where(answers, right, 1 - right).prod(axis=2)
    agreeing = answers.sum(axis=2)
    p = np.array([binom.sf(k - 1, T - 1, 0.5) for k in range(T)])[agreeing]
    rejected = ((p <= level) * probability).sum(axis=1).mean()
    assert mi.response_rejections(level, epsilon, T) == pytest.approx(rejected)
    neighbours = [(i, j) for i, j in itertools.combinations(range(2**T), 2) if abs(streams[i] - streams[j]).sum() == 1]
    losses = [abs(np.log(probability[i] / probability[j])).max() for i, j in neighbours]
    assert max(losses) == pytest.approx(epsilon)
    # A p-value equal to the level rejects.
    exact = mi.response_rejections(1 / 16, epsilon, T)
    assert exact == pytest.approx(right**4)


def test_a_budget_whose_square_overflows_rejects_nothing():
    with np.errstate(over="raise"):
        assert mi.max_information_nats(1e300, 500, 0.01) == np.inf
        assert mi.corrected_level(0.05, 1e300, 500, 0.01) == mi.printed_level(0.05, 1e300, 500, 0.01) == 0
        assert mi.corrected_p_value(1e-300, 1e300, 500, 0.01) == 1
        assert mi.released_level(0.05, 1e300, 500) == 0
        assert 0 < mi.best_beta(1e-320, 500, 0.05) < 0.05
