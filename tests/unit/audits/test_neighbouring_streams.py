"""Check the privacy audit of DP-SE: neighbouring reward sequences, the exact ratio, the counts."""

import numpy as np
import pytest

from privarms.audits.events import neighbouring_streams
from privarms.audits.events.neighbouring_streams import Inputs
from privarms.policies.bandit import dp_se

T = 50_000_000


def streams(K=20, epsilon=0.5, **more):
    return [neighbouring_streams.configure(K=K, horizon=T, epsilon=epsilon, neighbour=s, **more) for s in (0, 1)]


def chance(params, sums, eliminated):
    return neighbouring_streams.probability(params, Inputs(np.array(sums), eliminated, 0))


def test_the_streams_differ_in_one_reward_of_the_leader():
    # Worked by hand: R_1 = 2919.75 and (2 h_1 + 2 c_1) r = 453.38; 3 scales are 3 / 0.5 = 6 rewards; 730 = 2920 / 4.
    first, second = streams()
    assert first.reward_sums.tolist() == [730 + 447] + [730] * 19
    assert second.reward_sums.tolist() == [730 + 448] + [730] * 19
    assert first.eliminated == second.eliminated == 10


# Two arms: the other arm is eliminated if Lap - Lap' > z scales, with probability (2 + z) e^-z / 4.
@pytest.mark.parametrize(("noise", "lead"), [(1.0, 0), (1.0, 300), (0.5, 300), (2.0, -50)])
def test_the_event_probability_of_two_arms_is_that_of_a_difference_of_two_laplace_draws(noise, lead):
    params = dp_se.configure(K=2, horizon=T, epsilon=0.1, noise=noise)
    margin, scale = dp_se.elimination_margin(params, 2, 1), dp_se.noise_scale(params, 2, 1)
    z = (margin - lead / np.ceil(dp_se.epoch_length(params, 2, 1))) / scale
    expected = (2 + z) * np.exp(-z) / 4
    actual = chance(params, [500 + lead, 500], 1)
    assert actual == pytest.approx(expected, rel=1e-8)


def test_the_event_probability_counts_arms_that_other_arms_eliminate():
    # With equal sums each of three arms is eliminated with the same probability. E[others out] = P(1 or more) + P(2).
    # P(a given arm is out) is an integral over the maximum x of the two others, of F(x - margin).
    params = dp_se.configure(K=3, horizon=T, epsilon=1e-4, beta=0.99)
    scale = dp_se.noise_scale(params, 3, 1)
    margin = dp_se.elimination_margin(params, 3, 1) / scale

    def cdf(x):
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    x = np.linspace(-40, 60, 2_000_001)
    out = np.trapezoid(2 * cdf(x) * np.exp(-np.abs(x)) / 2 * cdf(x - margin), x)
    one, two = (chance(params, [10.0] * 3, m) for m in (1, 2))
    assert one + two == pytest.approx(2 * out, rel=1e-8)
    assert two < one


def test_the_exact_ratio_reaches_epsilon_at_nominal_noise_and_exceeds_it_at_half():
    for epsilon in (0.25, 0.5, 1.0):
        nominal = dp_se.configure(K=20, horizon=T, epsilon=epsilon)
        halved = dp_se.configure(K=20, horizon=T, epsilon=epsilon, noise=0.5)
        pair = streams(epsilon=epsilon)
        assert neighbouring_streams.AUDIT.loss(nominal, pair) == pytest.approx(epsilon, abs=1e-6)
        assert neighbouring_streams.AUDIT.loss(nominal, pair) <= epsilon
        assert neighbouring_streams.AUDIT.loss(halved, pair) == pytest.approx(2 * epsilon, abs=1e-6)


def test_no_ratio_exceeds_epsilon_whatever_the_event():
    for K, lead in ((3, 0), (4, 10), (20, 300)):
        params = dp_se.configure(K=K, horizon=T, epsilon=0.25)
        for eliminated in {1, K // 2, K - 1}:
            pair = [Inputs(np.array([500.0 + lead + n] + [500.0] * (K - 1)), eliminated, n) for n in (0, 1)]
            assert abs(neighbouring_streams.AUDIT.loss(params, pair)) <= 0.25 + 1e-9
