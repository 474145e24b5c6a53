"""The first choice of AdaP-UCB on two neighbouring reward streams; see `_first_choice`.

The first batch is one reward: 0, or 1 for the last arm in stream 1. With one pull each all arms have the same radius,
so the order of the indices is that of the noisy rewards. Theorem 6 of Azize & Basu 2022 promises epsilon.
"""

from typing import Literal

from privarms.audits._first_choice import Inputs, first_choice
from privarms.policies.bandit._episodes import episode_length

SECONDS_PER_RUN = 4e-6


def configure(K: int, neighbour: Literal[0, 1]) -> Inputs:
    """Return stream 0, or its neighbour 1, where one reward of the last arm is 1 instead of 0."""
    return Inputs(K, share=0.0, changed=K - 1, neighbour=neighbour)


AUDIT = first_choice("adap_ucb", configure, episode_length)
