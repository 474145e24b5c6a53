"""Indices of bandit policies in plain numpy, written from the papers without code of the library.

Each function returns the index of each arm. n and s are arrays of one shape: the pulls and the sums of (private)
rewards. t is the next round, T the horizon. `RULES` chooses the arm.
"""

import numpy as np

ALPHA = 3.1
"""Azize & Basu 2022, section 5."""


def ucb1(n, s, t, T, epsilon):
    """Return UCB1's index: Auer et al. 2002; Sajed & Sheffet 2019, section 2."""
    return s / n + np.sqrt(2 * np.log(t) / n)


def dp_ucb(n, s, t, T, epsilon):
    """Return UCB1's index with the private width of Chan, Shi & Song 2010, Lemma 2.8, corollary, delta = 1 / T."""
    log, nodes = np.log(2 * T), np.bitwise_count(np.asarray(n, np.int64))
    width = np.ceil(np.log2(T)) / epsilon * np.sqrt(8 * np.maximum(nodes, log) * log)
    return ucb1(n, s + width, t, T, epsilon)


def ucb(n, s, t, T, epsilon):
    """Return the index of the program of Neel & Roth 2018, with delta_t = 1 / (1 + t ln^2 t)."""
    return s / n + np.sqrt(np.log(2 * (1 + t * np.log(t) ** 2)) / (2 * n))


def kl_ucb(n, s, t, T, epsilon):
    """Return the index of Garivier & Cappe 2011: the largest q with n kl(s / n, q) <= ln t."""
    return _largest(kl, s / n, np.log(t) / n)


def adap_ucb(n, s, t, T, epsilon):
    """Return the index of Azize & Basu 2022, (7)."""
    return s / n + np.sqrt(ALPHA * np.log(2 * t) / (2 * n)) + ALPHA * np.log(t) / (epsilon * n)


def adap_klucb(n, s, t, T, epsilon):
    """Azize & Basu 2022: return the largest q with kl(mean + alpha ln t / (epsilon n), q) <= alpha ln t / n."""
    mean = np.clip(s / n + ALPHA * np.log(t) / (epsilon * n), 0, 1)
    return _largest(kl, mean, ALPHA * np.log(t) / n)


def dp_klucb(n, s, t, T, epsilon):
    """Return the index of Azize et al. 2025: the largest q with d_epsilon(mean, q) <= ln t / n."""
    return _largest(lambda x, q: d_epsilon(x, q, epsilon), np.clip(s / n, 0, 1), np.log(t) / n)


def imed(n, s, t, T, epsilon):
    """Return minus the index of Honda & Takemura 2015, because RULES choose the largest."""
    mean = s / n
    best = np.broadcast_to(mean.max(axis=-1, keepdims=True), mean.shape)
    return -(n * kl(mean, best) + np.log(n))


def dp_imed(n, s, t, T, epsilon):
    """Return minus the index of Azize et al. 2025."""
    mean = np.clip(s / n, 0, 1)
    best = np.broadcast_to(mean.max(axis=-1, keepdims=True), mean.shape)
    return -(n * d_epsilon(mean, best, epsilon) + np.log(n))


def kl(p, q):
    """Return the divergence of Bernoulli(p) from Bernoulli(q), p <= q."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(p > 0, p * np.log(p / q), 0.0)
        zero = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return one + zero


def d_epsilon(x, y, epsilon):
    """Return the smallest of kl(z, y) + epsilon (z - x) over z in [x, y], for x <= y.

    The derivative in z is logit z - logit y + epsilon: 0 where the odds of z are e^-epsilon times those of y.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(y > 0, np.clip(1 / (1 + np.exp(epsilon) * (1 - y) / y), x, y), 0.0)
        return kl(z, y) + epsilon * (z - x)


def _largest(divergence, mean, level):
    """Return the largest q in [mean, 1] with divergence(mean, q) <= level, by bisection."""
    low, high = np.array(mean, float), np.ones(np.shape(mean))
    for _ in range(60):
        middle = (low + high) / 2
        inside = divergence(mean, middle) <= level
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    # If bisection found no number below 1 outside the level, the index is 1 in double precision.
    return np.where(high == 1, 1.0, low)


INDICES = (ucb1, dp_ucb, ucb, kl_ucb, imed, adap_ucb, adap_klucb, dp_klucb, dp_imed)
RULES = {index.__name__: index for index in INDICES}
"""The index of each policy. The arm of the largest index is chosen, one of equals at random ("ucb": the lowest)."""
