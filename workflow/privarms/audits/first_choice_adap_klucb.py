"""The first choice of AdaP-KLUCB on two neighbouring reward streams; see `_first_choice`.

The first batch is one reward, and the index of every arm is 1 unless its noise is far below 0: what is clipped to
[0, 1] is the reward, its noise and alpha ln(3) / epsilon. Ties go to arm 0. Event: arm 1 of two is chosen, so that arm
0's noise lies in its lower tail, where its law changes by exactly e^epsilon over a step of epsilon scales; arm 0's
reward is 0 or, for neighbour 1, 1, arm 1's is 0. Theorem 6 of Azize & Basu 2022 promises epsilon.
"""

import math

import numpy as np
import scipy

from privarms.audits import _first_choice
from privarms.audits._first_choice import Inputs
from privarms.inference.divergences import kl_upper
from privarms.jit.cache import compiled
from privarms.policies.bandit._episodes import Params, episode_length

SUBJECT = "adap_klucb"
SECONDS_PER_RUN = 6e-7
SECONDS_PER_STEP = 0.0


def configure(K: int, neighbour: int) -> Inputs:
    """Stream 0, or its neighbour 1, where the first reward of arm 0 is 1 instead of 0, for K = 2 arms."""
    if K != 2:
        raise ValueError(f"K: expected 2 arms; found {K}")
    return _first_choice.inputs(K, neighbour, 0.0, 1, 0)


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials arm 1 is chosen first after both arms' first pull."""
    return _first_choice.count(policy, episode_length, params, inputs, trials, rng)


def likelier(inputs: Inputs) -> int:
    """Neighbour 0, in which arm 0 earns nothing."""
    return 0


def claimed_loss(epsilon: float) -> float:
    """epsilon."""
    return epsilon


def event_probability(params: Params, inputs: Inputs) -> float:
    """The probability that arm 1's index exceeds arm 0's, which are increasing in the clipped means.

    Arm 0's clipped mean is x: 0, and then arm 1's must be above 0; or above it and below where the index is 1 to double
    precision, and then arm 1's must be above x.
    """
    scale, log = params.noise / params.epsilon, np.log(inputs.n_arms + 1)
    bonus = params.alpha * log / params.epsilon
    zero, one = scipy.stats.laplace(bonus + inputs.neighbour, scale), scipy.stats.laplace(bonus, scale)
    top = _first_one(params.alpha * log)
    # In between both laws are exponentials but for a kink at their centres.
    kinks = [c for c in (bonus, bonus + inputs.neighbour) if 0 < c < top]
    between, _ = scipy.integrate.quad(lambda x: zero.pdf(x) * one.sf(x), 0, top, points=kinks or None, epsabs=1e-15)
    return float(zero.cdf(0) * one.sf(0) + between)


def _first_one(level: float) -> float:
    """The smallest mean whose index is 1 in double precision."""
    low, high, upper = 0.0, 1.0, compiled(kl_upper)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if upper(middle, level) == 1 else (middle, high)
    return high


def log_ratio(params: Params, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 0] / Pr[event | neighbour 1])."""
    zero, one = (event_probability(params, inputs._replace(neighbour=n)) for n in (0, 1))
    return math.log(zero / one)
