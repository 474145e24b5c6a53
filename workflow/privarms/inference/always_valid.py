"""Tests and intervals of a Bernoulli mean that hold at whatever number of pulls somebody stops.

The likelihood of the rewards, mixed over the alternatives and divided by that of the null, is a nonnegative martingale
of mean 1 in the pulls of an arm (Robbins 1970; Howard, Ramdas, McAuliffe & Sekhon 2021). A policy decides how often an
arm is pulled and never which reward it gives next, so that this mixture over 1 / alpha is seen with probability alpha
at most, at all counts together (Ville's inequality), whatever the policy, private or not. It is also what is won by
betting against the null, one reward after another (Waudby-Smith & Ramdas 2024): an e-value.

The alternatives are mixed by Beta(1/2, 1/2), the prior of Jeffreys, which Krichevsky & Trofimov (1981) bet by: above
the null alone where it is one-sided, on [0, 1] for intervals. Counts are whole numbers, arrays broadcast; an arm
without a pull shows nothing.
"""

import numpy as np
from scipy.special import betainc, betaln, xlog1py, xlogy

from privarms.inference.fixed_pulls import kl_interval
from privarms.ranges import strictly_within, within

PRIOR = 0.5


def log_e_value(successes, pulls, mean):
    """ln of the e-value of "the mean is at most `mean`"; -inf where the rewards are so low that it underflows.

    Its expectation is at most 1 under the null, at every count at which a policy may stop. A mean of 1 is never wrong:
    0 there. Reject at alpha where it is ln(1 / alpha) or more; of K arms, one of which was chosen by its rewards,
    where it is ln(K / alpha).
    """
    s, n = _counts(successes, pulls)
    m = np.asarray(mean, float)
    within(0, 1, mean=m)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(betainc(n - s + PRIOR, s + PRIOR, 1 - m)) - np.log(betainc(PRIOR, PRIOR, 1 - m))
        mixed = betaln(s + PRIOR, n - s + PRIOR) - betaln(PRIOR, PRIOR) + above
        found = mixed - xlogy(s, m) - xlog1py(n - s, -m)
    return np.where(m < 1, found, 0.0)[()]


def confidence_sequence(successes, pulls, alpha: float = 0.05):
    """(low, high), which hold the mean at all counts at once with probability 1 - alpha or more; [0, 1] without a pull.

    The means that the two-sided mixture, of all of [0, 1], does not reject: n kl(s / n, m) below a level, for the
    likelihood ratio of s / n and a mean m is n kl(s / n, m).
    """
    strictly_within(0, 1, alpha=alpha)
    s, n = _counts(successes, pulls)
    most = np.maximum(n, 1)
    share = s / most
    # ln of the largest likelihood over the mixed one, which is at least 0.
    regret = xlogy(s, share) + xlog1py(n - s, -share) - betaln(s + PRIOR, n - s + PRIOR) + betaln(PRIOR, PRIOR)
    level = (np.log(1 / alpha) + np.maximum(regret, 0.0)) / most
    return kl_interval(share, np.where(n > 0, level, np.inf))


def _counts(successes, pulls):
    return np.broadcast_arrays(np.asarray(successes, float), np.asarray(pulls, float))
