"""Two reward streams that differ in one reward of the leader: the input of the privacy audit of DP-SE.

Theorem 4.1 of Sajed & Sheffet 2019 promises Pr[event | stream 1] <= e^epsilon Pr[event | stream 0] for every event,
and one reward moves the leader's sum by 1, that is by epsilon scales of the Laplace noise of line 17 (1 / epsilon in
units of the sum). The streams and the event are chosen from the formulas so that they use this up:

- The event, "at least 10 arms other than the leader are eliminated in epoch 1", K = 20, asks for the median of 19
  other arms to lie 2 h_1 + 2 c_1 below the highest mean. With equal sums their median is within 0.23 noise scales
  (one standard deviation of the median of 19 Laplace draws) of its place, so that the leader's own noise decides.
- The leader falls short of the threshold by 3 noise scales, so that the event needs its noise to be above about 3 in
  stream 0 and above 3 - epsilon in stream 1. There, right of its centre, the Laplace density falls by exactly
  e^epsilon over a step of epsilon scales: for epsilon <= 1 the threshold stays 2 scales, more than 8 standard
  deviations of that median, from the centre where this ends. The event has a probability of about e^-3 / 2, enough
  for counting.
- 2 c_1 is 2 ln(4 K / beta) scales, more than 40 for K = 20 and beta = 1 / (5 10^7): no other arm gets so high that
  it eliminates ten.

With noise at half its scale the same streams are 2 epsilon halved scales apart: the ratio becomes e^(2 epsilon).
"""

from typing import NamedTuple

import numpy as np

from privarms.elimination import epochs

LEADER = 0


class Environment(NamedTuple):
    """reward_sums: float64[K], what the arms' rewards in epoch 1 add up to, arm 0 being the leader.

    eliminated: the event is that so many arms or more, the leader aside, are eliminated in epoch 1
    """

    reward_sums: np.ndarray
    eliminated: int


def configure(
    K: int,
    horizon: int,
    epsilon: float,
    stream: int,
    beta: float | None = None,
    shortfall: float = 3.0,
    eliminated: int = 10,
) -> Environment:
    """Stream 0, or its neighbour 1, where one of the leader's rewards is 1 instead of 0.

    K, horizon, epsilon, beta: as for dp_se
    shortfall: by how many noise scales, rounded up to whole rewards, the leader misses the threshold in stream 0
    All rewards are 0 or 1: every other arm has a quarter of its rewards at 1, the leader more.
    """
    if stream not in (0, 1):
        raise ValueError(f"stream: expected 0 or 1; found {stream}")
    if not 1 <= eliminated <= K - 1:
        raise ValueError(f"eliminated: expected 1 to K - 1 = {K - 1} arms; found {eliminated}")
    params = epochs.parameters(K, horizon, epsilon, beta)
    pulls = int(np.ceil(epochs.epoch_length(params, K, 1)))
    lead = int(np.floor(pulls * epochs.elimination_margin(params, K, 1) - shortfall / epsilon))
    base = pulls // 4
    if not 0 <= base + lead < pulls:
        raise ValueError(f"shortfall: no stream of {pulls} rewards has a leader that falls short by {shortfall} scales")
    reward_sums = np.full(K, float(base))
    reward_sums[LEADER] = base + lead + stream
    return Environment(reward_sums, int(eliminated))
