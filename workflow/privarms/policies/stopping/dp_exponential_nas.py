"""DP exponential NAS, a private stopping rule that asks at t = 2, 4, 8, ... (Sajed & Sheffet 2019, Algorithm 2)."""

from numba import njit

from privarms.mechanisms.laplace import laplace
from privarms.policies.stopping.dp_nas import Params, State, confidence_radius, configure, estimate, init, noise_margin

__all__ = ["Params", "State", "ask", "configure", "estimate", "init", "stops"]

LABEL = "DP exponential NAS"
SECONDS_PER_RUN = 1.5e-6
SECONDS_PER_STEP = 0.0


@njit
def ask(params, state, rng):
    """Return the state of the next query, after 2, 4, 8, ... samples; `stops` draws its noise."""
    return State(state.B, state.query + 1, 2 ** (state.query + 1), 0.0)


@njit
def stops(params, state, t, total, rng):
    """Return whether |mean| is large enough."""
    A = laplace(params.sigma_2, rng)
    c = noise_margin(params, state.query)
    h = confidence_radius(params, state.query, t)
    return abs(total / t) >= h * (1 + 1 / params.alpha) + (c + state.B + A) / t
