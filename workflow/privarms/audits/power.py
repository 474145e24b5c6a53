"""With which probability an audit would catch half of the noise."""

import numpy as np
import scipy

# Of the probability of the rarer outcome, how much is left out, and into how many parts the rest is cut.
_LEFT_OUT, _PARTS = 1e-9, 400


def power(unlikely: float, likely: float, claimed: float, trials: int, confidence: float) -> float:
    """The probability that `reduction.epsilon_lower_bound` exceeds what is claimed, in [0, 1].

    unlikely, likely: the event's probability with the neighbour with whom it is less and more likely
    trials: with each of them

    The bound is above `claimed` where the lower Clopper-Pearson end of the one is above v, e^claimed times the upper
    end of the other, which is where a binomial of probability v reaches the count seen with less than half the level.
    The counts of the less likely neighbour are taken together in parts, each as its largest: the power is never less.
    """
    half = (1 - confidence) / 2
    low, high = scipy.stats.binom.ppf(_LEFT_OUT, trials, unlikely), scipy.stats.binom.isf(_LEFT_OUT, trials, unlikely)
    counts = np.unique(np.rint(np.linspace(low, high, _PARTS)))
    shares = np.diff(scipy.stats.binom.cdf(counts, trials, unlikely), prepend=0.0)
    upper = np.where(counts < trials, scipy.stats.beta.isf(half, counts + 1, np.maximum(trials - counts, 1)), 1.0)
    above = np.exp(claimed) * upper
    needed = scipy.stats.binom.isf(half, trials, np.minimum(above, 1.0)) + 1
    caught = np.where(above < 1, scipy.stats.binom.sf(needed - 1, trials, likely), 0.0)
    return float(min(shares @ caught, 1.0))
