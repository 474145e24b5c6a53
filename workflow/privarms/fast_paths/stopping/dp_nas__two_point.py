"""DP-NAS on samples from {-R, R}, blocks of samples at a time: the distribution of `policies/stopping/dp_nas`.

|sum| grows by at most R per sample, t h_t and c_t grow with t, and B is drawn once. So in a block of m samples the
deficit stays above d = deficit - m R, and only an A_t <= -d can stop. The A_t are independent. The first candidate
comes after a geometric number of samples, and its A_t is -d minus an exponential. The samples until then do not depend
on the A_t, so their sum is one binomial draw.
"""

import numpy as np
from numba import njit

from privarms.environments.two_point import probability_of_R
from privarms.jit.binomial import binomial
from privarms.mechanisms.laplace import laplace
from privarms.policies.stopping.dp_nas import confidence_radius, noise_margin

# A run of this many samples ends without an estimate.
SAMPLES = 2**62


@njit
def deficit(params, query, t, total, B):
    """Return the deficit of the sum of t samples: the rule stops if A_t <= -deficit. It falls by <= R per sample."""
    h = confidence_radius(params, query, t)
    return t * h * (1 + 1 / params.alpha) + noise_margin(params, query) + B - abs(total)


@njit
def safe_block(lacking, sigma, R):
    """Return the number of samples to take at once, >= 1, when the deficit is `lacking` > R.

    In a block of m samples the deficit is at least d = lacking - m R. A candidate for a stop, A_t <= -d, has
    probability exp(-d / sigma) / 2 per sample. A long block saves work until candidates are likely, so m is about where
    one is expected. This is near the solution of x + ln x = lacking / sigma + ln(2 R / sigma) with x = m R / sigma. The
    choice affects only the speed: any m up to lacking / R gives the same distribution.
    """
    y = lacking / sigma + np.log(2 * R / sigma)
    x = y - np.log(y) if y > 1 else np.exp(y) / (1 + np.exp(y))
    return max(1, int(min(x * sigma, 0.9 * lacking) / R))


@njit
def simulate(params, environment, rng):
    """Run once; return the stopping time and the estimate, or (SAMPLES, nan) for a run of that length."""
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
