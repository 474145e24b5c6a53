"""Check the distributions of rewards against SciPy's."""

import numpy as np
import pytest
from scipy.stats import kstest, norm, truncnorm

from privarms.environments import reward_laws

LOW, HIGH = -0.3, 0.7


def drawn(law, mean, n=20_000):
    arms = reward_laws.configure(2, mean, mean, law)
    rng = np.random.default_rng([3, reward_laws.LAWS.index(law)])
    return np.array([arms.pull(arms, 1, rng) for _ in range(n)])


def test_the_mean_of_a_truncated_normal_is_scipys():
    for low, high in ((LOW, HIGH), (-1.0, 0.0), (0.0, 1.0)):
        assert reward_laws.truncated_mean(low, high) == pytest.approx(truncnorm.mean(low, high), rel=1e-12)


# Kolmogorov-Smirnov test at level 1e-5: one false alarm in 10^5 seeds.
def test_normal_rewards():
    assert kstest(drawn("normal", 0.3), norm(0.3).cdf).pvalue > 1e-5


@pytest.mark.parametrize("mean", [0.3, 1.0, 0.05])
def test_truncated_rewards_have_the_arms_mean(mean):
    law = truncnorm(-mean, 1 - mean)
    assert kstest(drawn("truncated_normal", mean), lambda x: law.cdf(x - mean + law.mean())).pvalue > 1e-5


def test_bernoulli_rewards():
    rewards = drawn("bernoulli", 0.3)
    assert set(rewards) == {0.0, 1.0}
    # 4.5 standard deviations: a false alarm of 7e-6.
    assert abs(rewards.mean() - 0.3) < 4.5 * np.sqrt(0.21 / 20_000)


def test_means_are_a_ladder():
    assert reward_laws.configure(3, 1.0, -1.0, "normal").means == pytest.approx([1, 0, -1])
    for law in ("bernoulli", "truncated_normal"):
        with pytest.raises(ValueError, match=r"found bottom -1\.0 and top 1\.0"):
            reward_laws.configure(3, 1.0, -1.0, law)
