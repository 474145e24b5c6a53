"""DP-NAS, a private stopping rule (Sajed & Sheffet 2019, Algorithm 1).

The rule reads samples from [-R, R] until it can return a (1 +- alpha) approximation of their mean mu != 0.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace
from privarms.ranges import positive, strictly_within

LABEL = "DP-NAS"
SECONDS_PER_RUN = 2.5e-5
SECONDS_PER_STEP = 0.0


class Params(NamedTuple):
    """alpha, beta in (0, 1); R > 0; sigma_1, sigma_2, sigma_3: the Laplace scales of line 1."""

    alpha: float
    beta: float
    R: float
    sigma_1: float
    sigma_2: float
    sigma_3: float


class State(NamedTuple):
    """B: the threshold's noise; query: queries so far; at: the number of samples at this query; A: its noise."""

    B: float
    query: int
    at: int
    A: float


def configure(epsilon: float, alpha: float, beta: float, R: float = 1.0, noise: float = 1.0) -> Params:
    """Return parameters for a privacy budget epsilon > 0 and an error of alpha |mu| or more with probability beta.

    noise: multiple of the scales of line 1. Only 1, the default, is private; weakened controls have a smaller one.
    """
    positive(epsilon=epsilon, R=R, noise=noise)
    strictly_within(0, 1, alpha=alpha, beta=beta)
    scales = (noise * 12 * R / epsilon, noise * 12 * R / epsilon, noise * 4 * R / epsilon)
    return Params(float(alpha), float(beta), float(R), *scales)


@njit
def confidence_radius(params, query, t):
    """Return h_t of line 8, or of Algorithm 2, line 12, after `query` queries and t samples."""
    return params.R * np.sqrt(2 / t * np.log(16 * float(query) ** 2 / params.beta))


@njit
def noise_margin(params, query):
    """Return c_t of line 9, or of Algorithm 2, line 11."""
    return (
        params.sigma_1 * np.log(4 / params.beta)
        + params.sigma_2 * np.log(8 * float(query) ** 2 / params.beta)
        + params.sigma_3 / params.alpha * np.log(4 / params.beta)
    )


@njit
def init(params, rng):
    """Return the state before the first query, with the threshold's noise B."""
    return State(laplace(params.sigma_1, rng), 0, 0, 0.0)


@njit
def ask(params, state, rng):
    """Return the state of the next query, after one more sample, with its own noise A."""
    return State(state.B, state.query + 1, state.at + 1, laplace(params.sigma_2, rng))


@njit
def stops(params, state, t, total, rng):
    """Return whether |mean| is large enough."""
    h = confidence_radius(params, state.query, t)
    c = noise_margin(params, state.query)
    return abs(total / t) >= h * (1 + 1 / params.alpha) + (c + state.B + state.A) / t


@njit
def estimate(params, t, total, rng):
    """Return the mean with noise."""
    mean = total / t
    L = laplace(params.sigma_3, rng)
    return mean + L / t
