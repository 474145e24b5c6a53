"""DP exponential NAS on samples from {-R, R}: the distribution of `policies/stopping/dp_exponential_nas`.

The rule ignores the order of the samples between two queries, so their sum is one binomial draw.
"""

import numpy as np
from numba import njit

from privarms.environments.two_point import probability_of_R
from privarms.fast_paths.stopping.dp_nas__two_point import SAMPLES
from privarms.jit.binomial import binomial
from privarms.mechanisms.laplace import laplace
from privarms.policies.stopping.dp_nas import confidence_radius, noise_margin


@njit
def simulate(params, environment, rng):
    """Run once; return the stopping time and the estimate, or (SAMPLES, nan) for a run of that length."""
    p, R = probability_of_R(environment), environment.R
    B = laplace(params.sigma_1, rng)
    k, t, excess = 0, 0, 0
    while t < SAMPLES:
        k += 1
        m = 2**k - t
        t += m
        excess += 2 * binomial(m, p, rng) - m
        h = confidence_radius(params, k, t)
        margin = noise_margin(params, k) + B + laplace(params.sigma_2, rng)
        if R * abs(excess) >= t * h * (1 + 1 / params.alpha) + margin:
            return t, R * excess / t + laplace(params.sigma_3, rng) / t
    return SAMPLES, np.nan
