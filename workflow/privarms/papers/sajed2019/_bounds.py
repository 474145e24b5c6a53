"""Bounds of the theorems of Sajed & Sheffet 2019, as functions of their parameters.

If the paper states an order, the function is the expression inside O or Omega with constant 1. Outside of a theorem's
conditions its function is nan.
"""

import itertools
import math

from privarms.jit.cache import compiled
from privarms.policies.bandit import dp_se


def halting_time(epsilon: float, alpha: float, beta: float, mu: float, R: float = 1.0) -> float:
    """Return t_U = 2000 (t_0 + t_1 + t_2) of Theorem 3.3, by which Algorithm 2 halts with probability >= 1 - beta.

    The theorem requires beta in (0, 0.08] and mu != 0; its logarithms are positive for ln(R / (alpha |mu|)) > beta.
    """
    iterated = math.log(R / (alpha * abs(mu))) if _of_stopping(epsilon, alpha, mu, R) else math.nan
    if not (0 < beta <= 0.08 and iterated > beta):
        return math.nan
    log = math.log(iterated / beta)
    t_0 = R**2 * log / (alpha * mu) ** 2
    t_1 = R * log / (epsilon * abs(mu))
    t_2 = R * math.log(1 / beta) / (epsilon * alpha * abs(mu))
    return 2000 * (t_0 + t_1 + t_2)


def private_samples(epsilon: float, alpha: float, beta: float, mu: float, R: float = 1.0) -> float:
    """Return n = R ln(1/beta) / (12 alpha |mu| epsilon) of the proof of Theorem 3.4, for beta < 1/4.

    On samples from {-R, R} any epsilon-private (alpha, beta) stopping rule sees more than n of them with probability
    above 1 - (sqrt(beta) + beta), which the proof rounds down to 1/4.
    """
    if not (0 < beta < 0.25 and _of_stopping(epsilon, alpha, mu, R)):
        return math.nan
    return R * math.log(1 / beta) / (12 * alpha * abs(mu) * epsilon)


def private_samples_of_proof(epsilon: float, alpha: float, beta: float, mu: float, R: float = 1.0) -> float:
    """Return the largest n for which the proof of Theorem 3.4 gives 1/4: ln((3/4 - beta) / beta) / (6 epsilon d).

    d = alpha |mu| / (R (1 + alpha)) is the total variation distance of P and Q. The proof rounds it up, and beta exp(6
    epsilon n d) + beta to 3/4.
    """
    if not (0 < beta < 0.25 and _of_stopping(epsilon, alpha, mu, R)):
        return math.nan
    return R * (1 + alpha) * math.log((0.75 - beta) / beta) / (6 * epsilon * alpha * abs(mu))


def samples_order(epsilon: float, alpha: float, beta: float, mu: float, R: float = 1.0) -> float:
    """Return R^2 ln(1/beta) / (alpha mu)^2 + R ln(1/beta) / (epsilon alpha |mu|): Corollary 3.6 without constant."""
    if not (0 < beta < 1 and _of_stopping(epsilon, alpha, mu, R)):
        return math.nan
    return math.log(1 / beta) * (R**2 / (alpha * mu) ** 2 + R / (epsilon * alpha * abs(mu)))


def _of_stopping(epsilon: float, alpha: float, mu: float, R: float) -> bool:
    """Return whether the theorems on stopping rules apply to these parameters."""
    return epsilon > 0 and 0 < alpha < 1 and 0 < abs(mu) <= R


def iterated_logarithm(a: float, b: float, x: float) -> float:
    """Return ln(a ln(x)) / (b x) of Fact 2.1, for a > 1, 0 < b < 1/16 and x > e.

    By the fact this is above 1 for x < ln(a ln(1/b)) / b, and below 1 for x above twice that.
    """
    return math.log(a * math.log(x)) / (b * x)


def pulls_order(gap: float, K: int, epsilon: float, beta: float) -> float:
    """Return (ln(K/beta) + ln ln(1/gap)) (1/gap^2 + 1/(epsilon gap)): an arm's pulls in Lemma 4.2 without constant.

    As printed: ln ln(1/gap) is negative for a gap above 1/e. A gap of 1 has no logarithm and is outside.
    """
    if not 0 < gap < 1:
        return math.nan
    iterated = math.log(math.log(1 / gap))
    return (math.log(K / beta) + iterated) * (1 / gap**2 + 1 / (epsilon * gap))


def pulls_ceiling(gap: float, K: int, epsilon: float, beta: float) -> float:
    """Return an explicit bound on the pulls of an arm, which holds for all arms at once with probability 1 - beta.

    If no deviation exceeds the radii of Algorithm 3, an arm is eliminated at the latest in the first epoch e with 2^-e
    <= gap, because 4 h_e + 4 c_e < 2^-e. |S| = K bounds the epochs' lengths from above. This bound is ours, from lines
    8, 15, 16 and 20; Lemma 4.2 only states the order.
    """
    if not 0 < gap <= 1:
        return math.nan
    params = dp_se.parameters(K, 2, epsilon, beta)
    last = math.ceil(math.log2(1 / gap))
    return sum(math.ceil(compiled(dp_se.epoch_length)(params, K, e)) for e in range(1, max(1, last) + 1))


def regret_order(gaps, horizon: int, epsilon: float) -> float:
    """Return the sum over gaps > 0 of ln(T) / gap, plus K ln(T) / epsilon: Theorem 4.3 without its constant."""
    log = math.log(horizon)
    return sum(log / gap for gap in gaps if gap > 0) + len(gaps) * log / epsilon


def regret_order_any_gaps(K: int, horizon: int, epsilon: float) -> float:
    """Return sqrt(T K ln T) + K ln(T) / epsilon: Theorem 4.4 without its constant."""
    return math.sqrt(horizon * K * math.log(horizon)) + K * math.log(horizon) / epsilon


def epoch_growth(arms: int, arms_left: int, epoch: int, epsilon: float, beta: float) -> float:
    """Return R_(e+1) with |S| = arms_left over R_e with |S| = arms (Algorithm 3, line 8), for e = epoch.

    Section 1 claims a ratio of at least 2. If the second term of R_e dominates and |S| collapses, the ratio is slightly
    below 2, because the logarithm shrinks.
    """
    params, length = dp_se.parameters(max(2, arms), 2, epsilon, beta), compiled(dp_se.epoch_length)
    return float(length(params, arms_left, epoch + 1) / length(params, arms, epoch))


def total_over_last(epsilon: float, arms: int, last: int, beta: float) -> dict[int, float]:
    """Return R_1 + ... + R_e over R_e (Algorithm 3, line 8) for e = 1, ..., last, with |S| = arms in all epochs."""
    params, length = dp_se.parameters(max(2, arms), 2, epsilon, beta), compiled(dp_se.epoch_length)
    lengths = [float(length(params, arms, epoch)) for epoch in range(1, last + 1)]
    return {e: total / lengths[e - 1] for e, total in enumerate(itertools.accumulate(lengths), 1)}
