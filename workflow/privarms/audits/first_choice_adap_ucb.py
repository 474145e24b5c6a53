"""The first choice of AdaP-UCB on two neighbouring reward streams; see `_first_choice`.

The first batch is one reward: 0, or 1 for the last arm in stream 1. With one pull each all arms have the same radius,
so that the index's order is that of the noisy rewards. Theorem 6 of Azize & Basu 2022 promises epsilon.
"""

import math

from privarms.audits import _first_choice
from privarms.audits._first_choice import Inputs
from privarms.policies.bandit._episodes import Params, episode_length

SUBJECT = "adap_ucb"
SECONDS_PER_RUN = 4e-6
SECONDS_PER_STEP = 0.0

SHARE = 0.0


def configure(K: int, neighbour: int) -> Inputs:
    """Stream 0, or its neighbour 1, where one reward of the last arm is 1 instead of 0."""
    return _first_choice.inputs(K, neighbour, SHARE, K - 1, K - 1)


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the last arm is chosen first after every arm's first batch."""
    return _first_choice.count(policy, episode_length, params, inputs, trials, rng)


def likelier(inputs: Inputs) -> int:
    """Neighbour 1, whose last arm is higher."""
    return 1


def claimed_loss(epsilon: float) -> float:
    """epsilon."""
    return epsilon


def event_probability(params: Params, inputs: Inputs) -> float:
    """The probability that the last arm's noisy sum is the largest."""
    return _first_choice.largest_of_equals(params, inputs)


def log_ratio(params: Params, inputs: Inputs) -> float:
    """ln(Pr[event | neighbour 1] / Pr[event | neighbour 0])."""
    one, zero = (event_probability(params, inputs._replace(neighbour=n)) for n in (1, 0))
    return math.log(one / zero)
