"""What DP-SE's first epoch decides, by formula, where one arm is best and all others are equally far from it.

Where the gap is wide, all others leave in epoch 1 but for a probability that no number of runs could show.
"""

import numpy as np

from privarms.jit.cache import compiled
from privarms.policies.bandit import dp_se


def first_epoch_regret(gap: float, K: int, horizon: int, epsilon: float) -> tuple[float, float]:
    """The regret of a run in which all other arms leave in epoch 1, and a bound on the probability of any other regret.

    Rewards in [0, 1], one arm of K better than the others by `gap`, beta = 1 / horizon. The difference of two private
    means has by Hoeffding's lemma ln E exp(s (difference - mean)) <= s^2 / (4 r) - 2 ln(1 - (s b)^2), with r pulls of
    an arm and Laplace noise of scale b < 1 / s. Chernoff's bound is summed over the K - 1 arms that might stay and the
    K - 1 that might drive out the best one.
    """
    params = dp_se.parameters(K, horizon, epsilon, None)
    pulls = float(np.ceil(compiled(dp_se.epoch_length)(params, K, 1)))
    scale, margin = compiled(dp_se.noise_scale)(params, K, 1), compiled(dp_se.elimination_margin)(params, K, 1)
    regret = gap * (K - 1) * pulls
    if K * pulls > horizon or gap <= margin:
        return regret, 1.0
    s = np.linspace(0, 1 / scale, 1001)[1:-1]
    least = (s**2 / (4 * pulls) - 2 * np.log1p(-((s * scale) ** 2)) - s * (gap - margin)).min()
    return regret, min(1.0, 2 * (K - 1) * float(np.exp(least)))
