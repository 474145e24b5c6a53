"""Audit DP-SE at the end of epoch 1 on two reward streams that differ in one reward of the leader.

Theorem 4.1 of Sajed & Sheffet 2019 promises Pr[event | stream 1] <= e^epsilon Pr[event | stream 0] for every event. One
reward moves the leader's sum by 1, that is by epsilon scales of the Laplace noise of line 17 (1 / epsilon in units of
the sum). The streams and the event are chosen from the formulas and use up this whole budget:

- Event: at least 10 arms other than the leader are eliminated in epoch 1, K = 20. This requires the median of 19 other
  arms to be 2 h_1 + 2 c_1 below the highest mean. With equal sums the standard deviation of their median is 0.23 noise
  scales, so the leader's own noise decides.
- The leader misses the threshold by 3 noise scales. The event needs its noise to be above about 3 in stream 0 and above
  3 - epsilon in stream 1. There, right of its centre, the Laplace density falls by exactly e^epsilon over a step of
  epsilon scales. For epsilon <= 1 the threshold stays 2 scales from the centre, more than 8 standard deviations of that
  median. The event has a probability of about e^-3 / 2, enough for counting.
- 2 c_1 is 2 ln(4 K / beta) scales, more than 40 for K = 20 and beta = 1 / (5 10^7): no other arm eliminates ten.

With half the noise the same streams are 2 epsilon halved scales apart: the ratio becomes e^(2 epsilon).
"""

import itertools
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit
from scipy.special import roots_legendre

from privarms.audits.audit import Audit
from privarms.jit.cache import compiled
from privarms.policies.bandit import dp_se

STREAMED_AS = {"neighbour": "stream"}

LEADER = 0
# The distance of the leader from the threshold in stream 0, in noise scales, rounded up to whole rewards.
SHORTFALL = 3.0
ELIMINATED = 10


class Inputs(NamedTuple):
    """reward_sums: float64[K], the sums of the arms' rewards in epoch 1; arm 0 is the leader.

    eliminated: the event is that at least this number of other arms is eliminated in epoch 1
    neighbour: which stream, 0 or 1
    """

    reward_sums: np.ndarray
    eliminated: int
    neighbour: int


def configure(K: int, horizon: int, epsilon: float, neighbour: Literal[0, 1], beta: float | None = None) -> Inputs:
    """Return stream 0, or its neighbour 1, where one of the leader's rewards is 1 instead of 0.

    K, horizon, epsilon, beta: as for dp_se; K is above ELIMINATED
    All rewards are 0 or 1. A quarter of every other arm's rewards are 1; the leader has more.
    """
    if K <= ELIMINATED:
        raise ValueError(f"K: expected more than {ELIMINATED} arms; found {K}")
    params = dp_se.parameters(K, horizon, epsilon, beta)
    pulls = int(np.ceil(compiled(dp_se.epoch_length)(params, K, 1)))
    lead = int(np.floor(pulls * compiled(dp_se.elimination_margin)(params, K, 1) - SHORTFALL / epsilon))
    base = pulls // 4
    reward_sums = np.full(K, float(base))
    reward_sums[LEADER] = base + lead + neighbour
    return Inputs(reward_sums, ELIMINATED, neighbour)


@njit
def happens(params, inputs, rng):
    """Draw whether the event happens at the end of epoch 1."""
    K = params.n_arms
    viable = np.ones(K, np.bool_)
    left = dp_se.eliminate(params, K, 1, viable, inputs.reward_sums, rng)
    return K - left - (0 if viable[LEADER] else 1) >= inputs.eliminated


def probability(params: dp_se.Params, inputs: Inputs) -> float:
    """Return the probability that, in epoch 1, at least `inputs.eliminated` arms other than arm 0 are eliminated.

    params: with any multiple of the noise; inputs.reward_sums are equal for all arms except arm 0

    In units of the Laplace scale of line 17, the others' common mean is 0, arm 0 is at `lead` and the margin is 2 h_1 +
    2 c_1. The highest private mean is x. It belongs to arm 0 or to one of the n = K - 1 others. The remaining arms are
    then independent Laplace variables below x, and those below x - margin are eliminated:

      integral of f(x - lead) F(x)^n B_n(x) + n f(x) F(x)^(n-1) F(x - lead) B_(n-1)(x) dx

    f, F: the standard Laplace density and distribution function
    B_m(x): P(at least `eliminated` successes in m trials) with success probability F(x - margin) / F(x)
    """
    K, n = params.n_arms, params.n_arms - 1
    reward_sums, eliminated = inputs.reward_sums, inputs.eliminated
    scale = compiled(dp_se.noise_scale)(params, K, 1)
    pulls = np.ceil(compiled(dp_se.epoch_length)(params, K, 1))
    lead = (reward_sums[0] - reward_sums[1]) / pulls / scale
    margin = compiled(dp_se.elimination_margin)(params, K, 1) / scale

    def density(x):
        below, rest = scipy.stats.laplace.cdf(x), scipy.stats.laplace.cdf(x - margin) / scipy.stats.laplace.cdf(x)
        leader_highest = scipy.stats.laplace.pdf(x - lead) * below**n * scipy.stats.binom.sf(eliminated - 1, n, rest)
        other_highest = n * scipy.stats.laplace.pdf(x) * below ** (n - 1) * scipy.stats.laplace.cdf(x - lead)
        return leader_highest + other_highest * scipy.stats.binom.sf(eliminated - 1, n - 1, rest)

    # The integrand has kinks only at 0, lead and margin, and a Laplace tail beyond 60 scales is below 1e-26. On panels
    # of half a scale between the kinks, the error of 20 Gauss-Legendre nodes is only rounding.
    kinks = sorted({0.0, lead, margin})
    steps = np.arange(0.5, 60.5, 0.5)
    inside = [a + (b - a) * np.linspace(0, 1, int(2 * (b - a)) + 2)[1:] for a, b in itertools.pairwise(kinks)]
    cuts = np.concatenate([kinks[0] - steps[::-1], kinks[:1], *inside, kinks[-1] + steps])
    nodes, weights = roots_legendre(20)
    centres, halves = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    return float((density(centres[:, None] + halves[:, None] * nodes) @ weights) @ halves)


# Claimed: epsilon (Theorem 4.1).
AUDIT = Audit(
    subjects="dp_se",
    inputs=configure,
    event=happens,
    exact=probability,
    changed="Only one reward of the leading arm was changed, with {K} arms, up to the first elimination.",
    setting={"K": 20, "horizon": 50_000_000, "times": 5},
)
