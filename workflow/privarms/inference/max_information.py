"""Levels and p-values corrected for adaptivity by max-information (section 4 of Neel & Roth 2018).

Let x be the bound of Theorem 4 in nats. If an event has probability q on fresh data, a private selector makes it happen
with probability at most e^x q + beta. So p <= gamma(alpha) = (alpha - beta) e^-x has probability at most alpha. This is
Theorem 3 with 2^k (k in bits) where the paper prints 2k; the inner logarithm of Theorem 4 is natural.

epsilon is that of reward privacy, delta = 0; the rows of the tableau are independent. All functions broadcast over
arrays and raise ValueError outside their ranges: epsilon > 0 and finite, horizon a whole number >= 1, alpha and beta in
(0, 1). For an epsilon so large that epsilon^2 overflows, x is inf, and a corrected level 0.
"""

import numpy as np
from scipy.stats import binom

from privarms.ranges import positive, strictly_within, whole, within


def max_information_nats(epsilon, horizon, beta):
    """Return x = epsilon^2 T / 2 + epsilon sqrt(T ln(2/beta) / 2): Theorem 4 in nats, with n = T, one row per round.

    Theorem 4 prints bits, k = x log2(e), so 2^k = e^x. The result is inf if it overflows.
    """
    epsilon, horizon, beta = _setting(epsilon, horizon, beta=beta)
    with np.errstate(over="ignore"):
        return epsilon**2 * horizon / 2 + epsilon * np.sqrt(horizon * np.log(2 / beta) / 2)


def log_corrected_level(alpha, epsilon, horizon, beta):
    """Return ln gamma(alpha) = ln(alpha - beta) - x, which does not underflow; -inf if beta >= alpha or x is inf."""
    x = max_information_nats(epsilon, horizon, beta)
    strictly_within(0, 1, alpha=alpha)
    difference = np.maximum(np.subtract(alpha, beta), 0.0)
    with np.errstate(divide="ignore"):
        return np.log(difference) - x


def corrected_level(alpha, epsilon, horizon, beta):
    """Return gamma(alpha) = max(alpha - beta, 0) e^-x: Theorem 3. Rejecting if p <= gamma(alpha) has level alpha.

    Fix beta before you see the data. If the result is 0 (beta >= alpha, or e^-x below the smallest float), do not
    reject even p = 0.
    """
    return np.exp(log_corrected_level(alpha, epsilon, horizon, beta))


def best_beta(epsilon, horizon, alpha):
    """Return the beta in (0, alpha) with the highest gamma(alpha).

    It does not depend on the data, so `corrected_level` may use it at the same alpha. Let c = epsilon sqrt(T / 2),
    L = ln(2 / alpha) and beta = alpha e^-w. The derivative of ln gamma in w is 1 / (e^w - 1) - c / (2 sqrt(L + w)). It
    changes sign once, from + to -, at w = ln(1 + 2 sqrt(L + w) / c). The right-hand side has a derivative in (0,
    1 / (2 L)], and 2 L > 2 ln 2 = 1.38, so its iteration converges from any w >= 0.
    """
    epsilon, horizon, alpha = _setting(epsilon, horizon, alpha=alpha)
    # For extreme c, which may overflow, beta rounds to alpha or to 0; take the float next to it.
    with np.errstate(over="ignore"):
        c, L = epsilon * np.sqrt(horizon / 2), np.log(2 / alpha)
        w = np.zeros(np.broadcast_shapes(c.shape, L.shape))
        for _ in range(120):  # the error shrinks by a factor of 0.72 or less each time: to 1e-17 of the first step
            w = np.log1p(2 * np.sqrt(L + w) / c)
    return np.clip(alpha * np.exp(-w), np.nextafter(0, 1), np.nextafter(alpha, 0))[()]


def corrected_p_value(p, epsilon, horizon, beta):
    """Return min(1, p e^x + beta): the smallest alpha at which `corrected_level` with this beta rejects. Valid.

    p: in [0, 1]; 0 counts as the smallest positive float, so a p-value that underflows does not reject if
    `corrected_level` is 0. Fix beta before you see the data: the smallest result over several beta is not a p-value. No
    result is below beta; a good choice is `best_beta` at the level of the test.
    """
    x = max_information_nats(epsilon, horizon, beta)
    within(0, 1, p=p)
    p = np.asarray(p, float)
    # Use the logarithm, cut off at 0, because e^x can overflow.
    log_p = np.log(np.maximum(p, np.nextafter(0, 1)))
    return np.minimum(np.exp(np.minimum(log_p + x, 0.0)) + np.asarray(beta, float), 1.0)


def printed_level(alpha, epsilon, horizon, beta):
    """Return alpha / 2^k = alpha e^-x: Corollary 2 as printed. Its level is alpha + beta; the paper states alpha."""
    x = max_information_nats(epsilon, horizon, beta)
    strictly_within(0, 1, alpha=alpha)
    return np.asarray(alpha, float) * np.exp(-x)


def released_level(alpha, epsilon, pulls):
    """Return alpha / (e x'), x' = epsilon^2 n / 2 + epsilon sqrt(n ln 2), as in the authors' released program.

    pulls: n, a whole number >= 1, of the tested arm

    Not valid, for three reasons. It divides by e x', which is at most e^x', while Theorem 3 divides by e^x. It takes
    beta = 1, for which Theorem 4 makes no statement. It uses the arm's pulls, which are data, instead of T. Unlike
    Theorem 4 it does not halve ln(2/beta) under the root, which lowers the level slightly. If x' < 1/e it raises the
    level, even above 1, and to inf if x' is smaller than floats can divide by.
    """
    positive(epsilon=epsilon)
    whole(1, pulls=pulls)
    strictly_within(0, 1, alpha=alpha)
    alpha, epsilon, pulls = (np.asarray(x, float) for x in (alpha, epsilon, pulls))
    with np.errstate(over="ignore"):
        return alpha / (np.e * (epsilon**2 * pulls / 2 + epsilon * np.sqrt(pulls * np.log(2))))


def response_rejections(level, epsilon, horizon):
    """Return P[p <= level] under the null if a private policy picks the tested statistic; exact, far above `level`.

    Two arms of mean 1/2, rewards 0 or 1. The choice of round t + 1 repeats the reward of round t with probability
    e^eps / (1 + e^eps). Each reward affects one choice, so the T choices are epsilon-reward-private. The statistic
    counts the rounds before the last whose reward equals the next choice. It is binomial(T - 1, 1/2) if the choices are
    made without the data.
    """
    epsilon, horizon, level = _setting(epsilon, horizon, level=level)
    n = horizon - 1
    # The smallest count that rejects. The quantile is one too small if its tail probability is `level` or rounds to it.
    fewest = binom.isf(level, n, 0.5)
    fewest = fewest + (binom.sf(fewest - 1, n, 0.5) > level)
    return binom.sf(fewest - 1, n, 1 / (1 + np.exp(-epsilon)))


def _setting(epsilon, horizon, **level) -> list[np.ndarray]:
    positive(epsilon=epsilon)
    whole(1, horizon=horizon)
    strictly_within(0, 1, **level)
    return [np.asarray(x, float) for x in (epsilon, horizon, *level.values())]
