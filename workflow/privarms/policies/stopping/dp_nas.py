"""DP-NAS, a private stopping rule (Sajed & Sheffet 2019, Algorithm 1).

The rule reads samples from [-R, R] until it can give a (1 +- alpha) approximation of their mean mu != 0.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.environments.two_point import probability_of_R
from privarms.jit.binomial import binomial
from privarms.mechanisms.laplace import laplace
from privarms.policies.stopping import Rule

LABEL = "DP-NAS"
SECONDS_PER_RUN = 2.5e-5
SECONDS_PER_STEP = 0.0

# A fast run that is still going after so many samples ends there without an estimate.
SAMPLES = 2**62


class Params(NamedTuple):
    """alpha, beta in (0, 1); R > 0; sigma_1, sigma_2, sigma_3: the Laplace scales of line 1."""

    alpha: float
    beta: float
    R: float
    sigma_1: float
    sigma_2: float
    sigma_3: float


class State(NamedTuple):
    """B: the threshold's noise; query: how often the rule has asked; at: the samples at which it asks; A: its noise."""

    B: float
    query: int
    at: int
    A: float


def configure(epsilon: float, alpha: float, beta: float, R: float = 1.0, noise: float = 1.0) -> Params:
    """Parameters for a privacy budget epsilon > 0; the estimate is off by alpha |mu| or more with probability beta.

    noise: multiple of the Laplace scales of line 1. Only 1, the default, is private; a privacy audit sets less.
    """
    for name, value in (("epsilon", epsilon), ("R", R), ("noise", noise)):
        if not 0 < value < np.inf:
            raise ValueError(f"{name}: expected a finite number > 0; found {value}")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0 < value < 1:
            raise ValueError(f"{name}: expected a number in (0, 1); found {value}")
    scales = (noise * 12 * R / epsilon, noise * 12 * R / epsilon, noise * 4 * R / epsilon)
    return Params(float(alpha), float(beta), float(R), *scales)


@njit
def confidence_radius(params, query, t):
    """h_t of line 8, or of Algorithm 2, line 12: `query` is how often the rule has asked, t how many samples it has."""
    return params.R * np.sqrt(2 / t * np.log(16 * float(query) ** 2 / params.beta))


@njit
def noise_margin(params, query):
    """c_t of line 9, or of Algorithm 2, line 11."""
    return (
        params.sigma_1 * np.log(4 / params.beta)
        + params.sigma_2 * np.log(8 * float(query) ** 2 / params.beta)
        + params.sigma_3 / params.alpha * np.log(4 / params.beta)
    )


@njit
def init(params, rng):
    """The threshold's noise B; nothing asked yet."""
    return State(laplace(params.sigma_1, rng), 0, 0, 0.0)


@njit
def ask(params, state, rng):
    """After every sample, with noise A of its own."""
    return State(state.B, state.query + 1, state.at + 1, laplace(params.sigma_2, rng))


@njit
def stops(params, state, t, total, rng):
    """Whether |mean| is large enough."""
    h = confidence_radius(params, state.query, t)
    c = noise_margin(params, state.query)
    return abs(total / t) >= h * (1 + 1 / params.alpha) + (c + state.B + state.A) / t


@njit
def estimate(params, t, total, rng):
    """The mean, with noise."""
    mean = total / t
    L = laplace(params.sigma_3, rng)
    return mean + L / t


@njit
def deficit(params, query, t, total, B):
    """What the sum of t samples lacks: the rule stops when A_t <= -deficit. At most R less after one sample more."""
    h = confidence_radius(params, query, t)
    return t * h * (1 + 1 / params.alpha) + noise_margin(params, query) + B - abs(total)


@njit
def safe_block(lacking, sigma, R):
    """How many samples to take at once, >= 1, when the deficit is `lacking` > R.

    Throughout a block of m samples the deficit is at least d = lacking - m R, and A_t <= -d, a candidate for a stop,
    has probability exp(-d / sigma) / 2 a sample. A long block saves work until candidates are likely: m is about where
    one is expected, near the solution of x + ln x = lacking / sigma + ln(2 R / sigma) with x = m R / sigma. That
    concerns speed alone: any m up to lacking / R gives the same law.
    """
    y = lacking / sigma + np.log(2 * R / sigma)
    x = y - np.log(y) if y > 1 else np.exp(y) / (1 + np.exp(y))
    return max(1, int(min(x * sigma, 0.9 * lacking) / R))


@njit
def simulate(params, environment, rng):
    """What `play` does with samples from {-R, R}, in the same law, blocks of samples at a time.

    |sum| grows by at most R a sample, t h_t and c_t grow with t, and B is drawn once: in a block of m samples the
    deficit stays above d = deficit - m R, so that only an A_t <= -d can stop. The A_t are independent: the first
    candidate comes after a geometric number of samples; its A_t is -d less an exponential. The samples until then are
    one binomial draw, for the A_t do not depend on them. Returns (SAMPLES, nan) for a run that long.
    """
    p, R = probability_of_R(environment), environment.R
    B = laplace(params.sigma_1, rng)
    t, excess = 0, 0
    lacking = deficit(params, 1, 1, 0.0, B)
    while t < SAMPLES:
        if lacking <= R:
            t += 1
            excess += 1 if rng.random() < p else -1
            lacking = deficit(params, t, t, R * excess, B)
            if laplace(params.sigma_2, rng) <= -lacking:
                return t, R * excess / t + laplace(params.sigma_3, rng) / t
            continue
        m = min(safe_block(lacking, params.sigma_2, R), SAMPLES - t)
        d = lacking - m * R
        rate = -np.log1p(-0.5 * np.exp(-d / params.sigma_2))
        clock = rng.standard_exponential()
        candidate = clock < m * rate
        if candidate:
            m = min(m, int(clock / rate) + 1)
        t += m
        excess += 2 * binomial(m, p, rng) - m
        lacking = deficit(params, t, t, R * excess, B)
        if candidate and -(d + params.sigma_2 * rng.standard_exponential()) <= -lacking:
            return t, R * excess / t + laplace(params.sigma_3, rng) / t
    return SAMPLES, np.nan


RULE = Rule(init, ask, stops, estimate)
SIMULATE = {"two_point": simulate}
