"""The indices once more, in plain numpy: what an arm is worth in round t after n rewards of the sum s.

All take numbers or arrays of one shape, and the settings of a cell: K, horizon, and what the policy takes of epsilon,
width, delta and ratio; alpha is the paper's. They share no line with the policies, on purpose.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.special

ALPHA = 3.1
"""Azize & Basu 2022, section 5."""


def ucb1(n, s, t, cell):
    """Auer et al. 2002; Sajed & Sheffet 2019, section 2."""
    return s / n + np.sqrt(2 * np.log(t) / n)


def dp_ucb(n, s, t, cell):
    """Ours, for Sajed & Sheffet 2019: (s + gamma) / n + sqrt(2 ln t / n), gamma by the width."""
    return ucb1(n, s, t, cell) + _width(n, cell) / n


def _width(n, cell):
    T, epsilon = cell["horizon"], cell["epsilon"]
    levels = int(np.ceil(np.log2(T)))
    if cell["width"] in ("log2.5", "log3"):
        return levels ** {"log2.5": 1.5, "log3": 2}[cell["width"]] * np.log(T) / epsilon
    nodes = np.bitwise_count(np.asarray(n, np.int64))
    if cell["width"] == "chan":
        # Chan, Shi & Song 2010, Lemma 2.8 and its corollary, at delta = 1 / T.
        log = np.log(2 * T)
        return levels / epsilon * np.sqrt(8) * np.sqrt(np.maximum(nodes, log) * log)
    exact = np.array([laplace_quantile(k, 1 / (2 * T)) if k else 0.0 for k in range(int(nodes.max()) + 1)])
    return levels / epsilon * exact[nodes]


@cache
def laplace_quantile(k: int, tail: float) -> float:
    """What a sum of k >= 1 standard Laplace variables exceeds with probability `tail`, by the laws of two gammas."""

    def beyond(x):
        # With pdf and sf of scipy.stats.gamma, which looks at its arguments at every point.
        def integrand(y):
            pdf = np.exp(scipy.special.xlogy(k - 1.0, y) - y - scipy.special.gammaln(k))
            return pdf * scipy.special.gammaincc(k, x + y)

        return scipy.integrate.quad(integrand, 0, np.inf, epsabs=0, epsrel=1e-11)[0]

    return scipy.optimize.brentq(lambda x: np.log(beyond(x) / tail), 0, 40 + 10 * k, xtol=1e-11)


def ucb(n, s, t, cell):
    """The program of Neel & Roth 2018: s / n + sqrt(ln(2 / delta_t) / (2 n)), delta_t = 1 / (1 + t ln^2 t)."""
    return s / n + np.sqrt(np.log(2 * (1 + t * np.log(t) ** 2)) / (2 * n))


def private_ucb(n, s, t, cell):
    """The same with gamma_t = K ln^2(T) ln(K T ln(T) / delta_t) / epsilon on the sum."""
    K, T = cell["K"], cell["horizon"]
    gamma = K * np.log(T) ** 2 * np.log(K * T * np.log(T) * (1 + t * np.log(t) ** 2)) / cell["epsilon"]
    return ucb(n, s + gamma, t, cell)


def ucb_constant_delta(n, s, t, cell):
    """A revision of that program (February 2018): s / n + sqrt(2 ln(1 / delta) / n)."""
    return s / n + np.sqrt(2 * np.log(1 / cell["delta"]) / n)


def private_ucb_constant_delta(n, s, t, cell):
    """The same with gamma = K ln^2(T) ln(K T ln(T) / delta) / epsilon on the sum."""
    K, T = cell["K"], cell["horizon"]
    gamma = K * np.log(T) ** 2 * np.log(K * T * np.log(T) / cell["delta"]) / cell["epsilon"]
    return ucb_constant_delta(n, s + gamma, t, cell)


def kl_ucb(n, s, t, cell):
    """Garivier & Cappe 2011: the largest q with n kl(s / n, q) <= ln t."""
    return kl_above(s / n, np.log(t) / n)


def adap_ucb(n, s, t, cell):
    """Azize & Basu 2022, (7)."""
    return s / n + np.sqrt(ALPHA * np.log(2 * t) / (2 * n)) + ALPHA * np.log(t) / (cell["epsilon"] * n)


def adap_klucb(n, s, t, cell):
    """Azize & Basu 2022: the largest q with kl(mean + alpha ln t / (epsilon n), q) <= alpha ln t / n."""
    mean = np.clip(s / n + ALPHA * np.log(t) / (cell["epsilon"] * n), 0, 1)
    return kl_above(mean, ALPHA * np.log(t) / n)


def dp_klucb(n, s, t, cell):
    """Azize et al. 2025: the largest q with d_epsilon(mean, q) <= ln t / n."""
    mean, level = np.broadcast_arrays(np.clip(s / n, 0, 1), np.log(t) / n)
    return _above(lambda q: d_epsilon(mean, q, cell["epsilon"]), mean, level)


def kl(p, q):
    """The divergence of Bernoulli(p) from Bernoulli(q), p <= q."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(p > 0, p * np.log(p / q), 0.0)
        zero = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return one + zero


def d_epsilon(x, y, epsilon):
    """Azize et al. 2025: the smallest of kl(z, y) + epsilon (z - x) over z in [x, y], for x <= y.

    Its derivative in z is logit z - logit y + epsilon, 0 where the odds of z are e^-epsilon times those of y.
    """
    with np.errstate(divide="ignore"):
        z = np.clip(1 / (1 + np.exp(epsilon) * (1 - y) / y), x, y)
    return kl(z, y) + epsilon * (z - x)


def kl_above(mean, level):
    """The largest q in [0, 1] with kl(mean, q) <= level, by halving."""
    mean, level = np.broadcast_arrays(mean, level)
    return _above(lambda q: kl(mean, q), mean, level)


def _above(divergence, mean, level):
    low, high = np.array(mean, float), np.ones(np.shape(mean))
    for _ in range(60):
        middle = (low + high) / 2
        inside = divergence(middle) <= level
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    # Nothing below 1 was outside: as near as numbers of this precision come, it is 1.
    return np.where(high == 1, 1.0, low)


def largest(index):
    """(n, s, t, cell) -> the arm of the largest index, the first of equals."""
    return lambda n, s, t, cell: np.argmax(index(n, s, t, cell), axis=-1)


def imed(n, s, t, cell):
    """Honda & Takemura 2015: the arm of the smallest n kl(mean, largest mean) + ln n."""
    mean = s / n
    best = mean.max(axis=-1, keepdims=True)
    return np.argmin(np.where(mean < best, n * kl(np.minimum(mean, best), best), 0) + np.log(n), axis=-1)


def dp_imed(n, s, t, cell):
    """Azize et al. 2025: the arm of the smallest n d_epsilon(mean, largest mean) + ln n."""
    mean = np.clip(s / n, 0, 1)
    best = np.broadcast_to(mean.max(axis=-1, keepdims=True), mean.shape)
    with np.errstate(invalid="ignore"):
        distance = np.where(mean < best, d_epsilon(mean, best, cell["epsilon"]), 0.0)
    return np.argmin(n * distance + np.log(n), axis=-1)


RULES = {
    "ucb1": largest(ucb1),
    "dp_ucb": largest(dp_ucb),
    "ucb": largest(ucb),
    "private_ucb": largest(private_ucb),
    "private_ucb_gamma_only": largest(private_ucb),
    "private_ucb_noise_only": largest(ucb),
    "ucb_constant_delta": largest(ucb_constant_delta),
    "private_ucb_constant_delta": largest(private_ucb_constant_delta),
    "kl_ucb": largest(kl_ucb),
    "imed": imed,
    "adap_ucb": largest(adap_ucb),
    "adap_klucb": largest(adap_klucb),
    "dp_klucb": largest(dp_klucb),
    "dp_imed": dp_imed,
}
"""policy -> (n, s, t, cell) -> the arm of the next pull or batch; n, s: float arrays whose last axis is the arms."""


def next_count(policy: str, pulls: int, cell: Mapping) -> int:
    """How many pulls an arm that has some, or none, has after its next batch."""
    if policy in ("adap_ucb", "adap_klucb"):
        return 2 * pulls if pulls else 1
    m = 1
    while int(np.ceil(cell["ratio"] ** m)) <= pulls:
        m += 1
    return int(np.ceil(cell["ratio"] ** m))


FORGETS = ("adap_ucb", "adap_klucb")
"""Policies whose statistic is that of the last batch alone."""

BATCHED = ("adap_ucb", "adap_klucb", "dp_klucb", "dp_imed")
"""Policies that pull an arm in batches."""
