"""The first choice of AdaP-UCB on two neighbouring reward streams; see `_first_choice`.

The first batch is one reward: 0, or 1 for the last arm in stream 1. With one pull each all arms have the same radius,
so that the index's order is that of the noisy rewards. Theorem 6 of Azize & Basu 2022 promises epsilon.
"""

from privarms.audits import _first_choice
from privarms.audits._first_choice import Inputs, claimed_loss, event_probability, likelier, log_ratio
from privarms.policies.bandit._episodes import episode_length

__all__ = ["claimed_loss", "configure", "count_events", "event_probability", "likelier", "log_ratio"]

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
