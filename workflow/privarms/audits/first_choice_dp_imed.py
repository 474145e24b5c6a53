"""The first choice of DP-IMED on two neighbouring reward streams; see `_first_choice`.

Half of the rewards of each first batch are 1. With a ratio of 256 or more the noise moves no mean out of [0, 1] (except
with a probability below 1e-6 for epsilon >= 0.2 and K <= 20). All arms have as many pulls, so the arm of the largest
sum is chosen. Azize et al. 2025 promise epsilon (parallel composition over batches).
"""

from typing import Literal

from privarms.audits._first_choice import Inputs, first_choice
from privarms.policies.bandit._growing_batches import batch_size

SECONDS_PER_RUN = 4e-6


def configure(K: int, neighbour: Literal[0, 1]) -> Inputs:
    """Return stream 0, or its neighbour 1, where one reward of the last arm is 1 instead of 0."""
    return Inputs(K, share=0.5, changed=K - 1, neighbour=neighbour)


AUDIT = first_choice("dp_imed", configure, batch_size)
