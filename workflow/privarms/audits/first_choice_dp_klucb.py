"""The first choice of DP-KLUCB on two neighbouring reward streams; see `_first_choice`.

Half of each first batch's rewards are 1. With a ratio of 256 or more the noise moves no mean out of [0, 1] and no index
to 1 (but with a probability below 1e-6 for epsilon >= 0.2 and K <= 20), so that the index's order is that of the sums.
Azize et al. 2025 promise epsilon (parallel composition over batches).
"""

from privarms.audits import _first_choice
from privarms.audits._first_choice import Inputs, claimed_loss, event_probability, likelier, log_ratio
from privarms.policies.bandit._growing_batches import batch_size

__all__ = ["claimed_loss", "configure", "count_events", "event_probability", "likelier", "log_ratio"]

SUBJECT = "dp_klucb"
SECONDS_PER_RUN = 4e-6
SECONDS_PER_STEP = 0.0

SHARE = 0.5


def configure(K: int, neighbour: int) -> Inputs:
    """Stream 0, or its neighbour 1, where one reward of the last arm is 1 instead of 0."""
    return _first_choice.inputs(K, neighbour, SHARE, K - 1, K - 1)


def count_events(policy, params, inputs, horizon, trials, rng) -> int:
    """In how many trials the last arm is chosen first after every arm's first batch."""
    return _first_choice.count(policy, batch_size, params, inputs, trials, rng)
