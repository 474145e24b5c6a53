"""The probability that an audit would catch half of the noise."""

import numpy as np
import scipy

# The ignored tail probability of the less likely neighbour's count, and the number of groups of the other counts.
_LEFT_OUT, _PARTS = 1e-9, 400


def power(unlikely: float, likely: float, claimed: float, trials: int, confidence: float, delta: float = 0.0) -> float:
    """Return the probability that `reduction.epsilon_lower_bound` exceeds `claimed`, in [0, 1].

    unlikely, likely: the event's probability with the less and the more likely neighbour; trials: with each of them

    The bound exceeds `claimed` if the lower Clopper-Pearson end of the likelier neighbour is above v, which is delta
    plus e^claimed times the upper end of the other. This is the case if a binomial of probability v reaches the
    observed count with probability below `half`. The counts of the less likely neighbour are grouped, each group as its
    largest count, so the result is never above the power.
    """
    half = (1 - confidence) / 2
    low, high = scipy.stats.binom.ppf(_LEFT_OUT, trials, unlikely), scipy.stats.binom.isf(_LEFT_OUT, trials, unlikely)
    counts = np.unique(np.rint(np.linspace(low, high, _PARTS)))
    shares = np.diff(scipy.stats.binom.cdf(counts, trials, unlikely), prepend=0.0)
    upper = np.where(counts < trials, scipy.stats.beta.isf(half, counts + 1, np.maximum(trials - counts, 1)), 1.0)
    above = np.exp(claimed) * upper + delta
    needed = scipy.stats.binom.isf(half, trials, np.minimum(above, 1.0)) + 1
    caught = np.where(above < 1, scipy.stats.binom.sf(needed - 1, trials, likely), 0.0)
    return float(min(shares @ caught, 1.0))
