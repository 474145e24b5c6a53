"""Tests and intervals of a Bernoulli mean that stay valid at any number of pulls, however it is chosen.

Take the likelihood of an arm's rewards, mixed over the alternatives, and divide it by the likelihood under the null.
The ratio is a nonnegative martingale of mean 1 in the pulls (Robbins 1970; Howard, Ramdas, McAuliffe & Sekhon 2021). A
policy decides how often an arm is pulled, but not which reward it gives next. By Ville's inequality the ratio therefore
ever exceeds 1 / alpha with probability at most alpha, whatever the policy, private or not. The ratio is also the gain
of bets against the null, one per reward (Waudby-Smith & Ramdas 2024): an e-value.

The mixture is Beta(1/2, 1/2), the prior of Jeffreys and of the bets of Krichevsky & Trofimov (1981). The one-sided test
restricts it to means above the null; intervals use all of [0, 1]. Counts are whole numbers, 0 <= successes <= pulls;
arrays broadcast. Both functions raise ValueError outside their ranges.
"""

import numpy as np
from scipy.special import betainc, betaln, xlog1py, xlogy

from privarms.inference.fixed_pulls import kl_interval
from privarms.ranges import part_and_total, strictly_within, within

PRIOR = 0.5


def log_e_value(successes, pulls, mean):
    """Return ln of the e-value of the null "the mean is at most `mean`", in [0, 1].

    The result is -inf if the e-value underflows, and inf for mean = 0 and at least one success.

    Its expectation is at most 1 under the null, at every count at which a policy may stop. For mean = 1 the result is
    0, because that null is always true. Reject at alpha if the result is at least ln(1 / alpha). If the arm was chosen
    by its rewards among K arms, reject only at ln(K / alpha) or more.
    """
    part_and_total(successes=successes, pulls=pulls)
    within(0, 1, mean=mean)
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(pulls, float))
    m = np.asarray(mean, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(betainc(n - s + PRIOR, s + PRIOR, 1 - m)) - np.log(betainc(PRIOR, PRIOR, 1 - m))
        mixed = betaln(s + PRIOR, n - s + PRIOR) - betaln(PRIOR, PRIOR) + above
        log_ratio = mixed - xlogy(s, m) - xlog1py(n - s, -m)
    return np.where(m < 1, log_ratio, 0.0)[()]


def confidence_sequence(successes, pulls, alpha: float = 0.05):
    """Return (low, high), which covers the mean at all counts at once with probability 1 - alpha or more.

    The interval contains the means m that the two-sided mixture on [0, 1] does not reject: n kl(s / n, m), the log
    likelihood ratio of s / n and m, is below a level. Without a pull it is [0, 1].
    """
    part_and_total(successes=successes, pulls=pulls)
    strictly_within(0, 1, alpha=alpha)
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(pulls, float))
    most = np.maximum(n, 1)
    share = s / most
    # ln(largest likelihood / mixed likelihood), which is at least 0.
    regret = xlogy(s, share) + xlog1py(n - s, -share) - betaln(s + PRIOR, n - s + PRIOR) + betaln(PRIOR, PRIOR)
    level = (np.log(1 / alpha) + np.maximum(regret, 0.0)) / most
    return kl_interval(share, np.where(n > 0, level, np.inf))
