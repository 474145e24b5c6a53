"""Levels and p-values corrected for adaptivity by max-information (section 4 of Neel & Roth 2018).

With x the bound of Theorem 4 in nats, a private selector makes an event whose probability is q on fresh data happen
with probability at most e^x q + beta. So p <= gamma(alpha) = (alpha - beta) e^-x happens with probability at most
alpha: Theorem 3 with 2^k, k in bits, where the paper prints 2k; the inner logarithm of Theorem 4 is natural.

  corrected_level, corrected_p_value   valid
  printed_level (Corollary 2)          of level alpha + beta, not alpha
  released_level                       not valid at any level

epsilon is that of reward privacy, delta = 0; the rows of the tableau are independent. All functions broadcast over
arrays and raise ValueError outside their ranges: epsilon > 0, horizon >= 1, alpha and beta in (0, 1).
"""

import numpy as np
from scipy.stats import binom

from privarms.ranges import at_least, positive, strictly_within, within


def max_information_nats(epsilon, horizon, beta):
    """x = epsilon^2 T / 2 + epsilon sqrt(T ln(2/beta) / 2): Theorem 4 in nats, with n = T, one row per round.

    Theorem 4 prints bits, k = x log2(e), so that 2^k = e^x.
    """
    epsilon, horizon, beta = _setting(epsilon, horizon, beta=beta)
    return epsilon**2 * horizon / 2 + epsilon * np.sqrt(horizon * np.log(2 / beta) / 2)


def log_corrected_level(alpha, epsilon, horizon, beta):
    """ln gamma(alpha) = ln(alpha - beta) - x, which does not underflow; -inf where beta >= alpha."""
    x = max_information_nats(epsilon, horizon, beta)
    strictly_within(0, 1, alpha=alpha)
    difference = np.maximum(np.subtract(alpha, beta), 0.0)
    with np.errstate(divide="ignore"):
        return np.log(difference) - x


def corrected_level(alpha, epsilon, horizon, beta):
    """gamma(alpha) = max(alpha - beta, 0) e^-x: Theorem 3. Valid: rejecting where p <= gamma(alpha) has level alpha.

    beta must be fixed before the data are seen. Where this is 0 (beta >= alpha, or e^-x below the smallest float), do
    not reject even p = 0.
    """
    return np.exp(log_corrected_level(alpha, epsilon, horizon, beta))


def best_beta(epsilon, horizon, alpha):
    """The beta in (0, alpha) with the highest gamma(alpha).

    It depends on nothing that is observed, so it may be used in `corrected_level` at the same alpha. With
    c = epsilon sqrt(T / 2), L = ln(2 / alpha) and beta = alpha e^-w, the derivative of ln gamma in w is
    1 / (e^w - 1) - c / (2 sqrt(L + w)), which changes sign once, from + to -, at w = ln(1 + 2 sqrt(L + w) / c). The
    right-hand side has a derivative in (0, 1 / (2 L)], and 2 L > 2 ln 2 = 1.38: iterating it from any w >= 0 converges.
    """
    epsilon, horizon, alpha = _setting(epsilon, horizon, alpha=alpha)
    c, L = epsilon * np.sqrt(horizon / 2), np.log(2 / alpha)
    w = np.zeros(np.broadcast_shapes(c.shape, L.shape))
    for _ in range(120):  # the error shrinks by 0.72 or better each time: 1e-17 of the first step
        w = np.log1p(2 * np.sqrt(L + w) / c)
    # Where c is so large that beta would round to alpha, the next smaller float is as good.
    return np.minimum(alpha * np.exp(-w), np.nextafter(alpha, 0))[()]


def corrected_p_value(p, epsilon, horizon, beta):
    """min(1, p e^x + beta): the smallest alpha at which `corrected_level` with this beta rejects. Valid.

    p: in [0, 1]; 0 is taken for the smallest positive float, so that a p-value that underflows does not reject where
    `corrected_level` is 0. beta must be fixed before the data are seen: the smallest of these over several beta is not
    a p-value. No result is below beta; `best_beta` at the level that matters is a good choice.
    """
    x = max_information_nats(epsilon, horizon, beta)
    p = np.asarray(p, float)
    within(0, 1, p=p)
    # p e^x through its logarithm, cut off at 1, since e^x can overflow.
    log_p = np.log(np.maximum(p, np.nextafter(0, 1)))
    return np.minimum(np.exp(np.minimum(log_p + x, 0.0)) + np.asarray(beta, float), 1.0)


def printed_level(alpha, epsilon, horizon, beta):
    """alpha / 2^k = alpha e^-x: Corollary 2 as printed. Its level is alpha + beta, not alpha as the paper says."""
    x = max_information_nats(epsilon, horizon, beta)
    strictly_within(0, 1, alpha=alpha)
    return np.asarray(alpha, float) * np.exp(-x)


def released_level(alpha, epsilon, pulls):
    """alpha / (e x'), x' = epsilon^2 n / 2 + epsilon sqrt(n ln 2): what the authors' released program does.

    pulls: n >= 1, of the tested arm. Not valid: it divides by e x', which is at most e^x', where Theorem 3 divides by
    e^x; it takes beta = 1, at which Theorem 4 says nothing, and the arm's pulls, which are data, for T. It does not
    halve ln(2/beta) under the root, as Theorem 4 does, which lowers the level a little. Where x' < 1/e it raises the
    level, even above 1.
    """
    positive(epsilon=epsilon)
    at_least(1, pulls=pulls)
    strictly_within(0, 1, alpha=alpha)
    alpha, epsilon, pulls = (np.asarray(x, float) for x in (alpha, epsilon, pulls))
    return alpha / (np.e * (epsilon**2 * pulls / 2 + epsilon * np.sqrt(pulls * np.log(2))))


def response_rejections(level, epsilon, horizon):
    """P[p <= level] under the null when a private policy picks the tested statistic; exact, and far above `level`.

    Two arms of mean 1/2, rewards 0 or 1. The choice of round t + 1 answers with the reward of round t, right with
    probability e^eps / (1 + e^eps). Each reward decides one answer: the T choices are epsilon-reward-private. The
    statistic counts the rounds before the last whose reward is the next choice: binomial(T - 1, 1/2) for choices that
    were made without the data.
    """
    epsilon, horizon, level = _setting(epsilon, horizon, level=level)
    n = horizon - 1
    # The fewest such rounds that reject. The quantile is one off where its probability is `level` itself, or rounds.
    fewest = binom.isf(level, n, 0.5)
    fewest = fewest + (binom.sf(fewest - 1, n, 0.5) > level)
    return binom.sf(fewest - 1, n, 1 / (1 + np.exp(-epsilon)))


def _setting(epsilon, horizon, **level) -> list[np.ndarray]:
    positive(epsilon=epsilon)
    at_least(1, horizon=horizon)
    strictly_within(0, 1, **level)
    return [np.asarray(x, float) for x in (epsilon, horizon, *level.values())]
