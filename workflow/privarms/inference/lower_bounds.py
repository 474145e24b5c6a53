"""Lower bounds on the regret of any consistent bandit, from the arms' means.

The bounds that depend on the problem are asymptotic: regret is at least the value times ln T as T grows. At a finite T
the regret of a policy can be smaller. means: a list of at least one number in [0, 1]; epsilon: a finite number > 0. All
functions raise ValueError for other numbers. Equal means give 0. A bound that overflows is inf.
"""

from collections.abc import Callable, Sequence

from privarms.inference.divergences import d_epsilon, kl
from privarms.jit.cache import compiled
from privarms.ranges import dimensions, positive, within


def lai_robbins(means: Sequence[float]) -> float:
    """Return sum over suboptimal arms of gap / kl(mean, best): without privacy (Lai & Robbins 1985)."""
    return _over_arms(means, lambda mean, best: float(compiled(kl)(mean, best)))


def azize_basu(means: Sequence[float], epsilon: float) -> float:
    """Return sum of gap / min(kl(mean, best), 6 epsilon gap): epsilon-DP (Azize & Basu 2022, Theorem 3, Bernoulli)."""
    dimensions(0, epsilon=epsilon)
    positive(epsilon=epsilon)
    return _over_arms(means, lambda mean, best: min(float(compiled(kl)(mean, best)), 6 * epsilon * (best - mean)))


def azize(means: Sequence[float], epsilon: float) -> float:
    """Return sum of gap / d_epsilon(mean, best): epsilon-DP (Azize et al. 2025, Theorem 1)."""
    dimensions(0, epsilon=epsilon)
    positive(epsilon=epsilon)
    return _over_arms(means, lambda mean, best: float(compiled(d_epsilon)(mean, best, epsilon)))


def _over_arms(means: Sequence[float], divergence: Callable[[float, float], float]) -> float:
    dimensions(1, means=means)
    within(0, 1, means=means)
    if not len(means):
        raise ValueError("means: expected at least one number; found none")
    best, total = max(means), 0
    for mean in means:
        if mean < best:
            if not (apart := divergence(mean, best)) > 0:
                raise ValueError(f"means: expected gaps that floats can tell apart; found {mean} and {best}")
            total += (best - mean) / apart
    return total
